import CRDTStore
import WorkspaceModel

/// Leaves a workspace, forgets it here, and changes its keys.
extension WorkspaceHandler {
    func leaveWorkspace(_ scope: CallScope) throws(NodeError) -> WorkspaceObject {
        let workspace: Workspace = try core.queries.workspace(scope)
        guard let own = workspace.ownRole else { throw core.membership.notAllowed(in: workspace) }
        try core.channels.refuseOwnerOfChannels(in: workspace)
        if own == .owner {
            // An owner cannot leave: the ownership has to be transferred first, or goes to the
            // successor.
            let others = workspace.members.filter {
                $0.role == .owner && $0.member != workspace.member
            }
            let heir =
                others.min { $0.rank < $1.rank }
                ?? workspace.fields.successor.flatMap { successor in
                    workspace.members.first { $0.member == successor }
                }
            guard let heir, heir.member != workspace.member, heir.role <= .member else {
                throw NodeError(
                    .transferFirst,
                    "you are the only owner of \(NodeError.quoted(workspace.displayName))",
                    hint: others.isEmpty && workspace.members.count == 1
                        ? "to end it: wsx-node workspace delete "
                            + NodeError.shellWord(workspace.displayName)
                        : "first: wsx-node workspace transfer @NAME, or workspace successor @NAME, "
                            + "or workspace delete",
                    reason: "workspace.owner")
            }
            try refuseWeakTransfer(of: workspace)
            try core.membership.refuseWithoutDevice(heir, in: workspace)
            let given = try stored { () throws(StorageError) in
                try passOn(workspace, to: heir)
            }
            guard given != nil else { throw core.membership.notAllowed(in: workspace) }
        }
        let made = try stored { () throws(StorageError) -> OperationID? in
            // Nobody else could end an owner's invites.
            try core.membership.endOwnInvites(
                in: workspace, sparesAddress: workspace.ownRole != .owner)
            return try core.membership.leave(workspace)
        }
        guard made != nil else { throw core.membership.notAllowed(in: workspace) }
        return try stored { () throws(StorageError) in try core.queries.object(of: workspace) }
    }

    func changeWorkspaceKey(
        withDiscovery: Bool, _ scope: CallScope
    ) throws(NodeError) -> WorkspaceObject {
        let workspace: Workspace = try core.queries.workspace(scope)
        let made = try stored { () throws(StorageError) in
            try core.keys.changeKey(of: workspace, withDiscovery: withDiscovery)
        }
        guard made != nil else { throw core.membership.notAllowed(in: workspace) }
        return try stored { () throws(StorageError) in try core.queries.object(of: workspace) }
    }

    func forgetWorkspace(
        _ reference: WorkspaceReference, isForced: Bool, _ scope: CallScope
    ) throws(NodeError) -> WorkspaceObject {
        let object = try core.integrity.forgetWorkspace(reference, isForced: isForced, scope)
        try stored { () throws(StorageError) in
            for workspace in workspaces.values where PublicID.workspace(workspace.id) == object.id {
                try core.enrolment.forgetJoins(into: workspace.id)
            }
        }
        return object
    }

    func workspaces(having things: [NamedThing]) throws(NodeError) -> [String] {
        try core.queries.workspaces(having: things)
    }
}
