import CRDTStore
import WorkspaceModel

/// The goals that no recombination may reach, by their numbers in the design: each function
/// describes what is reached, or returns `nil`.
///
/// Judged from the record alone, which knows who holds which secret, and who decided what. G11
/// (bytes, memory) and G13 (keys) are covered only as far as operations decide. G17 is not in the
/// design: nobody gains more than somebody gave.
public struct AttackGoals<Judge: AuthJudge> {
    let record: AttackRecord
    let rules: AuthRuleSet
    let makeJudge: () -> Judge
    /// Everything that was not refused.
    let all: Judge
    /// What three nodes end with that took everything in different orders.
    let nodes: [AttackNode<Judge>]
    let history: AuthHistory
    let byID: [OperationID: AttackWritten]

    /// Gets ready to judge; the orders of arrival follow from the seed.
    public init(_ record: AttackRecord, rules: AuthRuleSet, makeJudge: @escaping () -> Judge) {
        self.record = record
        self.rules = rules
        self.makeJudge = makeJudge
        byID = record.byID
        var history = AuthHistory()
        var all = makeJudge()
        for written in record.written where all.take(written.operation) {
            history.append(written.operation)
        }
        var generator = SeededGenerator(seed: record.seed ^ 0x5eed)
        let closures = history.operations.map { operation in
            let past = history.pasts[operation.id] ?? []
            return history.operations.filter { past.contains($0.id) } + [operation]
        }
        nodes = (0..<3).map { _ in
            var node = AttackNode(makeJudge(), rules: rules)
            // What is void on arrival comes again by comparison, when verdicts have changed (S-3).
            for _ in 0..<3 {
                for closure in closures.shuffled(using: &generator) { node.offer(closure) }
            }
            return node
        }
        self.all = all
        self.history = history
    }

    /// The first goal that is reached, and how.
    public func firstReached(of wanted: Set<String>? = nil) -> (goal: String, how: String)? {
        for (goal, check) in checks where wanted?.contains(goal) ?? true {
            if let how = check() { return (goal, how) }
        }
        return nil
    }

    private var checks: [(String, () -> String?)] {
        [
            ("G1", g1ShowsAsSomebodyElse), ("G2", g2BoundWithoutSignature),
            ("G3", g3OwnersDeviceWeaker), ("G4", g4NoOwner), ("G5", g5BackWithoutAPerson),
            ("G6", g6MembersChangeVerdicts), ("G7", g7HonestWithoutEffect),
            ("G8", g8InviteUsedUp), ("G9", g9NodesDiffer), ("G10", g10LatecomerDiffers),
            ("G11", g11TakesRoom), ("G12", g12AuthorityAboveRole), ("G13", g13KeyFromNowhere),
            ("G14", g14FeatureMatters),
            ("G15", g15StolenDeviceLives), ("G16", g16JoinUsedByAnother),
            ("G17", g17PowerThatNobodyGave),
        ]
    }

    // MARK: What the goals ask

    var judge: Judge { nodes[0].judge }

    func written(_ id: OperationID?) -> AttackWritten? { id.flatMap { byID[$0] } }

    func author(_ operation: AuthOperation) -> MemberID? {
        operation.grant.flatMap { all.subject(ofGrant: $0, device: operation.device) }
    }

    /// The devices that somebody really has: those that they brought, and what those have linked.
    func devices(of person: AttackPerson) -> Set<DeviceID> {
        var devices = Set(person.devices)
        for written in record.written {
            guard case .addDevices(let added) = written.operation.action,
                devices.contains(written.operation.device),
                author(written.operation) == person.member
            else { continue }
            devices.formUnion(added)
        }
        return devices
    }

    func isHonest(_ device: DeviceID) -> Bool {
        !record.secrets.contains(device)
            && record.people.values.contains { $0.isHonest && $0.devices.contains(device) }
    }

    /// The grant to which a chain of adddevs, and of transfers by somebody's own devices, leads.
    func letIn(_ id: OperationID?, by device: DeviceID) -> AuthOperation? {
        guard let operation = written(id)?.operation else { return nil }
        switch operation.action {
        case .addDevices:
            return letIn(operation.grant, by: operation.device)
        case .grant(let words) where !words.devices.contains(device) && words.drops != nil:
            return letIn(operation.grant, by: operation.device)
        default:
            return operation
        }
    }

    func label(_ id: OperationID) -> String {
        record.written.firstIndex { $0.operation.id == id }.map { "#\($0)" } ?? "?"
    }

    // MARK: G1 and G2

    func g1ShowsAsSomebodyElse() -> String? {
        for person in record.people.values where person.isHonest {
            let own = devices(of: person)
            for id in judge.valid {
                guard let operation = history[id], author(operation) == person.member,
                    !own.contains(operation.device)
                else { continue }
                return "\(label(id)) shows as by \(person.name)"
            }
            for device in record.secrets.sorted() where !own.contains(device) {
                guard judge.standing(of: device)?.member == person.member else { continue }
                return "a device of the attackers is in as \(person.name)"
            }
        }
        return nil
    }

    func g2BoundWithoutSignature() -> String? {
        let signatures = AttackSignatures(rules: .current)
        for operation in history.operations {
            guard let written = written(operation.id), let words = written.words,
                written.entries.contains(where: { isHonest($0.pair.device) }),
                !signatures.areSigned(written.entries, words), !isBehind(operation.id)
            else { continue }
            return "\(label(operation.id)) lists a device that has not signed that"
        }
        return nil
    }

    /// Whether it is behind an unknown feature: nothing of it counts (A-6).
    func isBehind(_ id: OperationID) -> Bool {
        history.pasts[id]?.contains {
            if case .feature(isKnown: false)? = history[$0]?.action { true } else { false }
        } ?? false
    }

    func g16JoinUsedByAnother() -> String? {
        var loose = AuthRuleSet.current
        loose.missing = [.a1List, .a1Member, .a1Context, .a1Workspace, .a2]
        let signatures = AttackSignatures(rules: loose)
        for operation in history.operations {
            guard let written = written(operation.id), let words = written.words, words.type == 3,
                written.entries.contains(where: { isHonest($0.pair.device) }),
                !signatures.areSigned(written.entries, words), !isBehind(operation.id)
            else { continue }
            return "\(label(operation.id)) uses what was said to another answerer"
        }
        return nil
    }

    // MARK: Owners

    /// The transfers of honest people that count.
    private var transferred: Bool { record.transfers.contains { judge.isValid($0) } }

    func g3OwnersDeviceWeaker() -> String? {
        guard let owner = record.people["owner"], !transferred, !record.hasOwner else { return nil }
        let standing = judge.standing(of: owner.devices[0])
        guard standing?.member == owner.member, standing?.role == .owner else {
            return "the recovery device acts as \(standing.map { "\($0.role)" } ?? "nobody")"
        }
        return rulesNothing(owner.devices[0]) ? "what the recovery device rules is lost" : nil
    }

    /// Whether what only an owner may write has a fault or no effect, written now.
    private func rulesNothing(_ device: DeviceID) -> Bool {
        let valid = judge.valid
        let covered = valid.reduce(into: Set<OperationID>()) {
            $0.formUnion(history.pasts[$1] ?? [])
        }
        var now = judge(of: history.closure(of: valid))
        let operation = AuthOperation(
            id: OperationID([UInt8](repeating: 0xfe, count: 32)), device: device,
            incarnation: .max, sequence: 0, previous: nil,
            dependencies: valid.subtracting(covered).sorted(),
            grant: history.operations.first?.id, action: .deleteWorkspace)
        return !now.take(operation) || !now.isValid(operation.id)
    }

    func g4NoOwner() -> String? {
        let devices = Set(history.operations.flatMap { history.devices(of: $0) })
        guard !record.hasOwner else { return nil }
        let hasOwner = devices.contains { judge.standing(of: $0)?.role == .owner }
        return hasOwner ? nil : "there is no owner"
    }
}
