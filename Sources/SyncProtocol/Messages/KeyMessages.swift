public import WorkspaceModel

/// Requests keys of a private document that the mailbox did not deliver.
public struct KeyWant: Sendable, Equatable {
    /// The sender's number for the workspace on this link.
    public var workspace: WorkspaceNumber
    /// The keys' document.
    public var document: DocumentID
    /// Their names, ascending; empty requests any key that leads to the others.
    public var keys: [KeyID]

    /// A request with the given fields.
    public init(workspace: WorkspaceNumber, document: DocumentID, keys: [KeyID]) {
        self.workspace = workspace
        self.document = document
        self.keys = keys
    }
}

/// One key, in a box that only the requesting device opens.
public struct KeyHave: Sendable, Equatable {
    /// The sender's number for the workspace on this link.
    public var workspace: WorkspaceNumber
    /// The key's document.
    public var document: DocumentID
    /// A mailbox payload (PROTOCOL.md, 3.5) whose place is (document, sending device, 0, 0).
    public var payload: [UInt8]

    /// An answer with the given fields.
    public init(workspace: WorkspaceNumber, document: DocumentID, payload: [UInt8]) {
        self.workspace = workspace
        self.document = document
        self.payload = payload
    }
}

extension SyncMessage {
    /// Keys that one message requests.
    public static let wantedKeysMax = 64
    /// A bound that holds the smallest mailbox payload, 4 boxes of 152 bytes, with some room.
    public static let keyPayloadBytesMax = 1_024
}

extension KeyWant {
    func encode(to body: inout CBOREncoder) {
        body.document(document, in: workspace, pairs: 3)
        body.array(count: keys.count)
        for key in keys { body.byteString(key) }
    }

    init(from body: inout CBORDecoder) throws(Malformed) {
        (workspace, document) = try body.document(pairs: 3)
        keys = try body.ascending(max: SyncMessage.wantedKeysMax, by: \.self) {
            (body) throws(Malformed) in try body.identifier16()
        }
    }
}

extension KeyHave {
    func encode(to body: inout CBOREncoder) {
        body.document(document, in: workspace, pairs: 3)
        body.byteString(payload)
    }

    init(from body: inout CBORDecoder) throws(Malformed) {
        (workspace, document) = try body.document(pairs: 3)
        payload = try body.byteString(maxCount: SyncMessage.keyPayloadBytesMax)
    }
}
