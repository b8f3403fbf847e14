import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import WorkspaceCrypto

struct `A recovery phrase` {
    @Test func `is made of 2,048 words that differ in their first four letters`() {
        let words = RecoveryWords.all
        #expect(words.count == 2_048)
        #expect(words == words.sorted())
        #expect(Set(words.map { $0.prefix(4) }).count == 2_048)
        for word in words {
            #expect((4...7).contains(word.utf8.count), "\(word)")
            #expect(word.utf8.allSatisfy { (0x61...0x7a).contains($0) }, "\(word)")
        }
    }

    /// Frozen: a change here makes every phrase on paper worthless.
    struct Vector: Sendable {
        let seed: [UInt8]
        let words: String
        let device: String
        let agreementKey: String
    }

    static let vectors = [
        Vector(
            seed: [UInt8](repeating: 0, count: 32),
            words: zeroWords,
            device: "28a1e8395971d93ae917746e0964e2ea8f01635c994cdc0e0c072021560f95ca",
            agreementKey: "c5155dc9570c4cbe6884a272b3c5c5f93534889e22fad316bb763bb0bbc1633b"),
        Vector(
            seed: [UInt8](0..<32),
            words: countingWords,
            device: "5e00f1666fac052ee9420c421428ca4a6011da02edb677d5cdfb800a8d0ddeba",
            agreementKey: "bfc9c6eef22e67eda36244d774212f0ce4d31163f6d8972869c116373336232c"),
    ]

    @Test(arguments: vectors)
    func `always means the same keys`(_ vector: Vector) throws {
        let phrase = try #require(RecoveryPhrase(untrusted: vector.seed))
        #expect(phrase.words.joined(separator: " ") == vector.words)
        #expect(hexadecimal(phrase.signingKey.device.bytes) == vector.device)
        #expect(hexadecimal(phrase.agreementKey.publicKey.bytes) == vector.agreementKey)
        #expect(try RecoveryPhrase(vector.words).exposedSeed() == vector.seed)
    }

    @Test(arguments: Seeds.explore(40))
    func `is read as it was shown, in every form that people type`(seed: UInt64) throws {
        let random = SeededRandom(seed: seed)
        let phrase = RecoveryPhrase(using: random)
        let words = phrase.words
        #expect(words.count == RecoveryPhrase.wordCount)
        let forms = [
            words.joined(separator: " "),
            words.joined(separator: "\n").uppercased(),
            words.map { String($0.prefix(4)) }.joined(separator: "  "),
            words.enumerated().map { "\($0.offset + 1). \($0.element)" }.joined(separator: ", "),
            words.enumerated().map { "\($0.offset + 1)) \($0.element.prefix(5))\t" }.joined(),
        ]
        for form in forms {
            #expect(try RecoveryPhrase(form).exposedSeed() == phrase.exposedSeed(), "\(seed)")
        }
    }

    @Test(arguments: Seeds.explore(20))
    func `names the place of a word that is none`(seed: UInt64) throws {
        let random = SeededRandom(seed: seed)
        var words = RecoveryPhrase(using: random).words
        let place = Int(random.number(below: 24))
        for wrong in ["xqzw", "abacusx", "aba", "währung", "abandin"] {
            words[place] = wrong
            #expect(throws: RecoveryPhrase.Problem.unknownWord(position: place + 1)) {
                try RecoveryPhrase(words.joined(separator: " "))
            }
        }
    }

    @Test func `says how many words there are`() {
        let words = RecoveryPhrase(using: SeededRandom(seed: 1)).words
        for count in [0, 1, 23] {
            #expect(throws: RecoveryPhrase.Problem.wrongCount(count)) {
                try RecoveryPhrase(words.prefix(count).joined(separator: " "))
            }
        }
        #expect(throws: RecoveryPhrase.Problem.wrongCount(25)) {
            try RecoveryPhrase((words + ["abbey"]).joined(separator: " "))
        }
        #expect(throws: RecoveryPhrase.Problem.self) {
            try RecoveryPhrase(String(repeating: "abacus ", count: 100_000))
        }
    }

    @Test func `notices a wrong word of the list, mostly, and two that changed places`() {
        var noticed = 0
        for seed in UInt64(0)..<200 {
            var words = RecoveryPhrase(using: SeededRandom(seed: seed)).words
            if seed.isMultiple(of: 2) {
                guard words[3] != words[9] else { continue }
                words.swapAt(3, 9)
            } else {
                words[5] = words[5] == "abbey" ? "acre" : "abbey"
            }
            do { _ = try RecoveryPhrase(words.joined(separator: " ")) } catch {
                #expect(error == .badCheck)
                noticed += 1
            }
        }
        // By chance one in 256 passes.
        #expect(noticed >= 190)
    }

    @Test func `is refused as a seed of another length`() {
        #expect(RecoveryPhrase(untrusted: [UInt8](repeating: 1, count: 31)) == nil)
        #expect(RecoveryPhrase(untrusted: [UInt8](repeating: 1, count: 33)) == nil)
        #expect(RecoveryPhrase(untrusted: []) == nil)
    }

    @Test func `is not shown by what holds it`() {
        let phrase = RecoveryPhrase(using: SeededRandom(seed: 3))
        var dumped = ""
        dump(phrase, to: &dumped)
        for text in ["\(phrase)", dumped] {
            #expect(!text.contains(phrase.words[0]) && text.contains("SecretBytes(32)"))
        }
    }

    private func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { byte in
            let digits = String(byte, radix: 16)
            return digits.utf8.count == 1 ? "0" + digits : digits
        }.joined()
    }
}

private let zeroWords = """
    abacus abacus abacus abacus abacus abacus abacus abacus abacus abacus abacus abacus \
    abacus abacus abacus abacus abacus abacus abacus abacus abacus abacus abacus alarm
    """
private let countingWords = """
    abacus amend manual amend flood affair cabin canvas area harmony energy bullet abrupt \
    much faucet maximum beyond rosy alias dare regular audio lecture urban
    """
