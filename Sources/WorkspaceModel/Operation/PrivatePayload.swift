/// The payload of kind 3: the part that everybody may read of an operation that makes or changes a
/// private document, and the part that only its members can open.
///
/// - Wire form: `Enc` array [clear or null, sealed bytes] (PROTOCOL.md, 3.4).
public struct PrivatePayload: Hashable, Sendable {
    /// What relays see of a root. No other operation has it.
    public struct Clear: Hashable, Sendable {
        /// The workspace that the document belongs to.
        public let workspace: WorkspaceID
        /// 16 random bytes: the root has no id yet when it is sealed, so this goes into its key.
        public let nonce: [UInt8]

        /// - Precondition: `nonce` holds 16 bytes.
        public init(workspace: WorkspaceID, nonce: [UInt8]) {
            precondition(nonce.count == Self.nonceByteCount, "a nonce of \(nonce.count) bytes")
            self.workspace = workspace
            self.nonce = nonce
        }

        fileprivate init(workspace: WorkspaceID, checkedNonce: [UInt8]) {
            self.workspace = workspace
            nonce = checkedNonce
        }

        /// How many bytes the nonce of a root has.
        public static var nonceByteCount: Int { 16 }
    }

    /// Present exactly when the operation is the document's root.
    public let clear: Clear?
    /// Nonce 24, then the padded `PrivateChange` under the authority subkey of the epoch key that
    /// the header names.
    public let sealed: [UInt8]

    /// A root's payload with `clear`, any other's without.
    public init(clear: Clear?, sealed: [UInt8]) {
        self.clear = clear
        self.sealed = sealed
    }

    /// The wire form.
    public var encoded: [UInt8] {
        var encoder = CBOREncoder(reservingBytes: sealed.count + 72)
        encoder.array(count: 2)
        if let clear {
            encoder.map(count: 2)
            encoder.key(1)
            encoder.byteString(clear.workspace)
            encoder.key(2)
            encoder.byteString(clear.nonce)
        } else {
            encoder.null()
        }
        encoder.byteString(sealed)
        return encoder.bytes
    }

    /// Reads the wire form and refuses every other. Does not open the sealed part.
    ///
    /// - Throws: `Malformed`, also for fewer sealed bytes than the shortest plaintext makes.
    public init(decoding bytes: [UInt8]) throws(Malformed) {
        var decoder = CBORDecoder(bytes)
        try decoder.arrayCount(exactly: 2)
        clear = try decoder.nullOr { (d) throws(Malformed) -> Clear in try Clear(from: &d) }
        let start = decoder.position
        sealed = try decoder.byteString(maxCount: Limits.payloadBytesMax)
        guard sealed.count >= Self.sealedByteCountMin else {
            throw Malformed(.countExceeded, at: start)
        }
        try decoder.finish()
    }

    /// Bytes of the shortest sealed text: a nonce of 24, one block of 32 and a tag of 16.
    public static var sealedByteCountMin: Int { 72 }
}

extension PrivatePayload.Clear {
    fileprivate init(from decoder: inout CBORDecoder) throws(Malformed) {
        let start = decoder.position
        guard try decoder.mapCount(max: 2) == 2 else { throw Malformed(.wrongKeys, at: start) }
        guard try decoder.key() == 1 else { throw Malformed(.wrongKeys, at: start) }
        let workspace: WorkspaceID = try decoder.identifier32()
        guard try decoder.key() == 2 else { throw Malformed(.wrongKeys, at: start) }
        let nonce = try decoder.byteString(exactly: Self.nonceByteCount)
        self.init(workspace: workspace, checkedNonce: nonce)
    }
}
