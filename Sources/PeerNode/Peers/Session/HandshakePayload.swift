import WorkspaceCrypto
import WorkspaceModel

/// The payload of messages 2 and 3 of the handshake.
///
/// - Wire form: `Enc` map {1 device 32, 2 certificate 64, 3 verMin, 4 verMax, 5 features,
///   6 store id 16, 7 wall clock ms} (PROTOCOL.md, 5.1).
struct HandshakePayload: Equatable {
    var device: DeviceID
    var certificate: Signature
    var versionMin: UInt64
    var versionMax: UInt64
    var features: UInt64
    var store: StoreID
    var wallMilliseconds: UInt64

    /// The versions of the protocol that this program speaks.
    static let versions: ClosedRange<UInt64> = 3...3

    init(_ identity: LocalIdentity, wallMilliseconds: UInt64) {
        device = identity.device
        certificate = identity.certificate
        versionMin = Self.versions.lowerBound
        versionMax = Self.versions.upperBound
        features = identity.features
        store = identity.store
        self.wallMilliseconds = wallMilliseconds
    }

    var encoded: [UInt8] {
        var encoder = CBOREncoder(reservingBytes: 192)
        encoder.map(count: 7)
        encoder.key(1)
        encoder.byteString(device)
        encoder.key(2)
        encoder.byteString(certificate.bytes)
        encoder.key(3)
        encoder.uint(versionMin)
        encoder.key(4)
        encoder.uint(versionMax)
        encoder.key(5)
        encoder.uint(features)
        encoder.key(6)
        encoder.byteString(store)
        encoder.key(7)
        encoder.uint(wallMilliseconds)
        return encoder.bytes
    }

    init(decoding bytes: [UInt8]) throws(Malformed) {
        var decoder = CBORDecoder(bytes)
        guard try decoder.mapCount() == 7 else { throw Malformed(.wrongKeys, at: 0) }
        func key(_ wanted: UInt64, in decoder: inout CBORDecoder) throws(Malformed) {
            let start = decoder.position
            guard try decoder.key() == wanted else { throw Malformed(.wrongKeys, at: start) }
        }
        try key(1, in: &decoder)
        device = try decoder.identifier32()
        try key(2, in: &decoder)
        certificate = Signature(try decoder.byteString(exactly: Signature.byteCount))
        try key(3, in: &decoder)
        versionMin = try decoder.uint()
        try key(4, in: &decoder)
        versionMax = try decoder.uint()
        try key(5, in: &decoder)
        features = try decoder.uint()
        try key(6, in: &decoder)
        store = try decoder.identifier16()
        try key(7, in: &decoder)
        wallMilliseconds = try decoder.uint()
        try decoder.finish()
    }

    /// The version that both sides run, or `nil` when there is none.
    var commonVersion: UInt64? {
        let version = min(versionMax, Self.versions.upperBound)
        return version >= max(versionMin, Self.versions.lowerBound) ? version : nil
    }

    /// Whether the device certified exactly the static key that Noise proved.
    func isBound(to staticKey: AgreementPublicKey) -> Bool {
        device.signed(
            LocalIdentity.certifiedBytes(device: device, staticKey: staticKey, store: store),
            certificate)
    }
}
