import CRDTStore
import SyncProtocol
import WorkspaceModel

/// Messages from a link that no turn had time for yet, in order. Nothing more is read from the link
/// meanwhile.
struct Backlog {
    /// Operations of one message that are still to be taken.
    struct Batch {
        let sync: WorkspaceLink
        let request: RequestNumber
        var runs: ArraySlice<OperationRun>
        /// The logs in which something waits for what it cites.
        var waiting: [LogName] = []

        /// Takes the next run out, or the beginning of a long one of an authority document.
        mutating func takeNext(of authority: DocumentID) -> OperationRun? {
            guard let (next, rest) = runs.first?.split(ofAuthority: authority) else { return nil }
            if let rest { runs[runs.startIndex] = rest } else { runs.removeFirst() }
            return next
        }

        /// Puts back what was not taken of the run that was taken out last.
        mutating func putBack(_ rest: OperationRun) {
            runs.insert(rest, at: runs.startIndex)
        }
    }

    var batch: Batch?
    /// The messages after them.
    var messages: ArraySlice<SyncMessage> = []

    var isEmpty: Bool { batch == nil && messages.isEmpty }
}

/// Calls that wait after a start until peers have told what this device wrote before.
///
/// A whole machine that was restored to an earlier snapshot looks consistent to itself, guard file
/// included. If it wrote at once, it would reuse sequence numbers of its logs. So the first write
/// waits for the reachable peers, but no longer than two seconds.
struct OwnHistory {
    /// How long a write waits at most, on the monotonic clock.
    static let patienceMilliseconds: UInt64 = 2_000
    /// The most calls that wait; further ones are not held back.
    static let heldMax = 1_024

    /// Work that continues as soon as the history is known.
    enum Held {
        case call(CallID, method: String, JSONObject)
        case join(LinkID, JoinRequest)
    }

    /// When waiting ends, `nil` when it is over.
    private(set) var deadline: UInt64?
    var held: [Held] = []
    /// Something could not wait and began a new log: everything that comes now may continue in it.
    var hasOwnLog = false
    /// Why this store must not continue its log, if it must not.
    var surpassed: RollbackSign?

    /// Raw values are stored and shown.
    enum RollbackSign: String {
        /// A peer brought operations of this device, in a log that this store would have continued.
        case peersKnowMore
        /// A clone of this store is linked to a peer.
        case runsTwice
    }

    var isAsking: Bool { deadline != nil }
    /// When a waiting caller has to be resumed.
    var nextDeadline: UInt64? { held.isEmpty ? nil : deadline }

    mutating func begin(at now: UInt64) { deadline = now + Self.patienceMilliseconds }
    mutating func end() { deadline = nil }
}

/// The position up to which one peer was asked for missing payloads in a workspace, from the oldest
/// to the newest.
///
/// A link asks for some of them, and the next one continues from there, so payloads that nobody has
/// do not block those that somebody has. A peer that was asked for all of them is asked again
/// later, with growing pauses while that finds nothing.
struct PayloadRound {
    struct Place: Hashable {
        let device: DeviceID
        let workspace: Int64
    }

    /// The arrival number up to which was asked. A payload that goes missing later has a larger
    /// one, or restarts all rounds.
    var last: Int64 = 0
    /// Rounds that have ended since the peer had something.
    var count = 0
    /// Whether anything was asked for in this round.
    var hasAsked = false
    /// Where the last round has ended, and when the next one may begin, on the monotonic clock.
    private var ended: (link: LinkID, next: UInt64)?

    /// Starts with the oldest again, on another link than the last round ended on: what was asked
    /// on that one is answered there, or not.
    mutating func beginIfDue(on link: LinkID, now: UInt64) {
        guard let ended, ended.link != link, ended.next <= now else { return }
        self.ended = nil
        last = 0
        hasAsked = false
    }

    /// Records that everything was asked for. The second round starts as soon as there is a link,
    /// because the first one may have been interrupted.
    mutating func end(on link: LinkID, now: UInt64) {
        guard ended == nil else { return }
        if hasAsked { count += 1 }
        var pause: UInt64 = 0
        if count > 1 {
            pause = Limits.payloadRoundMilliseconds << UInt64(min(count - 2, 20))
        }
        ended = (link, now &+ min(pause, Limits.payloadRoundMillisecondsMax))
    }
}

/// The transient event `sync.progress`: how much a device still lacks of what a peer has.
///
/// Short transfers report no progress: the first event comes when a transfer has lasted
/// `Limits.progressMilliseconds`, the others at the same interval, and the last one says that
/// nothing is left.
struct SyncProgress {
    /// When the next one may be told, on the monotonic clock; `nil` while nothing is missing.
    private var due: UInt64?
    /// How much was missing by what was told last.
    private var told: UInt64 = 0

    /// Whether to report the number of missing operations now.
    mutating func isNews(_ behind: UInt64, at now: UInt64) -> Bool {
        guard behind > 0 else {
            defer { (due, told) = (nil, 0) }
            return told > 0
        }
        guard let due else {
            self.due = now &+ Limits.progressMilliseconds
            return false
        }
        guard now >= due, behind != told else { return false }
        self.due = now &+ Limits.progressMilliseconds
        told = behind
        return true
    }
}

/// The members whose last link to this node has ended in this run, and when.
///
/// It is held in memory only. So after a start everybody is `unknown` until an update arrives, and
/// it has at most one entry for each member who was linked.
struct Departures {
    /// By workspace and member, milliseconds since 1970.
    private var ends: [Int64: [MemberID: UInt64]] = [:]
    /// Whose last link that counts has ended while another one was being opened, by workspace.
    private var awaited: [Int64: Set<MemberID>] = [:]

    /// Whether nobody in a workspace has left.
    func isEmpty(in workspace: Int64) -> Bool { ends[workspace]?.isEmpty ?? true }

    /// When the last link to a device of a member ended; `nil` for a member who was heard of since,
    /// or was never linked.
    func end(of member: MemberID, in workspace: Int64) -> UInt64? { ends[workspace]?[member] }

    mutating func note(_ member: MemberID, in workspace: Int64, at wall: UInt64) {
        ends[workspace, default: [:]][member] = wall
        awaited[workspace]?.remove(member)
    }

    mutating func forget(_ member: MemberID, in workspace: Int64) {
        ends[workspace]?[member] = nil
        awaited[workspace]?.remove(member)
    }

    mutating func forgetAll() { (ends, awaited) = ([:], [:]) }

    /// Notes that somebody may be gone, which hangs on a link that is being opened.
    mutating func wait(for member: MemberID, in workspace: Int64) {
        awaited[workspace, default: []].insert(member)
    }

    func isAwaited(_ member: MemberID, in workspace: Int64) -> Bool {
        awaited[workspace]?.contains(member) == true
    }

    /// Takes over what was known of a workspace under another number: who was awaited is gone at `wall`.
    mutating func goOn(
        after former: Departures, numbered: Int64, as workspace: Int64, at wall: UInt64
    ) {
        ends[workspace] = former.ends[numbered]
        for member in former.awaited[numbered] ?? [] { note(member, in: workspace, at: wall) }
    }
}
