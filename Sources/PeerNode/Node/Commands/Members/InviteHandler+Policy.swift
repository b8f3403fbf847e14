import CRDTStore
import WorkspaceModel

/// Who may join, who may invite, and how many files a message may have.
extension InviteHandler {
    func policy(_ scope: CallScope) throws(NodeError) -> PolicyObject {
        object(ofPolicy: try core.queries.workspace(scope) as Workspace)
    }

    func object(ofPolicy workspace: Workspace) -> PolicyObject {
        var object = PolicyObject(
            workspace: PublicID.workspace(workspace.id), mayInvite: workspace.fields.mayInvite.word,
            mayAttest: workspace.fields.mayAttest.word, join: workspace.fields.join.word,
            address: core.links.address(of: workspace))
        object.attachments = Int64(workspace.fields.attachments)
        return object
    }

    /// Sets the given fields. The address follows the policy: old ones end, a missing one is
    /// created.
    func setPolicy(_ edit: PolicyEdit, _ scope: CallScope) throws(NodeError) -> PolicyObject {
        let workspace: Workspace = try core.queries.workspace(scope)
        let words: [String?] = [edit.whoMayInvite, edit.whoMayAttest, edit.join]
        guard edit.attachments != nil || words.contains(where: { $0 != nil }) else {
            throw NodeError(
                .badRequest, "nothing to set",
                hint: "give who_may_invite, who_may_attest, join or attachments",
                reason: "missing_parameter",
                fields: ["who_may_invite", "who_may_attest", "join", "attachments"].map {
                    .init(name: $0, reason: "missing")
                })
        }
        guard let own = workspace.ownRole, own <= .admin else {
            throw core.membership.notAllowed(in: workspace)
        }
        let change = PolicyChange(edit, from: workspace.fields)
        guard own == .owner || !change.isOwners else {
            throw .forbidden(
                "only the owner of \(NodeError.quoted(workspace.displayName)) may change this",
                reason: "policy", hint: "wsx-node policy show")
        }
        // If the change says nothing about joining, the address is not touched either.
        let outdated =
            change.isEntrance ? outdatedAddresses(under: change.join, in: workspace) : []
        guard outdated.allSatisfy({ core.membership.mayRevoke($0, in: workspace) }) else {
            throw .forbidden(
                "the address was made by someone with a stronger role", reason: "role",
                hint: "ask the owner to change the policy")
        }
        let isDone = try stored { () throws(StorageError) in
            try carryOut(change, in: workspace, outdated)
        }
        guard isDone else { throw core.membership.notAllowed(in: workspace) }
        return object(ofPolicy: workspace)
    }

    private func outdatedAddresses(under rule: JoinRule, in workspace: Workspace) -> [OperationID] {
        core.links.addresses(of: workspace).filter { id in
            guard case .invite(let invite)? = workspace.authority[id]?.payload else { return false }
            return rule != (invite.approve ? .request : .open)
        }
    }

    private func carryOut(
        _ change: PolicyChange, in workspace: Workspace, _ outdated: [OperationID]
    ) throws(StorageError) -> Bool {
        if let settings = change.settings {
            let payload = AuthorityPayload.setWorkspace(settings)
            guard try core.log.authorAuthority(in: workspace, { _ in payload }) != nil else {
                return false
            }
        }
        for address in outdated { _ = try core.membership.revoke(address, in: workspace) }
        if change.isEntrance, change.join != .closed,
            core.links.openAddresses(of: workspace).isEmpty
        {
            return try core.links.makeAddress(for: change.join, in: workspace)
        }
        return true
    }
}
