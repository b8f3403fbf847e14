import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// Becoming another device of a person: the new device's side (PROTOCOL.md, 5.8).
struct LinkAttempt {
    /// The progress of one workspace.
    enum Stage: Equatable {
        /// The authority document is being pulled, until this `adddev` is in it.
        case reading(OperationID)
        /// We are in; the first sync runs.
        case syncing
        /// The first sync is over.
        case done
    }

    /// Whose answer it is, and under which key.
    let scope: CallScope
    let link: DeviceLink
    /// The name of this device in every workspace that it joins.
    var name: String?
    /// Where to dial, in turn.
    private(set) var addresses: [PeerAddress]
    /// On the monotonic clock.
    let deadline: UInt64
    /// The number of the dial under way.
    var dial: UInt64?
    /// The link it continues on, once a dial has succeeded.
    var connection: LinkID?
    /// What the other device offered, by workspace.
    var offered: [WorkspaceID: LinkOffer.Membership] = [:]
    /// The workspaces it was added to, by number.
    var workspaces: [Int64: Stage] = [:]
    private var next = 0
    private(set) var nextDial: UInt64 = 0

    init(scope: CallScope, link: DeviceLink, deadline: UInt64) {
        self.scope = scope
        self.link = link
        addresses = link.hints
        self.deadline = deadline
    }

    /// The secret under which it dials.
    var candidate: PSKCandidate { PSKCandidate(.linking, psk: link.secret.psk) }

    /// Whether the other device is still needed: afterwards any member will do.
    private var needsLink: Bool {
        workspaces.isEmpty
            || workspaces.values.contains { if case .reading = $0 { true } else { false } }
    }

    /// Whether the next dial waits only for its time.
    var isWaitingToDial: Bool {
        dial == nil && connection == nil && needsLink && !addresses.isEmpty
    }

    /// A beacon of somebody who knows the link.
    mutating func heard(_ address: PeerAddress) {
        guard !addresses.contains(address), addresses.count < 16 else { return }
        addresses.append(address)
        nextDial = 0
    }

    /// The address to dial now, if it is time.
    mutating func addressDue(now: UInt64) -> PeerAddress? {
        guard isWaitingToDial, nextDial <= now else { return nil }
        defer { next += 1 }
        return addresses[next % addresses.count]
    }

    /// The next address is tried at once, a second round after a pause.
    mutating func dialFailed(now: UInt64) {
        dial = nil
        connection = nil
        nextDial = next % max(addresses.count, 1) == 0 ? now + 500 : now
    }
}

/// A device link that was created here. It is held in memory only: a restart ends it.
struct IssuedDeviceLink {
    let link: DeviceLink
    /// On the wall clock, for people.
    let expiresAt: UInt64
    /// On the monotonic clock.
    let deadline: UInt64
    /// The device that was added by it. That device may return, in case its link broke in between;
    /// nobody else may.
    var user: DeviceID?
}

/// A join that an admin has to approve, as this home remembers it across restarts.
///
/// All of them are one value in the registry, sealed under the home's key, since a link is a
/// secret: `Enc` array of [link text, since ms, refused bool], and where the invite ended a fourth
/// item, the bool true.
struct PendingJoin: Equatable {
    /// The link, in lower case.
    let link: String
    /// When it was asked first, milliseconds since 1970.
    let since: UInt64
    /// Whether it is over and nobody has been told yet.
    var isRefused: Bool
    /// Whether it is over because its invite ended, and nobody has decided.
    var isEnded = false

    static func encoded(_ joins: [PendingJoin]) -> [UInt8] {
        var encoder = CBOREncoder(reservingBytes: 256)
        encoder.array(count: joins.count)
        for join in joins {
            encoder.array(count: join.isEnded ? 4 : 3)
            encoder.text(join.link)
            encoder.uint(join.since)
            encoder.bool(join.isRefused)
            if join.isEnded { encoder.bool(true) }
        }
        return encoder.bytes
    }

    static func list(decoding bytes: [UInt8]) throws(Malformed) -> [PendingJoin] {
        var decoder = CBORDecoder(bytes)
        var joins: [PendingJoin] = []
        for _ in 0..<(try decoder.arrayCount(max: Limits.pendingJoinsMax)) {
            let count = try decoder.arrayCount(max: 4)
            guard count >= 3 else { throw Malformed(.countExceeded, at: 0) }
            var join = PendingJoin(
                link: try decoder.text(maxBytes: 512), since: try decoder.uint(),
                isRefused: try decoder.bool())
            if count == 4 {
                // There is one way to write that it has not ended.
                join.isEnded = try decoder.bool()
                guard join.isEnded else { throw Malformed(.outOfRange, at: 0) }
            }
            joins.append(join)
        }
        try decoder.finish()
        return joins
    }
}
