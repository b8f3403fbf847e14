public import WorkspaceModel

/// Which of two links to one device is kept.
///
/// Two nodes that discover each other at the same moment dial each other at the same moment. Both
/// must then close the same link, without asking: the one that the smaller device key opened is
/// kept. When the handshakes finished further apart, the older link is probably a dead one that
/// nobody has noticed, so it is pinged and has two seconds to answer.
///
/// Two stores of one device are two homes, one a copy of the other. Each keeps a link; the older
/// one is pinged all the same, since a home that took a new store id may have left it behind.
public enum LinkRule {
    /// Handshakes that finished within this time of each other count as one moment.
    public static let momentMilliseconds: UInt64 = 5_000
    /// How long the older link has to answer.
    public static let answerMilliseconds: UInt64 = 2_000

    /// The input of the rule about one link.
    public struct Link: Equatable, Sendable {
        /// The owner's number of the link.
        public let number: UInt64
        /// The device that dialled.
        public let opener: DeviceID
        /// When the handshake finished, in monotonic milliseconds.
        public let established: UInt64
        /// The store at the other end.
        public var store: StoreID?
    }

    /// What to do about two links to one device.
    public enum Verdict: Equatable, Sendable {
        /// Close this link; the other stays.
        case close(link: UInt64)
        /// Ping the older link, use it meanwhile, and ask a `LinkContest` when it answers or
        /// when the deadline (monotonic milliseconds) passes.
        case ask(LinkContest)
    }

    /// Judges `older`, which stood first, against `newer`, whose handshake finished at `now`.
    public static func judge(older: Link, newer: Link) -> Verdict {
        let apart =
            newer.established > older.established
            ? newer.established - older.established : 0
        guard apart <= momentMilliseconds, older.opener != newer.opener,
            older.store == newer.store
        else {
            let (deadline, overflow) = newer.established.addingReportingOverflow(answerMilliseconds)
            return .ask(
                LinkContest(older: older, newer: newer, deadline: overflow ? .max : deadline))
        }
        return .close(link: older.opener < newer.opener ? newer.number : older.number)
    }
}

/// The older of two links has been pinged; its answer decides.
public struct LinkContest: Equatable, Sendable {
    /// The link that was pinged.
    public let older: LinkRule.Link
    /// The link that waits.
    public let newer: LinkRule.Link
    /// When the older link has lost, in monotonic milliseconds.
    public let deadline: UInt64

    /// The number of the link to close, or `nil` while the older one still has time, and where both
    /// stay.
    ///
    /// - Parameter answered: whether the ping on the older link was answered.
    public func loser(answered: Bool, now: UInt64) -> UInt64? {
        if answered { return older.store == newer.store ? newer.number : nil }
        return now >= deadline ? older.number : nil
    }
}
