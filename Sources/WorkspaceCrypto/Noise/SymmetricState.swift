/// The chaining key, the transcript hash and the cipher of a handshake under way.
///
/// - Source: Noise specification, section 5.2.
struct SymmetricState {
    /// The hash of everything both sides saw so far.
    private(set) var handshakeHash: [UInt8]
    private var chainingKey: [UInt8]
    private let hash: HashFunction
    private let cipher = CipherState(nil)

    /// Starts with the protocol's name, such as `Noise_XX_25519_ChaChaPoly_BLAKE2b`.
    init(protocolName: String, hash: HashFunction) {
        let name = [UInt8](protocolName.utf8)
        self.hash = hash
        if name.count <= hash.byteCount {
            handshakeHash = name + [UInt8](repeating: 0, count: hash.byteCount - name.count)
        } else {
            handshakeHash = hash.hash(name)
        }
        chainingKey = handshakeHash
    }

    /// Whether what is sent now is encrypted.
    var hasKey: Bool { cipher.hasKey }

    /// Mixes `input` into the chaining key and derives a new cipher key.
    mutating func mixKey(_ input: [UInt8]) {
        var keys = hash.hkdf(chainingKey: chainingKey, input, outputCount: 2)
        replaceChainingKey(with: keys[0])
        cipher.initialize(SymmetricKey([UInt8](keys[1].prefix(32))))
        wipe(&keys)
    }

    /// Mixes `data` into the transcript.
    mutating func mixHash(_ data: [UInt8]) {
        handshakeHash = hash.hash(handshakeHash + data)
    }

    /// Mixes a pre-shared key into chaining key, transcript and cipher key.
    mutating func mixKeyAndHash(_ input: [UInt8]) {
        var keys = hash.hkdf(chainingKey: chainingKey, input, outputCount: 3)
        replaceChainingKey(with: keys[0])
        mixHash(keys[1])
        cipher.initialize(SymmetricKey([UInt8](keys[2].prefix(32))))
        wipe(&keys)
    }

    /// Encrypts `plaintext` if there is a key, and mixes the result into the transcript.
    mutating func encryptAndHash(_ plaintext: [UInt8]) throws(NoiseError) -> [UInt8] {
        let sealed = try cipher.encrypt(plaintext, associatedData: handshakeHash)
        mixHash(sealed)
        return sealed
    }

    /// Decrypts `sealed` if there is a key, and mixes it into the transcript.
    mutating func decryptAndHash(_ sealed: ArraySlice<UInt8>) throws(NoiseError) -> [UInt8] {
        let plaintext = try cipher.decrypt(sealed, associatedData: handshakeHash)
        mixHash([UInt8](sealed))
        return plaintext
    }

    /// The two ciphers of the connection, the initiator's sending one first. Wipes the handshake's
    /// secrets.
    mutating func split() -> (fromInitiator: CipherState, fromResponder: CipherState) {
        var keys = hash.hkdf(chainingKey: chainingKey, [], outputCount: 2)
        let ciphers = keys.map { CipherState(SymmetricKey([UInt8]($0.prefix(32)))) }
        wipe(&keys)
        forget()
        return (ciphers[0], ciphers[1])
    }

    /// Zeroes the secrets. The transcript hash is not secret and stays.
    mutating func forget() {
        SecretBytes.wipe(&chainingKey)
        cipher.initialize(nil)
    }

    private mutating func replaceChainingKey(with key: [UInt8]) {
        SecretBytes.wipe(&chainingKey)
        chainingKey = key
    }

    private func wipe(_ keys: inout [[UInt8]]) {
        for index in keys.indices { SecretBytes.wipe(&keys[index]) }
    }
}
