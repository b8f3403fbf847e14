/// The waiting half of the loop: gathers all inputs of one turn as values, in a fixed order.
///
/// A turn is `gather`, then the core handles what was gathered, then COMMIT, then the effects. So
/// there are no callbacks, and what becomes ready meanwhile belongs to the next turn.
///
/// - Not thread-safe: it belongs to the loop's thread. Only `wakeup` may be used from others.
public final class LoopDriver<Output: Sendable, TimerName: Hashable> {
    /// What one turn starts with.
    public struct Turn {
        /// Milliseconds of `MonotonicClock`, read once for the whole turn.
        public let now: UInt64
        /// What people or the service manager asked for.
        public let requests: [Signals.Request]
        /// Timers that are due, the earliest first.
        public let timers: [TimerName]
        /// Jobs that ended, in that order.
        public let jobs: [JobPool<Output>.Finished]
        /// Sockets that can make progress.
        public let ready: [Poller.Ready]
    }

    /// Tokens below this one are the driver's own.
    public static var firstFreeToken: UInt64 { 16 }

    /// Where sockets are watched, under the tokens of `newToken`.
    public let poller: Poller
    /// Where long work goes.
    public let jobs: JobPool<Output>
    /// Ends the wait from another thread.
    public let wakeup: Wakeup
    /// Deadlines, in the milliseconds of `Turn.now`.
    public var timers = TimerQueue<TimerName>()

    private let signals: Signals
    private var nextToken = LoopDriver.firstFreeToken
    private static var wakeupToken: UInt64 { 1 }
    private static var signalToken: UInt64 { 2 }

    /// Starts the job threads, so `Signals.prepareProcess` comes before it.
    public init(jobThreadCount: Int = 2) throws(SystemError) {
        poller = try Poller()
        wakeup = try Wakeup()
        signals = try Signals()
        try poller.watch(wakeup.descriptor, token: Self.wakeupToken, interest: .readable)
        try poller.watch(signals.descriptor, token: Self.signalToken, interest: .readable)
        jobs = try JobPool(threadCount: jobThreadCount, wakeup: wakeup)
    }

    /// A token that no descriptor had before.
    public func newToken() -> UInt64 {
        nextToken += 1
        return nextToken
    }

    /// Waits until there is something to do and returns all of it.
    ///
    /// - Parameter hasMoreToDo: whether work of the last turn is left over; then it does not wait.
    public func gather(hasMoreToDo: Bool = false) throws(SystemError) -> Turn {
        let timeout: UInt64? =
            if hasMoreToDo {
                0
            } else if let deadline = timers.nextDeadline {
                // A clock that passed the deadline already leaves nothing to wait for.
                deadline - min(deadline, MonotonicClock.milliseconds())
            } else {
                nil
            }
        let ready = try poller.wait(timeoutMilliseconds: timeout)
        var requests: [Signals.Request] = []
        for event in ready {
            if event.token == Self.wakeupToken { wakeup.clear() }
            if event.token == Self.signalToken { requests += signals.take() }
        }
        let now = MonotonicClock.milliseconds()
        return Turn(
            now: now, requests: requests, timers: timers.takeDue(now: now),
            // After the wake-up was cleared: a job that ends from here on wakes the next turn.
            jobs: jobs.takeFinished(),
            ready: ready.filter { $0.token >= Self.firstFreeToken })
    }
}
