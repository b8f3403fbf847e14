public import CRDTStore

/// What the loop runs turn by turn: a `NodeHost`, or a substitute in tests.
///
/// All calls come from the loop's thread, and what `turn` returns is already on disk.
public protocol TurnHost: AnyObject {
    /// Handles `inputs` in order, commits, and returns what to do.
    func turn(_ inputs: [NodeInput], at time: TurnTime) -> [NodeEffect]
    /// Tells that the effects of the last turn were carried out, at this time of the monotonic
    /// clock in milliseconds: what was answered is as good as read.
    func didPerform(at monotonic: UInt64)
    /// Tells that all that was written to these links has left, at this time of the monotonic clock
    /// in milliseconds.
    ///
    /// - Returns: `false` where the next turn has to hear of it, at once.
    func noteAllSent(on links: [LinkID], at monotonic: UInt64) -> Bool
    /// More to write to a link, of which `unsent` bytes have not left, at this time of the monotonic clock
    /// in milliseconds.
    ///
    /// - Returns: empty while the link has enough; `nil` where the next turn has to hear of `unsent`.
    func moreToSend(on link: LinkID, unsent: Int, at monotonic: UInt64) -> [UInt8]?
    /// When `turn` wants a `tick` at the latest, in milliseconds of the monotonic clock.
    var nextDeadline: UInt64? { get }
    /// Whether a turn was cut short and wants another at once.
    var hasMoreToDo: Bool { get }
    /// The links that must not be read for now.
    var busyLinks: [LinkID] { get }
    /// Control connections with open subscriptions.
    var subscribers: [UInt64] { get }
    /// The next events for a connection that can take about `room` bytes.
    func events(
        for connection: UInt64, room: Int
    ) -> [(subscription: Int64, event: EventObject)]
    /// Whether `events(for:room:)` can continue at once, even if it has found nothing yet.
    func looksForEvents(for connection: UInt64) -> Bool
    /// Whether `events(for:room:)` may have more than it has just given.
    func mayHaveEvents(for connection: UInt64) -> Bool
    /// Moves the write-ahead log into the database.
    func checkpoint(_ mode: Connection.CheckpointMode)
    /// Bytes in the write-ahead log.
    var logByteCount: Int { get }
    /// Whether it starts with peers: not so a home that waits for its passphrase.
    var wantsNetwork: Bool { get }
    /// Whether the write-ahead log may hold what was erased.
    var mustEmptyLog: Bool { get }
    /// Empties the write-ahead log.
    ///
    /// - Returns: `false` while a reader keeps it from that.
    func emptyLog() -> Bool
}

extension TurnHost {
    /// Each turn hears of it.
    public func noteAllSent(on links: [LinkID], at monotonic: UInt64) -> Bool { false }
    /// What is sent is decided by turns alone.
    public func moreToSend(on link: LinkID, unsent: Int, at monotonic: UInt64) -> [UInt8]? { nil }
    /// With peers.
    public var wantsNetwork: Bool { true }
    /// All links are read.
    public var busyLinks: [LinkID] { [] }
    /// Nobody measures.
    public func didPerform(at monotonic: UInt64) {}
    /// It looks at all events at once.
    public func looksForEvents(for connection: UInt64) -> Bool { false }
    /// Only asking again tells.
    public func mayHaveEvents(for connection: UInt64) -> Bool { true }
    /// Nothing was erased.
    public var mustEmptyLog: Bool { false }
    /// There is nothing to do.
    public func emptyLog() -> Bool { true }
}

extension NodeHost: TurnHost {}
