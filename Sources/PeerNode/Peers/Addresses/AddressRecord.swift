public import SyncProtocol
public import WorkspaceCrypto
public import WorkspaceModel

/// The meaning of an address record beyond its bytes: who may sign it, and how long it is valid.
///
/// - Source: PROTOCOL.md, 5.3.
extension AddressRecord {
    /// The first `Limits.addressesPerDeviceMax` addresses that mean something to others.
    public static func texts(of addresses: [PeerAddress]) -> [String] {
        addresses.filter { $0.reach != .none && $0.reach != .linkLocal }
            .prefix(Limits.addressesPerDeviceMax).map(\.text)
    }

    /// Signs `texts(of: addresses)`.
    public init(signedBy key: SigningKey, at wallMilliseconds: UInt64, addresses: [PeerAddress]) {
        self.init(
            device: key.device, at: wallMilliseconds, addresses: Self.texts(of: addresses),
            signature: Signature([UInt8](repeating: 0, count: Signature.byteCount)))
        signature = key.signature(for: message)
    }

    /// Whether the device signed exactly this.
    public var isAuthentic: Bool {
        device.signed(message, signature)
    }

    /// Whether there are at most 16 addresses of at most 260 bytes.
    public var hasAllowedSize: Bool {
        addresses.count <= Limits.addressesPerDeviceMax
            && addresses.allSatisfy { $0.utf8.count <= PeerAddress.textBytesMax }
    }

    /// The addresses that are dialled from here, in order. No names, which would have somebody's name
    /// server hear of it and everybody wait for that; and of this machine itself none, but where it
    /// listens to nobody else.
    ///
    /// - Parameter isAlone: whether this node listens on its own machine only.
    public func dialable(isAlone: Bool) -> [PeerAddress] {
        addresses.compactMap { PeerAddress($0) }.filter { address in
            if case .name = address.host { return false }
            return switch address.reach {
            case .site, .global: true
            case .loopback: isAlone
            case .none, .linkLocal: false
            }
        }
    }

    /// Whether a record signed at `at` is valid: within a week before and after that time.
    ///
    /// A record only says where its own device is, and a clock may be hours behind. If that node
    /// rejected others' records as coming from the future, a newcomer who knows only that node
    /// would never find the other devices.
    public static func isTimely(_ at: UInt64, wallMilliseconds: UInt64) -> Bool {
        let distance = at > wallMilliseconds ? at - wallMilliseconds : wallMilliseconds - at
        return distance <= Limits.addressRecordMilliseconds
    }

    private var message: [UInt8] { Array("wsx-addr1".utf8) + signedBytes }

    /// The row of a store: the wire form.
    public var row: [UInt8] {
        var encoder = CBOREncoder(reservingBytes: 192)
        encoder.array(count: 4)
        encoder.byteString(device)
        encoder.uint(at)
        encoder.array(count: addresses.count)
        for address in addresses { encoder.text(address) }
        encoder.byteString(signature.bytes)
        return encoder.bytes
    }

    /// Reads a row.
    ///
    /// - Throws: what is wrong with the bytes. Whether the signature is right is not asked.
    public init(row: [UInt8]) throws(Malformed) {
        var decoder = CBORDecoder(row)
        try decoder.arrayCount(exactly: 4)
        let device: DeviceID = try decoder.identifier32()
        let at = try decoder.uint()
        var addresses: [String] = []
        for _ in 0..<(try decoder.arrayCount(max: Limits.addressesPerDeviceMax)) {
            addresses.append(try decoder.text(maxBytes: PeerAddress.textBytesMax))
        }
        let signature = Signature(try decoder.byteString(exactly: Signature.byteCount))
        try decoder.finish()
        self.init(device: device, at: at, addresses: addresses, signature: signature)
    }
}
