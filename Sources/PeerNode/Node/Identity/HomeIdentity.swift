import WorkspaceCrypto
import WorkspaceModel

/// The keys of this home and the name of its person.
///
/// The file `identity/device.key` (0600) is `Enc` map {1 format 1, 2 signing seed 32, 3 box secret
/// 32, 4 home key 32, 5 name, 6 created ms, 7 recovery device or absent} followed by the first 8
/// bytes of H("wsx-keyfile1", map), which detect a truncated file.
struct HomeIdentity: Sendable {
    /// Signs every operation; its public half names the device.
    let signing: SigningKey
    /// Opens what is sealed for this device.
    let box: AgreementKey
    /// Seals the secrets in node.db.
    let homeKey: SymmetricKey
    /// The person's name.
    let name: String
    /// When, milliseconds since 1970.
    let createdAt: UInt64
    /// The public half of the recovery phrase, with its certificate for this device instead of the
    /// possession signature; `nil` without one. The secret half is not kept.
    let recovery: DeviceEntry?
    /// The same for a phrase that replaced that one, or was added later; it is in node.db.
    var laterRecovery: DeviceEntry?
    /// Whether further workspaces are to have the phrase.
    var bringsPhrase = true

    /// The phrase that further workspaces get.
    var phrase: DeviceEntry? { bringsPhrase ? laterRecovery ?? recovery : nil }

    /// The device's name.
    var device: DeviceID { signing.device }

    /// Draws a new identity.
    ///
    /// - Parameter phrase: certifies this device, and is not kept.
    init(
        name: String, createdAt: UInt64, phrase: RecoveryPhrase? = nil,
        using random: any RandomSource
    ) {
        let signing = SigningKey(using: random)
        self.signing = signing
        box = AgreementKey(using: random)
        homeKey = SymmetricKey(using: random, lifetime: .long)
        self.name = name
        self.createdAt = createdAt
        recovery = phrase?.certified(for: signing.device)
    }

    /// The member that `device` is the first device of.
    static func member(of device: DeviceID, salt: [UInt8]) -> MemberID {
        MemberID(prefixOf: Hash.name("wsx-member", device.bytes + salt) as OperationID)
    }

    /// Who this home's person is where `salt` is the salt: bound to the first device of the list.
    func member(salt: [UInt8]) -> MemberID {
        Self.member(of: phrase?.device ?? device, salt: salt)
    }

    /// The member ids that this home may have in a workspace it has joined already, by each
    /// recovery phrase that it had then.
    func members(salt: [UInt8]) -> [MemberID] {
        [laterRecovery?.device, recovery?.device, device].compactMap { $0 }
            .map { Self.member(of: $0, salt: salt) }
    }

    /// The file's bytes. The caller wipes them once they are written or sealed.
    var fileBytes: [UInt8] {
        // Room for all of it: growing would leave keys behind.
        var encoder = CBOREncoder(reservingBytes: 1_024)
        encoder.map(count: recovery == nil ? 6 : 7)
        encoder.key(1)
        encoder.uint(1)
        Self.write(signing.exposedSeed(), key: 2, to: &encoder)
        Self.write(box.exposedSecret(), key: 3, to: &encoder)
        Self.write(homeKey.exposedCopy(), key: 4, to: &encoder)
        encoder.key(5)
        encoder.text(name)
        encoder.key(6)
        encoder.uint(createdAt)
        if let recovery {
            encoder.key(7)
            encoder.item(raw: DeviceEntry.encoded([recovery])[...])
        }
        var bytes = encoder.bytes
        // So that `bytes` is the only holder, and grows in place.
        encoder = CBOREncoder(reservingBytes: 0)
        bytes += Self.check(bytes)
        return bytes
    }

    private static func write(
        _ secret: consuming [UInt8], key: UInt64, to encoder: inout CBOREncoder
    ) {
        encoder.key(key)
        encoder.byteString(secret)
        SecretBytes.wipe(&secret)
    }

    /// Reads the file's bytes.
    ///
    /// - Throws: `HomeFileError` for a file that is truncated, changed or of a later version. It is
    ///   never replaced, so that the owner can still restore it from a backup.
    init(fileBytes: [UInt8]) throws(HomeFileError) {
        var body = [UInt8](fileBytes.dropLast(8))
        defer { SecretBytes.wipe(&body) }
        guard fileBytes.count > 8, Self.check(body) == [UInt8](fileBytes.suffix(8)) else {
            throw HomeFileError(
                "the identity file is truncated or damaged",
                hint: "restore identity/device.key from a backup")
        }
        do throws(Malformed) {
            try self.init(body: body)
        } catch {
            throw HomeFileError(
                "the identity file has a format that this version does not know (\(error))",
                hint: "use the version of wsx-node that wrote it")
        }
    }

    private init(body: [UInt8]) throws(Malformed) {
        var decoder = CBORDecoder(body)
        let count = try decoder.mapCount()
        guard count == 6 || count == 7, try decoder.key() == 1, try decoder.uint() == 1,
            try decoder.key() == 2
        else { throw Malformed(.unsupported, at: decoder.position) }
        var secret = try decoder.byteString(exactly: 32)
        defer { SecretBytes.wipe(&secret) }
        signing = SigningKey(seed: secret)
        guard try decoder.key() == 3 else { throw Malformed(.wrongKeys, at: decoder.position) }
        SecretBytes.wipe(&secret)
        secret = try decoder.byteString(exactly: 32)
        box = AgreementKey(secret: secret)
        guard try decoder.key() == 4 else { throw Malformed(.wrongKeys, at: decoder.position) }
        SecretBytes.wipe(&secret)
        secret = try decoder.byteString(exactly: 32)
        homeKey = SymmetricKey(secret, lifetime: .long)
        guard try decoder.key() == 5 else { throw Malformed(.wrongKeys, at: decoder.position) }
        name = try decoder.text(maxBytes: Limits.nameBytesMax)
        guard try decoder.key() == 6 else { throw Malformed(.wrongKeys, at: decoder.position) }
        createdAt = try decoder.uint()
        guard createdAt <= UInt64(Int64.max) else {
            throw Malformed(.outOfRange, at: decoder.position)
        }
        recovery = count == 7 ? try Self.recovery(from: &decoder) : nil
        try decoder.finish()
    }

    private static func recovery(
        from decoder: inout CBORDecoder
    ) throws(Malformed) -> DeviceEntry? {
        guard try decoder.key() == 7 else { throw Malformed(.wrongKeys, at: decoder.position) }
        let item = [UInt8](decoder.bytes[try decoder.itemRange()])
        return try DeviceEntry.list(decoding: item).first
    }

    private static func check(_ body: [UInt8]) -> [UInt8] {
        [UInt8](Hash.personal("wsx-keyfile1", body).prefix(8))
    }

    // MARK: Secrets at rest

    /// `secret` sealed under the home's key, bound to its name: nonce 24, ciphertext, tag.
    func seal(
        _ secret: [UInt8], name: [UInt8], using random: any RandomSource
    ) -> [UInt8] {
        let nonce = random.bytes(XChaCha20Poly1305.nonceByteCount)
        return nonce
            + XChaCha20Poly1305.seal(secret, under: homeKey, nonce: nonce, associatedData: name)
    }

    /// `key` sealed under the home's key, bound to its name.
    func seal(_ key: SymmetricKey, name: [UInt8], using random: any RandomSource) -> [UInt8] {
        var secret = key.exposedCopy()
        defer { SecretBytes.wipe(&secret) }
        return seal(secret, name: name, using: random)
    }

    /// The secret sealed under the home's key and `name`, or `nil`.
    func open(_ sealed: [UInt8], name: [UInt8]) -> [UInt8]? {
        XChaCha20Poly1305.open(
            [UInt8](sealed.dropFirst(XChaCha20Poly1305.nonceByteCount)), under: homeKey,
            nonce: [UInt8](sealed.prefix(XChaCha20Poly1305.nonceByteCount)),
            associatedData: name)
    }
}
