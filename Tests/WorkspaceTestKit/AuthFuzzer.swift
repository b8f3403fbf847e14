public import CRDTStore
public import WorkspaceModel

/// Writes random authority documents: four replicas that sync now and then, whose authors cite what
/// is valid there (S-7) and judge before they sign, and forgers who choose any causally closed past
/// and any grant. Operations with a fault are included, and refused by the judges; cited ones are
/// seldom refused.
public struct AuthFuzzer {
    /// What was written so far.
    public internal(set) var history = AuthHistory()
    /// Whether everybody has a phrase and replaces it often, while others give roles and do not know.
    public let replacesPhrases: Bool
    /// Whether the holder of a device lets others list it as theirs.
    public var sharesDevices = true
    /// Where every random choice comes from.
    public var generator: SeededGenerator
    /// What authors ask before they sign.
    public let definition = AuthDefinition()
    var replicas = [Set<OperationID>](repeating: [], count: 4)
    var home: [DeviceID: Int] = [:]
    var holder: [DeviceID: MemberID] = [:]
    var members: [MemberID: [DeviceID]] = [:]
    var memberOrder: [MemberID] = []
    var deviceOrder: [DeviceID] = []
    var signatures: Set<Consent> = []
    private var clock: UInt64 = 0

    /// What the devices of a list have signed: A-1.
    struct Consent: Hashable {
        let context: OperationID
        let answerer: DeviceID
        let member: MemberID
        let devices: [DeviceID]
    }

    /// A workspace of one owner, one admin and two plain members, known to all replicas.
    public init(seed: UInt64, replacesPhrases: Bool = false) {
        self.replacesPhrases = replacesPhrases
        generator = SeededGenerator(seed: seed)
        let owner = newMember()
        let devices = [newDevice(of: owner), newDevice(of: owner)]
        let root = put(
            by: devices[1], under: nil, knowing: [], .create(member: owner, devices: devices))
        for role in [Role.admin, .member, .member] {
            let invite = put(
                by: devices[1], under: root.id, knowing: everything,
                .invite(InviteTerms(role: role, uses: 2)))
            let member = newMember()
            let list = (0..<(replacesPhrases ? 2 : 1)).map { _ in newDevice(of: member) }
            sign(Consent(context: invite.id, answerer: devices[1], member: member, devices: list))
            put(
                by: devices[1], under: root.id, knowing: everything,
                .admit(invite: invite.id, member: member, devices: list, request: nil))
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
                guard let forged = forge(knowing: past, under: anyGrant(in: past)),
                    definition.refusals[forged.id] == nil
                else { continue }
                replicas[replica].formUnion(history.closure(of: [forged.id]))
            } else {
                writeHonestly(at: replica)
            }
        }
    }

    private mutating func writeHonestly(at replica: Int) {
        let local = deviceOrder.filter { home[$0] == replica }
        let valid = definition.validOperations(among: replicas[replica])
        let past = history.closure(of: valid)
        for _ in 0..<4 {
            guard let device = local.randomElement(using: &generator),
                let grant = definition.standing(of: device, among: valid)?.grant
            else { continue }
            let action = anyAction(by: device, under: grant, knowing: past, honestly: true)
            let written = put(by: device, under: grant, knowing: past, action)
            if definition.refusals[written.id] == nil {
                replicas[replica].insert(written.id)
                return
            }
            // What the author's own judge refuses is never signed; some of it tests other judges.
            if !generator.oneIn(4) { history.removeLast() }
        }
    }

    /// A random causally closed set of operations. Now and then one of them is refused.
    public mutating func anyPast() -> Set<OperationID> {
        let isCareless = generator.oneIn(20)
        let good = history.operations.filter { isCareless || definition.refusals[$0.id] == nil }
        let tips = (0..<1 + generator.below(3)).compactMap { _ in
            good.randomElement(using: &generator)?.id
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
        let chosen =
            action ?? anyAction(by: device, under: grant.id, knowing: past, honestly: false)
        return put(by: device, under: grant.id, knowing: past, chosen)
    }

    /// Writes it down, bound as well as the devices in it have signed.
    @discardableResult
    mutating func put(
        by device: DeviceID, under grant: OperationID?, knowing past: Set<OperationID>,
        _ action: AuthAction
    ) -> AuthOperation {
        clock += UInt64(generator.below(3))
        let keys = keys(for: action, knowing: past)
        let takesPlace = takesPlace(action, by: device, under: grant, knowing: past)
        let written = history.write(
            by: device, under: grant, knowing: past, action, timestamp: clock,
            isWellBound: isSigned(action, by: device, under: grant), introduces: keys.new,
            names: keys.named, takesPlace: takesPlace, with: &generator)
        definition.add(written)
        return written
    }

    /// Whether a new device is to be a recovery phrase: often where its author is the first that its
    /// member came in with, or has taken such a place, and else seldom.
    private mutating func takesPlace(
        _ action: AuthAction, by device: DeviceID, under grant: OperationID?,
        knowing past: Set<OperationID>
    ) -> Bool {
        guard case .addDevices = action, let member = history.subject(of: grant, by: device) else {
            return false
        }
        let isFirst = history.devices(of: member, in: past).first == device
        let hasTaken = history.operations.contains {
            $0.takesPlace && past.contains($0.id) && history.devices(of: $0) == [device]
        }
        guard isFirst || hasTaken else { return generator.oneIn(16) }
        return replacesPhrases ? !generator.oneIn(8) : generator.oneIn(2)
    }

    /// A key of an own name for what may introduce one; for what names one, mostly one that was
    /// introduced in its past.
    private mutating func keys(
        for action: AuthAction, knowing past: Set<OperationID>
    ) -> (new: KeyID?, named: KeyID?) {
        switch action {
        case .create, .rekey:
            return (KeyID(generator.bytes(16)), nil)
        case .remove, .removeDevice:
            return (generator.oneIn(2) ? KeyID(generator.bytes(16)) : nil, nil)
        case .admit, .addDevices:
            let known = history.operations.filter { generator.oneIn(20) || past.contains($0.id) }
            return (nil, known.compactMap(\.introducedKey).randomElement(using: &generator))
        default:
            return (nil, nil)
        }
    }

    /// The time of what is written next.
    var now: UInt64 { clock }

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
}
