import CRDTStore
import WorkspaceModel

/// Workspaces in which a feature is on that this version does not know (PROTOCOL.md, 4.0.5). What
/// stands behind it is stored and passed on, and counts for nothing here; so nothing is written
/// here either, for its author would not see what it rests on.
extension NodeCore {
    /// Moves what is kept of the authority document after an operation came.
    ///
    /// - Parameter branch: where it lies.
    func rekeepAuthority(
        after operation: OperationID, _ change: AuthChange, on branch: Int64,
        in workspace: Workspace
    ) throws(StorageError) {
        let evaluator = workspace.evaluator
        guard workspace.awaitsLaterVersion == evaluator.awaitsLaterVersion else {
            return try rekeepAuthority(in: workspace)
        }
        let isForLater = workspace.awaitsLaterVersion && evaluator.isOpaque(operation)
        let held = isForLater ? [operation] : change.becameValid
        try rekeepAuthority(
            holding: held, releasing: change.becameInvalid,
            on: held == [operation] ? branch : nil, in: workspace)
    }

    func laterVersionFindings() -> [FindingObject] {
        workspaces.values.filter { $0.standing == .member && $0.awaitsLaterVersion }
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
        guard !awaitsLaterVersion else { return nil }
        return evaluator.contentGrant(of: device, leastRole: leastRole, as: member)
    }
}

extension NodeError {
    /// Somebody has turned something on that this version does not know.
    static func laterVersion(_ workspace: Workspace) -> NodeError {
        NodeError(
            .versionMismatch,
            "\(quoted(workspace.displayName)) uses something that this version of wsx-node does "
                + "not know: you can read there, and not write",
            hint: "install a newer wsx-node", reason: "workspace.version")
    }
}
