import CRDTStore
import WorkspaceModel

/// Naming very many concurrent operations: devices that one person has linked concurrently, each in
/// a separate past.
extension Memberships {
    /// Writes operations that only cite others, until the next one can have all of `named` in its
    /// past (PROTOCOL.md, 4.0.4, S-7). Each gathers up to 60 heads, and costs one unit (S-5).
    ///
    /// - Important: call it only when the next one is certain to be written, because these stay.
    func gatherEnds(
        of named: [OperationID], in workspace: Workspace
    ) throws(StorageError) {
        for _ in 0..<Limits.authorityGatheringsMax {
            let missing = workspace.judged.evaluator.beyondCitations(naming: named)
            guard !missing.isEmpty,
                try core.log.authorAuthority(in: workspace, naming: missing, { _ in .cutPart([]) })
                    != nil
            else { return }
        }
    }

    /// Gathers the bindings of devices, and `others`, before an operation names them.
    ///
    /// - Returns: what that operation has to name.
    func gatherBindings(
        of devices: [DeviceID], and others: [OperationID] = [], in workspace: Workspace
    ) throws(StorageError) -> [OperationID] {
        let named = workspace.judged.evaluator.bindings(of: devices) + others
        try gatherEnds(
            of: workspace.judged.evaluator.binding(ofEach: devices) + others, in: workspace)
        return named
    }
}
