import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// The errors for a member who lacks a right, and the members whom a caller may ask about.
extension Memberships {
    /// Nobody is given a role that no device could use. A recovery phrase alone suffices only for a
    /// member who has no other device.
    ///
    /// - Throws: `forbidden` if no device with which the member is in may be listed.
    func refuseWithoutDevice(
        _ standing: MemberStanding, in workspace: Workspace
    ) throws(NodeError) {
        let phrases = workspace.recoveryDevices
        let listed = listed(standing, in: workspace)
        let isForPhrase = standing.devices.allSatisfy(phrases.contains) && !listed.isEmpty
        guard isForPhrase || !listed.allSatisfy(phrases.contains) else {
            throw noDevice(of: standing.member, in: workspace)
        }
    }

    /// The error for a member whose devices may not be listed.
    func noDevice(of member: MemberID, in workspace: Workspace) -> NodeError {
        let name = NodeError.quoted(workspace.displayName(of: member))
        return .forbidden(
            "no device of \(name) can be given a role: each was revoked with an older one of theirs",
            reason: "device.revoked",
            hint: "remove them, and invite them into a new home: wsx-node member remove @NAME")
    }

    /// The error for a caller without a grant.
    func notAllowed(in workspace: Workspace) -> NodeError {
        if workspace.judged.awaitsLaterVersion { return .laterVersion(workspace) }
        if let error = revokedHere(in: workspace) { return error }
        guard workspace.ownRole != nil else {
            if network.joining.isAwaited(workspace.id) {
                return .forbidden(
                    "your request to come back to \(NodeError.quoted(workspace.displayName)) "
                        + "is waiting for an admin",
                    reason: "workspace.pending",
                    hint: "this continues by itself; wsx-node status shows how it stands")
            }
            let end = ownEnd(in: workspace)
            return .forbidden(
                end?.message
                    ?? "you are no longer a member of \(NodeError.quoted(workspace.displayName))",
                reason: "removed", hint: end?.hint ?? "ask for a new invite")
        }
        guard isInHere(workspace) else { return .inByAnotherDevice(workspace) }
        if workspace.ownRole == .guest {
            let name = NodeError.quoted(workspace.displayName)
            return .forbidden(
                "as a guest of \(name) you can only use private channels you were added to",
                reason: "role",
                hint: "ask an admin to make you a member")
        }
        let role = workspace.ownRole ?? .member
        return .forbidden(
            "your role in \(NodeError.quoted(workspace.displayName)) is \(role.word), "
                + "which does not allow this",
            reason: "role", hint: Self.stronger(than: role))
    }

    /// Whom to ask for what a role does not allow.
    private static func stronger(than role: Role) -> String {
        switch role {
        case .owner: "wsx-node member list"
        case .admin: "ask the owner; 'wsx-node member list' shows who that is"
        case .member, .guest: "ask the owner or an admin; 'wsx-node member list' shows who they are"
        }
    }

    /// Whether this device may act in a workspace. A workspace that this person has left, or was
    /// removed from, can be entered again with a link from a device that is in again.
    func isInHere(_ workspace: Workspace) -> Bool {
        guard workspace.standing == .member, let home else { return false }
        return workspace.members.contains {
            $0.member == workspace.member && $0.devices.contains(home.device)
        }
    }

    /// Only members of the workspace see one another's presence and profiles.
    func requireMember(of workspace: Workspace) throws(NodeError) {
        guard let home, let role = workspace.ownRole, role <= .member,
            workspace.judged.evaluator.contentGrant(
                of: home.device, leastRole: .member, as: workspace.member) != nil
        else { throw notAllowed(in: workspace) }
    }

    /// Whether nothing can be done in a workspace any longer: its owner deleted it, or this person
    /// left.
    func isOver(_ workspace: Workspace) -> Bool {
        if workspace.fields.deletion != nil { return true }
        return workspace.ownRole == nil && ownEnd(in: workspace)?.cause == .left
    }

    /// What a device may do on a link about a workspace.
    func standing(of device: DeviceID, in workspace: Workspace) -> SyncSession.Standing {
        // A removal may only seem valid because of damage.
        if core.log.hasDamagedAuthority(workspace) { return .authorityOnly }
        if workspace.judged.evaluator.contentGrant(of: device, leastRole: .guest) != nil {
            return .full
        }
        return workspace.judged.evaluator.wasLetIn(device) ? .removed : .authorityOnly
    }
}

extension AuthEvaluator {
    /// Whether a grant listed the device that is valid, or would be if no revocation hit it.
    fileprivate func wasLetIn(_ device: DeviceID) -> Bool {
        validOperations.contains { devices(ofGrant: $0).contains(device) }
            || !revocations(ending: device).isEmpty
    }
}
