import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Which attestation counts: compared with a second definition, in any order of arrival.
struct `Of many attestations` {
    typealias Word = AttestationBook.Word

    private static let people = (0..<5).map { MemberID([UInt8](repeating: UInt8($0), count: 16)) }
    private static let values = ["a@example.org", "b@example.org"]

    /// Words of all kinds: by verifiers and others, about themselves and others, taken back, citing some
    /// that came before, valid and not, in two branches of each author and under two grants.
    private static func words(_ count: Int, _ random: inout SeededGenerator) -> [Word] {
        var words: [Word] = []
        var clocks: [Int64: UInt64] = [:]
        for number in 0..<count {
            let author = random.below(people.count)
            let branch = Int64(author * 2 + random.below(2))
            // In a log times ascend.
            let clock = (clocks[branch] ?? 0) + 1 + UInt64(random.below(8))
            clocks[branch] = clock
            let member = people[random.below(people.count)]
            let proof: Attestation.Proof? =
                random.oneIn(4) ? nil : .init(values[random.below(values.count)], by: .letter)
            let cited = words.filter { $0.said.member == member && random.oneIn(2) }
                .prefix(Limits.dependenciesMax).map(\.id)
            let id = OperationID(random.bytes(32))
            words.append(
                Word(
                    id: id, timestamp: HybridTimestamp(rawValue: clock),
                    arrival: Int64(number), author: people[author],
                    grant: OperationID(
                        [UInt8](repeating: UInt8(author * 2 + random.below(2)), count: 32)),
                    log: LogName(
                        document: DocumentID(sameBytesAs: id), device: DeviceID(random.bytes(32)),
                        incarnation: 1), branch: branch, sequence: UInt64(number), cited: cited,
                    said: Attestation(member, .email, proof), isValid: !random.oneIn(5)))
        }
        return words
    }

    /// Up to where what stands in each stretch was written by a verifier.
    private static func bounds(
        _ words: [Word], _ random: inout SeededGenerator
    ) -> [AttestationBook.Stretch: UInt64] {
        var bounds: [AttestationBook.Stretch: UInt64] = [:]
        for word in words where bounds[word.stretch] == nil && !random.oneIn(3) {
            bounds[word.stretch] =
                random.oneIn(2) ? .max : UInt64(random.below(words.count))
        }
        return bounds
    }

    private static func findings(
        _ words: [Word], _ bounds: [AttestationBook.Stretch: UInt64],
        of members: some Sequence<MemberID>, verifiers: Set<MemberID>, max: Int = 64
    ) -> [AttestationBook.Place: AttestationBook.Finding] {
        var book = AttestationBook(max: max)
        for word in words { book.take(word) }
        book.settle()
        return book.findings(
            of: members, isVerifier: verifiers.contains, bound: { bounds[$0.stretch] })
    }

    // MARK: The second definition

    private static func later(_ one: Word, _ other: Word) -> Bool {
        (one.timestamp.rawValue, one.id) > (other.timestamp.rawValue, other.id)
    }

    /// W-73 and W-74.
    private static func stands(
        _ word: Word, _ bounds: [AttestationBook.Stretch: UInt64]
    ) -> Bool {
        guard word.isValid else { return false }
        if word.author == word.said.member { return word.said.proof == nil }
        return bounds[word.stretch].map { word.sequence <= $0 } ?? false
    }

    /// W-75: of those of each author so many.
    private static func chosen(
        _ member: MemberID, _ words: [Word], _ bounds: [AttestationBook.Stretch: UInt64], max: Int
    ) -> Word? {
        let standing = words.filter { $0.said.member == member && stands($0, bounds) }
        let all = standing.filter { word in
            standing.count { $0.author == word.author && later($0, word) } < max
        }
        let heads = all.filter { word in !all.contains { $0.cited.contains(word.id) } }
        return heads.first { word in !heads.contains { later($0, word) } }
    }

    /// The rules as PROTOCOL.md has them, 3.9, one after the other.
    private static func defined(
        _ words: [Word], _ bounds: [AttestationBook.Stretch: UInt64], verifiers: Set<MemberID>,
        members: Set<MemberID>, max: Int
    ) -> [MemberID: (id: OperationID, state: AttestationBook.State)] {
        var found: [MemberID: (id: OperationID, state: AttestationBook.State)] = [:]
        for member in members {
            if let word = chosen(member, words, bounds, max: max) {
                guard let value = word.said.proof?.value else {
                    found[member] = (word.id, .withdrawn)
                    continue
                }
                // W-97.
                guard verifiers.contains(word.author) else {
                    found[member] = (word.id, .verifierGone)
                    continue
                }
                // W-76.
                let isSecond = members.contains { other in
                    guard other != member,
                        let rival = chosen(other, words, bounds, max: max),
                        verifiers.contains(rival.author), rival.said.proof?.value == value
                    else { return false }
                    return later(word, rival)
                }
                found[member] = (word.id, isSecond ? .taken : .valid)
                continue
            }
            // What is shown where nobody who said something might: of each stretch the last so many.
            let rest = words.filter { word in
                word.said.member == member && word.isValid && word.said.proof != nil
                    && word.author != member
                    && words.count {
                        $0.isValid && $0.said.member == member && $0.stretch == word.stretch
                            && $0.sequence > word.sequence
                    } < max
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
        let bounds = Self.bounds(words, &random)
        let wanted = Self.defined(
            words, bounds, verifiers: verifiers, members: members, max: max)
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
                of: members, isVerifier: verifiers.contains, bound: { bounds[$0.stretch] })
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
            book.findings(of: Self.people, isVerifier: verifiers.contains, bound: { _ in .max })
                == rest.findings(
                    of: Self.people, isVerifier: verifiers.contains, bound: { _ in .max }))
    }

    /// Who is a verifier now decides whether the register's word counts, and never which one it is.
    @Test(arguments: Seeds.explore(40))
    func `none comes back when the verifier of a newer one leaves`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let words = Self.words(1 + random.below(24), &random)
        let bounds = Self.bounds(words, &random)
        let everybody = Self.findings(
            words, bounds, of: Self.people, verifiers: Set(Self.people))
        let left = Set(Self.people.filter { _ in random.oneIn(2) })
        let found = Self.findings(words, bounds, of: Self.people, verifiers: left)
        #expect(found.mapValues(\.word) == everybody.mapValues(\.word))
        #expect(found.mapValues(\.heads) == everybody.mapValues(\.heads))
        for finding in found.values where finding.state == .valid || finding.state == .taken {
            #expect(left.contains(finding.word.author))
        }
    }

    /// What somebody writes without the right overwrites nothing, however new it is and whatever it cites.
    @Test(arguments: Seeds.explore(40))
    func `none is overridden by somebody who could not verify when they wrote`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let words = Self.words(1 + random.below(24), &random)
        let bounds = Self.bounds(words, &random)
        let max = random.oneIn(2) ? 2 : 64
        let verifiers = Set(Self.people.filter { _ in !random.oneIn(4) })
        let found = Self.findings(
            words, bounds, of: Self.people, verifiers: verifiers, max: max)
        let without = Self.findings(
            words.filter { Self.stands($0, bounds) }, bounds, of: Self.people,
            verifiers: verifiers, max: max)
        #expect(found.filter { !$0.value.heads.isEmpty } == without)
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
