import CRDTStore
import WorkspaceModel
import WorkspaceTestKit

/// Random histories of few people with many devices who hand the workspace to each other, link,
/// revoke and leave, in any past and under any grant: the subject of V-3 to V-5 of PROTOCOL.md,
/// which a fully random history seldom reaches. No operation has a fault.
struct HandoverFuzzer {
    private(set) var history = AuthHistory()
    private var judge = EvaluatorJudge()
    private var generator: SeededGenerator
    private var members: [MemberID] = []

    /// An owner and an admin, each with a phrase, and two members.
    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
        let devices = [newDevice(), newDevice()]
        let root = write(
            by: devices[1], under: nil, knowing: [],
            .create(member: newMember(), devices: devices))
        for role in [Role.admin, .member, .member] {
            letIn(as: role, by: devices[1], under: root?.id, knowing: everything)
        }
    }

    /// Tries `count` times to write something without a fault.
    mutating func run(steps count: Int) {
        for _ in 0..<count {
            let past = anyPast()
            let grants = history.operations.filter {
                past.contains($0.id) && !history.devices(of: $0).isEmpty
            }
            guard let grant = grants.randomElement(using: &generator),
                let device = history.devices(of: grant).randomElement(using: &generator),
                let member = judge.subject(ofGrant: grant.id, device: device)
            else { continue }
            guard !generator.oneIn(12) else {
                letIn(as: .member, by: device, under: grant.id, knowing: past)
                continue
            }
            let action = anyAction(of: member, in: past)
            write(by: device, under: grant.id, knowing: past, action)
        }
    }

    private var everything: Set<OperationID> { Set(history.operations.map(\.id)) }

    private mutating func anyPast() -> Set<OperationID> {
        guard !generator.oneIn(3) else { return everything }
        let tips = (0..<1 + generator.below(3)).compactMap { _ in
            history.operations.randomElement(using: &generator)?.id
        }
        return history.closure(of: tips)
    }

    private mutating func anyAction(of own: MemberID, in past: Set<OperationID>) -> AuthAction {
        let other = members.randomElement(using: &generator) ?? own
        let (ours, theirs) = (some(of: own, in: past), some(of: other, in: past))
        switch generator.below(16) {
        case 0..<4:
            // Occasionally a device that is the member's already.
            return .addDevices([generator.oneIn(4) ? ours.first ?? newDevice() : newDevice()])
        case 4..<8:
            let mixed = generator.oneIn(8) ? theirs : []
            return .grant(
                RoleGrant(
                    member: other, devices: theirs, role: .owner, replaces: generator.oneIn(4),
                    drops: ours + mixed))
        case 8..<11:
            let role = Role.allCases.randomElement(using: &generator) ?? .admin
            return .grant(
                RoleGrant(
                    member: other, devices: theirs, role: role, replaces: !generator.oneIn(3)))
        case 11..<14:
            let device = (generator.oneIn(3) ? theirs : ours).first
            return .removeDevice(device ?? newDevice())
        case 14: return .leave
        default: return .remove(member: other)
        }
    }

    /// Devices of a member in any order, seldom all of them.
    private mutating func some(of member: MemberID, in past: Set<OperationID>) -> [DeviceID] {
        var devices = history.devices(of: member, in: past).shuffled(using: &generator)
        while devices.count > 1, generator.oneIn(3) { devices.removeLast() }
        return devices
    }

    /// A newcomer, with a phrase or without.
    private mutating func letIn(
        as role: Role, by device: DeviceID, under grant: OperationID?,
        knowing past: Set<OperationID>
    ) {
        let terms = InviteTerms(role: role, uses: 2)
        guard let invite = write(by: device, under: grant, knowing: past, .invite(terms)) else {
            return
        }
        let devices = (0..<1 + generator.below(2)).map { _ in newDevice() }
        write(
            by: device, under: grant, knowing: past.union([invite.id]),
            .admit(invite: invite.id, member: newMember(), devices: devices))
    }

    /// - Returns: `nil` if it has a fault, and is not in the history.
    @discardableResult
    private mutating func write(
        by device: DeviceID, under grant: OperationID?, knowing past: Set<OperationID>,
        _ action: AuthAction
    ) -> AuthOperation? {
        var key: KeyID?
        if case .create = action { key = KeyID(generator.bytes(16)) }
        let written = history.write(
            by: device, under: grant, knowing: past, action, introduces: key,
            names: history.operations.first?.introducedKey, with: &generator)
        if judge.take(written) { return written }
        history.removeLast()
        return nil
    }

    private mutating func newDevice() -> DeviceID { DeviceID(generator.bytes(32)) }

    private mutating func newMember() -> MemberID {
        let member = MemberID(generator.bytes(16))
        members.append(member)
        return member
    }
}
