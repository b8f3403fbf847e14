import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

struct `Any private document` {
    private func document(_ seed: UInt64) -> PrivateFuzzer {
        var fuzzer = PrivateFuzzer(seed: seed)
        fuzzer.run(steps: 45)
        return fuzzer
    }

    private static let revocations = Set((1...2).map { PrivateFuzzer.revocation($0) })

    @Test(arguments: Seeds.explore(150))
    func `is judged as its definition says`(seed: UInt64) {
        let story = document(seed).story
        let authority = story.judged(shuffledBy: seed)
        var definition = PrivateDefinition(story)
        #expect(Set(authority.validOperations) == definition.validOperations())
        let members = Dictionary(
            uniqueKeysWithValues: authority.members.map { ($0.member, $0.role) })
        #expect(members == definition.members())
        for answered in [[], Self.revocations] as [Set<OperationID>] {
            #expect(
                authority.sealingEpoch(answering: answered)?.epoch.keyID
                    == definition.sealingKey(answering: answered))
        }
        for name in PrivateFuzzer.names {
            let member = PrivateStory.member(name)
            #expect(Set(authority.keys(for: member)) == definition.keys(for: member), "\(name)")
            #expect(authority.standing(of: member)?.role == members[member])
        }
    }

    @Test(arguments: Seeds.explore(80))
    func `is one document in every order of delivery`(seed: UInt64) {
        let story = document(seed).story
        let first = story.judged(shuffledBy: seed)
        for shuffle in 1...3 {
            let other = story.judged(shuffledBy: seed &+ UInt64(shuffle))
            #expect(other.validOperations == first.validOperations)
            #expect(other.members == first.members)
            #expect(other.fields == first.fields)
            #expect(other.heads == first.heads)
            #expect(other.epochs == first.epochs)
            for operation in story.operations {
                #expect(other.verdict(on: operation.id) == first.verdict(on: operation.id))
                #expect(other.lamport(of: operation.id) == first.lamport(of: operation.id))
            }
        }
    }

    @Test(arguments: Seeds.explore(40))
    func `has the ancestry that was written`(seed: UInt64) {
        let story = document(seed).story
        let authority = story.judged()
        for descendant in story.operations {
            #expect(authority.contains(descendant.id))
            for other in story.operations {
                #expect(
                    authority.isAncestor(other.id, of: descendant.id)
                        == story.pasts[descendant.id]?.contains(other.id))
            }
        }
    }

    @Test(arguments: Seeds.explore(40))
    func `is, of a part of the set, what that part alone says`(seed: UInt64) {
        var fuzzer = document(seed)
        let story = fuzzer.story
        let some = story.operations.filter { _ in !fuzzer.generator.oneIn(8) }
        let authority = PrivateAuthority(of: story.document, some, ends: story.ends)
        let ids = Set(some.map(\.id))
        for operation in story.operations {
            let isThere = ids.isSuperset(of: story.closure(of: [operation.id]))
            #expect(authority.contains(operation.id) == (isThere && ids.contains(story.root)))
        }
        let closed = some.filter { authority.contains($0.id) }
        let alone = PrivateAuthority(of: story.document, closed, ends: story.ends)
        #expect(alone.validOperations == authority.validOperations)
        #expect(alone.members == authority.members)
    }

    @Test(arguments: Seeds.explore(80))
    func `gives nothing to people who are out, whatever they write`(seed: UInt64) {
        let story = document(seed).story
        let before = story.judged()
        for name in PrivateFuzzer.names {
            let member = PrivateStory.member(name)
            guard before.standing(of: member) == nil else { continue }
            #expect(before.keys(for: member).isEmpty)
            // A member who left may hold a seat that is stronger than the one under which they
            // left.
            let hasLeft = before.ends(of: member).contains { id in
                if case .leave? = story[id]?.change?.action { true } else { false }
            }
            // The workspace refuses what is written under a lapsed seat.
            if hasLeft || story.ends[member] != nil { continue }
            var later = story
            later.add(["gil"], as: .admin, by: name)
            later.write(name, .rekey(PrivateStory.epoch(251)))
            later.remove("mina", by: name, key: 252)
            later.write(name, .set(PrivateSettings(name: "mine")))
            let after = later.judged()
            #expect(after.validOperations == before.validOperations)
            #expect(after.members == before.members)
            #expect(after.epochs == before.epochs)
        }
    }

    @Test(arguments: Seeds.explore(60))
    func `has content of its members alone, and of who came back under keys that prove it`(
        seed: UInt64
    ) {
        let story = document(seed).story
        let authority = story.judged()
        let log = LogName(document: story.document, device: .zero, incarnation: 1)
        let known = Set(authority.epochs.map(\.epoch.keyID))
        let made = Set(
            story.operations.compactMap {
                $0.id == story.root ? $0.keyID : $0.change?.action.epoch?.keyID
            })
        for number in UInt8(1)...40 {
            let key = PrivateStory.key(number)
            #expect(authority.introduces(key) == known.contains(key))
            for name in PrivateFuzzer.names + ["nobody"] {
                let member = PrivateStory.member(name)
                let limit = authority.contentLimit(of: member, in: log, under: key)
                guard limit != .nothing else { continue }
                // A lapsed seat carries earlier content.
                #expect(authority.standing(of: member) != nil || story.ends[member] != nil)
                guard !made.contains(key) else { continue }
                // Then this seat has nothing to prove: it was given before any end.
                let seats = authority.seatRights(of: member)
                #expect(
                    authority.contentLimit(by: seats, in: log, under: PrivateStory.key(99)) == limit
                )
            }
        }
    }

    /// A former owner leads by the role that was kept, so no seat is stronger than the owner's.
    @Test(arguments: Seeds.explore(80))
    func `has an owner whom nobody could remove`(seed: UInt64) {
        let authority = document(seed).story.judged()
        for owner in authority.members where owner.role == .owner {
            for name in PrivateFuzzer.names {
                let other = PrivateStory.member(name)
                #expect(!authority.couldRemove(owner.member, by: other), "\(name)")
            }
        }
    }

    // C03: members are hostile too. Whatever they seal is judged, with the same result in every
    // order.
    @Test(arguments: Seeds.explore(60))
    func `is judged whatever its members seal`(seed: UInt64) {
        var fuzzer = document(seed)
        let story = fuzzer.story
        let garbled = story.operations.map { operation -> PrivateOperation in
            var text = operation.change?.encoded ?? []
            if !text.isEmpty, operation.id != story.root {
                for _ in 0..<fuzzer.generator.below(3) {
                    let place = fuzzer.generator.below(text.count)
                    text[place] ^= UInt8(1 << fuzzer.generator.below(8))
                }
            }
            var cited = operation.dependencies
            if fuzzer.generator.oneIn(6) { cited.append(OperationID(fuzzer.generator.bytes(32))) }
            if fuzzer.generator.oneIn(6) { cited.append(story.root) }
            return PrivateOperation(
                id: operation.id, author: fuzzer.generator.oneIn(9) ? nil : operation.author,
                previous: operation.previous, dependencies: cited,
                keyID: operation.change?.action.epoch?.keyID ?? operation.keyID,
                change: try? PrivateChange(decoding: text), isAllowed: operation.isAllowed)
        }
        let first = PrivateAuthority(of: story.document, garbled, ends: story.ends)
        let second = PrivateAuthority(
            of: story.document, garbled.reversed(), ends: story.ends)
        #expect(first.validOperations == second.validOperations)
        #expect(first.members == second.members && first.epochs == second.epochs)
        #expect(first.fields == second.fields && first.heads == second.heads)
    }

    @Test func `reaches the interesting cases`() {
        var counts = (valid: 0, revoked: 0, unsupported: 0, faulty: 0, returned: 0, keys: 0)
        var (lapsed, holding) = (0, 0)
        for seed in UInt64(0)..<60 {
            let story = document(seed).story
            let authority = story.judged()
            counts.keys += authority.epochs.count
            for operation in story.operations {
                switch authority.verdict(on: operation.id) {
                case .valid: counts.valid += 1
                case .revoked: counts.revoked += 1
                case .unsupported: counts.unsupported += 1
                case .faulty: counts.faulty += 1
                case nil, .opaque: Issue.record("an operation without a verdict")
                }
            }
            var endless = story
            endless.ends = [:]
            let without = endless.judged()
            for member in story.ends.keys where without.standing(of: member) != nil {
                if authority.standing(of: member) == nil { lapsed += 1 } else { holding += 1 }
            }
            for end in authority.membershipEnds {
                guard case .remove(let member, _, _)? = story[end]?.change?.action else { continue }
                let seat = authority.standing(of: member)?.seat
                if let seat, authority.isAncestor(end, of: seat) { counts.returned += 1 }
            }
        }
        #expect(lapsed > 10 && holding > 5, "\(lapsed), \(holding)")
        #expect(counts.valid > 300 && counts.faulty > 200)
        #expect(counts.revoked > 30 && counts.unsupported > 10)
        #expect(counts.returned > 5 && counts.keys > 100, "\(counts)")
    }
}
