/// How fast a peer delivers, and how much it is asked for at a time.
struct PeerPace: Sendable {
    /// A stretch of time that is shorter says nothing.
    private static let tellingMilliseconds: UInt64 = 100
    /// How long a peer of whom nothing is known may take for its first piece.
    private static let firstPatience: UInt64 = 10_000

    /// How long a second is not asked at least: most pieces take less.
    private static let secondMilliseconds: UInt64 = 500

    /// `nil` while nothing is known.
    private(set) var bytesPerSecond: UInt64?
    /// When the stretch began, and what came in it.
    private var since: UInt64 = 0
    private var bytes: UInt64 = 0
    /// How often in a row nothing came for too long.
    private(set) var stallCount = 0
    /// When something came last, or was asked for while nothing was.
    private(set) var heardAt: UInt64 = 0

    /// Bytes that the peer is asked for at a time: what it delivers in a second.
    var window: Int {
        guard let bytesPerSecond else { return BlobLimits.windowBytesMin }
        return min(
            max(Int(clamping: bytesPerSecond), BlobLimits.windowBytesMin),
            BlobLimits.windowBytesMax)
    }

    /// How long it may deliver nothing: four times what a piece takes, and longer each time.
    var patience: UInt64 {
        var patience = Self.firstPatience
        if let bytesPerSecond {
            let piece = 4_000 * UInt64(BlobLimits.pieceBytesMax) / max(bytesPerSecond, 1)
            patience = BlobLimits.stallMilliseconds + piece
        }
        return min(patience << UInt64(min(stallCount, 8)), BlobLimits.stallMillisecondsMax)
    }

    /// How long it should take for what it owes, twice over: after that a second is asked, too.
    func expectation(owing byteCount: Int) -> UInt64 {
        guard let bytesPerSecond else { return Self.secondMilliseconds }
        return Self.secondMilliseconds + 2_000 * UInt64(max(0, byteCount)) / max(bytesPerSecond, 1)
    }

    /// Notes that a peer that owed nothing is asked for something.
    mutating func begin(at now: UInt64) {
        since = now
        bytes = 0
        heardAt = now
    }

    /// Notes that a piece came.
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

    /// Notes that a part of a piece came.
    mutating func hear(at now: UInt64) { heardAt = max(heardAt, now) }

    /// Notes that nothing came for too long: what it delivers is unknown again.
    mutating func stall() {
        stallCount += 1
        bytesPerSecond = nil
    }
}
