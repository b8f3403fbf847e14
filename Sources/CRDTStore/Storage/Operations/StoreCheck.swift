import WorkspaceCrypto
public import WorkspaceModel

/// Verifies stored operations as if they came from a stranger: recomputes id, chain and signature
/// from the bytes on disk (3-protocol 3.14, I2 and I5).
///
/// It reads a range of arrival numbers, so that its owner can work in slices.
public enum StoreCheck {
    /// An operation that has changed since it was stored.
    public struct Problem: Sendable, Equatable {
        /// Its arrival number.
        public let arrival: Int64
        /// The branch whose row holds it.
        public let branch: Int64
        /// Its place.
        public let sequence: UInt64
        /// What is wrong, in a few words.
        public let what: String
    }

    /// How an operation's bytes and id disagree.
    public enum Damage: Sendable, Equatable {
        /// The bytes are not those that were signed.
        case contents
        /// The bytes are right; the stored id is wrong, and should be this one.
        case id(OperationID)
    }

    /// Checks the operations with arrival numbers in `range`.
    public static func problems(
        in operations: OperationStore, arrivals range: ClosedRange<Int64>
    ) throws(StorageError) -> [Problem] {
        var problems: [Problem] = []
        for arrival in range {
            guard let stored = try operations.operation(arrival) else { continue }
            if let what = try problem(of: stored, in: operations) {
                problems.append(
                    Problem(
                        arrival: arrival, branch: stored.place.branch,
                        sequence: stored.place.sequence, what: what))
            }
        }
        return problems
    }

    /// The damage of an operation as far as its hash shows, without verifying a signature.
    ///
    /// The stored id of the previous operation must be right: a whole log is checked in order.
    public static func damage(
        of stored: StoredOperation, in operations: OperationStore
    ) throws(StorageError) -> Damage? {
        let found = id(of: stored, after: try operations.previous(of: stored.place))
        guard found != stored.place.link.id else { return nil }
        // The tip's id is stored twice; of other operations the successor names the id.
        if let tip = operations.branch(stored.place.branch),
            tip.tipSequence == stored.place.sequence
        {
            return tip.tip.id == found ? .id(found) : .contents
        }
        guard
            let next = try operations.place(in: stored.place.branch, at: stored.place.sequence + 1),
            let following = try operations.operation(next.arrival)
        else { return .contents }
        return id(of: following, after: found) == next.link.id ? .id(found) : .contents
    }

    private static func problem(
        of stored: StoredOperation, in operations: OperationStore
    ) throws(StorageError) -> String? {
        let previous = try operations.previous(of: stored.place)
        guard (previous == nil) == (stored.place.sequence == 0) else {
            return "the operation before it is missing"
        }
        guard id(of: stored, after: previous) == stored.place.link.id else {
            return "its bytes do not match its id"
        }
        guard stored.isSignatureVerified else { return nil }
        let isGood = OperationSigning.verify(
            stored.entry.signature, of: stored.place.link.id, by: stored.log.device)
        return isGood ? nil : "its signature no longer verifies"
    }

    /// The id computed from an operation's bytes.
    static func id(
        of stored: StoredOperation, after previous: OperationID?
    ) -> OperationID {
        let entry = stored.entry
        let header = OperationHeader(
            kind: entry.kind, document: stored.isRoot ? .zero : stored.log.document,
            device: stored.log.device, incarnation: stored.log.incarnation,
            sequence: stored.place.sequence, previous: previous, timestamp: entry.timestamp,
            grant: entry.grant, keyID: entry.keyID, dependencies: entry.dependencies,
            payloadLength: entry.payloadLength,
            payloadHash: entry.absent?.hash ?? OperationSigning.hash(ofPayload: entry.payload))
        return OperationSigning.id(ofHeader: header.encoded)
    }
}

extension StoredOperation {
    /// Whether its document is its own id, so that its header names none: the root of a workspace
    /// or of a private document.
    public var isRoot: Bool {
        guard place.sequence == 0 else { return false }
        switch OperationKind(rawValue: entry.kind) {
        case .authority: return entry.grant == .zero
        case .privateAuthority: return (try? PrivatePayload(decoding: entry.payload))?.clear != nil
        default: return false
        }
    }
}
