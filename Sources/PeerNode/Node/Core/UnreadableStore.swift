import CRDTStore
import WorkspaceModel

/// What a node still knows where the disk does not give its store back: one page that cannot be read
/// may be any. It ends nobody's process: who asks how things are is told, and nothing else is.
struct UnreadableStore {
    /// Operations that the store held when it was read last.
    let operations: Int64

    static let message = "the store cannot be read"

    static var warning: StatusObject.Warning {
        .init(kind: "store.unreadable", message: message, hint: WritingStop.hint)
    }

    static var finding: FindingObject {
        .init(id: "store", state: "fail", message: message, hint: WritingStop.hint)
    }

    static var refusal: NodeError {
        NodeError(
            .storeFailed, "\(message): the disk failed", hint: WritingStop.hint, reason: "store.io")
    }
}

extension NodeCore {
    /// A core beside a store that cannot be read, after one that could read it.
    ///
    /// - Throws: where there is no memory for it.
    convenience init(unreadableAfter former: NodeCore, at time: TurnTime) throws(StorageError) {
        self.init(
            former.turn.environment, try NodeStore(Connection()), at: time,
            unreadable: UnreadableStore(operations: former.operationCount))
        let inheritance = former.inheritance
        (session.home, session.lock, session.storeIdentity) = (
            inheritance.home, inheritance.lock, inheritance.storeIdentity
        )
        // There is nothing that could be opened later.
        session.lock.unfolded = nil
        queries.search.generation = inheritance.searchGeneration
    }

    /// Operations that are held, as far as one can know.
    var operationCount: Int64 { session.unreadable?.operations ?? turn.store.operations.count }
}
