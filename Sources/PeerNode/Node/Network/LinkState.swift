import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// A link that only tells the peer that its membership has ended, and is then closed.
struct Farewell {
    /// When it began, on the monotonic clock.
    let start: UInt64
    /// When the link ends, unless something is under way then.
    var due: UInt64

    init(at now: UInt64) {
        start = now
        due = now &+ Limits.farewellMilliseconds
    }

    /// The other side asked for a part of what it may see, or showed a part of what it holds.
    mutating func moved(at now: UInt64) {
        let end = start &+ Limits.farewellMillisecondsMax
        due = max(due, min(now &+ Limits.farewellMilliseconds, end))
    }

    /// Whether the link ends now.
    ///
    /// - Parameter isBusy: something that either side asked for is under way.
    mutating func isOver(at now: UInt64, isBusy: Bool) -> Bool {
        guard due <= now else { return false }
        guard isBusy else { return true }
        moved(at: now)
        return due <= now
    }
}

/// An incoming connection from an unknown peer.
struct AnonymousLink {
    let address: String
    let openedAt: UInt64
    /// Its bytes so far, fewer than the hint and message 1 have.
    var bytes: [UInt8] = []
}

/// The number of log lines of one kind per minute.
struct LineAllowance {
    private var minute: UInt64 = 0
    private var count = 0

    /// Whether there may be one more at `now`, in monotonic milliseconds.
    mutating func takes(at now: UInt64) -> Bool {
        if now / 60_000 != minute { (minute, count) = (now / 60_000, 0) }
        count += 1
        return count <= Limits.strangerLinesPerMinuteMax
    }
}

/// Address records that still have to be told and asked for.
struct AddressNews {
    /// When the books of all peers are compared again, on the monotonic clock.
    var due: UInt64?
    /// Which record was asked for, and when it may be asked of another peer, by device.
    var asked: [DeviceID: (at: UInt64, until: UInt64)] = [:]
    /// When this device's record was last signed again because a peer had a newer one.
    var signedAgain: UInt64?
    /// How many records of each person's devices are asked for: each is written, and others ask for it.
    var allowances = GroupAllowances<[UInt8]>(
        tokens: Limits.addressRecordsOfOneMax,
        refillMilliseconds: Limits.addressRecordOfOneMilliseconds)

    /// Compares them then, unless that is done earlier.
    mutating func plan(at time: UInt64) { due = min(due ?? time, time) }
}

/// Beacons that a node sends into the local network and hears there (PROTOCOL.md, 5.7).
struct BeaconState {
    /// The addresses that beacons leave from.
    var sources: [PeerAddress.Host] = []
    /// Which of many keys have their turn.
    var turn: UInt64 = 0
    /// When the next ones are sent, on the monotonic clock.
    var next: UInt64 = 0
    /// When the first ones were sent.
    var first: UInt64?
    /// Whether the node hears its own, which shows that multicast works on this machine.
    var hearsOwn = false
    /// The key by which a joiner looks for this node by a link; it has a place in the next beacons.
    var wanted: SymmetricKey?
    /// When a beacon was last sent ahead of schedule.
    private var hurriedAt: UInt64?
    /// Nonces of this node's own beacons, so that it ignores them.
    private var own = RecentNames(max: Limits.beaconSourcesMax * 2)
    /// Nonces of beacons that matched: a datagram causes one dial, however often it arrives.
    private var known = RecentNames(max: Limits.beaconsKnownMax)
    /// How many tags may be tried: each is tried with every secret in use.
    private var attention = Limits.beaconTriesMax
    private var attentiveAt: UInt64 = 0

    mutating func sent(_ packet: BeaconPacket) {
        RecentNames.Name(untrusted: packet.nonce).map { _ = own.insert($0) }
    }

    /// The addresses that the next ones leave from: of very many, each in its turn.
    var nextSources: [PeerAddress.Host] {
        let most = Limits.beaconSourcesMax
        guard sources.count > most else { return sources }
        let start = Int(turn % UInt64(sources.count)) * most
        return (0..<most).map { sources[(start + $0) % sources.count] }
    }

    /// Sends the next beacon soon. Not at every word: anybody who has the link can ask.
    mutating func hurry(for key: SymmetricKey?, at now: UInt64) {
        guard hurriedAt.map({ now >= $0 && now - $0 >= Limits.beaconHurryMilliseconds }) ?? true
        else { return }
        hurriedAt = now
        wanted = key
        next = min(next, now)
    }

    /// Whether a packet has to be examined: it is not this node's, and did not arrive before.
    mutating func isWorthLooking(_ packet: BeaconPacket) -> Bool {
        guard let name = RecentNames.Name(untrusted: packet.nonce) else { return false }
        if own.contains(name) {
            hearsOwn = true
            return false
        }
        return !known.contains(name)
    }

    /// Whether so many more tags may be tried for a packet, such as those of former secrets:
    /// anybody may send any number of packets. Tags of current secrets cost microseconds, and are
    /// always tried.
    mutating func isAttentive(for tries: Int, at now: UInt64) -> Bool {
        let passed = Int(clamping: now - min(attentiveAt, now))
        let (gained, isMuch) = passed.multipliedReportingOverflow(
            by: Limits.beaconTriesPerMillisecond)
        attention =
            isMuch
            ? Limits.beaconTriesMax
            : min(Limits.beaconTriesMax, attention + min(gained, Limits.beaconTriesMax))
        attentiveAt = max(attentiveAt, now)
        guard attention >= tries else { return false }
        attention -= tries
        return true
    }

    mutating func understood(_ packet: BeaconPacket) {
        RecentNames.Name(untrusted: packet.nonce).map { _ = known.insert($0) }
    }
}

/// The evidence that a home runs twice: it was copied, or its machine cloned, and both were
/// started. Both continue, each with its own store id and logs; those who can see it are told.
struct CopiedHomes {
    /// How long this store keeps its id at least after it has changed it because a peer said that
    /// another store has the same one: twice as long each time, up to five days. Two copies need
    /// one change, and any peer can claim it.
    static func patienceMilliseconds(after times: Int) -> UInt64 {
        3_600_000 << min(max(times - 1, 0), 7)
    }

    /// Devices whose copies were reported since the start.
    var told: Set<DeviceID> = []
    /// When a copy of this home signed something last, as far as is known, on the wall clock.
    var signedAt: UInt64?
    /// When this store gave way to a copy of it, on the monotonic clock.
    var yieldedAt: UInt64?
    /// How often it did since the start.
    var yields = 0
}
