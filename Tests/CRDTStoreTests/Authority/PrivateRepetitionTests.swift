import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

/// A private channel in which every change knows all earlier ones.
private struct Chain {
    private var written: [PrivateOperation] = []
    /// The members whom the workspace ever let in; `nil` for everybody.
    var people: [String]?
    /// The last seat that each member got.
    private var seats: [MemberID: OperationID] = [:]

    init() {
        let people: [(String, Role)] = [("olga", .owner), ("anna", .admin), ("mina", .member)]
        let seats = people.map { PrivateSeat(PrivateStory.member($0.0), $0.1) }
            .sorted { $0.member < $1.member }
        write("olga", .root(PrivateRoot(subtype: .channel, seats: seats)))
    }

    var operations: [PrivateOperation] {
        let people = people.map { Set($0.map(PrivateStory.member)) }
        return written.map { operation in
            PrivateOperation(
                id: operation.id, author: operation.author, previous: operation.previous,
                dependencies: operation.dependencies, keyID: operation.keyID,
                change: operation.change, isAllowed: true, people: people)
        }
    }

    var judged: PrivateAuthority {
        PrivateAuthority(
            of: DocumentID(sameBytesAs: operations[0].id), operations.reversed())
    }

    var last: OperationID { written[written.count - 1].id }

    @discardableResult
    mutating func add(_ name: String, by author: String) -> OperationID {
        let seat = PrivateSeat(PrivateStory.member(name), .member)
        return write(author, .add(PrivateAddition(seats: [seat])))
    }

    @discardableResult
    mutating func remove(_ name: String, by author: String) -> OperationID {
        let key = KeyID(words: (UInt64(written.count), 1))
        return write(
            author, .remove(PrivateStory.member(name), cuts: [], epoch: PrivateEpoch(keyID: key)))
    }

    @discardableResult
    mutating func write(_ name: String, _ action: PrivateAction) -> OperationID {
        let author = PrivateStory.member(name)
        let number = UInt64(written.count)
        let previous = written.last { $0.author == author }?.id
        let operation = PrivateOperation(
            id: OperationID(words: (number &* 0x9E37_79B9_7F4A_7C15, number, 0, 0)),
            author: author, previous: previous,
            dependencies: written.last.map(\.id).flatMap { $0 == previous ? nil : [$0] } ?? [],
            keyID: action.epoch?.keyID ?? PrivateStory.key(1),
            change: PrivateChange(action, seat: seats[author]), isAllowed: true)
        written.append(operation)
        switch action {
        case .root(let root): for seat in root.seats { seats[seat.member] = operation.id }
        case .add(let addition): for seat in addition.seats { seats[seat.member] = operation.id }
        default: break
        }
        return operation.id
    }
}

/// PROTOCOL.md, 4.3, "How often": every seat is judged with every end, so neither is unlimited.
struct `Coming and going in a private channel` {
    private static let most = Limits.privateSeatsByOneMax
    private let mina = PrivateStory.member("mina")

    @Test func `ends with the last seat that one member gives another`() {
        var chain = Chain()
        // The owner's root has seated her once.
        for _ in 1..<Self.most {
            chain.remove("mina", by: "olga")
            chain.add("mina", by: "olga")
        }
        #expect(chain.judged.standing(of: mina) != nil)
        let end = chain.remove("mina", by: "olga")
        let late = chain.add("mina", by: "olga")
        let judged = chain.judged
        #expect(judged.isValid(end))
        #expect(judged.verdict(on: late) == .faulty(.repeated))
        #expect(judged.standing(of: mina) == nil)
        // Another member can add her, and the owner can add another member.
        let other = chain.add("mina", by: "anna")
        let gil = chain.add("gil", by: "olga")
        #expect(chain.judged.isValid(other) && chain.judged.isValid(gil))
        #expect(chain.judged.standing(of: mina)?.seat == other)
    }

    @Test func `leaves the seats beside the last as they are`() {
        var chain = Chain()
        for _ in 1..<Limits.privateAdditionsByOneMax { chain.add("mina", by: "olga") }
        let seats = ["gil", "mina"].map { PrivateSeat(PrivateStory.member($0), .member) }
            .sorted { $0.member < $1.member }
        let both = chain.write("olga", .add(PrivateAddition(seats: seats)))
        let judged = chain.judged
        #expect(judged.isValid(both))
        #expect(judged.standing(of: PrivateStory.member("gil"))?.seat == both)
        #expect(judged.standing(of: mina)?.seat != both)
        // The member who removed her may admit her again once.
        chain.remove("mina", by: "anna")
        let again = (0..<2).map { _ in chain.add("mina", by: "olga") }
        #expect(again.map(chain.judged.isValid) == [true, false])
        #expect(chain.judged.verdict(on: chain.last) == .faulty(.repeated))
    }

    @Test func `gives no seat to people whom the workspace never admitted`() {
        var chain = Chain()
        chain.people = ["olga", "anna"]
        let add = chain.add("gil", by: "olga")
        let role = chain.write("anna", .role(PrivateStory.member("gil"), .guest, drops: false))
        var judged = chain.judged
        #expect(judged.members.map(\.member) == ["anna", "olga"].map(PrivateStory.member))
        #expect(!judged.isValid(add) && judged.standing(of: PrivateStory.member("gil")) == nil)
        #expect(judged.isAncestor(add, of: role), "it keeps its place")
        // As soon as the workspace lets her in, it is as if it always had.
        chain.people = ["olga", "anna", "gil", "mina"]
        judged = chain.judged
        #expect(judged.isValid(add) && judged.isValid(role))
        #expect(judged.standing(of: mina)?.seat == chain.operations[0].id)
    }

    /// A member who was out of the workspace comes back without a removal in the channel.
    @Test func `goes on with the memberships in the workspace`() {
        var chain = Chain()
        for _ in 1..<Limits.privateAdditionsByOneMax { chain.add("mina", by: "olga") }
        let late = (0..<3).map { _ in chain.add("mina", by: "olga") }
        let ends = Set((1...2).map { OperationID([UInt8](repeating: $0, count: 32)) })
        let judged = PrivateAuthority(
            of: DocumentID(sameBytesAs: chain.operations[0].id), chain.operations,
            ends: [mina: ends])
        #expect(late.map(judged.isValid) == [true, true, false])
        #expect(late.map(chain.judged.isValid) == [false, false, false])
    }

    @Test func `does not apply to conversations, which always have the same people`() {
        let names = ["anna", "mina"]
        let people: Set = [PrivateStory.member("olga"), PrivateStory.member("anna")]
        let story = PrivateStory(
            with: names.map { ($0, .member) }, .directMessage, people: people)
        #expect(story.judged().members.count == 3)
        func judged(_ count: Int) -> PrivateAuthority {
            PrivateStory(with: (1...count).map { ("n\($0)", .member) }, .directMessage).judged()
        }
        #expect(judged(Limits.directPeopleMax).root != nil)
        #expect(judged(Limits.directPeopleMax + 1).root == nil)
    }

    @Test func `allows no removal without an earlier seat`() {
        var chain = Chain()
        // Both have a seat from the root.
        let removals = (0..<3).map { _ in chain.remove("mina", by: "olga") }
        #expect(removals.map(chain.judged.isValid) == [true, true, false])
        #expect(chain.judged.verdict(on: chain.last) == .faulty(.repeated))
        // Removals by others are counted separately.
        let others = chain.remove("mina", by: "anna")
        #expect(chain.judged.isValid(others))
        chain.add("mina", by: "anna")
        let again = chain.remove("mina", by: "olga")
        #expect(chain.judged.isValid(again) && chain.judged.standing(of: mina) == nil)
    }

    @Test func `allows no second leave of one seat`() {
        var chain = Chain()
        let leaves = (0..<2).map { _ in chain.write("mina", .leave(cuts: [])) }
        #expect(leaves.map { chain.judged.verdict(on: $0) == .faulty(.repeated) } == [false, true])
        chain.add("mina", by: "anna")
        let again = chain.write("mina", .leave(cuts: []))
        #expect(chain.judged.isValid(again) && chain.judged.standing(of: mina) == nil)
    }
}
