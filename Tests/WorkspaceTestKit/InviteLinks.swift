public import PeerNode
import WorkspaceModel

extension InviteLink {
    /// The same invite, for whoever can reach nobody but the node at `address`; `nil` for what is
    /// no link or no address.
    public init?(_ link: String, leadingTo address: String) {
        guard let read = try? InviteLink(link), let hint = PeerAddress(address) else { return nil }
        self.init(
            workspace: read.workspace, secret: read.secret, invite: read.invite, hints: [hint])
    }
}
