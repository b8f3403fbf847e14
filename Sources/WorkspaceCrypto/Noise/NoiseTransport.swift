/// The encrypted connection after a handshake: plaintexts to ciphertexts and back, in order.
///
/// Ciphertexts must be opened in the order in which they were sealed. One that does not open ends
/// the connection: what follows it cannot be in order either.
public final class NoiseTransport {
    /// The longest plaintext of one frame, in bytes.
    public static var plaintextByteCountMax: Int {
        HandshakeState.messageByteCountMax - CipherState.tagByteCount
    }

    private let send: CipherState
    private let receive: CipherState
    private var failure: NoiseError?

    /// Takes over what `HandshakeState.split` gave.
    public init(send: CipherState, receive: CipherState) {
        precondition(send.hasKey && receive.hasKey, "a transport without keys")
        self.send = send
        self.receive = receive
    }

    /// The ciphertext of `plaintext`, 16 bytes longer.
    ///
    /// - Throws: `messageTooLong` above 65,519 bytes, `exhausted`.
    public func seal(_ plaintext: [UInt8]) throws(NoiseError) -> [UInt8] {
        var sealed: [UInt8] = []
        try seal(plaintext, appendingTo: &sealed)
        return sealed
    }

    /// Appends the ciphertext of `plaintext`, without a length prefix.
    ///
    /// - Throws: `messageTooLong` above 65,519 bytes, `exhausted`. Nothing is appended then.
    public func seal(
        _ plaintext: [UInt8], appendingTo buffer: inout [UInt8]
    ) throws(NoiseError) {
        guard plaintext.count <= Self.plaintextByteCountMax else { throw .messageTooLong }
        try send.encrypt(plaintext, associatedData: [], appendingTo: &buffer)
    }

    /// The plaintext of the next ciphertext. Takes any bytes.
    ///
    /// - Throws: `truncated`, `badMAC`, `messageTooLong`, `exhausted`; then the same every time.
    public func open(_ ciphertext: [UInt8]) throws(NoiseError) -> [UInt8] {
        try open(ciphertext[...])
    }

    /// The plaintext of the next ciphertext, a slice of a larger buffer.
    ///
    /// - Throws: `truncated`, `badMAC`, `messageTooLong`, `exhausted`; then the same every time.
    public func open(_ ciphertext: ArraySlice<UInt8>) throws(NoiseError) -> [UInt8] {
        if let failure { throw failure }
        do throws(NoiseError) {
            guard ciphertext.count <= HandshakeState.messageByteCountMax else {
                throw .messageTooLong
            }
            return try receive.decrypt(ciphertext)
        } catch {
            failure = error
            throw error
        }
    }
}
