import CRDTStore
public import WorkspaceModel

/// The membership rules as they are defined, recursively, with pasts as plain sets.
///
/// Slow, and written without a look at `AuthEvaluator`'s structure: an operation is valid if its
/// form allows it, what it rests on is valid, and no valid revocation that it does not precede
/// hits it, and no stronger operation gives its devices to another. It knows the rules of the
/// reference evaluator (PROTOCOL.md, appendix) and no others: no approval and no expiry, but who
/// may invite under which policy.
public struct AuthDefinition {
    let operations: [OperationID: AuthOperation]
    private let pasts: [OperationID: Set<OperationID>]
    private(set) var lamports: [OperationID: Int] = [:]
    private(set) var visiting: [OperationID]
    private var verdicts: [OperationID: Bool] = [:]
    private var open: Set<OperationID> = []
    /// Decided in the order of writing: form depends on nothing but the past.
    private(set) var wellFormed: Set<OperationID> = []

    /// Whether a verdict was ever asked for while it was being made: the rules would be circular.
    public private(set) var foundCycle = false

    /// The rules over `history`, visited in an order of the generator's choice.
    public init(_ history: AuthHistory, visitingWith generator: inout SeededGenerator) {
        pasts = history.pasts
        operations = Dictionary(uniqueKeysWithValues: history.operations.map { ($0.id, $0) })
        visiting = history.operations.map(\.id).shuffled(using: &generator)
        for operation in history.operations {
            let cited = operation.dependencies + (operation.previous.map { [$0] } ?? [])
            lamports[operation.id] = 1 + (cited.compactMap { lamports[$0] }.max() ?? 0)
        }
        for operation in history.operations where isWellFormed(operation) {
            wellFormed.insert(operation.id)
        }
    }

    /// All valid operations.
    public mutating func validOperations() -> Set<OperationID> {
        Set(visiting.filter { isValid($0) })
    }

    mutating func isValid(_ id: OperationID) -> Bool {
        if let verdict = verdicts[id] { return verdict }
        guard open.insert(id).inserted else {
            foundCycle = true
            return false
        }
        let verdict = decide(id)
        open.remove(id)
        verdicts[id] = verdict
        return verdict
    }

    private mutating func decide(_ id: OperationID) -> Bool {
        guard let operation = operations[id], wellFormed.contains(id) else { return false }
        guard let grant = operation.grant else { return true }
        guard isValid(grant) else { return false }
        if case .admit(let invite, _, _) = operation.action, !isValid(invite) { return false }
        if isOutbid(operation) { return false }
        if case .invite(let terms) = operation.action, !isAllowed(operation, terms) { return false }
        for other in visiting {
            guard let revocation = operations[other], isRevocation(revocation),
                wellFormed.contains(other), hits(revocation, operation),
                !past(other).contains(id), isValid(other)
            else { continue }
            return false
        }
        return true
    }

    // MARK: Devices

    /// Who got these devices by an operation that carries their consent: for each device of a
    /// create, admit or adddev its subject, by what `past` holds.
    private func holders(of device: DeviceID, in past: Set<OperationID>) -> Set<MemberID> {
        var holders: Set<MemberID> = []
        for id in past where wellFormed.contains(id) {
            if let (devices, member) = binding(id), devices.contains(device) {
                holders.insert(member)
            }
        }
        return holders
    }

    private func binding(_ id: OperationID) -> (devices: [DeviceID], member: MemberID)? {
        switch operations[id]?.action {
        case .create(let member, let devices)?, .admit(_, let member, let devices)?:
            return (devices, member)
        case .addDevices(let devices)?:
            return subject(operations[id]?.grant).map { (devices, $0) }
        default:
            return nil
        }
    }

    /// A grant lists devices that are its member's already; a binding none that is another's.
    private func listsOwnDevices(_ operation: AuthOperation) -> Bool {
        let past = past(operation.id)
        if case .grant(let given) = operation.action {
            return given.devices.allSatisfy { holders(of: $0, in: past).contains(given.member) }
        }
        guard let (devices, member) = binding(operation.id) else { return true }
        return devices.allSatisfy { holders(of: $0, in: past).subtracting([member]).isEmpty }
    }

    /// Whether a stronger valid operation, which this one does not know, gives one of the same
    /// devices to somebody else.
    private mutating func isOutbid(_ operation: AuthOperation) -> Bool {
        guard let (devices, member) = binding(operation.id) else { return false }
        for other in visiting where other != operation.id {
            guard let rival = binding(other), let author = operations[other],
                wellFormed.contains(other), rival.member != member,
                !Set(rival.devices).isDisjoint(with: devices), rank(author) < rank(operation),
                isValid(other)
            else { continue }
            return true
        }
        return false
    }

    /// Whether the latest valid policy that the author knew, and that binds him, lets him invite.
    private mutating func isAllowed(_ invite: AuthOperation, _ terms: InviteTerms) -> Bool {
        if let policy = terms.policy, !isValid(policy) { return false }
        guard let role = actingRole(invite), role > 0 else { return true }
        var latest: (lamport: Int, rank: Rank, right: InviteRight)?
        for id in visiting where past(invite.id).contains(id) {
            guard let other = operations[id], case .setWorkspace(let right?) = other.action,
                isWellFormed(other), rank(other) < rank(invite), isValid(id)
            else { continue }
            let claim = (lamports[id] ?? 0, rank(other), right)
            if let known = latest, (known.lamport, known.rank) > (claim.0, claim.1) { continue }
            latest = claim
        }
        switch latest?.right {
        case nil: return true
        case .owner: return false
        case .admins: return terms.policy == nil
        case .members: return role <= 1 || terms.policy != nil
        }
    }

    // MARK: What grants say

    func past(_ id: OperationID?) -> Set<OperationID> { id.flatMap { pasts[$0] } ?? [] }

    func subject(_ grant: OperationID?) -> MemberID? {
        guard let operation = grant.flatMap({ operations[$0] }) else { return nil }
        switch operation.action {
        case .create(let member, _), .admit(_, let member, _): return member
        case .grant(let given): return given.member
        case .addDevices: return subject(operation.grant)
        default: return nil
        }
    }

    func devices(_ grant: OperationID?) -> [DeviceID] {
        switch grant.flatMap({ operations[$0] })?.action {
        case .create(_, let devices), .admit(_, _, let devices), .addDevices(let devices): devices
        case .grant(let given): given.devices
        default: []
        }
    }

    func role(_ grant: OperationID?) -> Int? {
        guard let operation = grant.flatMap({ operations[$0] }) else { return nil }
        switch operation.action {
        case .create: return 0
        case .admit(let invite, _, _): return terms(invite).map { Int($0.role.rawValue) }
        case .grant(let given): return Int(given.role.rawValue)
        case .addDevices: return actingRole(operation)
        default: return nil
        }
    }

    /// One less than the grant gives, where the author knew that he had given up a role, and the
    /// grant did not.
    func actingRole(_ operation: AuthOperation) -> Int? {
        guard let role = role(operation.grant), let own = subject(operation.grant) else {
            return role(operation.grant)
        }
        if let known = memo.roles[operation.id] { return known }
        let hasDropped = past(operation.id).contains { id in
            guard let drop = operations[id], case .grant(let given) = drop.action,
                given.dropsOwn, subject(drop.grant) == own, !past(operation.grant).contains(id)
            else { return false }
            return isWellFormed(drop)
        }
        let acting = hasDropped && role < 2 ? role + 1 : role
        memo.roles[operation.id] = acting
        return acting
    }

    /// Roles that were worked out already: the recursion asks for them again and again.
    private final class Memo { var roles: [OperationID: Int] = [:] }

    private let memo = Memo()

    private func terms(_ invite: OperationID) -> InviteTerms? {
        guard case .invite(let terms) = operations[invite]?.action else { return nil }
        return terms
    }

    // MARK: Ranks

    /// The words of a rank, compared from the first to the last like the design's tuples.
    struct Rank: Comparable {
        var numbers: [Int]
        var grant: OperationID
        var tail: [Int]
        var id: OperationID

        static func < (left: Rank, right: Rank) -> Bool {
            if left.numbers != right.numbers {
                return left.numbers.lexicographicallyPrecedes(right.numbers)
            }
            if left.grant != right.grant { return left.grant < right.grant }
            if left.tail != right.tail { return left.tail.lexicographicallyPrecedes(right.tail) }
            return left.id < right.id
        }
    }

    private func deviceRank(_ operation: AuthOperation) -> Rank {
        let grant = operation.grant ?? .zero
        let index = devices(grant).firstIndex(of: operation.device) ?? -1
        return Rank(
            numbers: [actingRole(operation) ?? -1, lamports[grant] ?? 0], grant: grant,
            tail: [index],
            id: .zero)
    }

    func rank(_ operation: AuthOperation) -> Rank {
        if case .create = operation.action {
            return Rank(numbers: [-1], grant: .zero, tail: [], id: .zero)
        }
        var rank = deviceRank(operation)
        rank.tail.append(lamports[operation.id] ?? 0)
        rank.id = operation.id
        guard case .admit(let invite, _, _) = operation.action, let opening = operations[invite]
        else { return rank }
        var bound = deviceRank(opening)
        bound.tail.append(.max)
        bound.id = operation.id
        return max(rank, bound)
    }

    // MARK: Form

    private func isWellFormed(_ operation: AuthOperation) -> Bool {
        operation.isWellBound && hasAllowedForm(operation) && listsOwnDevices(operation)
    }

    private func hasAllowedForm(_ operation: AuthOperation) -> Bool {
        if case .create = operation.action { return past(operation.id).isEmpty }
        guard let grant = operation.grant, past(operation.id).contains(grant),
            devices(grant).contains(operation.device), let role = actingRole(operation)
        else { return false }
        let own = subject(grant)
        switch operation.action {
        case .invite(let terms):
            guard let policy = terms.policy else {
                return role <= 1 && terms.role.rawValue > role
            }
            guard past(operation.id).contains(policy),
                case .setWorkspace(.members)? = operations[policy]?.action
            else { return false }
            return role == 2 && terms.role == .member
        case .setWorkspace:
            return role <= 1
        case .admit:
            return isWellFormedAdmission(operation, role)
        case .grant(let given):
            let isBelow = given.role.rawValue > role || (role == 0 && given.role == .owner)
            return role <= 1 && given.member != own && isBelow
        case .remove(let member):
            return role <= 1 && member != own
        case .revokeInvite(let invite):
            guard past(operation.id).contains(invite), let opening = operations[invite],
                terms(invite) != nil
            else { return false }
            let isOwn = subject(opening.grant) == own && terms(invite)?.policy != nil
            return (role <= 1 || isOwn) && deviceRank(operation) <= deviceRank(opening)
        case .createDocument, .setDocument, .deleteDocument:
            return role <= 2
        case .leave:
            return role > 0
                || past(operation.id).contains {
                    wellFormed.contains($0) && self.role($0) == 0 && subject($0) != own
                }
        default:
            return true
        }
    }

    private func isWellFormedAdmission(_ operation: AuthOperation, _ role: Int) -> Bool {
        guard case .admit(let invite, let member, let admitted) = operation.action,
            past(operation.id).contains(invite), let terms = terms(invite),
            role <= min(Int(terms.role.rawValue), 2)
        else { return false }
        var wasRemoved = false
        var uses: UInt64 = 0
        for id in past(operation.id) {
            switch operations[id]?.action {
            case .remove(member): wasRemoved = true
            case .removeDevice(let device) where admitted.contains(device): wasRemoved = true
            case .admit(invite, _, _): uses += 1
            default: break
            }
        }
        return !(wasRemoved && role > 1) && uses < terms.uses
    }

    // MARK: Revocations

    func isRevocation(_ operation: AuthOperation) -> Bool {
        switch operation.action {
        case .remove, .removeDevice, .revokeInvite, .leave: true
        case .grant(let given): given.replaces || given.dropsOwn
        default: false
        }
    }

    /// The grant that has to know of a revocation to be exempt: of whoever left, one that somebody
    /// else wrote.
    private func admission(
        _ grant: OperationID?, of revocation: AuthOperation
    ) -> OperationID? {
        guard case .leave = revocation.action, let operation = grant.flatMap({ operations[$0] }),
            case .addDevices = operation.action
        else { return grant }
        return admission(operation.grant, of: revocation)
    }

    private func hits(_ revocation: AuthOperation, _ target: AuthOperation) -> Bool {
        guard target.grant != nil, rank(revocation) < rank(target) else { return false }
        if case .revokeInvite(let closed) = revocation.action {
            guard case .admit(closed, _, _) = target.action else { return false }
            return true
        }
        if case .remove(let member) = revocation.action,
            case .admit(let invite, _, _) = target.action, let opening = operations[invite],
            subject(opening.grant) == member, !past(opening.grant).contains(revocation.id)
        {
            return true
        }
        if past(admission(target.grant, of: revocation)).contains(revocation.id) { return false }
        let whose = subject(target.grant)
        switch revocation.action {
        case .remove(let member):
            return whose == member
        case .removeDevice(let device):
            let mayReach = whose == subject(revocation.grant) || (actingRole(revocation) ?? 9) <= 1
            return target.device == device && mayReach
        case .leave:
            return whose == subject(revocation.grant)
        case .grant(let given):
            if given.replaces, whose == given.member, let own = target.grant,
                past(revocation.id).contains(own)
            {
                return true
            }
            guard given.dropsOwn, whose == subject(revocation.grant),
                !past(target.id).contains(revocation.id)
            else { return false }
            if case .grant(let other) = target.action { return !other.dropsOwn }
            return true
        default:
            return false
        }
    }
}
