import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// Messages and their annotations: folding, verdicts, and redactions.
final class Messages: Component {
    /// The effects of this turn's authority changes on content.
    var unsettled = UnsettledVerdicts()
    /// The redactions of a document to judge at the end of the turn, by short number.
    var redactionReviews: [Int64: RedactionReview] = [:]
    /// How much of that is held in memory, of all documents together.
    var queuedRedactions = 0
    /// How much of it is judged in one turn.
    var redactionBudget = Limits.redactionsJudgedPerTurnMax
    /// The documents that are not completely judged, according to the store.
    var storedReviews: [Int64] = []
    /// The documents in which something was ever redacted, by short number.
    var redactedDocuments: Set<Int64> = []
    /// When the next payload is erased, ms; `nil` while none is due.
    var nextPayloadErasure: UInt64?
    /// Whether peers are asked for missing payloads at the end of the turn.
    var asksForPayloads = false
    /// Annotations of deleted messages, to be deleted too.
    var lateAssertions: [LateAssertion] = []
    /// Content of private documents.
    var sealed: SealedFolding { SealedFolding(core) }
}
