import CRDTStore
import WorkspaceModel

/// A workspace under attack: an honest owner, admin, members and newcomers on three
/// nodes, and adversaries who keep everything they ever saw, share it, and write anything
/// that a judge accepts.
///
/// The judge decides what is refused and valid; only the world knows who holds which secret, who
/// signed what and who decided what. `AttackGoals` compares the two.
public final class AttackWorld<Judge: AuthJudge> {
    /// What happened so far.
    public internal(set) var record = AttackRecord()
    let rules: AuthRuleSet
    let makeJudge: () -> Judge
    var generator: SeededGenerator
    var history = AuthHistory()
    /// Knows everything that is not refused.
    var probe: Judge
    var nodes: [AttackNode<Judge>] = []
    /// Everything that attackers ever saw.
    var seals: Set<AttackSeal> = []
    var sealOrder: [AttackSeal] = []
    var proofs: [AttackProof] = []
    /// The box key of each device, as its holder made it.
    var boxes: [DeviceID: Int] = [:]
    /// The owner's device that goes on when another was stolen.
    var ruler = DeviceID.zero
    /// The invites whose signing key the attackers have.
    var links: Set<OperationID> = []
    /// The key that signs an invite is known to everyone with its link.
    var clock: UInt64 = 0
    private var count: UInt8 = 0

    /// The world of a seed, when everybody has come in and the ends have been written.
    public init(seed: UInt64, rules: AuthRuleSet, makeJudge: @escaping () -> Judge) {
        self.rules = rules
        self.makeJudge = makeJudge
        generator = SeededGenerator(seed: seed)
        probe = makeJudge()
        record.seed = seed
        nodes = (0..<3).map { _ in AttackNode(makeJudge(), rules: rules) }
        settle()
    }

    /// A new device with its box key.
    func device() -> DeviceID {
        count += 1
        var bytes = generator.bytes(32)
        bytes[0] = count
        bytes[15] = 0
        let device = DeviceID(bytes)
        boxes[device] = Int(count)
        return device
    }

    func pair(_ device: DeviceID) -> AttackPair {
        AttackPair(device: device, box: boxes[device] ?? 0)
    }

    func member(of device: DeviceID) -> MemberID {
        AttackSignatures.member(of: device, salt: AttackSignatures.workspace)
    }

    /// Everything that is published is seen.
    func see(_ entries: [AttackEntry], _ proof: AttackProof? = nil) {
        for seal in entries.compactMap(\.seal) where seals.insert(seal).inserted {
            sealOrder.append(seal)
        }
        if let proof, !proofs.contains(proof) { proofs.append(proof) }
    }

    /// Every device of the list signs it; the first of two is a recovery device, where one may be.
    func signed(_ devices: [DeviceID], _ words: AttackWords) -> [AttackEntry] {
        devices.enumerated().map { index, device in
            if index == 0, devices.count == 2, words.type < 4 {
                return AttackEntry(
                    pair: pair(device),
                    seal: .recovery(device, box: pair(device).box, second: devices[1]))
            }
            return AttackEntry(pair: pair(device), seal: .entry(device, words))
        }
    }

    // MARK: Writing

    /// What an operation is to be.
    struct Draft {
        var author: String
        var device: DeviceID
        var grant: OperationID?
        var past: Set<OperationID>
        var action: AuthAction
        var entries: [AttackEntry] = []
        var proof: AttackProof?
        var isHonest = true
        var promise: String?
        var known: Set<OperationID> = []
        var namesKey = true
    }

    /// Writes a draft.
    ///
    /// - Returns: the operation, or `nil` where it is refused; what is refused is nowhere, but what
    ///   somebody honest wrote stays in the record.
    @discardableResult
    func write(_ draft: Draft) -> AuthOperation? {
        clock += 1
        var new: KeyID?
        var named: KeyID?
        switch draft.action {
        case .create, .rekey, .remove, .removeDevice: new = KeyID(generator.bytes(16))
        case .admit, .addDevices: named = key(for: draft)
        default: break
        }
        let words = words(of: draft)
        let operation = history.write(
            by: draft.device, under: draft.grant, knowing: draft.past, draft.action,
            timestamp: clock, isWellBound: isWellBound(draft, words), introduces: new,
            names: named, with: &generator)
        let isTaken = probe.take(operation)
        guard isTaken || draft.isHonest else {
            history.removeLast()
            return nil
        }
        record.written.append(
            AttackWritten(
                operation: operation, author: draft.author, isHonest: draft.isHonest,
                entries: draft.entries, proof: draft.proof, known: draft.known,
                promise: draft.promise, words: words))
        see(draft.entries, draft.proof)
        if !isTaken { history.removeLast() }
        return isTaken ? operation : nil
    }

    private func key(for draft: Draft) -> KeyID? {
        let known = history.operations.filter { !draft.namesKey || draft.past.contains($0.id) }
        return known.compactMap(\.introducedKey).randomElement(using: &generator)
    }

    // MARK: Signatures

    /// What the entries of a draft have to be signed for; `nil` where it has none.
    func words(of draft: Draft) -> AttackWords? {
        let list = draft.entries.map(\.pair)
        func words(_ type: Int, _ context: OperationID, _ answerer: DeviceID, _ member: MemberID)
            -> AttackWords
        {
            AttackWords(
                type: type, workspace: AttackSignatures.workspace, context: context,
                answerer: answerer, member: member, list: list)
        }
        switch draft.action {
        case .create(let member, _):
            var created = words(1, .zero, .zero, member)
            created.workspace = 0
            return created
        case .request(let invite, let member, _, let end):
            return words(end == nil ? 3 : 4, end ?? invite, draft.device, member)
        case .admit(let invite, let member, _, let request):
            let answerer = request.flatMap { history[$0]?.device } ?? draft.device
            return words(3, invite, answerer, member)
        case .addDevices:
            guard
                let member = draft.grant.flatMap({
                    probe.subject(ofGrant: $0, device: draft.device)
                })
            else { return nil }
            return words(5, .zero, draft.device, member)
        default:
            return nil
        }
    }

    /// and of A-14 the box keys.
    private func isWellBound(_ draft: Draft, _ words: AttackWords?) -> Bool {
        guard let words else {
            if case .addDevices = draft.action { return false }
            return true
        }
        let signatures = AttackSignatures(rules: rules)
        guard signatures.areSigned(draft.entries, words) else { return false }
        switch draft.action {
        case .request(let invite, let member, _, let end):
            if end == nil, !signatures.isNamed(member, after: draft.entries) { return false }
            return isProven(draft, invite, member)
        case .admit(let invite, let member, _, let request):
            guard signatures.isNamed(member, after: draft.entries) else { return false }
            if rules.has(.a14), let asked = request.flatMap({ entries(of: $0) }),
                asked.map(\.pair) != draft.entries.map(\.pair)
            {
                return false
            }
            return isProven(draft, invite, member)
        default:
            return true
        }
    }

    func entries(of id: OperationID) -> [AttackEntry]? {
        record.written.first { $0.operation.id == id }?.entries
    }

    private func isProven(_ draft: Draft, _ invite: OperationID, _ member: MemberID) -> Bool {
        !rules.has(.a4)
            || draft.proof
                == AttackProof(invite: invite, member: member, entries: draft.entries)
    }

    // MARK: Spreading

    /// Brings an operation, with its past, to a node.
    func deliver(_ id: OperationID, to node: Int) {
        let closure = history.closure(of: [id])
        nodes[node].offer(history.operations.filter { closure.contains($0.id) })
    }

    /// Two nodes exchange what they hold.
    func meet(_ one: Int, _ other: Int) {
        let (left, right) = (nodes[one].stored, nodes[other].stored)
        let all = history.operations
        for operation in all where right.contains(operation.id) && !left.contains(operation.id) {
            deliver(operation.id, to: one)
        }
        for operation in all where left.contains(operation.id) && !right.contains(operation.id) {
            deliver(operation.id, to: other)
        }
    }
}
