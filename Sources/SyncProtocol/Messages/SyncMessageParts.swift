public import WorkspaceModel

/// One place on one branch of a log.
public struct LogPoint: Hashable, Sendable {
    /// The sequence number.
    public var sequence: UInt64
    /// The first 16 bytes of the id of the operation there.
    public var id: Identifier16<Named.Operation>

    /// The operation at `sequence` whose id begins with `id`.
    public init(sequence: UInt64, id: Identifier16<Named.Operation>) {
        self.sequence = sequence
        self.id = id
    }

    /// The place that a tip announces.
    public init(_ tip: LogTip) {
        self.init(sequence: tip.sequence, id: tip.id)
    }
}

/// One log in a pull: everything after what the asker has, up to the target.
public struct PullItem: Hashable, Sendable {
    /// The operation up to which the asker wants the log.
    public var target: LogTip
    /// What the asker has of the log: the tips of its branches, or samples of every branch down to
    /// sequence 0.
    public var have: [LogPoint]
}

/// A request for operations. It is also flow control: a peer sends nothing large without one.
public struct PullRequest: Hashable, Sendable {
    /// Chosen by the asker, never 0.
    public var request: RequestNumber
    /// The wanted logs, the most urgent first.
    public var items: [PullItem]
    /// The maximum size of the answer, in bytes of one encoded message.
    public var maxBytes: Int
}

/// A document with its digest.
public struct DocumentDigest: Hashable, Sendable {
    /// The document.
    public var document: DocumentID
    /// The first 16 bytes of D(document) (PROTOCOL.md, 5.4).
    public var digest: Identifier16<Named.Digest>

    /// The digest of `document`.
    public init(document: DocumentID, digest: Identifier16<Named.Digest>) {
        self.document = document
        self.digest = digest
    }
}

/// The documents whose names begin with one byte.
public struct BucketDigests: Hashable, Sendable {
    /// The byte.
    public var bucket: UInt8
    /// The documents that the sender keeps there, ascending.
    public var documents: [DocumentDigest]
}

/// A device's listening addresses, signed by the device, so anyone may relay them.
public struct AddressRecord: Hashable, Sendable {
    /// The device.
    public var device: DeviceID
    /// When it signed them, in milliseconds since 1970; the newest record counts.
    public var at: UInt64
    /// `host:port`, each at most `SyncMessage.addressBytesMax` bytes.
    public var addresses: [String]
    /// By the device over ("wsx-addr1" || `signedBytes`).
    public var signature: Signature

    /// A record with the given fields.
    public init(device: DeviceID, at: UInt64, addresses: [String], signature: Signature) {
        self.device = device
        self.at = at
        self.addresses = addresses
        self.signature = signature
    }

    /// What the signature covers after its prefix: `Enc` array [device, at, addresses].
    public var signedBytes: [UInt8] {
        var encoder = CBOREncoder(reservingBytes: 128)
        encoder.array(count: 3)
        encodeSignedFields(to: &encoder)
        return encoder.bytes
    }

    /// The three signed fields without the head of an array around them.
    func encodeSignedFields(to encoder: inout CBOREncoder) {
        encoder.byteString(device)
        encoder.uint(at)
        encoder.array(count: addresses.count)
        for address in addresses { encoder.text(address) }
    }
}
