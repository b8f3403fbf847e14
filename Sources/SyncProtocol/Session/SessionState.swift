import WorkspaceModel

/// The parts of a session's state, each used by one step of the protocol.
extension SyncSession {
    /// The documents that each side has named in its openings as a guest.
    struct Naming: Sendable {
        var openingsSent = 0
        var openingsReceived = 0
        /// The documents in this side's last opening; `nil` if it is not a guest.
        var named: [DocumentID]?
        /// The number of the first opening that named them.
        var namedSince = 0
        /// The documents in the peer's last opening.
        var theirNamed: [DocumentID]?
        /// The documents that the peer had named when this side last sent its root.
        var answeredNamed: [DocumentID]?
        /// Whether claims lie outside the scope because it has shrunk.
        var isNarrowed = false
        /// Whether the peer has to be told a new scope.
        var reopens = false
    }

    /// The budgets of what the peer may still make this side do.
    struct Allowances: Sendable {
        /// Slower than `openingAllowance`, so that a peer with the same rules accepts every
        /// opening.
        var reopeningAllowance = Allowance(tokens: 3, refillMilliseconds: 30_000)
        var openingAllowance = Allowance(tokens: 8, refillMilliseconds: 10_000)
        /// Each refusal may be answered with every tip of the authority document.
        var refusalAllowance = Allowance(tokens: 8, refillMilliseconds: 10_000)
        /// Peer digests that may still be answered.
        var digestsAllowed = 0
        /// Peer document digests that may still be answered.
        var documentDigestsAllowed = 0
    }

    /// Outstanding and past pulls.
    struct Pulls: Sendable {
        var outstanding: [Outstanding] = []
        /// Abandoned pulls; their answers may still come.
        var expired: [Outstanding] = []
        /// When logs pulled by others are tried again, milliseconds, and how often that failed.
        var takeoverDeadline: UInt64?
        var futileTakeovers = 0
        var lastRequest: RequestNumber = 0
        /// The approximate size of an operation in the last answer.
        var bytesPerOperation: Int?
    }

    /// The peer's waiting pulls, and the bytes in the link's queue.
    struct Serving: Sendable {
        var waitingPulls: [PullRequest] = []
        var unaskedUnsent = 0
        var askedUnsent = 0
    }

    /// What is announced to the peer.
    struct Telling: Sendable {
        /// Logs whose tips are announced next, and when, milliseconds.
        var gathered: Set<LogName> = []
        var gatherDeadline: UInt64?
        var outgoing: [LogName: Outgoing] = [:]
        /// How many operations of each log the peer said it holds or was sent, since the roots were
        /// last equal.
        var theirs: [LogName: UInt64] = [:]
    }
}
