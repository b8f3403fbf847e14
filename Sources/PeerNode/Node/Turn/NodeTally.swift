import WorkspaceModel

/// Counters since the process started, for `node.metrics`.
///
/// Its keys are fixed words of this program, never text from outside, so it stays small.
struct NodeTally {
    /// A method and how a call of it ended: `ok`, or the word of a failure.
    struct Ending: Hashable {
        let method: String
        let kind: String
    }

    private(set) var ownOperations = 0
    private(set) var peerOperations = 0
    private(set) var receivedBytes = 0
    private(set) var sentBytes = 0
    /// By the word of the ending, without what all of them begin with.
    private(set) var failedHandshakes: [String: Int] = [:]
    private(set) var calls: [Ending: Int] = [:]
    /// Operations about whose deletion was decided, and redactions that were weighed for it.
    private(set) var judgedTargets = 0
    private(set) var judgedRedactions = 0

    /// Entries of runs that were hashed to find their places beside others.
    private(set) var hashedEntries = 0

    mutating func noteHashed(_ count: Int) { hashedEntries &+= count }

    mutating func noteJudged(targets: Int = 0, redactions: Int = 0) {
        judgedTargets &+= targets
        judgedRedactions &+= redactions
    }

    /// Private documents that were judged and gone through whole, once for each time.
    private(set) var rejudged = 0
    /// Times that missing guests were looked for.
    private(set) var guestPlans = 0

    /// Words of profiles that were opened again, because something else counts or at a start.
    private(set) var profileReads = 0

    mutating func noteProfileRead() { profileReads &+= 1 }

    /// Rows of public channels that were rewritten because a verdict on them had changed.
    private(set) var rejudgedRows = 0

    /// How often all private documents were asked when they have to be erased.
    private(set) var erasurePlans = 0

    mutating func noteErasurePlan() { erasurePlans &+= 1 }

    /// Times that all private documents were asked whom a change of authority puts in or out.
    private(set) var seatRounds = 0

    mutating func noteSeatRound() { seatRounds &+= 1 }

    /// Invites that were looked at because somebody asked for the address of a workspace.
    private(set) var addressLooks = 0

    mutating func noteAddressLooks(_ count: Int) { addressLooks &+= count }

    /// Conversations whose overview was computed.
    private(set) var overviewEntries = 0

    mutating func noteOverviewEntry() { overviewEntries &+= 1 }

    /// Conversations that were searched again for late messages.
    private(set) var lateRenewals = 0

    mutating func noteLateRenewed() { lateRenewals &+= 1 }

    mutating func noteRejudged() { rejudged &+= 1 }

    mutating func noteRejudged(rows: Int) { rejudgedRows &+= rows }

    mutating func noteGuestPlan() { guestPlans &+= 1 }

    /// Outcomes of notices, by word.
    private(set) var notices: [String: Int] = [:]
    /// How long calls took, by the first word of their methods.
    private(set) var durations: [String: Durations] = [:]

    /// How long calls of one kind took.
    struct Durations: Equatable {
        /// Upper ends in milliseconds: a keystroke, a blink, a wait, and what waits for peers.
        static let bounds: [UInt64] = [1, 5, 10, 25, 50, 100, 250, 1_000, 5_000, 30_000]
        /// How many took at most as long as each bound, and in the last place longer.
        private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)
        private(set) var totalMilliseconds: UInt64 = 0

        mutating func add(_ milliseconds: UInt64) {
            let place = Self.bounds.firstIndex { milliseconds <= $0 } ?? Self.bounds.count
            counts[place] &+= 1
            totalMilliseconds &+= milliseconds
        }
    }

    mutating func noteStored(_ count: Int, isOwn: Bool) {
        if isOwn { ownOperations &+= count } else { peerOperations &+= count }
    }

    mutating func noteReceived(_ count: Int) { receivedBytes &+= count }

    mutating func noteSent(_ count: Int) { sentBytes &+= count }

    /// Notes why a link ended, if it ended in its handshake.
    mutating func noteEnding(_ ending: LinkEnding) {
        let prefix = "handshake."
        guard ending.word.utf8.starts(with: prefix.utf8) else { return }
        failedHandshakes[String(ending.word.dropFirst(prefix.count)), default: 0] &+= 1
    }

    mutating func noteNotice(_ word: String) { notices[word, default: 0] &+= 1 }

    /// Notes how long a call took, from the turn in which it came to the answer's leaving.
    mutating func noteDuration(of method: String, milliseconds: UInt64) {
        var group = "unknown"
        if (try? Command.method(method)) != nil {
            let end = method.utf8.firstIndex(of: UInt8(ascii: ".")) ?? method.endIndex
            group = String(method[..<end])
        }
        durations[group, default: Durations()].add(milliseconds)
    }

    /// Notes an answer. The method comes from outside, so one that there is not has no name here.
    mutating func noteAnswer(to method: String, _ result: Result<JSONValue, NodeError>) {
        let isKnown = (try? Command.method(method)) != nil
        let kind = if case .failure(let error) = result { error.kind.rawValue } else { "ok" }
        calls[Ending(method: isKnown ? method : "unknown", kind: kind), default: 0] &+= 1
    }
}
