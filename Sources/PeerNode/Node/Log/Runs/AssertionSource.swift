import CRDTStore
import WorkspaceModel

/// The operation behind an assertion that may overwrite others: one about a message, or about
/// following a channel.
struct AssertionSource {
    let document: Int64
    let id: OperationID
    let timestamp: HybridTimestamp
    let arrival: Int64
    let grant: OperationID
    let cited: [OperationID]

    init(_ stored: StoredOperation) {
        document = stored.document
        id = stored.place.link.id
        timestamp = stored.entry.timestamp
        arrival = stored.place.arrival
        grant = stored.entry.grant
        cited = stored.entry.dependencies.map(\.id)
    }

    init(
        document: Int64, id: OperationID, timestamp: HybridTimestamp, arrival: Int64,
        grant: OperationID, cited: [OperationID]
    ) {
        self.document = document
        self.id = id
        self.timestamp = timestamp
        self.arrival = arrival
        self.grant = grant
        self.cited = cited
    }
}
