import CRDTStore
import SyncProtocol
import WorkspaceModel

/// The sync sessions of links. Links deliver messages and do not know how they are used.
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

/// Joins over a link, from either side.
protocol LinkEntrances: AnyObject {
    /// The secrets under which another device of this person may start a handshake.
    var deviceLinkCandidates: [PSKCandidate] { get }
    /// Dials for joins that wait for a member to answer.
    func dialWhenDue()
    /// Connected to a member through whom this home wants to join.
    func joinEstablished(_ link: PeerLink, _ peer: PeerIdentity) throws(StorageError)
    /// Connected to a device that this home wants to be linked by.
    func linkingEstablished(_ link: PeerLink, _ device: DeviceID) throws(StorageError)
    /// Connected to a device that wants to be linked.
    func offerLink(on link: PeerLink)
    /// A link was closed on which either may have been under way.
    func closed(_ link: PeerLink, because ending: LinkEnding)
}
