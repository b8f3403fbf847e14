/// The 24 words that restore a member who has lost every device.
///
/// ```
/// bits  = seed 32 || H("wsx-phrase1", seed)[0]      264 bits, the highest first
/// words = 24 numbers of 11 bits, each the place of a word in the list
/// Ed25519 seed  = Hk(seed, "wsx-rec-sign")
/// X25519 secret = Hk(seed, "wsx-rec-box")
/// ```
/// The phrase is a virtual device: its signing key comes first in its owner's grants, so it
/// outranks every device that can be stolen.
///
/// - Source: PROTOCOL.md, 3.3.
public struct RecoveryPhrase: Sendable {
    /// How many bytes the seed has.
    public static let seedByteCount = 32
    /// How many words a phrase has.
    public static let wordCount = 24
    /// A text longer than this is no phrase, whatever is in it; in bytes.
    public static let textBytesMax = 1_024

    private static let bitsPerWord = 11

    /// Why a text is no phrase.
    public enum Problem: Error, Equatable, Sendable {
        /// So many words instead of 24.
        case wrongCount(Int)
        /// The word at this place, counted from 1, is not in the list.
        case unknownWord(position: Int)
        /// All words are in the list but the checksum fails: one is wrong, or two are swapped. One
        /// wrong phrase in 256 passes.
        case badCheck
    }

    private let seed: SecretBytes

    /// Draws a new phrase.
    public init(using random: any RandomSource) {
        var bytes = random.bytes(Self.seedByteCount)
        self.init(bytes: bytes)
        SecretBytes.wipe(&bytes)
    }

    /// The phrase of a seed that was sealed at rest, or `nil` unless there are exactly 32 bytes.
    public init?(untrusted bytes: [UInt8]) {
        guard bytes.count == Self.seedByteCount else { return nil }
        self.init(bytes: bytes)
    }

    private init(bytes: [UInt8]) { seed = SecretBytes(copying: bytes) }

    /// The 32 bytes, only to be sealed at rest. Wipe them after.
    public func exposedSeed() -> [UInt8] { seed.exposedCopy() }

    // MARK: Keys

    /// Signs as the recovery device.
    public var signingKey: SigningKey {
        var bytes = seed.derivedKey(Array("wsx-rec-sign".utf8)).exposedCopy()
        defer { SecretBytes.wipe(&bytes) }
        return SigningKey(seed: bytes)
    }

    /// Opens what is sealed for the recovery device.
    public var agreementKey: AgreementKey {
        var bytes = seed.derivedKey(Array("wsx-rec-box".utf8)).exposedCopy()
        defer { SecretBytes.wipe(&bytes) }
        return AgreementKey(secret: bytes)
    }

    // MARK: Words

    /// The words in order, to be shown once.
    public var words: [String] {
        var bytes = seed.exposedCopy()
        bytes.append(Self.check(bytes))
        defer { SecretBytes.wipe(&bytes) }
        var words: [String] = []
        var bits = 0
        var held = 0
        for byte in bytes {
            bits = bits << 8 | Int(byte)
            held += 8
            guard held >= Self.bitsPerWord else { continue }
            held -= Self.bitsPerWord
            words.append(RecoveryWords.all[bits >> held])
            bits &= 1 << held - 1
        }
        return words
    }

    /// Parses what a person typed: in either case, with any blanks, commas, dots and numbers
    /// between the words. Each word is whole or shortened to four letters or more.
    public init(_ text: String) throws(Problem) {
        guard text.utf8.count <= Self.textBytesMax else { throw .wrongCount(text.utf8.count / 5) }
        let typed = text.utf8.split { !Self.isPartOfWord($0) }
        var numbers: [Int] = []
        for (index, letters) in typed.enumerated() {
            guard let number = Self.number(letters) else {
                throw .unknownWord(position: index + 1)
            }
            numbers.append(number)
        }
        guard numbers.count == Self.wordCount else { throw .wrongCount(numbers.count) }
        var bytes = Self.bytes(numbers)
        defer { SecretBytes.wipe(&bytes) }
        let seed = [UInt8](bytes.prefix(Self.seedByteCount))
        guard bytes.last == Self.check(seed) else { throw .badCheck }
        self.init(bytes: seed)
    }

    /// Letters, and everything outside ASCII, which then makes a word that is not in the list.
    private static func isPartOfWord(_ byte: UInt8) -> Bool {
        byte >= 0x80 || (0x61...0x7a).contains(byte | 0x20)
    }

    private static func number(_ letters: Substring.UTF8View) -> Int? {
        let folded = String(decoding: letters.map { $0 | 0x20 }, as: UTF8.self)
        let start = String(folded.prefix(RecoveryWords.tellingLetterCount))
        guard let number = RecoveryWords.numbers[start],
            RecoveryWords.all[number].utf8.starts(with: folded.utf8)
        else { return nil }
        return number
    }

    /// - Precondition: 24 numbers below 2,048.
    private static func bytes(_ numbers: [Int]) -> [UInt8] {
        var bytes: [UInt8] = []
        var bits = 0
        var held = 0
        for number in numbers {
            bits = bits << bitsPerWord | number
            held += bitsPerWord
            while held >= 8 {
                held -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> held))
                bits &= 1 << held - 1
            }
        }
        return bytes
    }

    private static func check(_ seed: [UInt8]) -> UInt8 {
        Hash.personal("wsx-phrase1", seed)[0]
    }
}
