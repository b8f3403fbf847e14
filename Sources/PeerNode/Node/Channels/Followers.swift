import CRDTStore
import WorkspaceModel

/// Who is in a channel, and what was last said there.
extension Channels {
    /// The members who follow a channel: everybody the default one, the members of a private one,
    /// and those who said so any other.
    func followers(
        of channel: Workspace.Channel, in workspace: Workspace
    ) throws(StorageError) -> [MemberID] {
        if channel.isDirect { return channel.people }
        if let privateMembership = channel.privateMembership {
            return workspace.members.map(\.member).filter { privateMembership.roles[$0] != nil }
        }
        let members = workspace.members.filter { $0.role <= .member }.map(\.member)
        if channel.isDefault { return members }
        let said = Set(try store.view.following.followers(of: channel.number))
        return members.filter { said.contains($0) }
    }

    /// Whether the local member is in a channel.
    func isJoined(
        _ channel: Workspace.Channel, in workspace: Workspace
    ) throws(StorageError) -> Bool {
        let member = workspace.member
        if channel.isDirect { return channel.includes(member) }
        guard let role = workspace.role(of: member) else { return false }
        if let privateMembership = channel.privateMembership {
            return privateMembership.roles[member] != nil
        }
        guard role <= .member, !channel.isDefault else { return role <= .member }
        return try store.view.following.isFollowing(member, channel.number)
    }

    /// The newest message that was not deleted, among the newest few; where all of those were, the
    /// newest.
    func previewed(
        in channel: Workspace.Channel
    ) throws(StorageError) -> ViewStore.MessageRow? {
        guard let newest = try store.view.messages(channel.filter, before: nil, limit: 1).last
        else { return nil }
        if try store.view.redactions.deletion(of: newest.position.arrival) == nil { return newest }
        let rows = try store.view.messages(
            channel.filter, before: nil, limit: Limits.previewScanMax)
        for row in rows.reversed()
        where try store.view.redactions.deletion(of: row.position.arrival) == nil { return row }
        return newest
    }
}
