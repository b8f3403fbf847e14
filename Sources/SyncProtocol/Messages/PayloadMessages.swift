public import WorkspaceModel

/// Requests payloads that are missing though nobody has deleted them.
public struct PayloadWant: Sendable, Equatable {
    /// The sender's number for the workspace on this link.
    public var workspace: WorkspaceNumber
    /// The document of all of them.
    public var document: DocumentID
    /// The operations whose payloads are requested, ascending by id.
    public var operations: [OperationReference]

    /// A request with the given fields.
    public init(
        workspace: WorkspaceNumber, document: DocumentID, operations: [OperationReference]
    ) {
        self.workspace = workspace
        self.document = document
        self.operations = operations
    }
}

/// One requested payload. Its hash is in the operation's header.
public struct PayloadHave: Sendable, Equatable {
    /// The sender's number for the workspace on this link.
    public var workspace: WorkspaceNumber
    /// The document.
    public var document: DocumentID
    /// The payload's operation.
    public var operation: OperationReference
    /// Its bytes.
    public var payload: [UInt8]

    /// An answer with the given fields.
    public init(
        workspace: WorkspaceNumber, document: DocumentID, operation: OperationReference,
        payload: [UInt8]
    ) {
        self.workspace = workspace
        self.document = document
        self.operation = operation
        self.payload = payload
    }
}

extension PayloadWant {
    func encode(to body: inout CBOREncoder) {
        body.document(document, in: workspace, pairs: 3)
        body.array(count: operations.count)
        for operation in operations { operation.encode(to: &body) }
    }

    init(from body: inout CBORDecoder) throws(Malformed) {
        (workspace, document) = try body.document(pairs: 3)
        let start = body.position
        operations = try body.ascending(max: Limits.payloadsPerWantMax, by: \.id) {
            (body) throws(Malformed) in try OperationReference(from: &body)
        }
        guard !operations.isEmpty else { throw Malformed(.outOfRange, at: start) }
    }
}

extension PayloadHave {
    func encode(to body: inout CBOREncoder) {
        body.document(document, in: workspace, pairs: 4)
        operation.encode(to: &body)
        body.key(4)
        body.byteString(payload)
    }

    init(from body: inout CBORDecoder) throws(Malformed) {
        (workspace, document) = try body.document(pairs: 4)
        operation = try OperationReference(from: &body)
        try body.key(exactly: 4)
        payload = try body.byteString(maxCount: Limits.payloadBytesMax)
    }
}
