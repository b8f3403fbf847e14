import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// Whether this node answers people, and if not, what it waits for.
///
/// It is held in memory. The disk has the sealed identity, the count of wrong passphrases, and the
/// point from which operations have not been opened.
struct LockState {
    /// What a node does, and for whom.
    enum Phase: Equatable {
        /// Everything. Also while there is no identity yet.
        case open
        /// Everything but answering: a passcode is asked for, and the keys are at hand.
        case gated
        /// The keys are gone. Links continue, operations are stored and forwarded unopened.
        case relaying
        /// The keys are gone, and so is the network: a start without a passphrase, or a log-out.
        case closed
    }

    var phase = Phase.open
    /// The identity as its passphrase seals it, `nil` for an unprotected one.
    var sealed: SealedIdentity?
    /// Four digits, in memory alone.
    var passcode: SecretBytes?
    /// Wrong passcodes since the last right one.
    var wrongCodes = 0
    /// Wrong passphrases since the last right one.
    var tries = UnlockTries()
    /// What links need when nothing can be signed.
    var certified: Certified?
    /// Whether a part of what arrived while the node was locked is being folded right now.
    var isFolding = false
    /// The first operation that was stored without being opened.
    var unfolded: Int64?
    /// Whether the store says so too.
    var isUnfoldedStored = false
    /// The event that reported the lock: nobody is given a later one.
    var lastEvent: Int64?

    /// What was signed before the signing key was dropped.
    struct Certified {
        /// For handshakes.
        let identity: LocalIdentity
        /// What the identity file says unsealed.
        let createdAt: UInt64
    }

    /// Whether people are answered `locked`.
    var isLocked: Bool { phase != .open }

    /// Where the store says from where on operations were not opened.
    static let unfoldedName = "unfolded"
    /// Wrong passcodes that are too many.
    static let wrongCodesMax = 3
    /// Digits of a passcode.
    static let passcodeDigits = 4

    static func secret(_ text: String) -> SecretBytes {
        var bytes = Array(text.utf8)
        defer { SecretBytes.wipe(&bytes) }
        return SecretBytes(copying: bytes.isEmpty ? [0] : bytes, lifetime: .brief)
    }
}

/// Wrong passphrases, and how long the next attempt has to wait.
///
/// The count is on the disk. The monotonic clock measures the wait, which starts again with the
/// process. So neither a restart nor a changed clock shortens it, and nothing extends it beyond its
/// maximum.
struct UnlockTries: Equatable {
    /// Wrong ones since the last right one.
    private(set) var count: UInt32 = 0
    /// Until when nothing is tried, on the monotonic clock.
    private(set) var blockedUntil: UInt64 = 0
    /// When the last one was made, on the monotonic clock.
    private var lastAt: UInt64 = 0

    /// Tries that cost nothing but Argon2id.
    static let freeMax: UInt32 = 3
    /// The longest wait, milliseconds.
    static let waitMax: UInt64 = 15 * 60 * 1_000

    init() {}

    /// What a start finds on the disk. Time that has passed since the last attempt counts, or a
    /// node that restarts again and again would wait without end. The monotonic clock continues
    /// across processes and starts at zero when the machine boots; nobody can set it.
    init(stored: [UInt8]?, now: UInt64) {
        guard let stored, stored.count == 4 || stored.count == 12 else { return }
        count = stored.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
        lastAt = stored.dropFirst(4).reduce(0) { $0 << 8 | UInt64($1) }
        let passed = stored.count == 4 ? 0 : now < lastAt ? now : now - lastAt
        let wait = Self.wait(after: count)
        blockedUntil = now &+ (wait - min(wait, passed))
    }

    /// Big endian: the count in 4 bytes, and when the last one was made in 8.
    var bytes: [UInt8] { bigEndianBytes(of: UInt64(count)).suffix(4) + bigEndianBytes(of: lastAt) }

    /// One second after the fourth wrong one, and twice as long after each further one.
    static func wait(after count: UInt32) -> UInt64 {
        guard count > freeMax else { return 0 }
        return min(1_000 << UInt64(min(count - freeMax - 1, 20)), waitMax)
    }

    /// Counts a try before it is made, so that a process that dies in it has counted it.
    mutating func begin(now: UInt64) {
        count = count == .max ? .max : count + 1
        lastAt = now
        blockedUntil = now &+ Self.wait(after: count)
    }

    /// How long the next one has to wait, milliseconds.
    func left(now: UInt64) -> UInt64 { blockedUntil > now ? blockedUntil - now : 0 }
}
