import CRDTStore
import WorkspaceModel

/// What ended the memberships of somebody, apart from what answered that person's requests to come
/// back (PROTOCOL.md, 5.6).
///
/// A rejection is a removal, too. It ends nothing: its subject was out already, and had asked. A
/// request that named it would be another request, and no answer would be the last.
struct FormerMembership {
    /// Valid removals and departures that ended a membership, by depth and id.
    private(set) var ends: [OperationID] = []
    /// Valid removals that rejected a request of somebody who was out, by depth and id.
    private(set) var rejections: [OperationID] = []

    /// A function of the authority document alone.
    init(of member: MemberID, in workspace: Workspace) {
        let evaluator = workspace.judged.evaluator
        let all = (workspace.memberEnds[member] ?? []).sorted {
            (evaluator.lamport(of: $0) ?? 0, $0) < (evaluator.lamport(of: $1) ?? 0, $1)
        }
        let asked = workspace.invites.requestsByMember[member] ?? []
        guard !asked.isEmpty else {
            ends = all
            return
        }
        let entrances = Self.entrances(of: member, in: workspace)
        // Whatever an end knows has a smaller depth, and was looked at before.
        for end in all {
            if isRejection(end, of: asked, after: entrances, in: workspace) {
                rejections.append(end)
            } else {
                ends.append(end)
            }
        }
    }

    /// Whether an end knew of a request that nobody had granted, by a person who was out.
    private func isRejection(
        _ end: OperationID, of asked: [OperationID], after entrances: [OperationID],
        in workspace: Workspace
    ) -> Bool {
        guard case .remove? = workspace.authority[end]?.payload else { return false }
        let evaluator = workspace.judged.evaluator
        let known = entrances.filter { evaluator.isAncestor($0, of: end) }
        let isOpen = asked.contains { request in
            evaluator.isAncestor(request, of: end)
                && !known.contains { evaluator.isAncestor(request, of: $0) }
        }
        guard isOpen else { return false }
        return known.isEmpty
            || ends.contains { earlier in
                evaluator.isAncestor(earlier, of: end)
                    && !known.contains { evaluator.isAncestor(earlier, of: $0) }
            }
    }

    /// The valid operations that let a member in, or gave the member a role.
    static func entrances(of member: MemberID, in workspace: Workspace) -> [OperationID] {
        let granted = workspace.invites.grants[member] ?? []
        // Most who ask were never in, and the list of everybody may be long.
        guard workspace.judged.evaluator.isAdmitted(member) else { return granted }
        let admitted = workspace.authority.entrances.filter { id in
            switch workspace.authority[id]?.payload {
            case .create(let create)?: create.member == member
            case .admit(let joiner, _, _, _)?:
                joiner.member == member && workspace.judged.evaluator.isValid(id)
            default: false
            }
        }
        return admitted + granted
    }
}
