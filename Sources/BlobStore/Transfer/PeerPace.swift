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
    /// Consecutive stalls.
    private(set) var stallCount = 0
    /// When data last arrived, or was requested while none was owed.
    private(set) var heardAt: UInt64 = 0

    /// Bytes requested from the peer at a time: what it delivers in a second.
    var window: Int {
        guard let bytesPerSecond else { return BlobLimits.windowBytesMin }
        return min(
            max(Int(clamping: bytesPerSecond), BlobLimits.windowBytesMin),
            BlobLimits.windowBytesMax)
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
    }

    /// A piece arrived.
    mutating func note(_ byteCount: Int, at now: UInt64) {
        heardAt = now
        stallCount = 0
        bytes += UInt64(byteCount)
        let elapsed = now - min(since, now)
        guard elapsed >= Self.tellingMilliseconds else { return }
        let seen = bytes * 1_000 / elapsed
        bytesPerSecond = bytesPerSecond.map { ($0 + seen) / 2 } ?? seen
        since = now
        bytes = 0
    }

    /// A part of a piece arrived.
    mutating func hear(at now: UInt64) { heardAt = max(heardAt, now) }

    /// Nothing arrived for too long: the delivery rate is unknown again.
    mutating func stall() {
        stallCount += 1
        bytesPerSecond = nil
    }
}
