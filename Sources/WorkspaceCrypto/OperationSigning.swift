public import WorkspaceModel

/// The hashes and signatures of operations (PROTOCOL.md, 2).
public enum OperationSigning {
    /// What is signed: "wsx-sig1" and the id, 40 bytes.
    public static func signedBytes(of id: OperationID) -> [UInt8] {
        Array("wsx-sig1".utf8) + id.bytes
    }

    /// H("wsx-op1", header).
    public static func id(ofHeader header: [UInt8]) -> OperationID {
        Hash.name("wsx-op1", header)
    }

    /// H("wsx-payload1", payload).
    public static func hash(ofPayload payload: [UInt8]) -> PayloadHash {
        Hash.name("wsx-payload1", payload)
    }

    /// Whether `device` signed the operation `id`.
    public static func verify(
        _ signature: Signature, of id: OperationID, by device: DeviceID
    ) -> Bool {
        device.signed(signedBytes(of: id), signature)
    }
}

/// An operation that this device is about to write: the fields that do not follow from its bytes.
public struct OperationDraft: Sendable {
    /// What the payload is.
    public var kind: OperationKind
    /// The document; zeros in a root operation.
    public var document: DocumentID
    /// The writing store's incarnation.
    public var incarnation: UInt32
    /// The place in the log.
    public var sequence: UInt64
    /// The operation before, `nil` exactly at 0.
    public var previous: OperationID?
    /// The next moment of this device's clock.
    public var timestamp: HybridTimestamp
    /// The grant to act under; zeros in `create`.
    public var grant: OperationID
    /// What to cite. Sorted when it is signed.
    public var dependencies: [OperationReference]

    /// A draft with the given fields.
    public init(
        kind: OperationKind, document: DocumentID, incarnation: UInt32, sequence: UInt64,
        previous: OperationID?, timestamp: HybridTimestamp, grant: OperationID,
        dependencies: [OperationReference] = []
    ) {
        self.kind = kind
        self.document = document
        self.incarnation = incarnation
        self.sequence = sequence
        self.previous = previous
        self.timestamp = timestamp
        self.grant = grant
        self.dependencies = dependencies
    }

    /// Signs an operation whose payload everybody may read.
    public func signed(payload: [UInt8], with key: SigningKey) -> SignedOperation {
        finished(payload: payload, keyID: nil, with: key)
    }

    /// Seals `plaintext` under the document's key, bound to header fields 0 to 10, and signs it.
    ///
    /// - Parameter epochKey: K; the document key is derived from it.
    public func sealedAndSigned(
        plaintext: [UInt8], under epochKey: SymmetricKey, keyID: KeyID, with key: SigningKey,
        using random: any RandomSource
    ) -> SignedOperation {
        let context = header(of: key.device, keyID: keyID, payloadLength: 0, hash: .zero)
        let payload = SealedPayload.seal(
            plaintext, under: epochKey.documentKey(for: document),
            associatedData: context.associatedData, using: random)
        return finished(payload: payload, keyID: keyID, with: key)
    }

    func finished(
        payload: [UInt8], keyID: KeyID?, with key: SigningKey
    ) -> SignedOperation {
        let header = header(
            of: key.device, keyID: keyID, payloadLength: payload.count,
            hash: OperationSigning.hash(ofPayload: payload))
        let id = OperationSigning.id(ofHeader: header.encoded)
        let signature = key.signature(for: OperationSigning.signedBytes(of: id))
        return SignedOperation(header: header, id: id, payload: payload, signature: signature)
    }

    func header(
        of device: DeviceID, keyID: KeyID?, payloadLength: Int, hash: PayloadHash
    ) -> OperationHeader {
        OperationHeader(
            kind: kind.rawValue, document: document, device: device, incarnation: incarnation,
            sequence: sequence, previous: previous, timestamp: timestamp, grant: grant,
            keyID: keyID, dependencies: dependencies.sorted { $0.id < $1.id },
            payloadLength: payloadLength, payloadHash: hash)
    }
}

/// An operation with its id and signature, as its author made it.
public struct SignedOperation: Sendable, Equatable {
    /// The signed fields.
    public let header: OperationHeader
    /// Their hash.
    public let id: OperationID
    /// The bytes that the header's hash and length describe.
    public let payload: [UInt8]
    /// Over the id.
    public let signature: Signature

    /// The operation as it travels: a run of one.
    ///
    /// - Parameter document: the log's document, which a root operation does not name itself.
    public func run(in document: DocumentID) -> OperationRun {
        OperationRun(
            log: LogName(
                document: document, device: header.device, incarnation: header.incarnation),
            firstSequence: header.sequence, previous: header.previous,
            entries: [
                OperationRun.Entry(
                    kind: header.kind, timestamp: header.timestamp, grant: header.grant,
                    keyID: header.keyID, dependencies: header.dependencies, payload: payload,
                    signature: signature)
            ])
    }
}

extension SymmetricKey {
    /// Hk(K, "wsx-doc" || document): what seals the content of one document in one epoch.
    public func documentKey(for document: DocumentID) -> SymmetricKey {
        derived(Array("wsx-doc".utf8), document.bytes)
    }

    /// Hk(K, "wsx-name"): what seals names inside authority operations in one epoch.
    public var nameKey: SymmetricKey { derived(Array("wsx-name".utf8)) }
}
