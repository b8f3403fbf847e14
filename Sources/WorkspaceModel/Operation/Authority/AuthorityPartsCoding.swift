extension CBOREncoder {
    mutating func device(_ entry: DeviceEntry) {
        array(count: 3)
        byteString(entry.device)
        byteString(entry.agreementKey)
        byteString(entry.signature.bytes)
    }

    mutating func wrap(_ wrap: WrappedKey) {
        array(count: 2)
        byteString(wrap.devicePrefix)
        byteString(wrap.box)
    }

    mutating func field(_ field: SealedField) {
        array(count: 3)
        byteString(field.keyID)
        byteString(field.nonce)
        byteString(field.ciphertext)
    }

    mutating func sealedSecret(_ secret: SealedSecret) {
        array(count: 2)
        byteString(secret.id)
        byteString(secret.sealed)
    }

    mutating func rekey(_ rekey: Rekey) {
        array(count: 3)
        byteString(rekey.keyID)
        list(rekey.wraps) { $0.wrap($1) }
        list(rekey.olderKeys) { $0.sealedSecret($1) }
    }
}

/// Bounds of the lists inside authority payloads. The payload's own size is the real limit; these
/// reject a list that no author would write before reading it.
enum AuthorityListLimits {
    static let devices = Limits.grantedDevicesMax
    static let wraps = 8_192
    static let cuts = Limits.cutsPerOperationMax
    static let invites = Limits.revokedInvitesMax
    static let roles = 4_096
    static let olderKeys = Limits.olderKeysMax
}

extension CBORDecoder {
    mutating func devices() throws(Malformed) -> [DeviceEntry] {
        let start = position
        let devices = try list(max: AuthorityListLimits.devices) {
            (decoder) throws(Malformed) in try decoder.device()
        }
        guard !devices.isEmpty else { throw Malformed(.countExceeded, at: start) }
        return devices
    }

    mutating func device() throws(Malformed) -> DeviceEntry {
        try arrayCount(exactly: 3)
        return DeviceEntry(
            device: try identifier32(), agreementKey: try byteString(exactly: 32),
            signature: try signature())
    }

    mutating func signature() throws(Malformed) -> Signature {
        Signature(try byteString(exactly: Signature.byteCount))
    }

    mutating func wraps() throws(Malformed) -> [WrappedKey] {
        let first = position
        let wraps = try list(max: AuthorityListLimits.wraps) { (decoder) throws(Malformed) in
            try decoder.arrayCount(exactly: 2)
            let prefix = try decoder.byteString(exactly: 8)
            let start = decoder.position
            let wrap = WrappedKey(
                devicePrefix: prefix,
                box: try decoder.byteString(maxCount: WrappedKey.memberBoxByteCount))
            guard wrap.holdsKey || wrap.box.count == WrappedKey.guestBoxByteCount else {
                throw Malformed(.countExceeded, at: start)
            }
            return wrap
        }
        for (left, right) in zip(wraps, wraps.dropFirst())
        where right.devicePrefix.lexicographicallyPrecedes(left.devicePrefix) {
            throw Malformed(.keysOutOfOrder, at: first)
        }
        return wraps
    }

    mutating func sealedField() throws(Malformed) -> SealedField {
        try arrayCount(exactly: 3)
        return SealedField(
            keyID: try identifier16(), nonce: try byteString(exactly: 24),
            ciphertext: try byteString(maxCount: 32 * 1_024))
    }

    mutating func sealedSecrets() throws(Malformed) -> [SealedSecret] {
        try list(max: AuthorityListLimits.olderKeys) { (decoder) throws(Malformed) in
            try decoder.arrayCount(exactly: 2)
            return SealedSecret(
                id: try decoder.byteString(exactly: 16),
                sealed: try decoder.byteString(maxCount: 256))
        }
    }

    mutating func rekey() throws(Malformed) -> Rekey {
        try arrayCount(exactly: 3)
        return Rekey(
            keyID: try identifier16(), wraps: try wraps(), olderKeys: try sealedSecrets())
    }

    mutating func identifiers() throws(Malformed) -> [OperationID] {
        try list(max: AuthorityListLimits.invites) {
            (decoder) throws(Malformed) in try decoder.identifier32()
        }
    }

    mutating func role() throws(Malformed) -> Role {
        let start = position
        guard let role = Role(rawValue: try uint()) else { throw Malformed(.outOfRange, at: start) }
        return role
    }
}

extension DeviceEntry {
    /// `Enc` of a list of devices, as in `create`, `admit` and `join2`.
    public static func encoded(_ devices: [DeviceEntry]) -> [UInt8] {
        var encoder = CBOREncoder(reservingBytes: 160 * devices.count + 8)
        encoder.list(devices) { $0.device($1) }
        return encoder.bytes
    }

    /// `Enc` of the keys of a list of devices, without their signatures.
    public static func encodedKeys(_ devices: [DeviceEntry]) -> [UInt8] {
        var encoder = CBOREncoder(reservingBytes: 80 * devices.count + 8)
        encoder.list(devices) { encoder, entry in
            encoder.array(count: 2)
            encoder.byteString(entry.device)
            encoder.byteString(entry.agreementKey)
        }
        return encoder.bytes
    }

    /// Reads what `encoded` writes.
    ///
    /// - Throws: `Malformed` for anything else, an empty list included.
    public static func list(decoding bytes: [UInt8]) throws(Malformed) -> [DeviceEntry] {
        var decoder = CBORDecoder(bytes)
        let devices = try decoder.devices()
        try decoder.finish()
        return devices
    }
}
