public import PeerNode
import WorkspaceModel

extension InviteLink {
    /// The same invite for somebody who can only reach the node at `address`; `nil` for an invalid
    /// link or address.
    public init?(_ link: String, leadingTo address: String) {
        guard let read = try? InviteLink(link), let hint = PeerAddress(address) else { return nil }
        self.init(
            workspace: read.workspace, secret: read.secret, invite: read.invite, hints: [hint])
    }
}
