import CRDTStore
import WorkspaceModel

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

    /// Operations that are held, as far as that can be known.
    var operationCount: Int64 { session.unreadable?.operations ?? turn.store.operations.count }
}
