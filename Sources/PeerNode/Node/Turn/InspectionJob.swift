public import CRDTStore
public import WorkspaceCrypto
import WorkspaceModel

/// Checks a whole store beside the loop: its pages, its operations, and whether all derived data
/// follows from them. For that it builds the derived data again in another database, with the same
/// code that rebuilds it after damage, so everything that is derived is also checked.
public struct InspectionJob: Sendable {
    let home: HomeIdentity
    let time: TurnTime
    /// Whether late messages were settled before. Where nothing is written they are not, and are
    /// not compared.
    let isLateSettled: Bool

    /// Where an inspection reads and writes.
    public struct Places {
        let live: () throws(StorageError) -> Connection
        let copy: (Connection) throws(StorageError) -> Connection
        let fresh: () throws(StorageError) -> Connection
        let random: any RandomSource

        /// - Parameters:
        ///   - live: the store, for reading.
        ///   - copy: the same as of one moment, which nobody writes to.
        ///   - fresh: an empty database.
        ///   - random: nothing that it gives is kept.
        public init(
            live: @escaping () throws(StorageError) -> Connection,
            copy: @escaping (Connection) throws(StorageError) -> Connection,
            fresh: @escaping () throws(StorageError) -> Connection, random: any RandomSource
        ) {
            (self.live, self.copy, self.fresh, self.random) = (live, copy, fresh, random)
        }
    }
}

/// Why a store could not be inspected.
public enum InspectionFailure: Error {
    /// It could not be read.
    case store(StorageError)
    /// All of it could be read, and a file beside it, which the inspection makes, failed.
    case beside(StorageError)
}

/// What an inspection has found.
public struct StoreFindings: Sendable {
    /// Problems of pages and indexes, in SQLite's words. If there are any, nothing else was
    /// checked.
    var pages: [String] = []
    /// Whether the store was in the middle of something, so that nothing can be said.
    var isUnsettled = false
    /// Operations that were computed again.
    var operations: Int64 = 0
    /// Those of them that differ from what was signed.
    var damaged: [StoreCheck.Problem] = []
    /// Places of logs that have no row.
    var lost: Int64 = 0
    /// The result for derived data.
    var derived = StoreComparison.Result()

    /// Whether only rebuilding the store repairs it.
    var needsRebuild: Bool { !pages.isEmpty || lost > 0 || derived.count > 0 }
}
