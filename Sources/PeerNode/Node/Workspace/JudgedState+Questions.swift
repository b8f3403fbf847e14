import CRDTStore
import WorkspaceModel

/// Queries about verdicts for rooms that write nothing into the authority document. Log, Authority
/// and Enrolment, which judge it or write into it, use the evaluator itself.
extension JudgedState {
    // MARK: Who is who

    /// Who acts under a grant; `nil` where it is unknown or void.
    func subject(ofGrant id: OperationID) -> MemberID? { evaluator.subject(ofGrant: id) }

    /// Whose authority an operation of the authority document uses.
    func author(of id: OperationID) -> MemberID? { evaluator.author(of: id) }

    /// For whom a device is in, the strongest first; of one that is out, whose it was.
    func members(of device: DeviceID) -> [MemberID] { evaluator.members(of: device) }

    /// Whose grants ever listed it, ascending.
    func members(everUsing device: DeviceID) -> [MemberID] {
        evaluator.members(everUsing: device)
    }

    func isBound(_ device: DeviceID, to member: MemberID) -> Bool {
        evaluator.isBound(device, to: member)
    }

    /// The first valid operation that bound a device to a member.
    func binding(of device: DeviceID, to member: MemberID) -> OperationID? {
        evaluator.binding(of: device, to: member)
    }

    /// Every device that is bound to somebody, in or out.
    var boundDevices: [DeviceID] { evaluator.boundDevices }

    /// The member's devices that could undo what this one does.
    func devices(strongerThan device: DeviceID, of member: MemberID) -> [DeviceID] {
        evaluator.devices(strongerThan: device, of: member)
    }

    /// Everybody who has a grant, with those whom `Workspace.members` leaves out because only the phrase
    /// of somebody who left has one.
    var everybody: [MemberStanding] { evaluator.members }

    /// Whether anything admits somebody, valid or not.
    func isAdmitted(_ member: MemberID) -> Bool { evaluator.isAdmitted(member) }

    /// Whether a valid grant ever gave somebody anything.
    func hasLetIn(_ member: MemberID) -> Bool { evaluator.hasLetIn(member) }

    // MARK: Who may

    /// The strongest grant in force under which a device acts, as `member` if one is given.
    func bestGrant(of device: DeviceID, as member: MemberID? = nil) -> OperationID? {
        evaluator.bestGrant(of: device, as: member)
    }

    /// Whether there is such a grant.
    func isIn(_ device: DeviceID, as member: MemberID? = nil) -> Bool {
        bestGrant(of: device, as: member) != nil
    }

    /// In which role a device acts; `nil` where it is out.
    func role(of device: DeviceID) -> Role? {
        bestGrant(of: device).flatMap { evaluator.role(ofGrant: $0, device: device) }
    }

    func role(ofGrant id: OperationID) -> Role? { evaluator.role(ofGrant: id) }

    func devices(ofGrant id: OperationID) -> [DeviceID] { evaluator.devices(ofGrant: id) }

    /// The role that somebody who is out had last.
    func lastRole(of member: MemberID) -> Role? { evaluator.lastRole(of: member) }

    /// Under which grant a device writes content.
    func contentGrant(
        of device: DeviceID, leastRole: Role, as member: MemberID? = nil
    ) -> OperationID? {
        evaluator.contentGrant(of: device, leastRole: leastRole, as: member)
    }

    /// How far the content of a log under a grant counts.
    func contentLimit(grant: OperationID, log: LogName, leastRole: Role) -> ContentLimit {
        evaluator.contentLimit(grant: grant, log: log, leastRole: leastRole)
    }

    /// The same as far as roles decide it; `nil` where the grant gives less.
    func roleLimit(grant: OperationID, log: LogName, leastRole: Role) -> ContentLimit? {
        evaluator.roleLimit(grant: grant, log: log, leastRole: leastRole)
    }

    // MARK: What counts

    func isValid(_ id: OperationID) -> Bool { evaluator.isValid(id) }

    /// Whether it breaks a rule by itself, independent of its author.
    func isFaulty(_ id: OperationID) -> Bool {
        if case .faulty? = evaluator.verdict(on: id) { true } else { false }
    }

    /// Whether an admission by an invite that is written now would be one too many.
    func isUsedUp(_ invite: OperationID) -> Bool { evaluator.isUsedUp(invite) }

    func lamport(of id: OperationID) -> UInt64? { evaluator.lamport(of: id) }

    func isAncestor(_ ancestor: OperationID, of descendant: OperationID) -> Bool {
        evaluator.isAncestor(ancestor, of: descendant)
    }

    /// The valid removals of members and devices, and departures, in the order of arrival.
    var membershipEnds: [OperationID] { evaluator.membershipEnds }

    /// The operation that cuts off the content of a device under a grant.
    func revocation(
        reachingContent grant: OperationID, of device: DeviceID, leastRole: Role
    ) -> OperationID? {
        evaluator.revocation(reachingContent: grant, of: device, leastRole: leastRole)
    }

    func grants(reachedByAny revocations: [OperationID]) -> Set<OperationID> {
        evaluator.grants(reachedByAny: revocations)
    }

    /// Whether each device that an operation lists has signed that it enters there.
    func isWellBound(_ id: OperationID) -> Bool { evaluator.operation(id)?.isWellBound == true }

    // MARK: Public channels

    /// The rights of members in a public channel; `nil` where its creation does not count.
    func ruling(on ledger: ChannelLedger, isDefault: Bool) -> ChannelRuling? {
        evaluator.ruling(on: ledger, isDefault: isDefault)
    }

    /// Who owned and administered a public channel at a time, milliseconds since 1970.
    func roles(
        in ledger: ChannelLedger, until timestamp: UInt64
    ) -> (owner: MemberID, admins: [MemberID])? {
        evaluator.roles(in: ledger, until: timestamp)
    }

    /// The public channels whose creation counts.
    func madeChannels(by creations: some Sequence<OperationID>) -> MadeChannels {
        MadeChannels(creations, in: evaluator)
    }

    /// Takes up that the verdict on a creation is new, or has changed.
    func note(_ creation: OperationID, in made: inout MadeChannels) {
        made.note(creation, in: evaluator)
    }

    // MARK: Work

    /// How many records judging has looked at since the start, for who pays for it.
    var looks: Int { evaluator.looks }

    /// The same operations judged from nothing and in one pass; `nil` where they cannot be.
    func judgedAnew(_ operations: [OperationID]) -> AuthEvaluator? {
        try? AuthEvaluator.evaluateFromScratch(operations.compactMap(evaluator.operation))
    }
}
