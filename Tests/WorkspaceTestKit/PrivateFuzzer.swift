import CRDTStore
public import WorkspaceModel

/// Writes random private documents: replicas that sync now and then, and forgers who choose any
/// past and any seat.
public struct PrivateFuzzer {
    /// What was written so far.
    public private(set) var story: PrivateStory
    /// Where every random choice comes from.
    public var generator: SeededGenerator
    private var replicas: [Set<OperationID>]
    private var keys: UInt8 = 1

    /// Everybody who may be in the document.
    public static let names = ["olga", "anna", "adam", "mina", "moritz", "gil"]

    /// A document with an owner, two admins and two members.
    ///
    /// - Parameter hasEnds: whether memberships in the workspace may have ended.
    public init(seed: UInt64, hasEnds: Bool = true) {
        generator = SeededGenerator(seed: seed)
        let subtype: PrivateSubtype = generator.oneIn(12) ? .directMessage : .channel
        let strangers = generator.oneIn(3) ? ["mina", "gil"].prefix(1 + generator.below(2)) : []
        let people = Self.names.filter { !strangers.contains($0) }.map(PrivateStory.member)
        story = PrivateStory(
            by: "olga",
            with: [("anna", .admin), ("adam", .admin), ("mina", .member), ("moritz", .member)],
            subtype, history: generator.oneIn(2) ? .all : .fromJoin, seed: seed &+ 1,
            people: strangers.isEmpty ? nil : Set(people))
        replicas = [Set<OperationID>](repeating: [story.root], count: 4)
        if generator.oneIn(2), hasEnds { endSomeMemberships() }
    }

    /// One or two people were out of the workspace, as the keys' answers name it, one of them perhaps
    /// twice. From when on somebody's grants know of that is up to chance.
    private mutating func endSomeMemberships() {
        for number in 1...3 where !generator.oneIn(3) {
            story.ends[anyMember(), default: []].insert(Self.revocation(number))
        }
    }

    /// The ends that an author's grant may know of.
    private mutating func anyKnownEnds() -> Set<OperationID> {
        guard !story.ends.isEmpty, !generator.oneIn(3) else { return [] }
        let all = story.ends.values.reduce(into: Set<OperationID>()) { $0.formUnion($1) }
        return Set(all.sorted().filter { _ in generator.oneIn(2) })
    }

    /// Takes `count` random steps: a meeting, a forgery or an operation of somebody who knows
    /// what a replica knows.
    public mutating func run(steps count: Int) {
        for _ in 0..<count {
            let replica = generator.below(replicas.count)
            if generator.oneIn(4) {
                replicas[replica].formUnion(replicas[generator.below(replicas.count)])
                continue
            }
            let past = generator.oneIn(5) ? anyPast() : replicas[replica]
            let id = writeAnything(knowing: past)
            replicas[replica].formUnion(story.closure(of: [id]))
        }
    }

    /// Takes `count` steps of people who share all that they know, and write in any past.
    ///
    /// - Parameters:
    ///   - names: who they are.
    ///   - transferring: whether those who were owners may hand on once more what they have handed on.
    /// - Returns: what they wrote.
    @discardableResult
    public mutating func attack(
        by names: [String], steps count: Int, transferring: Bool = true
    ) -> [OperationID] {
        (0..<count).map { _ in
            let past = generator.oneIn(3) ? Set(story.operations.map(\.id)) : anyPast()
            var action = anyAction()
            if !transferring, case .role(_, _, true) = action { action = .delete }
            return write(action, knowing: past, by: names)
        }
    }

    /// Writes what somebody says who knows everything.
    ///
    /// - Parameter seat: what the author names.
    public mutating func write(
        _ name: String, _ action: PrivateAction, under seat: OperationID?
    ) -> OperationID {
        story.write(name, action, under: seat)
    }

    private mutating func anyPast() -> Set<OperationID> {
        let tips = (0..<1 + generator.below(2)).compactMap { _ in
            story.operations.randomElement(using: &generator)?.id
        }
        return story.closure(of: tips)
    }

    private mutating func writeAnything(knowing past: Set<OperationID>) -> OperationID {
        write(anyAction(), knowing: past)
    }

    private mutating func write(
        _ action: PrivateAction, knowing past: Set<OperationID>, by names: [String]? = nil
    ) -> OperationID {
        let name = names?.randomElement(using: &generator) ?? anyAuthor(of: action)
        let heads = story.heads(of: past)
        if generator.oneIn(15) { return story.writeSealed(name, after: heads) }
        let seat = generator.oneIn(6) ? past.sorted().randomElement(using: &generator) : nil
        let sealed: UInt8? = generator.oneIn(25) ? keys : nil
        return story.write(
            name, after: heads, action, under: seat, sealed: sealed,
            isAllowed: !generator.oneIn(15), knowing: anyKnownEnds())
    }

    private mutating func anyName() -> String {
        Self.names.randomElement(using: &generator) ?? "olga"
    }

    /// Most of what only some may do is done by one of them.
    private mutating func anyAuthor(of action: PrivateAction) -> String {
        let leaders = ["olga", "olga", "anna", "adam"]
        switch action {
        case .add, .remove, .role:
            if generator.oneIn(4) { return anyName() }
            return leaders.randomElement(using: &generator) ?? "olga"
        default:
            return anyName()
        }
    }

    private mutating func anyMember() -> MemberID { PrivateStory.member(anyName()) }

    private mutating func newEpoch() -> PrivateEpoch {
        if !generator.oneIn(8) { keys = min(keys + 1, 250) }
        let older = (0..<generator.below(2)).map { _ in UInt8(1 + generator.below(Int(keys))) }
        let answers = (1...3).filter { _ in generator.oneIn(3) }.map { Self.revocation($0) }
        return PrivateStory.epoch(
            keys, older: older, form: generator.oneIn(2) ? .whole : .authority, answers: answers)
    }

    /// One of three revocations of a workspace that keys may answer.
    public static func revocation(_ number: Int) -> OperationID {
        OperationID([UInt8](repeating: UInt8(number), count: 32))
    }

    private mutating func anyAction() -> PrivateAction {
        switch generator.below(12) {
        case 0, 1, 2:
            let members = Set((0...generator.below(3)).map { _ in anyMember() }).sorted()
            let seats = members.map { PrivateSeat($0, anyRole()) }
            let epoch = generator.oneIn(2) ? newEpoch() : nil
            return .add(PrivateAddition(seats: seats, epoch: epoch))
        case 3, 4, 5: return .remove(anyMember(), cuts: [], epoch: newEpoch())
        case 6: return .leave(cuts: [])
        case 7: return .role(anyMember(), anyRole(), drops: false)
        case 8: return .role(anyMember(), .owner, drops: !generator.oneIn(4))
        case 9, 10: return .rekey(newEpoch())
        default:
            if generator.oneIn(4) { return .delete }
            return .set(PrivateSettings(topic: "t", archived: generator.oneIn(2) ? true : nil))
        }
    }

    private mutating func anyRole() -> Role {
        [.admin, .member, .member, .guest, .owner].randomElement(using: &generator) ?? .member
    }
}
