import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Which attestation counts: compared with a second definition, in any order of arrival.
struct `Of many attestations` {
    typealias Assertion = AttestationBook.Assertion

    private static let people = (0..<5).map { MemberID([UInt8](repeating: UInt8($0), count: 16)) }
    private static let values = ["a@example.org", "b@example.org"]

    /// Words of all kinds: by verifiers and others, about themselves and others, taken back, citing some
    /// that came before, valid and not, in two branches of each author and under two grants.
    private static func assertions(_ count: Int, _ random: inout SeededGenerator) -> [Assertion] {
        var assertions: [Assertion] = []
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
            let cited = assertions.filter { $0.said.member == member && random.oneIn(2) }
                .prefix(Limits.dependenciesMax).map(\.id)
            let id = OperationID(random.bytes(32))
            assertions.append(
                Assertion(
                    id: id, timestamp: HybridTimestamp(rawValue: clock),
                    arrival: Int64(number), author: people[author],
                    grant: OperationID(
                        [UInt8](repeating: UInt8(author * 2 + random.below(2)), count: 32)),
                    log: LogName(
                        document: DocumentID(sameBytesAs: id), device: DeviceID(random.bytes(32)),
                        incarnation: 1), branch: branch, sequence: UInt64(number), cited: cited,
                    said: Attestation(member, .email, proof), isValid: !random.oneIn(5)))
        }
        return assertions
    }

    /// Up to where what stands in each range was written by a verifier.
    private static func bounds(
        _ assertions: [Assertion], _ random: inout SeededGenerator
    ) -> [AttestationBook.VerdictRange: UInt64] {
        var bounds: [AttestationBook.VerdictRange: UInt64] = [:]
        for assertion in assertions where bounds[assertion.range] == nil && !random.oneIn(3) {
            bounds[assertion.range] =
                random.oneIn(2) ? .max : UInt64(random.below(assertions.count))
        }
        return bounds
    }

    private static func findings(
        _ assertions: [Assertion], _ bounds: [AttestationBook.VerdictRange: UInt64],
        of members: some Sequence<MemberID>, verifiers: Set<MemberID>, max: Int = 64
    ) -> [AttestationBook.Place: AttestationBook.Finding] {
        var book = AttestationBook(max: max)
        for assertion in assertions { book.take(assertion) }
        book.settle()
        return book.findings(
            of: members, isVerifier: verifiers.contains, bound: { bounds[$0.range] })
    }

    // MARK: The second definition

    private static func later(_ one: Assertion, _ other: Assertion) -> Bool {
        (one.timestamp.rawValue, one.id) > (other.timestamp.rawValue, other.id)
    }

    /// W-73 and W-74.
    private static func stands(
        _ assertion: Assertion, _ bounds: [AttestationBook.VerdictRange: UInt64]
    ) -> Bool {
        guard assertion.isValid else { return false }
        if assertion.author == assertion.said.member { return assertion.said.proof == nil }
        return bounds[assertion.range].map { assertion.sequence <= $0 } ?? false
    }

    /// W-75: of those of each author so many.
    private static func chosen(
        _ member: MemberID, _ assertions: [Assertion],
        _ bounds: [AttestationBook.VerdictRange: UInt64],
        max: Int
    ) -> Assertion? {
        let standing = assertions.filter { $0.said.member == member && stands($0, bounds) }
        let all = standing.filter { assertion in
            standing.count { $0.author == assertion.author && later($0, assertion) } < max
        }
        let heads = all.filter { assertion in !all.contains { $0.cited.contains(assertion.id) } }
        return heads.first { assertion in !heads.contains { later($0, assertion) } }
    }

    /// The rules as PROTOCOL.md has them, 3.9, one after the other.
    private static func defined(
        _ assertions: [Assertion], _ bounds: [AttestationBook.VerdictRange: UInt64],
        verifiers: Set<MemberID>,
        members: Set<MemberID>, max: Int
    ) -> [MemberID: (id: OperationID, state: AttestationBook.State)] {
        var found: [MemberID: (id: OperationID, state: AttestationBook.State)] = [:]
        for member in members {
            if let assertion = chosen(member, assertions, bounds, max: max) {
                guard let value = assertion.said.proof?.value else {
                    found[member] = (assertion.id, .withdrawn)
                    continue
                }
                // W-97.
                guard verifiers.contains(assertion.author) else {
                    found[member] = (assertion.id, .verifierGone)
                    continue
                }
                // W-76.
                let isSecond = members.contains { other in
                    guard other != member,
                        let rival = chosen(other, assertions, bounds, max: max),
                        verifiers.contains(rival.author), rival.said.proof?.value == value
                    else { return false }
                    return later(assertion, rival)
                }
                found[member] = (assertion.id, isSecond ? .taken : .valid)
                continue
            }
            // What is shown where nobody who said something might: of each range the last so many.
            let rest = assertions.filter { assertion in
                assertion.said.member == member && assertion.isValid && assertion.said.proof != nil
                    && assertion.author != member
                    && assertions.count {
                        $0.isValid && $0.said.member == member && $0.range == assertion.range
                            && $0.sequence > assertion.sequence
                    } < max
            }
            if let last = rest.first(where: { assertion in !rest.contains { later($0, assertion) } }
            ) {
                found[member] = (last.id, .verifierGone)
            }
        }
        return found
    }

    @Test(arguments: Seeds.explore(60))
    func `the same counts by both definitions, in every order`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let assertions = Self.assertions(1 + random.below(24), &random)
        let verifiers = Set(Self.people.prefix(1 + random.below(3)))
        let members = Set(Self.people.filter { _ in !random.oneIn(4) })
        let max = random.oneIn(2) ? 2 : 64
        let bounds = Self.bounds(assertions, &random)
        let wanted = Self.defined(
            assertions, bounds, verifiers: verifiers, members: members, max: max)
        for _ in 0..<4 {
            var book = AttestationBook(max: max)
            for assertion in assertions.shuffled(using: &random) {
                book.take(assertion)
                // Known again, with another verdict first and then its own.
                if random.oneIn(3) {
                    book.take(assertion.judged(!assertion.isValid))
                    if random.oneIn(2) { book.settle() }
                    book.take(assertion)
                }
            }
            book.settle()
            let found = book.findings(
                of: members, isVerifier: verifiers.contains, bound: { bounds[$0.range] })
            #expect(Set(found.keys.map(\.member)) == Set(wanted.keys))
            for (place, finding) in found {
                #expect(finding.assertion.id == wanted[place.member]?.id)
                #expect(finding.state == wanted[place.member]?.state)
            }
        }
    }

    @Test(arguments: Seeds.explore(20))
    func `what is redacted says nothing`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let assertions = Self.assertions(16, &random)
        let gone = assertions.filter { _ in random.oneIn(3) }
        var book = AttestationBook(max: 2)
        for assertion in assertions { book.take(assertion) }
        for assertion in gone {
            let (first, second) = (
                book.remove(storedAt: assertion.arrival), book.remove(storedAt: assertion.arrival)
            )
            #expect(first && !second)
        }
        var rest = AttestationBook(max: 2)
        for assertion in assertions where !gone.contains(assertion) { rest.take(assertion) }
        let verifiers: Set<MemberID> = [Self.people[0], Self.people[1]]
        book.settle()
        rest.settle()
        #expect(
            book.findings(of: Self.people, isVerifier: verifiers.contains, bound: { _ in .max })
                == rest.findings(
                    of: Self.people, isVerifier: verifiers.contains, bound: { _ in .max }))
    }

    /// Who is a verifier now decides whether the register's assertion counts, and never which one
    /// it is.
    @Test(arguments: Seeds.explore(40))
    func `none comes back when the verifier of a newer one leaves`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let assertions = Self.assertions(1 + random.below(24), &random)
        let bounds = Self.bounds(assertions, &random)
        let everybody = Self.findings(
            assertions, bounds, of: Self.people, verifiers: Set(Self.people))
        let left = Set(Self.people.filter { _ in random.oneIn(2) })
        let found = Self.findings(assertions, bounds, of: Self.people, verifiers: left)
        #expect(found.mapValues(\.assertion) == everybody.mapValues(\.assertion))
        #expect(found.mapValues(\.heads) == everybody.mapValues(\.heads))
        for finding in found.values where finding.state == .valid || finding.state == .taken {
            #expect(left.contains(finding.assertion.author))
        }
    }

    /// What somebody writes without the right overwrites nothing, however new it is and whatever it cites.
    @Test(arguments: Seeds.explore(40))
    func `none is overridden by somebody who could not verify when they wrote`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let assertions = Self.assertions(1 + random.below(24), &random)
        let bounds = Self.bounds(assertions, &random)
        let max = random.oneIn(2) ? 2 : 64
        let verifiers = Set(Self.people.filter { _ in !random.oneIn(4) })
        let found = Self.findings(
            assertions, bounds, of: Self.people, verifiers: verifiers, max: max)
        let without = Self.findings(
            assertions.filter { Self.stands($0, bounds) }, bounds, of: Self.people,
            verifiers: verifiers, max: max)
        #expect(found.filter { !$0.value.heads.isEmpty } == without)
    }
}

extension AttestationBook.Assertion {
    /// The same with another verdict.
    fileprivate func judged(_ isValid: Bool) -> Self {
        Self(
            id: id, timestamp: timestamp, arrival: arrival, author: author, grant: grant, log: log,
            branch: branch, sequence: sequence, cited: cited, said: said, isValid: isValid)
    }
}
