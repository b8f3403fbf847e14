public import WorkspaceModel

/// What a session wants to know of the workspace as it is stored on this device.
///
/// The node implements it over its store. Every answer comes at once, from values that are kept up
/// to date as operations are stored; the answers to one input all speak of the same state.
///
/// A guest's conversations are confined to a scope. A replica that is confined answers as if there
/// were nothing else: no digest, no tip and no operation of it speaks of what lies outside.
public protocol Replica {
    /// The name of the workspace's authority document.
    var authorityDocument: DocumentID { get }
    /// The digest of everything that is kept (PROTOCOL.md, 5.4).
    var root: SetDigest { get }
    /// The 256 bucket digests, 16 bytes each, joined: 4,096 bytes.
    var bucketDigests: [UInt8] { get }
    /// The number that the last stored operation or moved tip got on arrival.
    var arrival: UInt64 { get }

    /// The private documents that this device names as a guest, ascending; `nil` when it is none.
    var ownDocuments: [DocumentID]? { get }
    /// Whether the peer is a guest, and so is served nothing but what it names.
    var isPeerGuest: Bool { get }
    /// The same workspace, seen through another scope; `nil` is all of it.
    func confined(to scope: SyncScope?) -> Self
    /// Whether the document is in scope as far as this device knows: then its operations are told
    /// and served.
    func serves(_ document: DocumentID) -> Bool
    /// Whether operations of the document are taken: it is served, or named and not known yet.
    func takes(_ document: DocumentID) -> Bool

    /// The kept documents whose names begin with `bucket`, ascending.
    func documentDigests(inBucket bucket: UInt8) -> [DocumentDigest]
    /// The kept tips of `document`, in the order in which their logs began here, so that what an
    /// operation cites comes first as far as that can be; then by sequence, then id. None if unknown.
    func tips(of document: DocumentID) -> [LogTip]
    /// Kept tips that moved after `arrival`, one document after the other, and in each as in
    /// `tips(of:)`; may stop as soon as there are more than `limit`.
    func tips(changedSince arrival: UInt64, limit: Int) -> [LogTip]
    /// The tips of all branches that are stored of `log`, ascending by sequence, then id.
    func branchTips(of log: LogName) -> [LogPoint]
    /// These logs, one document after the other, and in each in the order in which they began here.
    func inOrder(_ logs: Set<LogName>) -> [LogName]
    /// Of every branch of `log` its tip, the places at -1, -2, -4 … before, and sequence 0; at most
    /// `SyncMessage.pullPointsMax`.
    ///
    /// - Parameter place: of each branch this one too: up to there the peer's last answer went.
    func samples(of log: LogName, and place: UInt64?) -> [LogPoint]
    /// Whether this operation is stored.
    func holds(_ tip: LogTip) -> Bool
    /// Whether nothing more of the log is taken for now, so that to ask for it would be in vain
    /// (PROTOCOL.md, 4.0.4: S-5).
    func holdsBack(_ log: LogName) -> Bool
    /// Operations behind what the item's asker has, up to its target.
    ///
    /// - Parameter maxBytes: how much they may cost by `OperationRun.encodedBytesMax`.
    func runs(for item: PullItem, maxBytes: Int) -> PullAnswer
    /// The kept tips of everything that `device` wrote, in any fixed order that keeps documents
    /// together; at most `limit`.
    func tips(by device: DeviceID, limit: Int) -> [LogTip]
    /// `H("wsx-mine1", …)` over the stored log tips of `device` (PROTOCOL.md, 5.3).
    func ownTipsDigest(of device: DeviceID) -> SetDigest
    /// The tips of the authority document as far as `device`, whose membership has ended, may
    /// see it: up to what ended it. Ascending; none for anybody else.
    func farewell(to device: DeviceID) -> [LogTip]
}

/// What two ends of a link speak of when one of them is a guest: the authority document, the
/// mailbox, and such private documents as every guest of the two has named (PROTOCOL.md, 5.4).
public struct SyncScope: Sendable, Hashable {
    /// The private documents, in no order.
    public let documents: Set<DocumentID>

    /// The scope of these private documents.
    public init(_ documents: some Sequence<DocumentID>) { self.documents = Set(documents) }

    /// What lies in both; `nil` is everything.
    static func common(_ left: [DocumentID]?, _ right: [DocumentID]?) -> SyncScope? {
        guard let left else { return right.map { SyncScope($0) } }
        guard let right else { return SyncScope(left) }
        return SyncScope(Set(left).intersection(right))
    }
}

/// What a replica has for one item of a pull.
public enum PullAnswer: Sendable, Equatable {
    /// The next operations on the way to the target, the first behind one that the asker has.
    /// `isComplete` unless some were left out for size.
    case runs([OperationRun], isComplete: Bool)
    /// None of the asker's places lies on the target's branch, and none of them is sequence 0.
    case noCommonBranch
    /// The target is not stored here.
    case unknownTarget
}
