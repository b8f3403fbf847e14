import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Which attestation counts: a second definition, and any order of arrival.
@Suite struct `Of many attestations` {
    typealias Word = AttestationBook.Word

    private static let people = (0..<5).map { MemberID([UInt8](repeating: UInt8($0), count: 16)) }
    private static let values = ["a@example.org", "b@example.org"]

    /// Words of all kinds: by verifiers and others, about themselves and others, taken back, citing some
    /// that came before, valid and not.
    private static func words(_ count: Int, _ random: inout SeededGenerator) -> [Word] {
        var words: [Word] = []
        for number in 0..<count {
            let author = people[random.below(people.count)]
            let member = people[random.below(people.count)]
            let proof: Attestation.Proof? =
                random.oneIn(4) ? nil : .init(values[random.below(values.count)], by: .letter)
            let cited = words.filter { $0.said.member == member && random.oneIn(2) }
                .prefix(Limits.dependenciesMax).map(\.id)
            let id = OperationID(random.bytes(32))
            words.append(
                Word(
                    id: id, timestamp: HybridTimestamp(rawValue: UInt64(random.below(40))),
                    arrival: Int64(number), author: author, grant: id,
                    log: LogName(
                        document: DocumentID(sameBytesAs: id), device: DeviceID(random.bytes(32)),
                        incarnation: 1), branch: 1, sequence: UInt64(number), cited: cited,
                    said: Attestation(member, .email, proof), isValid: !random.oneIn(5)))
        }
        return words
    }

    /// The rules as PROTOCOL.md has them, 3.9, one after the other.
    private static func defined(
        _ words: [Word], verifiers: Set<MemberID>, members: Set<MemberID>, max: Int
    ) -> [MemberID: (id: OperationID, state: AttestationBook.State)] {
        // W-73 and W-74, of so many of each author.
        func isAmongLatest(_ word: Word) -> Bool {
            let before = words.count {
                $0.isValid && $0.author == word.author && $0.said.member == word.said.member
                    && later($0, word)
            }
            return before < max
        }
        func counts(_ word: Word) -> Bool {
            guard word.isValid, isAmongLatest(word) else { return false }
            if word.author == word.said.member { return word.said.proof == nil }
            return verifiers.contains(word.author)
        }
        func later(_ one: Word, _ other: Word) -> Bool {
            (one.timestamp.rawValue, one.id) > (other.timestamp.rawValue, other.id)
        }
        // W-75.
        func chosen(_ member: MemberID) -> Word? {
            let all = words.filter { $0.said.member == member && counts($0) }
            return all.filter { word in !all.contains { $0.cited.contains(word.id) } }
                .first { word in
                    !all.contains { other in
                        later(other, word)
                            && !all.contains { $0.cited.contains(other.id) }
                    }
                }
        }
        var found: [MemberID: (id: OperationID, state: AttestationBook.State)] = [:]
        for member in members {
            if let word = chosen(member) {
                guard let value = word.said.proof?.value else {
                    found[member] = (word.id, .withdrawn)
                    continue
                }
                // W-76.
                let isSecond = members.contains { other in
                    guard other != member, let rival = chosen(other),
                        rival.said.proof?.value == value
                    else { return false }
                    return later(word, rival)
                }
                found[member] = (word.id, isSecond ? .taken : .valid)
                continue
            }
            let rest = words.filter {
                $0.said.member == member && $0.isValid && $0.said.proof != nil
                    && $0.author != member && isAmongLatest($0)
            }
            if let last = rest.first(where: { word in !rest.contains { later($0, word) } }) {
                found[member] = (last.id, .verifierGone)
            }
        }
        return found
    }

    @Test(arguments: Seeds.explore(60))
    func `the same counts by both definitions, in every order`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let words = Self.words(1 + random.below(24), &random)
        let verifiers = Set(Self.people.prefix(1 + random.below(3)))
        let members = Set(Self.people.filter { _ in !random.oneIn(4) })
        let max = random.oneIn(2) ? 2 : 64
        let wanted = Self.defined(words, verifiers: verifiers, members: members, max: max)
        for _ in 0..<4 {
            var book = AttestationBook(max: max)
            for word in words.shuffled(using: &random) {
                book.take(word)
                // Known again, with another verdict first and then its own.
                if random.oneIn(3) {
                    book.take(word.judged(!word.isValid))
                    if random.oneIn(2) { book.settle() }
                    book.take(word)
                }
            }
            book.settle()
            let found = book.findings(
                of: members, isVerifier: verifiers.contains, counts: { _ in true })
            #expect(Set(found.keys.map(\.member)) == Set(wanted.keys))
            for (place, finding) in found {
                #expect(finding.word.id == wanted[place.member]?.id)
                #expect(finding.state == wanted[place.member]?.state)
            }
        }
    }

    @Test(arguments: Seeds.explore(20))
    func `what is redacted says nothing`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let words = Self.words(16, &random)
        let gone = words.filter { _ in random.oneIn(3) }
        var book = AttestationBook(max: 2)
        for word in words { book.take(word) }
        for word in gone {
            let (first, second) = (
                book.remove(storedAt: word.arrival), book.remove(storedAt: word.arrival)
            )
            #expect(first && !second)
        }
        var rest = AttestationBook(max: 2)
        for word in words where !gone.contains(word) { rest.take(word) }
        let verifiers: Set<MemberID> = [Self.people[0], Self.people[1]]
        book.settle()
        rest.settle()
        #expect(
            book.findings(of: Self.people, isVerifier: verifiers.contains, counts: { _ in true })
                == rest.findings(
                    of: Self.people, isVerifier: verifiers.contains, counts: { _ in true }))
    }
}

extension AttestationBook.Word {
    /// The same with another verdict.
    fileprivate func judged(_ isValid: Bool) -> Self {
        Self(
            id: id, timestamp: timestamp, arrival: arrival, author: author, grant: grant, log: log,
            branch: branch, sequence: sequence, cited: cited, said: said, isValid: isValid)
    }
}
