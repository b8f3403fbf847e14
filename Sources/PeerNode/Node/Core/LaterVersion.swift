import CRDTStore
import WorkspaceModel

/// Workspaces in which a feature is enabled that this version does not know (PROTOCOL.md, 4.0.5).
/// Operations behind it are stored and relayed but have no effect here. So nothing is written here
/// either, since its author would not see what it depends on; the one exception is to disable the
/// feature again.
extension NodeCore {
    func laterVersionFindings() -> [FindingObject] {
        workspaces.values.filter { $0.standing == .member && $0.judged.awaitsLaterVersion }
            .sorted { $0.number < $1.number }
            .map { workspace in
                let error = NodeError.laterVersion(workspace)
                return .init(
                    id: "version", state: "warn", message: error.message, hint: error.hint)
            }
    }
}

extension Workspace {
    /// The grant under which this home's device writes content; none where only a later version
    /// may write.
    func writingGrant(of device: DeviceID, leastRole: Role) -> OperationID? {
        guard !judged.awaitsLaterVersion else { return nil }
        return judged.contentGrant(of: device, leastRole: leastRole, as: member)
    }
}

extension NodeError {
    /// Somebody has turned something on that this version does not know.
    ///
    /// - Parameters:
    ///   - device: one that is to be revoked, which may have done that.
    ///   - flags: with which that could be; `nil` where it cannot.
    static func laterVersion(
        _ workspace: Workspace, unlessRevoking device: DeviceID? = nil, with flags: String? = nil
    ) -> NodeError {
        var way: String?
        if let device, let flags {
            way =
                ", or, if a thief turned that on: wsx-node device revoke "
                + "\(PublicID.device(device).prefix(14)) \(flags)"
        }
        return NodeError(
            .versionMismatch,
            "\(quoted(workspace.displayName)) uses something that this version of wsx-node does "
                + "not know: you can read there, but not write",
            hint: "install a newer wsx-node" + (way ?? ""), reason: "workspace.version")
    }
}
