import CRDTStore
import WorkspaceModel
import WorkspaceTestKit

/// Random histories of one member with many devices, some of them found by a thief: they link and
/// revoke each other in any past, while the owner grants roles to the devices it knows of. The
/// phrase is replaced, and an earlier member admits what the old words certify. This is the subject
/// of V-10 to V-12 of PROTOCOL.md. No operation has a fault.
struct FoundDeviceFuzzer {
    private(set) var history = AuthHistory()
    var generator: SeededGenerator
    /// All devices that are bound, except the owner's.
    private(set) var devices: [DeviceID] = []
    private var judge = EvaluatorJudge()
    private let owner: DeviceID
    private let bob: MemberID
    private let eve: DeviceID
    /// Who confirms ends, and by which grant: the owner, an admin, and the phrase if it is an
    /// admin's.
    private var confirming: [(device: DeviceID, grant: OperationID)] = []
    /// The phrase, and those that replaced it.
    private var phrases: [DeviceID] = []
    /// The invite, the grant of Eve, and all that was known before Bob came.
    private var early: (invite: OperationID, grant: OperationID, past: Set<OperationID>)?

    /// An owner, the member Eve, and after her a member with a phrase and a computer.
    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
        owner = DeviceID(generator.bytes(32))
        bob = MemberID(generator.bytes(16))
        eve = DeviceID(generator.bytes(32))
        let root = write(
            by: owner, under: nil, knowing: [],
            .create(member: MemberID(generator.bytes(16)), devices: [owner]))
        let terms = InviteTerms(role: .member, uses: 9)
        guard let root,
            let invite = write(
                by: owner, under: root.id, knowing: everything, .invite(terms)),
            let entry = write(
                by: owner, under: root.id, knowing: everything,
                .admit(
                    invite: invite.id, member: MemberID(generator.bytes(16)), devices: [eve]))
        else { return }
        early = (invite.id, entry.id, everything)
        for _ in 0..<3 {
            write(by: owner, under: root.id, knowing: everything, .setWorkspace(mayInvite: .owner))
        }
        let ann = DeviceID(generator.bytes(32))
        confirming = [(owner, root.id)]
        if let open = write(
            by: owner, under: root.id, knowing: everything, .invite(InviteTerms(role: .admin))),
            let admitted = write(
                by: owner, under: root.id, knowing: everything,
                .admit(invite: open.id, member: MemberID(generator.bytes(16)), devices: [ann]))
        {
            confirming.append((ann, admitted.id))
        }
        devices = [DeviceID(generator.bytes(32)), DeviceID(generator.bytes(32))]
        phrases = [devices[0]]
        write(
            by: owner, under: root.id, knowing: everything,
            .admit(invite: invite.id, member: bob, devices: devices))
    }

    /// Tries `count` times to write something without a fault.
    mutating func run(steps count: Int) {
        for _ in 0..<count {
            switch generator.below(9) {
            case 6 where generator.oneIn(2): replacePhrase()
            case 7 where phrases.count > 1: admitLate()
            case 8: confirmEnd()
            case 0: give()
            case 1: revokeByPhrase()
            case 2 where generator.oneIn(2): linkByTwo()
            default: writeAnything()
            }
        }
    }

    /// Lets each device write under each grant, as if it knew nothing that came after.
    mutating func writeUnderAll() {
        for grant in history.operations {
            guard case .grant(let given) = grant.action else { continue }
            for device in given.devices {
                write(
                    by: device, under: grant.id, knowing: history.closure(of: [grant.id]),
                    .setWorkspace(mayInvite: .owner))
            }
        }
    }

    private mutating func writeAnything() {
        let past = anyPast()
        let known = history.devices(of: bob, in: past)
        guard let device = known.randomElement(using: &generator),
            let grant = history.grants(of: device, in: past).randomElement(using: &generator)
        else { return }
        write(by: device, under: grant.id, knowing: past, anyAction(of: known))
    }

    private mutating func anyAction(of known: [DeviceID]) -> AuthAction {
        switch generator.below(8) {
        case 0..<5:
            // Few, so that often several members have bound one device.
            if devices.count < 6 { devices.append(DeviceID(generator.bytes(32))) }
            return .addDevices([devices.dropFirst(2).randomElement(using: &generator) ?? owner])
        case 5, 6: return .removeDevice(known.randomElement(using: &generator) ?? owner)
        default: return .setWorkspace(mayInvite: .owner)
        }
    }

    /// A phrase hands its place on and revokes itself; the new one often revokes a device at once.
    private mutating func replacePhrase() {
        let past = anyPast()
        guard phrases.count < 4, let phrase = phrases.randomElement(using: &generator),
            let grant = history.grants(of: phrase, in: past).randomElement(using: &generator),
            let added = write(
                by: phrase, under: grant.id, knowing: past,
                .addDevices([DeviceID(generator.bytes(32))]), takesPlace: true),
            let new = history.devices(of: added).first
        else { return }
        phrases.append(new)
        devices.append(new)
        let known = history.closure(of: [added.id])
        let end = write(by: phrase, under: grant.id, knowing: known, .removeDevice(phrase))
        if let end, generator.oneIn(2) { confirm(end.id) }
        guard generator.oneIn(2),
            let found = history.devices(of: bob, in: past).randomElement(using: &generator)
        else { return }
        write(by: new, under: added.id, knowing: known, .removeDevice(found))
    }

    /// Eve admits a phrase once more, as if before Bob came, with a device of his or of anybody's.
    private mutating func admitLate() {
        guard let early, let phrase = phrases.randomElement(using: &generator) else { return }
        let known = history.devices(of: bob, in: everything).filter { $0 != phrase }
        let isNew = generator.oneIn(2)
        let device = isNew ? nil : known.randomElement(using: &generator)
        let second = device ?? DeviceID(generator.bytes(32))
        let admission = write(
            by: eve, under: early.grant, knowing: early.past,
            .admit(invite: early.invite, member: bob, devices: [phrase, second]))
        guard let admission, isNew else { return }
        devices.append(second)
        // Its holder writes under it, often knowing what came later.
        let past = generator.oneIn(2) ? history.closure(of: [admission.id]) : everything
        write(by: second, under: admission.id, knowing: past, anyAction(of: known))
    }

    private mutating func confirmEnd() {
        let ends = history.operations.filter {
            if case .removeDevice = $0.action { true } else { false }
        }
        ends.randomElement(using: &generator).map { confirm($0.id) }
    }

    /// Usually the member who confirms it has heard of nothing else.
    private mutating func confirm(_ end: OperationID) {
        var all = confirming
        if let role = history.operations.last(where: { history.subject(of: $0.id) == bob }),
            let phrase = history.devices(of: role).first
        {
            all.append((phrase, role.id))
        }
        guard let who = all.randomElement(using: &generator) else { return }
        let past = history.closure(of: [end, who.grant])
        write(by: who.device, under: who.grant, knowing: past, .confirm([end]))
    }

    /// Two found devices link the same one, and each is revoked by an operation that does not know
    /// the link.
    private mutating func linkByTwo() {
        let past = anyPast()
        let known = history.devices(of: bob, in: past)
        guard let phrase = devices.first, let linked = devices.last else { return }
        for device in known.dropFirst().shuffled(using: &generator).prefix(2) {
            guard let grant = history.grants(of: device, in: past).first else { continue }
            write(by: device, under: grant.id, knowing: past, .addDevices([linked]))
            guard let entry = history.grants(of: phrase, in: past).first else { continue }
            write(by: phrase, under: entry.id, knowing: past, .removeDevice(device))
        }
    }

    /// The phrase revokes a found device, knowing some of its links and not others.
    private mutating func revokeByPhrase() {
        let links = history.operations.filter { history.subject(of: $0.id) == bob }.map(\.id)
        guard let entry = links.first, let known = links.randomElement(using: &generator),
            let phrase = devices.first
        else { return }
        let past = history.closure(of: [entry, known])
        guard let found = history.devices(of: bob, in: past).randomElement(using: &generator)
        else { return }
        write(by: phrase, under: entry, knowing: past, .removeDevice(found))
    }

    /// A grant that lists devices in the order in which they came, or in any other. The owner often
    /// knows what links them, and no end that came after.
    private mutating func give() {
        let links = history.operations.filter { !history.devices(of: $0).isEmpty }.map(\.id)
        let past = generator.oneIn(3) ? anyPast() : history.closure(of: links)
        let known = history.devices(of: bob, in: past)
        var listed = generator.oneIn(3) ? known.shuffled(using: &generator) : known
        while listed.count > 1, generator.oneIn(3) {
            listed.remove(at: generator.below(listed.count))
        }
        guard let root = history.operations.first?.id, past.contains(root) else { return }
        let role = generator.oneIn(3) ? Role.member : .admin
        write(
            by: owner, under: root, knowing: past,
            .grant(
                RoleGrant(
                    member: bob, devices: listed, role: role, replaces: generator.oneIn(4))))
    }

    private var everything: Set<OperationID> { Set(history.operations.map(\.id)) }

    private mutating func anyPast() -> Set<OperationID> {
        guard !generator.oneIn(4) else { return everything }
        let tips = (0..<1 + generator.below(3)).compactMap { _ in
            history.operations.randomElement(using: &generator)?.id
        }
        return history.closure(of: tips)
    }

    /// - Returns: `nil` if it has a fault, and is not in the history.
    @discardableResult
    private mutating func write(
        by device: DeviceID, under grant: OperationID?, knowing past: Set<OperationID>,
        _ action: AuthAction, takesPlace: Bool = false
    ) -> AuthOperation? {
        var key: KeyID?
        if case .create = action { key = KeyID(generator.bytes(16)) }
        let written = history.write(
            by: device, under: grant, knowing: past, action, introduces: key,
            names: history.operations.first?.introducedKey, takesPlace: takesPlace,
            with: &generator)
        if judge.take(written) { return written }
        history.removeLast()
        return nil
    }
}
