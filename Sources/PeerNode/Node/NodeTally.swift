import WorkspaceModel

/// What has happened since the process started, in numbers, for `node.metrics`.
///
/// Its keys are words of ours, never of somebody outside, so it stays small.
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

    mutating func noteJudged(targets: Int = 0, redactions: Int = 0) {
        judgedTargets &+= targets
        judgedRedactions &+= redactions
    }

    /// Private documents that were judged and gone through whole, once for each time.
    private(set) var rejudged = 0
    /// Times that missing guests were looked for.
    private(set) var guestPlans = 0

    mutating func noteRejudged() { rejudged &+= 1 }

    mutating func noteGuestPlan() { guestPlans &+= 1 }

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

    /// Notes an answer. The method comes from outside, so one that there is not has no name here.
    mutating func noteAnswer(to method: String, _ result: Result<JSONValue, NodeError>) {
        let isKnown = (try? Command.method(method)) != nil
        let kind = if case .failure(let error) = result { error.kind.rawValue } else { "ok" }
        calls[Ending(method: isKnown ? method : "unknown", kind: kind), default: 0] &+= 1
    }
}
