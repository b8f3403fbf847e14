import CRDTStore
import SyncProtocol
import WorkspaceModel

/// A membership that others do not know: whoever let this device in had been removed, or shows what
/// nobody else has. Only others can tell, and they say no more than that they serve nothing.
extension NodeCore {
    /// Somebody who is in, as far as is known here, and does not know this device as a member.
    func doubter(of workspace: Workspace) -> MemberID? {
        guard isInHere(workspace) else { return nil }
        for link in network.ordered {
            guard let device = link.peer?.device, let sync = link.syncs[workspace.number],
                let since = sync.unknownSince,
                time.monotonic >= since &+ Limits.unknownMembershipMilliseconds,
                standing(of: device, in: workspace) == .full,
                let member = workspace.owner(of: device)
            else { continue }
            return member
        }
        return nil
    }

    /// What `status` says of such memberships.
    var doubtWarnings: [StatusObject.Warning] {
        workspaces.values.sorted { $0.number < $1.number }.compactMap { workspace in
            guard let member = doubter(of: workspace) else { return nil }
            let error = NodeError.doubted(workspace, by: member)
            return .init(kind: "membership.unknown", message: error.message, hint: error.hint)
        }
    }
}

extension NodeError {
    /// To join once more changes nothing while what the first one who answered said is kept.
    static func doubted(_ workspace: Workspace, by member: MemberID) -> NodeError {
        let (name, person) = (workspace.displayName, workspace.displayName(of: member))
        return .forbidden(
            "\(quoted(person)) does not know you as a member of \(quoted(name)): whoever let you in may "
                + "have been removed",
            reason: "membership.unknown",
            hint: "wsx-node workspace leave, then join again by a link of theirs")
    }
}
