import CRDTStore
import WorkspaceModel

/// What a node still knows where the disk does not give its store back: one page that cannot be read
/// may be any. It ends nobody's process: who asks how things are is told, and nothing else is.
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
