public import WorkspaceModel

/// A session's view of the workspace as it is stored on this device.
///
/// The node implements it over its store. Every answer is immediate, from values that are kept up
/// to date as operations are stored; the answers during one input all reflect the same state.
///
/// A conversation with a guest is confined to a scope. A confined replica answers as if nothing
/// else existed: no digest, tip or operation reveals what lies outside.
public protocol Replica {
    /// The name of the workspace's authority document.
    var authorityDocument: DocumentID { get }
    /// The digest of everything that is kept (PROTOCOL.md, 5.4).
    var root: SetDigest { get }
    /// The 256 bucket digests, 16 bytes each, joined: 4,096 bytes.
    var bucketDigests: [UInt8] { get }
    /// The arrival number of the last stored operation or moved tip.
    var arrival: UInt64 { get }

    /// The private documents that this device names as a guest, ascending; `nil` if it is not a
    /// guest.
    var ownDocuments: [DocumentID]? { get }
    /// Whether the peer is a guest, and so is served only what it names.
    var isPeerGuest: Bool { get }
    /// The same workspace in another scope; `nil` is all of it.
    func confined(to scope: SyncScope?) -> Self
    /// Whether the document is in scope as far as this device knows: then its operations are
    /// announced and served.
    func serves(_ document: DocumentID) -> Bool
    /// Whether operations of the document are accepted: it is served, or named and not known yet.
    func takes(_ document: DocumentID) -> Bool

    /// The kept documents whose names begin with `bucket`, ascending.
    func documentDigests(inBucket bucket: UInt8) -> [DocumentDigest]
    /// The kept tips of `document`, in the order in which their logs began here, so that cited logs
    /// come first as far as possible; then by sequence, then id. None if unknown.
    func tips(of document: DocumentID) -> [LogTip]
    /// Kept tips that moved after `arrival`, one document after the other, and in each as in
    /// `tips(of:)`; may stop as soon as there are more than `limit`.
    func tips(changedSince arrival: UInt64, limit: Int) -> [LogTip]
    /// The tips of all stored branches of `log`, ascending by sequence, then id.
    func branchTips(of log: LogName) -> [LogPoint]
    /// These logs grouped by document, and in each in the order in which they began here.
    func inOrder(_ logs: Set<LogName>) -> [LogName]
    /// Samples of every branch of `log`: its tip, the places at -1, -2, -4 … before it, and
    /// sequence 0; at most `SyncMessage.pullPointsMax`.
    ///
    /// - Parameter place: added to each branch's samples: up to there the peer's last answer went.
    func samples(of log: LogName, and place: UInt64?) -> [LogPoint]
    /// Whether this operation is stored.
    func holds(_ tip: LogTip) -> Bool
    /// Whether no more of the log is accepted for now, so that a pull would be useless
    /// (PROTOCOL.md, 4.0.4: S-5).
    func holdsBack(_ log: LogName) -> Bool
    /// Operations after what the item's asker has, up to its target.
    ///
    /// - Parameter maxBytes: their maximum size by `OperationRun.encodedBytesMax`.
    func runs(for item: PullItem, maxBytes: Int) -> PullAnswer
    /// The kept tips of everything that `device` wrote, in any fixed order that keeps documents
    /// together; at most `limit`.
    func tips(by device: DeviceID, limit: Int) -> [LogTip]
    /// `H("wsx-mine1", …)` over the stored log tips of `device` (PROTOCOL.md, 5.3).
    func ownTipsDigest(of device: DeviceID) -> SetDigest
    /// The tips of the authority document that `device`, whose membership has ended, may see: up to
    /// what ended it. Ascending; none for any other device.
    func farewell(to device: DeviceID) -> [LogTip]
}

/// The scope of a link when one end is a guest: the authority document, the mailbox, and the
/// private documents that every guest of the two has named (PROTOCOL.md, 5.4).
public struct SyncScope: Sendable, Hashable {
    /// The private documents.
    public let documents: Set<DocumentID>

    /// The scope of these private documents.
    public init(_ documents: some Sequence<DocumentID>) { self.documents = Set(documents) }

    /// The intersection; `nil` is everything.
    static func common(_ left: [DocumentID]?, _ right: [DocumentID]?) -> SyncScope? {
        guard let left else { return right.map { SyncScope($0) } }
        guard let right else { return SyncScope(left) }
        return SyncScope(Set(left).intersection(right))
    }
}

/// A replica's answer to one item of a pull.
public enum PullAnswer: Sendable, Equatable {
    /// The next operations on the way to the target, the first one following a place that the asker
    /// has. `isComplete` unless some were left out for size.
    case runs([OperationRun], isComplete: Bool)
    /// No place of the asker's is on the target's branch, and none has sequence 0.
    case noCommonBranch
    /// The target is not stored here.
    case unknownTarget
}
