import BlobStore
import SyncProtocol
import WorkspaceModel

/// Blob messages on a link.
extension PeerLink {
    /// The bit of a handshake that says that a node knows blobs.
    static let blobFeature: UInt64 = 1

    /// Whether blobs may go over it: the other end knows of them, and is a member of something here.
    var mayCarryBlobs: Bool {
        guard let peer, peer.features & Self.blobFeature != 0, !isClosing else { return false }
        return syncs.values.contains { $0.standing == .full }
    }

    /// Asks the other end what it holds of a blob, and to tell of changes from then on.
    func askWhatIsHeld(of root: BlobRoot) {
        session.send(raw: BlobMessage.want(BlobWant(root: root)).encoded(), in: .control)
    }

    /// Tells the other end what is held here of a blob.
    func tell(_ holding: BlobHolding?, of root: BlobRoot) {
        session.send(raw: BlobMessage.have(root, holding).encoded(), in: .control)
    }

    /// Takes back what the other end was asked for, or refuses what it asks for.
    ///
    /// - Parameter pieces: `nil` for all, and for word of changes, too.
    func cancel(_ pieces: [Range<Int>]?, of root: BlobRoot) {
        session.send(raw: BlobMessage.cancel(root, pieces: pieces).encoded(), in: .control)
    }
}
