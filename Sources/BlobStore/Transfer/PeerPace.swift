/// A peer's delivery rate, and the size of its window.
struct PeerPace: Sendable {
    /// A shorter measurement means nothing.
    private static let tellingMilliseconds: UInt64 = 100
    /// How long an unknown peer may take for its first piece.
    private static let firstPatience: UInt64 = 10_000

    /// The minimum wait before a second peer is asked: most pieces take less.
    private static let secondMilliseconds: UInt64 = 500

    /// `nil` while nothing is known.
    private(set) var bytesPerSecond: UInt64?
    /// When the measurement began, and what has arrived since.
    private var since: UInt64 = 0
    private var bytes: UInt64 = 0
    /// The shortest time from a request to its piece, and the request that is being timed: when it was
    /// made, and the bytes that arrive until it is met.
    private var leastMilliseconds: UInt64?
    private var timed: (since: UInt64, byteCount: Int)?
    /// Consecutive stalls.
    private(set) var stallCount = 0
    /// When data last arrived, or was requested while none was owed.
    private(set) var heardAt: UInt64 = 0

    /// Bytes requested from the peer at a time: what it delivers while a request is on its way, and a
    /// little more.
    ///
    /// All that is requested beyond that waits somewhere, and a message of the same link behind it:
    /// what the sender has sealed, what the kernels hold, or what has arrived and waits for a turn.
    var window: Int {
        guard let bytesPerSecond else { return BlobLimits.windowBytesMin }
        let most: UInt64 = 1_000
        // Twice, so that the rate of a long way is found out soon.
        let wait = leastMilliseconds.map { way in
            max(2 * min(way, most), min(way, most) + BlobLimits.queueMilliseconds)
        }
        let rate = min(bytesPerSecond, most * UInt64(BlobLimits.windowBytesMax))
        let bytes = rate * min(wait ?? most, most) / 1_000
        return min(
            max(Int(clamping: bytes), BlobLimits.windowBytesMin), BlobLimits.windowBytesMax)
    }

    /// How long it may deliver nothing: four times the time of a piece, and
    /// longer after each stall.
    var patience: UInt64 {
        var patience = Self.firstPatience
        if let bytesPerSecond {
            let piece = 4_000 * UInt64(BlobLimits.pieceBytesMax) / max(bytesPerSecond, 1)
            patience = BlobLimits.stallMilliseconds + piece
        }
        return min(patience << UInt64(min(stallCount, 8)), BlobLimits.stallMillisecondsMax)
    }

    /// Twice the expected time for what it owes: after that a second peer is asked too.
    func expectation(owing byteCount: Int) -> UInt64 {
        guard let bytesPerSecond else { return Self.secondMilliseconds }
        return Self.secondMilliseconds + 2_000 * UInt64(max(0, byteCount)) / max(bytesPerSecond, 1)
    }

    /// A peer that owed nothing is asked for something.
    mutating func begin(at now: UInt64) {
        since = now
        bytes = 0
        heardAt = now
        timed = nil
    }

    /// A piece was requested, and with it the peer owes so many bytes.
    mutating func ask(owing byteCount: Int, at now: UInt64) {
        if timed == nil { timed = (now, byteCount) }
    }

    /// A piece arrived.
    mutating func note(_ byteCount: Int, at now: UInt64) {
        heardAt = now
        stallCount = 0
        bytes += UInt64(byteCount)
        time(byteCount, at: now)
        let elapsed = now - min(since, now)
        guard elapsed >= Self.tellingMilliseconds else { return }
        let seen = bytes * 1_000 / elapsed
        bytesPerSecond = bytesPerSecond.map { ($0 + seen) / 2 } ?? seen
        since = now
        bytes = 0
    }

    private mutating func time(_ byteCount: Int, at now: UInt64) {
        guard let (start, left) = timed else { return }
        timed = (start, left - byteCount)
        guard left <= byteCount else { return }
        timed = nil
        leastMilliseconds = min(leastMilliseconds ?? .max, now - min(start, now))
    }

    /// A part of a piece arrived.
    mutating func hear(at now: UInt64) { heardAt = max(heardAt, now) }

    /// Nothing arrived for too long: how fast it delivers is unknown again.
    mutating func stall() {
        stallCount += 1
        bytesPerSecond = nil
        leastMilliseconds = nil
        timed = nil
    }
}
