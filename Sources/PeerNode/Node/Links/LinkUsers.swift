import CRDTStore
import SyncProtocol
import WorkspaceModel

/// The sync sessions of links. Links bring what comes, and know nothing of what is done with it.
protocol LinkSyncs: AnyObject {
    /// Takes a message of a peer.
    func received(_ message: SyncMessage, on link: PeerLink) throws(StorageError)
    /// Opens a workspace on a link, with what the peer may do there; `nil` finds that out.
    ///
    /// - Returns: the session, or `nil` where none is opened.
    @discardableResult
    func openSync(
        _ workspace: Workspace, on link: PeerLink, as wanted: SyncSession.Standing?
    ) throws(StorageError) -> WorkspaceLink?
    /// Opens a workspace on all links on which both ends have it.
    func openWhereShared(_ workspace: Workspace) throws(StorageError)
    /// Changes what a peer may do in a workspace.
    func setStanding(
        _ standing: SyncSession.Standing, of sync: WorkspaceLink, _ workspace: Workspace,
        on link: PeerLink) throws(StorageError)
    /// Gives a session an input and carries out what it wants.
    func feed(
        _ input: SyncSession.Input, to sync: WorkspaceLink, on link: PeerLink
    ) throws(StorageError)
    /// Something is on its way to each session of a link.
    func feedReceiving(_ link: PeerLink) throws(StorageError)
    /// How much waits to be written has changed on a link.
    func feedQueueLevel(_ link: PeerLink) throws(StorageError)
    /// Forgets how far others are reached by a link in a workspace, by its short number.
    func forgetReach(in workspace: Int64, of link: PeerLink) throws(StorageError)
}

/// Who comes in by a link, and where this home comes in by one.
protocol LinkEntrances: AnyObject {
    /// Under which secrets another device of the own person may begin.
    var deviceLinkCandidates: [PSKCandidate] { get }
    /// Dials for whoever waits to come in.
    func dialWhenDue()
    /// A member is there by whom this home wants to join.
    func joinEstablished(_ link: PeerLink, _ peer: PeerIdentity) throws(StorageError)
    /// A device is there that this home wants to be linked by.
    func linkingEstablished(_ link: PeerLink, _ device: DeviceID) throws(StorageError)
    /// A device is there that wants to be linked.
    func offerLink(on link: PeerLink)
    /// A link was closed on which either may have been under way.
    func closed(_ link: PeerLink, because ending: LinkEnding)
}
