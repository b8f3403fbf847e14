/// Why a Noise message or a handshake was refused. Each ends the connection.
public enum NoiseError: Error, Equatable, Sendable, CaseIterable {
    /// The message is shorter than the keys and tags it must hold.
    case truncated
    /// A tag does not verify: another key, another prologue, or a changed, lost, repeated or
    /// reordered message.
    case badMAC
    /// The other side's public key is of low order.
    case badKey
    /// The nonce counter is used up. No message is ever sealed under its last value.
    case exhausted
    /// The message would not fit, or does not fit, in 65,535 bytes.
    case messageTooLong
    /// It is the other side's turn, the handshake is not over or is over already, or an earlier
    /// error ended it.
    case wrongTurn
}
