public import SyncProtocol

extension PeerSession {
    /// What the owner must do.
    public enum Effect: Equatable, Sendable {
        /// Hand these bytes to the transport.
        case write([UInt8])
        /// A stranger's first message is right. Call `agreementGranted` when the budget has
        /// `agreementsPerAnswer` key agreements; the deadline runs meanwhile.
        case wantsAgreement
        /// Both sides are proved. Whether this peer is welcome is the owner's to say.
        case established(PeerIdentity)
        /// The peer said something. Pings are answered here and are not passed on.
        case message(SyncMessage, MessageClass)
        /// The peer said something about a blob, in these bytes.
        case blob([UInt8])
        /// The peer answered the ping of this number.
        case pong(number: UInt64)
        /// Write what was handed out before, then close. The session is over.
        case close(LinkEnding)
    }
}
