import WorkspaceModel

/// The running dial attempts to one peer: its addresses race, each with a head start before the
/// next.
struct DialAttempts: Equatable, Sendable {
    /// Where, by number.
    private(set) var addresses: [UInt64: PeerAddress] = [:]
    /// When the peer's next address is due, if there is one, in monotonic milliseconds.
    private(set) var nextDue: UInt64 = 0
    /// Whether all other addresses have failed, so that the peer rests until then.
    private(set) var isResting = false

    /// Notes one more.
    mutating func began(_ number: UInt64, at address: PeerAddress, now: UInt64) {
        addresses[number] = address
        nextDue = now &+ Limits.dialHeadStartMilliseconds
        isResting = false
    }

    /// One is over: the next address need not wait for the others, unless the peer rests.
    mutating func ended(_ number: UInt64) {
        addresses[number] = nil
        if !isResting { nextDue = 0 }
    }

    /// All other addresses have failed: they are due again then.
    mutating func rest(until due: UInt64) {
        nextDue = due
        isResting = true
    }

    /// Whether one waits at an address.
    func isUnderWay(at address: PeerAddress) -> Bool { addresses.values.contains(address) }

    /// The address of the newest.
    var newest: PeerAddress? { addresses.max { $0.key < $1.key }?.value }
}
