import CRDTStore
import WorkspaceModel

/// What a node still knows when the store cannot be read: one unreadable page may be any page. The
/// process keeps running; it reports its state, and answers nothing else.
struct UnreadableStore {
    /// Operations that the store held when it was read last.
    let operations: Int64

    static let message = "the store cannot be read"

    static var warning: StatusObject.Warning {
        .init(kind: .storeUnreadable, message: message, hint: WritingStop.hint)
    }

    static var finding: FindingObject {
        .init(id: "store", state: "fail", message: message, hint: WritingStop.hint)
    }

    static var refusal: NodeError {
        NodeError(
            .storeFailed, "\(message): the disk failed", hint: WritingStop.hint, reason: "store.io")
    }
}
