import WorkspaceCrypto
public import WorkspaceModel

/// Looks at stored operations as if they came from a stranger: id, chain and signature are
/// computed again from the bytes on disk (3-protocol 3.14, I2 and I5).
///
/// The check reads a range of arrival numbers, so that its owner can do it in slices.
public enum StoreCheck {
    /// One operation that is not as it was when it was stored.
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

    /// What an operation's bytes and id disagree about.
    public enum Damage: Sendable, Equatable {
        /// The bytes are not those that were signed.
        case contents
        /// The bytes are; the id beside them is not, and should be this one.
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

    /// What is wrong with an operation as far as its hash says, which costs no signature.
    ///
    /// The id of the one before it must be right: whoever checks a whole log does so in order.
    public static func damage(
        of stored: StoredOperation, in operations: OperationStore
    ) throws(StorageError) -> Damage? {
        let found = id(of: stored, after: try operations.previous(of: stored.place))
        guard found != stored.place.link.id else { return nil }
        // The tip is written down a second time; elsewhere the next operation names this one.
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

    /// The id that the bytes of an operation give.
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
