public import WorkspaceCrypto
public import WorkspaceModel

/// Where a device says that it listens, signed by itself, so that others may pass it on.
///
/// - Wire form: `Enc` array [device 32, at ms, array of texts, signature 64] (PROTOCOL.md, 5.3).
public struct AddressRecord: Equatable, Sendable {
    /// The device, which signed this.
    public let device: DeviceID
    /// When it signed, in wall milliseconds.
    public let at: UInt64
    /// Where it listens, best first. Forms that are not understood here are kept as they are,
    /// or the signature would not fit any more.
    public let addresses: [String]
    /// Over "wsx-addr1" || Enc [device, at, addresses].
    public let signature: Signature

    /// A record as it came; nothing is checked.
    public init(device: DeviceID, at: UInt64, addresses: [String], signature: Signature) {
        self.device = device
        self.at = at
        self.addresses = addresses
        self.signature = signature
    }
}

extension AddressRecord {
    /// Signs the first `Limits.addressesPerDeviceMax` addresses that mean something to others.
    public init(signedBy key: SigningKey, at wallMilliseconds: UInt64, addresses: [PeerAddress]) {
        let texts = addresses.filter { $0.reach != .none && $0.reach != .linkLocal }
            .prefix(Limits.addressesPerDeviceMax).map(\.text)
        let message = Self.signedBytes(key.device, wallMilliseconds, texts)
        self.init(
            device: key.device, at: wallMilliseconds, addresses: texts,
            signature: key.signature(for: message))
    }

    /// Whether the device signed exactly this.
    public var isAuthentic: Bool {
        device.signed(Self.signedBytes(device, at, addresses), signature)
    }

    /// Whether there are at most 16 addresses of at most 260 bytes.
    public var hasAllowedSize: Bool {
        addresses.count <= Limits.addressesPerDeviceMax
            && addresses.allSatisfy { $0.utf8.count <= PeerAddress.textBytesMax }
    }

    /// The addresses that can be dialled from here, in order.
    public var dialable: [PeerAddress] {
        addresses.compactMap { PeerAddress($0) }
            .filter { $0.reach != .none && $0.reach != .linkLocal }
    }

    /// Whether a record signed at `at` counts: for a week, and not before its time by more than
    /// clocks may differ.
    public static func isTimely(_ at: UInt64, wallMilliseconds: UInt64) -> Bool {
        at > wallMilliseconds
            ? at - wallMilliseconds <= Limits.clockLeadMillisecondsMax
            : wallMilliseconds - at <= Limits.addressRecordMilliseconds
    }

    private static func signedBytes(
        _ device: DeviceID, _ at: UInt64, _ addresses: [String]
    ) -> [UInt8] {
        var encoder = CBOREncoder(reservingBytes: 128)
        encoder.array(count: 3)
        encodeFields(device, at, addresses, to: &encoder)
        return Array("wsx-addr1".utf8) + encoder.bytes
    }

    private static func encodeFields(
        _ device: DeviceID, _ at: UInt64, _ addresses: [String], to encoder: inout CBOREncoder
    ) {
        encoder.byteString(device)
        encoder.uint(at)
        encoder.array(count: addresses.count)
        for address in addresses { encoder.text(address) }
    }

    /// The row of a store: the wire form.
    public var row: [UInt8] {
        var encoder = CBOREncoder(reservingBytes: 192)
        encoder.array(count: 4)
        Self.encodeFields(device, at, addresses, to: &encoder)
        encoder.byteString(signature.bytes)
        return encoder.bytes
    }

    /// Reads a row.
    ///
    /// - Throws: what is wrong with the bytes. Whether the signature is right is not asked.
    public init(row: [UInt8]) throws(Malformed) {
        var decoder = CBORDecoder(row)
        try decoder.arrayCount(exactly: 4)
        device = try decoder.identifier32()
        at = try decoder.uint()
        var addresses: [String] = []
        for _ in 0..<(try decoder.arrayCount(max: Limits.addressesPerDeviceMax)) {
            addresses.append(try decoder.text(maxBytes: PeerAddress.textBytesMax))
        }
        self.addresses = addresses
        signature = Signature(try decoder.byteString(exactly: Signature.byteCount))
        try decoder.finish()
    }
}
