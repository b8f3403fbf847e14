import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// Joining by an invite: the joiner's side (PROTOCOL.md, 5.6).
struct JoinAttempt {
    /// Its progress.
    enum Stage: Equatable {
        /// Looking for somebody who answers.
        case searching
        /// The authority document is being pulled; then `join2` goes out.
        case reading
        /// `join2` was sent.
        case asked
        /// An admin has to approve; the link stays open, to hear of it.
        case waiting
        /// Somebody admitted us; the admission is being pulled.
        case admitted(OperationID)
        /// We are a member; the first sync runs.
        case syncing
    }

    /// The call that waits for the answer, and its key; `nil` while it continues in the background.
    var scope: CallScope?
    let link: InviteLink
    /// Where to dial, in turn.
    private(set) var addresses: [PeerAddress]
    /// On the monotonic clock; `nil` while it continues in the background.
    var deadline: UInt64?
    var stage = Stage.searching
    /// The number of the dial under way.
    var dial: UInt64?
    var connection: LinkID?
    var workspace: Int64?
    /// The tips of the authority document from `join_result`.
    var tips: [LogTip] = []
    /// Whether an admin has to approve, as far as known: by the invite, or for a returning person.
    var needsApproval = false
    /// Whether the person was in that workspace before, which is why an admin has to approve.
    var isReturning = false
    /// For a person who recovers and does not join.
    var phrase: RecoveryPhrase?
    private var next = 0
    /// Rounds over all addresses in the background since somebody answered.
    private var rounds = 0
    private(set) var nextDial: UInt64 = 0
    /// Why the first peer in this round refused. It proves nothing: another one may admit.
    private var refusal: NodeError?
    /// How many addresses have not had their turn since.
    private var turnsLeft = 0
    /// Whether one of its addresses did not answer at all.
    private var hasMissed = false
    /// Operations of the authority document that were here last.
    private var held = 0
    /// When the next address is tried even if this one has not refused, on the monotonic clock.
    private(set) var turnEnds: UInt64?
    private(set) var lastError = "no address answered"

    /// The link it continues on, once a dial has succeeded.
    var linkID: LinkID? { connection }

    init(scope: CallScope?, link: InviteLink, addresses: [PeerAddress], deadline: UInt64?) {
        self.scope = scope
        self.link = link
        self.addresses = addresses
        self.deadline = deadline
    }

    /// The secret under which it dials.
    var candidate: PSKCandidate { PSKCandidate(.joining, psk: link.secret.psk) }

    /// A beacon of somebody who knows the invite.
    mutating func heard(_ address: PeerAddress) {
        guard !addresses.contains(address), addresses.count < 16 else { return }
        addresses.append(address)
        turnsLeft += 1
        nextDial = 0
    }

    /// The address to dial now, if it is time.
    mutating func addressDue(now: UInt64) -> PeerAddress? {
        guard stage == .searching, dial == nil, connection == nil, nextDial <= now,
            !addresses.isEmpty
        else { return nil }
        defer { next += 1 }
        return addresses[next % addresses.count]
    }

    /// Whether there is more than one address to ask at.
    var hasOthers: Bool { addresses.count > 1 }

    /// Whether every address has had its turn since the first refusal.
    var isRefused: Bool { refusal != nil && turnsLeft <= 0 && stage == .searching }

    /// The error for the waiting caller, if a peer has refused: that peer may not know the
    /// decision, or not want to tell, and if others could not be reached, the error says so.
    var toldRefusal: NodeError? {
        guard var told = refusal else { return nil }
        if hasMissed || turnsLeft > 0 {
            let again = "another address of the link did not answer: try again later"
            told.hint = told.hint.map { "\($0), or \(again)" } ?? again
        }
        return told
    }

    /// The peer that answered refused to admit; the other addresses are still tried.
    mutating func refused(_ error: NodeError) {
        guard refusal == nil else { return }
        refusal = error
        turnsLeft = addresses.count
    }

    /// A link is established.
    mutating func connected(_ link: LinkID, now: UInt64) {
        dial = nil
        connection = link
        turnEnds = now &+ patience
    }

    /// The peer has sent something.
    mutating func progressed(now: UInt64) {
        guard connection != nil, stage != .waiting else { return }
        turnEnds = now &+ patience
    }

    /// So many operations of the authority document have arrived: a peer that serves it slowly is
    /// not silent.
    mutating func progressed(holding count: Int, now: UInt64) {
        guard count > held else { return }
        held = count
        progressed(now: now)
    }

    /// How long one address is waited for: the next may answer in the time that somebody has.
    private var patience: UInt64 {
        scope == nil ? Limits.joinTurnMilliseconds : Limits.joinSilenceMilliseconds
    }

    private static let unreachable = "unreachable"

    /// The next address is tried at once, a second round after a pause.
    mutating func dialFailed(now: UInt64, because reason: String = Self.unreachable) {
        dial = nil
        connection = nil
        turnEnds = nil
        turnsLeft -= 1
        hasMissed = hasMissed || reason == Self.unreachable
        lastError = reason
        guard next % max(addresses.count, 1) == 0, !isRefused else {
            nextDial = now
            return
        }
        nextDial = now &+ pause
        rounds += 1
    }

    /// An address that did not answer may do so from the machine's new network.
    mutating func networkChanged() {
        rounds = 0
        nextDial = 0
    }

    /// Half a second while somebody waits for the answer; from 5 s to 10 min in the background.
    private var pause: UInt64 {
        scope != nil ? 500 : min(5_000 << UInt64(min(rounds, 7)), 600_000)
    }

    /// Somebody has answered that an admin has to approve.
    mutating func wait(now: UInt64) {
        stage = .waiting
        scope = nil
        deadline = nil
        rounds = 0
        refusal = nil
        turnEnds = now &+ Limits.joinTurnMilliseconds
    }

    /// Somebody asks for the state of a join in the background.
    mutating func resume(for scope: CallScope, deadline: UInt64, now: UInt64) {
        self.scope = scope
        self.deadline = deadline
        nextDial = 0
        turnEnds = turnEnds.map { min($0, now &+ patience) }
    }
}
