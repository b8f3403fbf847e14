import CRDTStore
import WorkspaceModel

/// A family of content other than messages, such as notes. It handles its own content when it is
/// opened, judged or deleted here, and knows nothing about other content.
protocol ContentFamily: AnyObject {
    /// Folds an operation of a channel, or whether it counts now. Any order gives the same. Called
    /// again when a key, or a payload, has arrived.
    func fold(
        _ content: ContentPayload, _ operation: AssertionSource, isValid: Bool,
        in workspace: Workspace,
        from source: OperationSource) throws(StorageError)
    /// These operations count now, or no longer do. Deleted ones never do.
    func judge(
        _ arrivals: [Int64], isValid: Bool, in workspace: Workspace, _ source: OperationSource
    ) throws(StorageError)
    /// These operations are deleted, some of them perhaps for long.
    func noteDeleted(
        _ arrivals: [Int64], in workspace: Workspace, _ source: OperationSource
    ) throws(StorageError)
    /// These operations are no longer deleted. Whether they count is a separate question.
    func noteRestored(
        _ arrivals: [Int64], in workspace: Workspace, _ source: OperationSource
    ) throws(StorageError)
    /// A register of its own may say something else than before.
    func follow(
        _ register: ViewStore.Annotation.Register, from before: ViewStore.Annotation?,
        in workspace: Workspace, _ source: OperationSource) throws(StorageError)
}
