/// One direction of a connection: bytes arrive in order or not at all, in pieces of any size, with
/// a delay, as TCP delivers them.
///
/// ```
/// write ──▶ waiting ──window──▶ flight ──latency──▶ deliver
///              └─ what the sender's kernel has not taken: reported as unsent
/// ```
final class SimulatedPipe {
    private enum Piece {
        case bytes([UInt8])
        case end
    }

    /// Bytes that may be under way; what is more waits at the sender.
    private static let windowByteCount = 64 * 1024

    private let world: SimulatedWorld
    private let deliver: ([UInt8]) -> Void
    private let end: () -> Void
    private let unsentChanged: (Int) -> Void
    private var waiting: [UInt8] = []
    private var flight: [Piece] = []
    private var flightByteCount = 0
    private var lastDue: UInt64 = 0
    private var missedDeliveries = 0
    private var isEnding = false
    private(set) var isCut = false
    /// Bytes that were delivered in all.
    private(set) var deliveredByteCount = 0

    /// Whether nothing arrives at the moment: a partition, or a reader that does not read.
    var isFrozen = false { didSet { if oldValue, !isFrozen { thaw() } } }

    init(
        _ world: SimulatedWorld, deliver: @escaping ([UInt8]) -> Void,
        end: @escaping () -> Void, unsentChanged: @escaping (Int) -> Void
    ) {
        self.world = world
        self.deliver = deliver
        self.end = end
        self.unsentChanged = unsentChanged
    }

    func write(_ bytes: [UInt8]) {
        guard !isCut, !isEnding else { return }
        waiting += bytes
        pump()
        unsentChanged(waiting.count)
    }

    /// The sender closes: what the kernel has taken still arrives, then the end.
    func finish() {
        guard !isCut, !isEnding else { return }
        isEnding = true
        waiting = []
        send(.end)
    }

    /// The connection broke: what is under way is lost, a frame in the middle perhaps.
    func cut() {
        isCut = true
        waiting = []
        flight = []
    }

    private func pump() {
        while !waiting.isEmpty, flightByteCount < Self.windowByteCount {
            let room = Self.windowByteCount - flightByteCount
            let count = min(world.drawPieceByteCount(), waiting.count, room)
            let piece = Array(waiting.prefix(count))
            waiting.removeFirst(count)
            flightByteCount += count
            send(.bytes(piece))
        }
    }

    private func send(_ piece: Piece) {
        flight.append(piece)
        scheduleDelivery()
    }

    private func scheduleDelivery() {
        lastDue = max(lastDue, world.now + world.drawLatency())
        world.schedule(at: lastDue) { [self] in deliverFirst() }
    }

    private func deliverFirst() {
        guard !isCut else { return }
        guard !isFrozen else {
            missedDeliveries += 1
            return
        }
        guard !flight.isEmpty else { return }
        switch flight.removeFirst() {
        case .bytes(let bytes):
            flightByteCount -= bytes.count
            deliveredByteCount += bytes.count
            let before = waiting.count
            pump()
            if waiting.count != before { unsentChanged(waiting.count) }
            deliver(bytes)
        case .end:
            isCut = true
            end()
        }
    }

    private func thaw() {
        let missed = missedDeliveries
        missedDeliveries = 0
        for _ in 0..<missed { scheduleDelivery() }
    }
}
