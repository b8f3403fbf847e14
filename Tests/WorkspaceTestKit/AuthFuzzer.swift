public import CRDTStore
public import WorkspaceModel

/// Writes random authority documents: four replicas that meet now and then, and forgers who
/// choose any causally closed past and any grant.
public struct AuthFuzzer {
    /// What was written so far.
    public private(set) var history = AuthHistory()
    /// Whether the holder of a device lets others list it as theirs. Without that, what lists
    /// somebody else's device carries no good possession signature.
    public var sharesDevices = true
    /// Where every random choice comes from.
    public var generator: SeededGenerator
    private var replicas = [Set<OperationID>](repeating: [], count: 4)
    private var home: [DeviceID: Int] = [:]
    private var holder: [DeviceID: MemberID] = [:]
    private var members: [MemberID: [DeviceID]] = [:]
    private var memberOrder: [MemberID] = []
    private var deviceOrder: [DeviceID] = []

    /// A workspace of one owner, one admin and two plain members, known to all replicas.
    public init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
        let owner = newMember()
        let devices = [newDevice(of: owner), newDevice(of: owner)]
        let root = history.write(
            by: devices[0], under: nil, knowing: [], .create(member: owner, devices: devices),
            with: &generator)
        for role in [Role.admin, .member, .member] {
            let invite = history.write(
                by: devices[1], under: root.id, knowing: everything,
                .invite(InviteTerms(role: role, uses: 2)), with: &generator)
            let member = newMember()
            history.write(
                by: devices[1], under: root.id, knowing: everything,
                .admit(invite: invite.id, member: member, devices: [newDevice(of: member)]),
                with: &generator)
        }
        for index in replicas.indices { replicas[index] = everything }
    }

    /// All operations written.
    public var everything: Set<OperationID> { Set(history.operations.map(\.id)) }

    /// Takes `count` random steps: a meeting, a forgery (30 of 100) or an honest operation.
    public mutating func run(steps count: Int) {
        for _ in 0..<count {
            let replica = generator.below(replicas.count)
            if generator.oneIn(4) {
                replicas[replica].formUnion(replicas[generator.below(replicas.count)])
            } else if generator.below(100) < 30 {
                let past = anyPast()
                guard let forged = forge(knowing: past, under: anyGrant(in: past)) else { continue }
                replicas[replica].formUnion(history.closure(of: [forged.id]))
            } else {
                writeHonestly(at: replica)
            }
        }
    }

    private mutating func writeHonestly(at replica: Int) {
        let local = deviceOrder.filter { home[$0] == replica }
        guard let device = local.randomElement(using: &generator) else { return }
        let past = replicas[replica]
        let held = history.grants(of: device, in: past)
        guard let grant = held.randomElement(using: &generator) else { return }
        let action = anyAction(by: device, knowing: past)
        let written = history.write(
            by: device, under: grant.id, knowing: past, action,
            isWellBound: isPossessed(action, grant: grant.id), with: &generator)
        replicas[replica].insert(written.id)
    }

    /// A random causally closed set of operations.
    public mutating func anyPast() -> Set<OperationID> {
        let count = 1 + generator.below(3)
        let tips = (0..<count).compactMap { _ in
            history.operations.randomElement(using: &generator)?.id
        }
        return history.closure(of: tips)
    }

    /// A random grant in `past`.
    public mutating func anyGrant(in past: Set<OperationID>) -> AuthOperation? {
        history.operations.filter { past.contains($0.id) && !history.devices(of: $0).isEmpty }
            .randomElement(using: &generator)
    }

    /// A random operation under a grant, by `device` or by any that the grant lists.
    @discardableResult
    public mutating func forge(
        knowing past: Set<OperationID>, under grant: AuthOperation?, by device: DeviceID? = nil,
        _ action: AuthAction? = nil
    ) -> AuthOperation? {
        guard let grant else { return nil }
        let listed = history.devices(of: grant)
        guard let device = device ?? listed.randomElement(using: &generator) else { return nil }
        let action = action ?? anyAction(by: device, knowing: past)
        return history.write(
            by: device, under: grant.id, knowing: past, action,
            isWellBound: isPossessed(action, grant: grant.id), with: &generator)
    }

    /// Whether every device that the action binds would sign that.
    private func isPossessed(_ action: AuthAction, grant: OperationID) -> Bool {
        guard !sharesDevices else { return true }
        switch action {
        case .admit(_, let member, let devices):
            return devices.allSatisfy { holder[$0] == member }
        case .addDevices(let devices):
            return devices.allSatisfy { holder[$0] == history.subject(of: grant) }
        default:
            return true
        }
    }

    /// A member who has not been seen before.
    public mutating func newMember() -> MemberID {
        let member = MemberID(generator.bytes(16))
        members[member] = []
        memberOrder.append(member)
        return member
    }

    /// A device who has not been seen before, at home on a random replica.
    public mutating func newDevice(of member: MemberID) -> DeviceID {
        let device = DeviceID(generator.bytes(32))
        home[device] = generator.below(replicas.count)
        holder[device] = member
        members[member, default: []].append(device)
        deviceOrder.append(device)
        return device
    }

    private mutating func anyAction(
        by device: DeviceID, knowing past: Set<OperationID>
    ) -> AuthAction {
        switch generator.below(20) {
        case 0..<3:
            return anyOffer(in: past)
        case 3..<8:
            return anyInvite(in: past).map { anyAdmission($0.id) } ?? .cutPart
        case 8..<10:
            if generator.oneIn(4), let others = deviceOrder.randomElement(using: &generator) {
                return .addDevices([others])
            }
            let own = memberOrder.first { members[$0]?.contains(device) == true }
            return .addDevices([newDevice(of: own ?? newMember())])
        case 10..<14:
            return anyRoleGrant(knowing: past)
        case 14..<16:
            return .remove(member: anyMember())
        case 16:
            return .removeDevice(deviceOrder.randomElement(using: &generator) ?? device)
        case 17:
            return anyInvite(in: past).map { .revokeInvite($0.id) } ?? .cutPart
        case 18:
            return generator.oneIn(2) ? .leave : .removeDevice(device)
        default:
            return .setWorkspace(mayInvite: InviteRight.allCases.randomElement(using: &generator))
        }
    }

    private mutating func anyOffer(in past: Set<OperationID>) -> AuthAction {
        var terms = InviteTerms(role: anyRole(), uses: UInt64(1 + generator.below(2)))
        guard generator.oneIn(2) else { return .invite(terms) }
        let policies = history.operations.filter { operation in
            guard case .setWorkspace(.members) = operation.action else { return false }
            return past.contains(operation.id)
        }
        terms.policy = policies.randomElement(using: &generator)?.id
        if terms.policy != nil { terms.role = .member }
        return .invite(terms)
    }

    private mutating func anyAdmission(_ invite: OperationID) -> AuthAction {
        let member = generator.oneIn(4) ? anyMember() : newMember()
        var known = members[member] ?? []
        if generator.oneIn(8), let others = deviceOrder.randomElement(using: &generator) {
            known.append(others)
        }
        let devices = known.isEmpty || generator.oneIn(3) ? [newDevice(of: member)] : known
        return .admit(invite: invite, member: member, devices: devices)
    }

    private mutating func anyRoleGrant(knowing past: Set<OperationID>) -> AuthAction {
        let member = anyMember()
        var devices = history.devices(of: member, in: past).shuffled(using: &generator)
        if generator.oneIn(8), let others = deviceOrder.randomElement(using: &generator) {
            devices.append(others)
        }
        if devices.count > 1, generator.oneIn(3) { devices.removeLast() }
        return .grant(
            RoleGrant(
                member: member, devices: devices, role: anyRole(),
                replaces: generator.oneIn(2), dropsOwn: generator.oneIn(4)))
    }

    private mutating func anyInvite(in past: Set<OperationID>) -> AuthOperation? {
        history.operations
            .filter { operation in
                guard case .invite = operation.action else { return false }
                return past.contains(operation.id)
            }
            .randomElement(using: &generator)
    }

    private mutating func anyMember() -> MemberID {
        memberOrder.randomElement(using: &generator) ?? newMember()
    }

    private mutating func anyRole() -> Role {
        Role.allCases.randomElement(using: &generator) ?? .member
    }
}
