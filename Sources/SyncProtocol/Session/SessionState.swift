import WorkspaceModel

/// The parts of a session's state, each of which one step of the conversation uses.
extension SyncSession {
    /// What each side has named in its openings, being a guest.
    struct Naming: Sendable {
        var openingsSent = 0
        var openingsReceived = 0
        /// What this side named in its last opening; `nil` when it named nothing, being no guest.
        var named: [DocumentID]?
        /// Which opening was the first to name that.
        var namedSince = 0
        /// What the peer named in its last opening.
        var theirNamed: [DocumentID]?
        /// What the peer had named when this side said its root last.
        var answeredNamed: [DocumentID]?
        /// Whether claims lie outside the scope, which has become smaller.
        var isNarrowed = false
        /// Whether the peer has to be told of another scope.
        var reopens = false
    }

    /// What the peer may still have this side do.
    struct Allowances: Sendable {
        /// Slower than `openingAllowance`, so that a peer like this one takes every opening.
        var reopeningAllowance = Allowance(tokens: 3, refillMilliseconds: 30_000)
        var openingAllowance = Allowance(tokens: 8, refillMilliseconds: 10_000)
        /// Each refusal may be answered with every tip of the authority document.
        var refusalAllowance = Allowance(tokens: 8, refillMilliseconds: 10_000)
        /// Foreign digests that may be answered.
        var digestsAllowed = 0
        /// Foreign document digests that may be answered.
        var documentDigestsAllowed = 0
    }

    /// What was asked for.
    struct Pulls: Sendable {
        var outstanding: [Outstanding] = []
        /// Pulls that were given up; their answers may still come.
        var expired: [Outstanding] = []
        /// When what others pull is looked at again, milliseconds, and how often that was in vain.
        var takeoverDeadline: UInt64?
        var takeoversInVain = 0
        var lastRequest: RequestNumber = 0
        /// About how large an operation was in the last answer.
        var bytesPerOperation: Int?
    }

    /// What the peer has asked for, and how many bytes wait in the link's queue.
    struct Serving: Sendable {
        var waitingPulls: [PullRequest] = []
        var unaskedUnsent = 0
        var askedUnsent = 0
    }

    /// What the peer is told of.
    struct Telling: Sendable {
        /// Logs whose tips are announced next, and when, milliseconds.
        var gathered: Set<LogName> = []
        var gatherDeadline: UInt64?
        var outgoing: [LogName: Outgoing] = [:]
        /// How many operations of each log the peer said it holds or was given, since the roots were
        /// equal last.
        var theirs: [LogName: UInt64] = [:]
    }
}
