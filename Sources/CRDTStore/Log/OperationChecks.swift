public import WorkspaceCrypto
public import WorkspaceModel

/// An operation whose form, chain and authenticity were checked.
///
/// Only this file can create one, and only a checked operation can be stored: nothing bypasses the
/// checks of form and chain, not even our own operations. Only signatures made here are not
/// verified again.
public struct CheckedOperation: Sendable {
    /// The signed fields, rebuilt from the run and the chain.
    public let header: OperationHeader
    /// Their hash.
    public let id: OperationID
    /// The payload, sealed or plain; empty where it is absent.
    public let payload: [UInt8]
    /// Whether the payload is missing: length and hash in the header are the sender's claims, which
    /// the signature covers.
    public let isPayloadAbsent: Bool
    /// The author's signature, known to be valid only when `isSignatureVerified`.
    public let signature: Signature
    /// Whether this signature was verified, or made, here; otherwise a later one of the run covers
    /// the operation.
    public fileprivate(set) var isSignatureVerified: Bool
    /// What few operations have.
    fileprivate let rare: Rare?

    /// The decoded payload of an authority operation.
    public var authority: AuthorityPayload? { rare?.authority }
    /// The clear part of the root of a private document; `nil` in everything else.
    public var privateRoot: PrivatePayload.Clear? { rare?.privateRoot }

    /// What the next operation of the branch builds on.
    public var link: ChainLink { ChainLink(id: id, timestamp: header.timestamp) }

    /// Apart from the rest: the operations of a history are copied several times on their way into
    /// the store, and hardly one of them has any of this.
    fileprivate final class Rare: Sendable {
        let authority: AuthorityPayload?
        let privateRoot: PrivatePayload.Clear?

        init?(_ authority: AuthorityPayload?, _ privateRoot: PrivatePayload.Clear?) {
            guard authority != nil || privateRoot != nil else { return nil }
            self.authority = authority
            self.privateRoot = privateRoot
        }
    }
}

/// The end of a chain: what the next operation must name and come after.
public struct ChainLink: Hashable, Sendable {
    /// The id to be named as previous.
    public let id: OperationID
    /// The timestamp to be exceeded.
    public let timestamp: HybridTimestamp

    /// The operation `id`, written at `timestamp`.
    public init(id: OperationID, timestamp: HybridTimestamp) {
        self.id = id
        self.timestamp = timestamp
    }
}

/// The checks that every operation passes, including our own (PROTOCOL.md, 2).
public enum OperationChecks {
    /// Checks a run that continues the chain after `previous`, and returns its operations.
    ///
    /// - Parameters:
    ///   - previous: the operation before the first entry, which the run names; `nil` exactly at
    ///     sequence 0.
    ///   - signedHere: this process has just made the signatures; verifying them would cost three
    ///     times as much as making them. Form and chain are checked all the same.
    /// - Throws: the `Rejection` of the first operation that fails; nothing of the run is accepted.
    public static func check(
        _ run: OperationRun, after previous: ChainLink?, signedHere: Bool = false
    ) throws(Rejection) -> [CheckedOperation] {
        var operations = try chained(run, after: previous)
        if signedHere {
            for index in operations.indices { operations[index].isSignatureVerified = true }
        } else {
            try authenticate(&operations)
        }
        return operations
    }

    /// Checks one operation that was just signed here.
    public static func check(
        _ operation: SignedOperation, in document: DocumentID, after previous: ChainLink?
    ) throws(Rejection) -> CheckedOperation {
        let checked = try check(operation.run(in: document), after: previous)
        guard let checked = checked.first else { throw .malformed(Malformed(.truncated, at: 0)) }
        return checked
    }

    /// The ids of the operations of a run, computed from the operation before it. Checks form and
    /// chain, except the timestamp of that operation, which may be missing here. Checks no
    /// signatures, so the author is not established.
    ///
    /// - Cost: one hash for each entry, however many branches the log has.
    public static func identities(of run: OperationRun) throws(Rejection) -> [ChainLink] {
        let previous = run.previous.map { ChainLink(id: $0, timestamp: .zero) }
        return try chained(run, after: previous).map(\.link)
    }

    // MARK: Form and chain

    private static func chained(
        _ run: OperationRun, after previous: ChainLink?
    ) throws(Rejection) -> [CheckedOperation] {
        guard (previous == nil) == (run.firstSequence == 0), previous?.id == run.previous else {
            throw .malformed(Malformed(.inconsistent, at: 0))
        }
        guard run.firstSequence.addingReportingOverflow(UInt64(run.entries.count)).overflow == false
        else { throw .malformed(Malformed(.outOfRange, at: 0)) }
        var operations: [CheckedOperation] = []
        operations.reserveCapacity(run.entries.count)
        var link = previous
        for (offset, entry) in run.entries.enumerated() {
            let operation = try chained(
                entry, at: run.firstSequence + UInt64(offset), of: run.log, after: link)
            operations.append(operation)
            link = operation.link
        }
        return operations
    }

    private static func chained(
        _ entry: OperationRun.Entry, at sequence: UInt64, of log: LogName, after link: ChainLink?
    ) throws(Rejection) -> CheckedOperation {
        try checkForm(entry)
        if let link, entry.timestamp.rawValue <= link.timestamp.rawValue { throw .outOfOrder }
        let privateRoot = try privateRoot(in: entry, at: sequence)
        let isRoot =
            privateRoot != nil
            || sequence == 0 && entry.grant == .zero
                && entry.kind == OperationKind.authority.rawValue
        let header = OperationHeader(
            kind: entry.kind, document: isRoot ? .zero : log.document, device: log.device,
            incarnation: log.incarnation, sequence: sequence, previous: link?.id,
            timestamp: entry.timestamp, grant: entry.grant, keyID: entry.keyID,
            dependencies: entry.dependencies, payloadLength: entry.payloadLength,
            payloadHash: entry.absent?.hash ?? OperationSigning.hash(ofPayload: entry.payload))
        let encoded = header.encoded
        guard encoded.count <= Limits.headerBytesMax else { throw .tooLarge }
        let id = OperationSigning.id(ofHeader: encoded)
        let authority = try authority(in: entry)
        if isRoot {
            guard DocumentID(sameBytesAs: id) == log.document else { throw .wrongRoot }
        }
        if case .create? = authority {
            guard isRoot else { throw .wrongRoot }
        } else if isRoot, privateRoot == nil {
            throw .wrongRoot
        }
        return CheckedOperation(
            header: header, id: id, payload: entry.payload,
            isPayloadAbsent: entry.absent != nil, signature: entry.signature,
            isSignatureVerified: false, rare: CheckedOperation.Rare(authority, privateRoot))
    }

    /// Checks the form of kinds 3 to 5, as far as possible without a key, and returns the clear
    /// part of a root. A root cites only its author's grant in the workspace.
    private static func privateRoot(
        in entry: OperationRun.Entry, at sequence: UInt64
    ) throws(Rejection) -> PrivatePayload.Clear? {
        do throws(Malformed) {
            switch entry.kind {
            case OperationKind.privateAuthority.rawValue:
                guard entry.keyID != nil, entry.grant != .zero else {
                    throw Malformed(.inconsistent, at: 0)
                }
                let clear = try PrivatePayload(decoding: entry.payload).clear
                guard clear == nil || sequence == 0 && entry.dependencies.isEmpty else {
                    throw Malformed(.inconsistent, at: 0)
                }
                return clear
            case OperationKind.mailbox.rawValue:
                guard entry.keyID == nil, entry.grant != .zero else {
                    throw Malformed(.inconsistent, at: 0)
                }
                _ = try MailboxPayload(decoding: entry.payload)
                return nil
            case OperationKind.redact.rawValue:
                guard entry.grant != .zero else { throw Malformed(.inconsistent, at: 0) }
                if case .erase(_, _?) = try RedactPayload(decoding: entry.payload) {
                    guard entry.keyID != nil else { throw Malformed(.inconsistent, at: 0) }
                }
                return nil
            default:
                return nil
            }
        } catch {
            throw .malformed(error)
        }
    }

    /// Checks that need only the operation's own bytes.
    public static func checkForm(_ entry: OperationRun.Entry) throws(Rejection) {
        guard entry.payloadLength <= OperationKind.payloadBytesMax(entry.kind) else {
            throw .tooLarge
        }
        // Other kinds are judged by their content.
        guard
            entry.absent == nil
                || entry.payload.isEmpty && entry.kind == OperationKind.content.rawValue
        else { throw .malformed(Malformed(.inconsistent, at: 0)) }
        guard entry.dependencies.count <= OperationKind.dependenciesMax(entry.kind) else {
            throw .tooManyDependencies
        }
        for (left, right) in zip(entry.dependencies, entry.dependencies.dropFirst()) {
            guard left.id < right.id else { throw .malformed(Malformed(.keysOutOfOrder, at: 0)) }
        }
    }

    private static func authority(
        in entry: OperationRun.Entry
    ) throws(Rejection) -> AuthorityPayload? {
        guard entry.kind == OperationKind.authority.rawValue else { return nil }
        do throws(Malformed) {
            return try AuthorityPayload(decoding: entry.payload)
        } catch {
            throw .malformed(error)
        }
    }

    // MARK: Authenticity

    /// Verifies as few signatures as cover the run: the last one, and any that is too far before
    /// the last verified one. Each authority operation is verified separately.
    private static func authenticate(_ operations: inout [CheckedOperation]) throws(Rejection) {
        var voucher: Int?
        var covered = Covered()
        for index in operations.indices.reversed() {
            covered.add(operations[index].header)
            if let voucher, operations[index].header.kind != OperationKind.authority.rawValue,
                operations[index].isInSegment(of: operations[voucher]), covered.isBounded
            {
                continue
            }
            let next = try firstVerified(in: &operations, from: index, before: voucher)
            // The covering operation's own payload does not count (PROTOCOL.md, 2).
            covered = Covered()
            for operation in operations[index..<next] { covered.add(operation.header) }
            voucher = next
        }
    }

    /// What one signature covers besides its own operation: little enough to fit into one message,
    /// however small the request.
    private struct Covered {
        private var payloadBytes = 0
        private var dependencies = 0

        mutating func add(_ header: OperationHeader) {
            payloadBytes += header.payloadLength
            dependencies += header.dependencies.count
        }

        var isBounded: Bool {
            payloadBytes <= Limits.runPayloadBytesMax && dependencies <= Limits.runDependenciesMax
        }
    }

    /// The first operation from `index` on whose signature verifies and covers `index`.
    ///
    /// This is almost always `index` itself. But an author who signs garbage in the middle of a
    /// segment must not cause an honest relay, which divides its runs differently, to be refused.
    private static func firstVerified(
        in operations: inout [CheckedOperation], from index: Int, before voucher: Int?
    ) throws(Rejection) -> Int {
        let isAuthority = operations[index].header.kind == OperationKind.authority.rawValue
        let end = isAuthority ? index + 1 : voucher ?? operations.count
        var covered = Covered()
        for candidate in index..<end {
            guard operations[candidate].isInSegment(of: operations[index]), covered.isBounded
            else { break }
            if verified(operations[candidate]) {
                operations[candidate].isSignatureVerified = true
                return candidate
            }
            covered.add(operations[candidate].header)
        }
        throw .badSignature
    }

    private static func verified(_ operation: CheckedOperation) -> Bool {
        OperationSigning.verify(
            operation.signature, of: operation.id, by: operation.header.device)
    }
}

extension CheckedOperation {
    fileprivate func isInSegment(of other: CheckedOperation) -> Bool {
        header.sequence / Limits.segmentLength == other.header.sequence / Limits.segmentLength
    }
}
