import CRDTStore
import WorkspaceModel

/// Who may come in, who may bring them, and how many files a message may have.
extension InviteDesk {
    func policy(_ scope: CallScope) throws(NodeError) -> PolicyObject {
        object(ofPolicy: try core.queries.workspace(scope) as Workspace)
    }

    func object(ofPolicy workspace: Workspace) -> PolicyObject {
        var object = PolicyObject(
            workspace: PublicID.workspace(workspace.id), mayInvite: workspace.fields.mayInvite.word,
            join: workspace.fields.join.word, address: core.links.address(of: workspace))
        object.attachments = Int64(workspace.fields.attachments)
        return object
    }

    /// Sets what is given. The address follows the policy: old ones end, a missing one is made.
    func setPolicy(_ edit: PolicyEdit, _ scope: CallScope) throws(NodeError) -> PolicyObject {
        let workspace: Workspace = try core.queries.workspace(scope)
        guard edit.whoMayInvite != nil || edit.join != nil || edit.attachments != nil else {
            throw NodeError(
                .badRequest, "nothing to set", hint: "give who_may_invite, join or attachments",
                reason: "missing_parameter",
                fields: ["who_may_invite", "join", "attachments"].map {
                    .init(name: $0, reason: "missing")
                })
        }
        guard let own = workspace.ownRole, own <= .admin else {
            throw core.membership.notAllowed(in: workspace)
        }
        let fields = workspace.fields
        let right = edit.whoMayInvite.flatMap(InviteRight.init(word:)) ?? fields.mayInvite
        let rule = edit.join.flatMap(JoinRule.init(word:)) ?? fields.join
        var outdated: [OperationID] = []
        if edit.whoMayInvite != nil || edit.join != nil {
            try refuseOpening(to: right, by: own, in: workspace)
            outdated = outdatedAddresses(under: rule, in: workspace)
        }
        guard outdated.allSatisfy({ core.membership.mayRevoke($0, in: workspace) }) else {
            throw .forbidden(
                "the address was made by someone with a stronger role", reason: "role",
                hint: "ask the owner to change the policy")
        }
        var settings = AuthorityPayload.WorkspaceSettings()
        if fields.mayInvite != right || fields.join != rule {
            settings.whoMayInvite = right.rawValue
            settings.join = rule.rawValue
        }
        if let count = edit.attachments, count != Int64(fields.attachments) {
            settings.attachments = UInt64(clamping: count)
        }
        let isDone = try stored { () throws(StorageError) in
            // Of who comes in nothing was said, so no address is looked after either.
            let isOpening = edit.whoMayInvite != nil || edit.join != nil
            return try change(workspace, settings, isOpening ? rule : .closed, outdated)
        }
        guard isDone else { throw core.membership.notAllowed(in: workspace) }
        return object(ofPolicy: workspace)
    }

    private func refuseOpening(
        to right: InviteRight, by own: Role, in workspace: Workspace
    ) throws(NodeError) {
        guard own == .owner || (right != .owner && workspace.fields.mayInvite != .owner) else {
            // An address is an invite; and what an owner keeps for himself only he gives away.
            throw .forbidden(
                "only the owner of \(NodeError.quoted(workspace.displayName)) may change this",
                reason: "policy", hint: "wsx-node policy show")
        }
    }

    private func outdatedAddresses(under rule: JoinRule, in workspace: Workspace) -> [OperationID] {
        core.links.addresses(of: workspace).filter { id in
            guard case .invite(let invite)? = workspace.authority[id]?.payload else { return false }
            return rule != (invite.approve ? .request : .open)
        }
    }

    private func change(
        _ workspace: Workspace, _ settings: AuthorityPayload.WorkspaceSettings, _ rule: JoinRule,
        _ outdated: [OperationID]
    ) throws(StorageError) -> Bool {
        if settings != AuthorityPayload.WorkspaceSettings() {
            let payload = AuthorityPayload.setWorkspace(settings)
            guard try core.log.authorAuthority(in: workspace, { _ in payload }) != nil else {
                return false
            }
        }
        for address in outdated { _ = try core.membership.revoke(address, in: workspace) }
        if rule != .closed, core.links.openAddresses(of: workspace).isEmpty {
            return try core.links.makeAddress(for: rule, in: workspace)
        }
        return true
    }
}
