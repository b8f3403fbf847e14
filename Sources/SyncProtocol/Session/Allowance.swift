/// A token bucket.
public struct Allowance: Sendable {
    private let capacity: UInt64
    private let refillMilliseconds: UInt64
    private var tokens: UInt64
    private var since: UInt64?

    /// A full bucket.
    ///
    /// - Parameters:
    ///   - tokens: the capacity.
    ///   - refillMilliseconds: after how long one token is refilled, not 0.
    public init(tokens: UInt64, refillMilliseconds: UInt64) {
        precondition(refillMilliseconds > 0, "an allowance without end")
        capacity = tokens
        self.refillMilliseconds = refillMilliseconds
        self.tokens = tokens
    }

    /// When the next token is available, on the clock of `take`, 0 for at once.
    public var next: UInt64 { tokens > 0 ? 0 : (since ?? 0) &+ refillMilliseconds }

    /// Takes a token; `false` if there is none.
    public mutating func take(at now: UInt64) -> Bool {
        refill(at: now)
        guard tokens > 0 else { return false }
        tokens -= 1
        return true
    }

    /// Whether the bucket is full again, so that nobody needs to remember it.
    public mutating func isFull(at now: UInt64) -> Bool {
        refill(at: now)
        return tokens == capacity
    }

    private mutating func refill(at now: UInt64) {
        let start = since ?? now
        let refills = (now - min(start, now)) / refillMilliseconds
        since = start + refills * refillMilliseconds
        tokens = min(capacity, tokens + refills)
    }
}
