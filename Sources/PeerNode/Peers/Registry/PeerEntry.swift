import SyncProtocol

/// One peer: its addresses, and the state of dialling it.
struct PeerEntry {
    enum Stage: Equatable {
        case idle
        case dialing(DialAttempts)
        case waiting(until: UInt64)
        case connected
    }

    var person: [UInt8]?
    var addresses = AddressList()
    var stage = Stage.idle
    /// The place of the next address in this round.
    var next = 0
    var failures = 0
    /// Failed attempts in a row, counting each address.
    var tries = 0
    var schedule = RetrySchedule()
    var isBlocked = false
    /// Dropped when a round fails: nobody asked for this address by hand.
    var isPassing = false
    var lastError: String?
    var lastSeen: UInt64?
    /// When an attempt failed last, in monotonic milliseconds.
    var lastTried: UInt64?

    mutating func forgetFailures() {
        failures = 0
        tries = 0
        schedule.succeeded()
    }

    func has(_ address: PeerAddress) -> Bool {
        addresses.entries.contains { $0.address == address }
    }

    var attempts: DialAttempts? {
        if case .dialing(let attempts) = stage { attempts } else { nil }
    }
    var attemptNumbers: [UInt64] { attempts.map { Array($0.addresses.keys) } ?? [] }
    var isDialing: Bool { attempts != nil }
    /// The place of the address to try next in this round: one at which no attempt waits.
    var nextPlace: Int? {
        addresses.entries.indices.first {
            $0 >= next && attempts?.isUnderWay(at: addresses.entries[$0].address) != true
        }
    }

    /// An attempt is over, whatever came of it.
    mutating func end(_ number: UInt64) {
        guard var attempts else { return }
        attempts.ended(number)
        if !attempts.addresses.isEmpty {
            stage = .dialing(attempts)
        } else {
            stage = attempts.isResting ? .waiting(until: attempts.nextDue) : .idle
        }
    }
}
