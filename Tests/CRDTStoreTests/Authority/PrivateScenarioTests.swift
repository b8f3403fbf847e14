import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

private let member = PrivateStory.member
private let key = PrivateStory.key

extension PrivateAuthority {
    /// The members who are in, by the names of a story.
    func names(_ names: [String]) -> [String: Role] {
        Dictionary(
            uniqueKeysWithValues: names.compactMap { name in
                standing(of: PrivateStory.member(name)).map { (name, $0.role) }
            })
    }
}

struct `A private channel` {
    private static let everybody = ["olga", "anna", "mina", "moritz", "gil"]
    private let start = PrivateStory(
        with: [("anna", .admin), ("mina", .member), ("moritz", .member)])

    @Test func `begins with the members of its root`() {
        let authority = start.judged()
        let expected = ["olga": Role.owner, "anna": .admin, "mina": .member, "moritz": .member]
        #expect(authority.names(Self.everybody) == expected)
        #expect(authority.members.map(\.member) == authority.members.map(\.member).sorted())
        #expect(authority.members.allSatisfy { $0.seat == start.root })
        #expect(authority.heads == [start.root] && authority.lamport(of: start.root) == 1)
        #expect(authority.fields.name == "plans" && authority.fields.topic == "old")
        #expect(authority.root?.subtype == .channel)
        #expect(authority.epochs.map(\.epoch.keyID) == [key(1)])
        #expect(authority.sealingEpoch(answering: [])?.operation == start.root)
    }

    // What every role may do. The strongest first: owner, admin, member, nobody.
    @Test(arguments: [
        (PrivateAction.add(PrivateAddition(seats: [PrivateSeat(member("gil"), .member)])), "oa"),
        (.add(PrivateAddition(seats: [PrivateSeat(member("gil"), .admin)])), "o"),
        (.add(PrivateAddition(seats: [PrivateSeat(member("gil"), .owner)])), ""),
        (.remove(member("moritz"), cuts: [], epoch: PrivateStory.epoch(2)), "oa"),
        (.remove(member("gil"), cuts: [], epoch: PrivateStory.epoch(2)), "oa"),
        (.role(member("moritz"), .guest, drops: false), "oa"),
        (.role(member("moritz"), .admin, drops: false), "o"),
        (.role(member("moritz"), .owner, drops: true), "o"),
        (.role(member("moritz"), .owner, drops: false), ""),
        (.role(member("moritz"), .member, drops: true), ""),
        (.role(member("gil"), .member, drops: false), ""),
        (.set(PrivateSettings(name: "n", topic: "t", description: "d")), "oa"),
        (.set(PrivateSettings(archived: true)), "o"), (.delete, "o"),
        (.rekey(PrivateStory.epoch(2)), "oam"), (.leave(cuts: []), "am"),
        (.root(PrivateRoot(subtype: .channel, seats: [PrivateSeat(member("gil"), .owner)])), ""),
    ])
    func `lets each role do its own`(_ action: PrivateAction, _ roles: String) {
        for (name, letter) in [("olga", "o"), ("anna", "a"), ("mina", "m"), ("gil", "-")] {
            var story = start
            let id = story.write(name, action, under: story.root)
            let isValid = story.judged().isValid(id)
            #expect(isValid == roles.contains(letter), "\(name)")
        }
    }

    @Test(arguments: ["olga", "anna"])
    func `lets nobody serve or remove himself`(_ name: String) {
        for action in [
            PrivateAction.add(PrivateAddition(seats: [PrivateSeat(member(name), .member)])),
            .remove(member(name), cuts: [], epoch: PrivateStory.epoch(2)),
            .role(member(name), .member, drops: false),
        ] {
            var story = start
            let id = story.write(name, action)
            #expect(story.judged().verdict(on: id) == .faulty(.ownSubject))
        }
    }

    @Test func `has no effect under somebody else's seat`() {
        var story = start
        let seat = story.add(["gil"], by: "olga")
        let forged = story.write("mina", .rekey(PrivateStory.epoch(2)), under: seat)
        let early = story.write(
            "gil", after: [story.root], .rekey(PrivateStory.epoch(3)), under: seat)
        let authority = story.judged()
        #expect(authority.verdict(on: forged) == .faulty(.noGrant))
        #expect(authority.verdict(on: early) == .faulty(.noGrant))
        #expect(!authority.introduces(key(2)) && !authority.introduces(key(3)))
    }

    // What makes no document: the author not in it, or not its owner, or an own one of several
    // members.
    @Test(arguments: [
        (PrivateSubtype.channel, [("mina", Role.owner)]),
        (.channel, [("olga", .admin), ("mina", .owner)]), (.directMessage, [("mina", .member)]),
        (.own, [("mina", .member), ("olga", .owner)]),
    ])
    func `needs a root that seats its author`(
        _ subtype: PrivateSubtype, _ seats: [(String, Role)]
    ) {
        let root = PrivateRoot(
            subtype: subtype, seats: seats.map { PrivateSeat(member($0.0), $0.1) })
        let id = OperationID([UInt8](repeating: 1, count: 32))
        let operation = PrivateOperation(
            id: id, author: member("olga"), previous: nil, dependencies: [], keyID: key(1),
            change: PrivateChange(.root(root), seat: nil), isAllowed: true)
        let authority = PrivateAuthority(of: DocumentID(sameBytesAs: id), [operation])
        #expect(authority.root == nil && authority.members.isEmpty && authority.heads.isEmpty)
        #expect(authority.sealingEpoch(answering: []) == nil && authority.verdict(on: id) == nil)
        #expect(authority.fields == PrivateFields() && authority.keys(for: member("olga")).isEmpty)
    }

    @Test func `is nothing without its root`() {
        var story = start
        let id = story.add(["gil"], by: "olga")
        let authority = PrivateAuthority(
            of: story.document, story.operations.filter { $0.id == id })
        #expect(authority.verdict(on: id) == nil && authority.members.isEmpty)
        #expect(PrivateAuthority(of: story.document, []).root == nil)
    }

    @Test func `seats several at once, each by itself`() {
        var story = start
        let both = story.write(
            "anna",
            .add(
                PrivateAddition(
                    seats: [
                        PrivateSeat(member("anna"), .member), PrivateSeat(member("gil"), .member),
                        PrivateSeat(member("olga"), .admin), PrivateSeat(member("tom"), .member),
                    ])))
        let authority = story.judged()
        #expect(authority.isValid(both))
        #expect(authority.names(["gil", "tom", "anna", "olga"]).count == 4)
        #expect(authority.standing(of: member("anna"))?.role == .admin)
        #expect(authority.standing(of: member("gil"))?.seat == both)
        // Members added together are out together when the one who added them had no right to.
        let removal = story.remove("anna", by: "olga", after: [story.root], key: 2)
        let after = story.judged()
        #expect(after.verdict(on: both) == .revoked(by: removal))
        #expect(after.names(["gil", "tom", "anna"]).isEmpty)
    }

    @Test func `is handed on by its owner, who may leave then`() {
        var story = start
        let early = story.write("olga", .leave(cuts: []))
        let transfer = story.write("olga", .role(member("mina"), .owner, drops: true))
        #expect(story.judged().verdict(on: early) == .faulty(.ownSubject))
        #expect(story.judged().names(["olga", "mina"]) == ["olga": .admin, "mina": .owner])
        #expect(story.judged().standing(of: member("olga"))?.seat == transfer)
        let late = story.write("olga", .set(PrivateSettings(archived: true)), under: story.root)
        #expect(story.judged().verdict(on: late) == .revoked(by: transfer))
        let weak = story.write("olga", .set(PrivateSettings(archived: true)), under: transfer)
        #expect(story.judged().verdict(on: weak) == .faulty(.roleTooWeak))
        let leave = story.write("olga", .leave(cuts: []), under: transfer)
        #expect(story.judged().isValid(leave) && story.judged().isValid(transfer))
        #expect(story.judged().ends(of: member("olga")) == [leave])
        #expect(story.judged().standing(of: member("olga")) == nil)
    }

    @Test func `changes roles by replacing them`() {
        var story = start
        let up = story.write("olga", .role(member("mina"), .admin, drops: false))
        let byAdmin = story.add(["gil"], by: "mina")
        #expect(story.judged().isValid(byAdmin))
        #expect(story.judged().standing(of: member("mina"))?.seat == up)
        let down = story.write("olga", .role(member("mina"), .member, drops: false))
        // The old role no longer acts, whichever seat is named.
        let old = story.write("mina", after: [down], .delete, under: up)
        let older = story.add(["tom"], by: "mina", after: [byAdmin])
        let authority = story.judged()
        #expect(authority.standing(of: member("mina"))?.role == .member)
        #expect(!authority.isValid(old) && authority.verdict(on: older) == .revoked(by: down))
        #expect(authority.isValid(byAdmin))
    }

    @Test func `shows the last valid field`() {
        var story = start
        story.write("anna", .set(PrivateSettings(topic: "new")))
        let fork = story.heads
        let one = story.write("anna", after: fork, .set(PrivateSettings(topic: "one")))
        let two = story.write("olga", after: fork, .set(PrivateSettings(name: "", topic: "two")))
        story.write("mina", .set(PrivateSettings(topic: "nobody's")))
        #expect(story.judged().fields.topic == (one > two ? "one" : "two"))
        #expect(story.judged().fields.name == "" && !story.judged().fields.archived)
        story.write("olga", .set(PrivateSettings(archived: true)))
        #expect(story.judged().fields.archived)
        story.write("olga", .set(PrivateSettings(archived: false)))
        #expect(!story.judged().fields.archived && story.judged().fields.deletion == nil)
        let first = story.write("olga", .delete)
        let second = story.write("olga", .delete)
        #expect(story.judged().fields.deletion == min(first, second))
    }

    // The verdict of the workspace comes first.
    @Test func `counts nothing that the workspace does not let stand`() {
        var story = start
        let removal = story.write(
            "olga", .remove(member("mina"), cuts: [], epoch: PrivateStory.epoch(2)),
            isAllowed: false)
        let seat = story.add(["gil"], by: "mina", after: [story.root])
        let later = story.write("olga", .rekey(PrivateStory.epoch(3)))
        let authority = story.judged()
        #expect(authority.verdict(on: removal) == .faulty(.notBound))
        #expect(authority.standing(of: member("mina"))?.role == .member)
        #expect(!authority.introduces(key(2)) && !authority.isValid(seat))
        // It is in the past of what cites it nevertheless.
        #expect(authority.isValid(later) && authority.isAncestor(removal, of: later))
        #expect(authority.sealingEpoch(answering: [])?.epoch.keyID == key(3))
        let operations = story.operations.map { operation in
            PrivateOperation(
                id: operation.id, author: operation.author, previous: operation.previous,
                dependencies: operation.dependencies, keyID: operation.keyID,
                change: operation.change, isAllowed: operation.id != story.root)
        }
        let void = PrivateAuthority(of: story.document, operations)
        #expect(void.members.isEmpty && void.epochs.isEmpty && void.fields == PrivateFields())
    }

    @Test func `is judged again when something is opened`() {
        var story = start
        let sealed = story.writeSealed("olga")
        let later = story.write("mina", .rekey(PrivateStory.epoch(3)))
        let before = story.judged()
        #expect(before.verdict(on: sealed) == .faulty(.unknownKind) && before.isValid(later))
        #expect(before.isAncestor(sealed, of: later) && before.heads == [later])
        let opened = story.operations.map { operation in
            guard operation.id == sealed else { return operation }
            let removal = PrivateAction.remove(
                member("mina"), cuts: [], epoch: PrivateStory.epoch(2))
            return PrivateOperation(
                id: sealed, author: operation.author, previous: operation.previous,
                dependencies: operation.dependencies, keyID: key(2),
                change: PrivateChange(removal, seat: story.root), isAllowed: true)
        }
        let after = PrivateAuthority(of: story.document, opened)
        #expect(after.isValid(sealed) && after.verdict(on: later) == .revoked(by: sealed))
        #expect(after.standing(of: member("mina")) == nil)
    }

    @Test func `introduces no key that it is not sealed under`() {
        var story = start
        let id = story.write("olga", .rekey(PrivateStory.epoch(2)), sealed: 1)
        #expect(story.judged().verdict(on: id) == .faulty(.unknownKind))
        #expect(!story.judged().introduces(key(2)))
    }

    @Test(arguments: [PrivateSubtype.directMessage, .own])
    func `alone ever changes`(_ subtype: PrivateSubtype) {
        let others: [(String, Role)] = subtype == .own ? [] : [("mina", .member)]
        var story = PrivateStory(with: others, subtype)
        let before = story.judged().members
        #expect(before.count == others.count + 1)
        story.add(["gil"], by: "olga")
        story.remove("mina", by: "olga", key: 2)
        story.write("olga", .set(PrivateSettings(name: "n")))
        story.write("olga", .role(member("mina"), .owner, drops: true))
        story.write("mina", .leave(cuts: []))
        story.write("olga", .delete)
        let rekey = story.write("olga", .rekey(PrivateStory.epoch(3)))
        let authority = story.judged()
        #expect(
            authority.members == before
                && authority.validOperations
                    == [story.root, rekey].sorted {
                        (authority.lamport(of: $0) ?? 0) < (authority.lamport(of: $1) ?? 0)
                    }
        )
        #expect(authority.fields.deletion == nil && authority.fields.name == "plans")
        #expect(authority.sealingEpoch(answering: [])?.epoch.keyID == key(3))
    }

    @Test func `holds a crowd`() {
        let crowd = (0..<1_500).map { ("p\($0)", Role.member) }
        var story = PrivateStory(with: crowd)
        var tip = [story.root]
        for number in 0..<60 {
            let id = story.remove("p\(number)", by: "olga", after: tip, key: UInt8(2 + number))
            tip = [id]
        }
        let authority = story.judged()
        #expect(authority.members.count == 1_441)
        #expect(authority.sealingEpoch(answering: [])?.operation == tip[0])
    }
}
