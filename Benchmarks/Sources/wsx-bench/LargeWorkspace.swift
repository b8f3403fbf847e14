import CRDTStore
import WorkspaceModel

/// The authority document of a large workspace: 1,000 members with two devices each, in 5,000
/// operations of people at 16 places that hear of each other now and then; or another number of
/// members, each with five operations.
struct LargeWorkspace {
    private static let admins = 20
    private static let places = 16

    /// In the order of writing, which is a causal one.
    private(set) var operations: [AuthOperation] = []
    /// Everybody, the owner first, then the admins.
    private(set) var people: [Person] = []
    private var random: Counter
    /// Judged along the way, because it knows what is an ancestor of what.
    private var known = AuthEvaluator()
    /// What each place would cite.
    private var heads = [[OperationID]](repeating: [], count: places)
    private var tips: [DeviceID: AuthOperation] = [:]

    /// Somebody, and what he may use.
    struct Person {
        let member: MemberID
        var devices: [DeviceID]
        /// The grants of the devices, in their order.
        var grants: [OperationID]
        var place: Int
    }

    init(seed: UInt64, members: Int = 1_000) throws {
        random = Counter(state: seed)
        try found()
        try fill(members)
        while operations.count < 5 * members {
            // Somebody's place may not have heard of what is acted on, which is refused.
            do { try live() } catch AuthError.faulty { continue }
        }
    }

    /// The owner and the admins, whom everybody knows.
    private mutating func found() throws {
        var owner = newPerson()
        owner.place = 0
        owner.devices.append(random.device())
        let root = try write(
            by: owner.devices[0], at: 0, under: nil,
            // The first of two is a recovery device, and the other one writes.
            .create(member: owner.member, devices: owner.devices.reversed()))
        owner.grants = [root, root]
        people.append(owner)
        let invite = try write(
            by: owner.devices[0], at: 0, under: root,
            .invite(InviteTerms(role: .admin, uses: UInt64(Self.admins))))
        for _ in 0..<Self.admins { try admit(on: invite, by: 0) }
        for place in heads.indices { heads[place] = heads[0] }
    }

    /// The members, on invites of admins for ten each, and everybody's second device.
    private mutating func fill(_ members: Int) throws {
        var invite = OperationID.zero
        var author = 1
        while people.count < members {
            if (people.count - 1) % 10 == 0 || invite == .zero {
                author = 1 + random.below(Self.admins)
                invite = try write(author, .invite(InviteTerms(role: .member, uses: 10)))
            }
            try admit(on: invite, by: author)
            let last = people.count - 1
            heads[people[last].place] = union(people[last].place, people[author].place)
            if random.below(4) == 0 { meet() }
        }
        for index in people.indices where people[index].devices.count == 1 {
            let device = random.device()
            let grant = try write(index, .addDevices([device]))
            people[index].devices.append(device)
            people[index].grants.append(grant)
            if random.below(8) == 0 { meet() }
        }
    }

    /// What goes on in a full workspace.
    private mutating func live() throws {
        if random.below(8) == 0 { meet() }
        let admin = random.below(Self.admins + 1)
        let other = Self.admins + 1 + random.below(people.count - Self.admins - 1)
        switch random.below(100) {
        case 0..<4:
            try write(admin, .remove(member: people[other].member))
        case 4..<8:
            try write(admin, .removeDevice(people[other].devices[1]))
        case 8..<24:
            let grant = RoleGrant(
                member: people[other].member, devices: [people[other].devices[0]],
                role: random.below(4) == 0 ? .guest : .member, replaces: random.below(4) == 0)
            try write(admin, .grant(grant))
        case 24..<34:
            let invite = try write(admin, .invite(InviteTerms(role: .member)))
            try write(admin, .revokeInvite(invite))
        case 34..<36:
            try write(admin, .rekey)
        case 36..<50:
            try write(other, .createDocument)
        default:
            try write(other, .setDocument)
        }
    }

    // MARK: Writing

    @discardableResult
    private mutating func write(_ author: Int, _ action: AuthAction) throws -> OperationID {
        let person = people[author]
        return try write(
            by: person.devices[0], at: person.place, under: person.grants[0], action)
    }

    @discardableResult
    private mutating func write(
        by device: DeviceID, at place: Int, under grant: OperationID?, _ action: AuthAction
    ) throws -> OperationID {
        let operation = draft(by: device, citing: heads[place], under: grant, action)
        try known.add(operation)
        operations.append(operation)
        tips[device] = operation
        heads[place] = [operation.id]
        return operation.id
    }

    /// One more operation, which is not taken in.
    mutating func draft(
        by device: DeviceID, citing heads: [OperationID], under grant: OperationID?,
        _ action: AuthAction, after previous: AuthOperation? = nil
    ) -> AuthOperation {
        let previous = previous ?? tips[device]
        return AuthOperation(
            id: random.operation(), device: device, incarnation: 1,
            sequence: previous.map { $0.sequence + 1 } ?? 0, previous: previous?.id,
            dependencies: heads.filter { $0 != previous?.id }, grant: grant, action: action)
    }

    private mutating func admit(on invite: OperationID, by author: Int) throws {
        var person = newPerson()
        let grant = try write(
            author, .admit(invite: invite, member: person.member, devices: person.devices))
        person.grants = [grant]
        people.append(person)
    }

    private mutating func newPerson() -> Person {
        Person(
            member: random.member(), devices: [random.device()], grants: [],
            place: random.below(Self.places))
    }

    /// Two places hear all that the other knows.
    private mutating func meet() {
        let (left, right) = (random.below(Self.places), random.below(Self.places))
        let both = union(left, right)
        heads[left] = both
        heads[right] = both
    }

    private func union(_ left: Int, _ right: Int) -> [OperationID] {
        let all = Set(heads[left] + heads[right])
        return all.filter { id in !all.contains { known.isAncestor(id, of: $0) } }.sorted()
    }

    /// Ids that look like hashes: SplitMix64.
    private struct Counter {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9e37_79b9_7f4a_7c15
            var mixed = state
            mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
            mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
            return mixed ^ mixed >> 31
        }

        mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
        mutating func device() -> DeviceID { DeviceID(words: (next(), next(), next(), next())) }
        mutating func operation() -> OperationID {
            OperationID(words: (next(), next(), next(), next()))
        }
        mutating func member() -> MemberID { MemberID(words: (next(), next())) }
    }
}
