import WorkspaceCrypto
import WorkspaceModel

/// Looks at stored operations as if they came from a stranger: id, chain and signature are
/// computed again from the bytes on disk (3-protocol 3.14, I2 and I5).
///
/// The check reads a range of arrival numbers, so that its owner can do it in slices.
public enum StoreCheck {
    /// One operation that is not as it was when it was stored.
    public struct Problem: Sendable, Equatable {
        /// Its arrival number.
        public let arrival: Int64
        /// What is wrong, in a few words.
        public let what: String
    }

    /// Checks the operations with arrival numbers in `range`.
    public static func problems(
        in operations: OperationStore, arrivals range: ClosedRange<Int64>
    ) throws(StorageError) -> [Problem] {
        var problems: [Problem] = []
        for arrival in range {
            guard let stored = try operations.operation(arrival) else { continue }
            if let what = try problem(of: stored, in: operations) {
                problems.append(Problem(arrival: arrival, what: what))
            }
        }
        return problems
    }

    private static func problem(
        of stored: StoredOperation, in operations: OperationStore
    ) throws(StorageError) -> String? {
        let entry = stored.entry
        let previous = try operations.previous(of: stored.place)
        guard (previous == nil) == (stored.place.sequence == 0) else {
            return "the operation before it is missing"
        }
        let isRoot =
            stored.place.sequence == 0 && entry.grant == .zero
            && entry.kind == OperationKind.authority.rawValue
        let header = OperationHeader(
            kind: entry.kind, document: isRoot ? .zero : stored.log.document,
            device: stored.log.device, incarnation: stored.log.incarnation,
            sequence: stored.place.sequence, previous: previous, timestamp: entry.timestamp,
            grant: entry.grant, keyID: entry.keyID, dependencies: entry.dependencies,
            payloadLength: entry.payload.count,
            payloadHash: OperationSigning.hash(ofPayload: entry.payload))
        guard OperationSigning.id(ofHeader: header.encoded) == stored.place.link.id else {
            return "its bytes do not give its id"
        }
        guard stored.isSignatureVerified else { return nil }
        let isGood = OperationSigning.verify(
            entry.signature, of: stored.place.link.id, by: stored.log.device)
        return isGood ? nil : "its signature does not verify any more"
    }
}
