import CRDTStore
import WorkspaceModel

/// How this home's membership in a workspace ended, described for people: what, when, by whom, and
/// what to do.
struct OwnEnd {
    /// What ended it.
    enum Cause: String {
        /// The member was removed.
        case removed
        /// This device was revoked; the member may still be in with others.
        case deviceRevoked = "device_revoked"
        /// The member left.
        case left
        /// Something else voided the grant, such as the removal of its author.
        case other
    }

    let cause: Cause
    /// The author's timestamp, milliseconds since 1970.
    let at: Int64
    let operation: OperationID
    let by: PersonObject?
    /// The sentence that states all of this.
    let message: String
    /// What to do.
    let hint: String
}

extension Memberships {
    /// How the local membership ended; `nil` for a member on a device that may act.
    func ownEnd(in workspace: Workspace) -> OwnEnd? {
        guard workspace.standing == .member, home != nil else { return nil }
        if let id = ownRevocation(in: workspace) { return ownEnd(by: id, in: workspace) }
        guard let end = removed(workspace.member, from: workspace) else { return nil }
        return ownEnd(by: end.operation, in: workspace)
    }

    /// The valid revocation of this device; `nil` while the device may act, or if something else
    /// ended it.
    func ownRevocation(in workspace: Workspace) -> OperationID? {
        guard let home, workspace.owner(of: home.device) == workspace.member,
            workspace.judged.evaluator.bestGrant(of: home.device, as: workspace.member) == nil
        else { return nil }
        return workspace.authorityOrder.first { id in
            guard case .removeDevice(home.device, _, _)? = workspace.authority[id]?.payload else {
                return false
            }
            return workspace.judged.evaluator.isValid(id)
        }
    }

    private func ownEnd(by id: OperationID, in workspace: Workspace) -> OwnEnd? {
        guard let record = workspace.authority[id] else { return nil }
        let author = workspace.judged.evaluator.author(of: id)
        let name = NodeError.quoted(workspace.displayName)
        let by =
            author == workspace.member ? nil : author.map { person($0, in: workspace) }
        let whom = by.map { " by \($0.name)" } ?? ""
        let day = UTCMinute.text(record.timestamp.milliseconds)
        let when = " on \(day)"
        let (cause, what, hint): (OwnEnd.Cause, String, String)
        switch record.payload {
        case .remove(let remove) where remove.member == workspace.member:
            (cause, what, hint) = (
                .removed, "you were removed from \(name)\(whom)\(when)", Self.comeBack
            )
        case .removeDevice(home?.device, _, _):
            let doer = by == nil ? " by another device of yours" : whom
            (cause, what, hint) = (
                .deviceRevoked, "this device was revoked in \(name)\(doer)\(when)",
                "wsx-node --home NEW-FOLDER device link LINK, made on another device of yours"
            )
        case .removeDevice(let device, _, _)
        where workspace.judged.evaluator.members(everUsing: device).contains(workspace.member):
            (cause, what, hint) = (
                .other, "the device that linked this one to \(name) was revoked\(whom)\(when)",
                Self.askAgain
            )
        case .leave where by == nil:
            (cause, what, hint) = (.left, "you left \(name)\(when)", Self.comeBack)
        case .revokeInvite:
            (cause, what, hint) = (
                .other, "the invite that let you into \(name) was revoked\(whom)\(when)",
                Self.askAgain
            )
        case .remove, .removeDevice, .leave:
            (cause, what, hint) = (
                .other, "the person who let you into \(name) could no longer do so, since \(day)",
                Self.askAgain
            )
        default:
            (cause, what, hint) = (
                .other,
                "you are no longer a member of \(name), because of an operation\(whom)\(when)",
                "wsx-node why \(PublicID.member(workspace.member))"
            )
        }
        return OwnEnd(
            cause: cause, at: Int64(clamping: record.timestamp.milliseconds), operation: id,
            by: author.map { person($0, in: workspace) }, message: what, hint: hint)
    }

    private static let comeBack =
        "what you have stays readable; to come back, ask for an invite: wsx-node join LINK"
    private static let askAgain =
        "ask for an invite, and ask an admin to approve: wsx-node join LINK"

    /// The ends that others have caused, for `status` and `doctor`. A person who left knows about
    /// it.
    func endWarnings() -> [StatusObject.Warning] {
        workspaces.values.sorted { $0.number < $1.number }.compactMap { workspace in
            guard let end = ownEnd(in: workspace), end.cause != .left else { return nil }
            return .init(
                kind: end.cause == .deviceRevoked ? .deviceRevoked : .workspaceRemoved,
                message: end.message, hint: end.hint)
        }
    }

    /// All ends, including the person's own leaves, for `doctor`.
    func endFindings() -> [FindingObject] {
        workspaces.values.sorted { $0.number < $1.number }.compactMap { workspace in
            guard let end = ownEnd(in: workspace) else { return nil }
            return .init(
                id: "membership", state: end.cause == .left ? "ok" : "warn", message: end.message,
                hint: end.cause == .left ? nil : end.hint)
        }
    }
}
