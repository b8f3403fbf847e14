import CRDTStore
import SyncProtocol
import WorkspaceModel

/// Typing indicators: told to those who may read the message, and dropped after 10 s.
extension Presences {
    func tellTyping(
        in channel: Workspace.Channel, of workspace: Workspace
    ) throws(NodeError) {
        guard workspace.ownRole != nil else { throw core.membership.notAllowed(in: workspace) }
        try core.channels.refuseOutsider(of: channel, in: workspace)
        // A person who wants to look offline does not show that they type.
        guard workspace.own.shownPresence.state != .offline else { return }
        let now = time.monotonic
        toldTyping = toldTyping.filter { $0.value &+ Limits.typingMilliseconds > now }
        // Nobody has opened the conversation, or has just heard of it.
        guard channel.number != 0, toldTyping[channel.id] == nil else { return }
        toldTyping[channel.id] = now
        for link in network.ordered where !link.isClosing {
            guard let sync = link.syncs[workspace.number], sync.standing == .full,
                reader(on: link, of: channel, in: workspace) != nil,
                link.session.unsentBytes < Limits.unaskedUnsentBytesMax
            else { continue }
            link.session.send(.typing(sync.number, channel.id), in: .live, isUnasked: false)
        }
    }

    /// Somebody else at the end of a link who may read a channel.
    private func reader(
        on link: PeerLink, of channel: Workspace.Channel, in workspace: Workspace
    ) -> MemberID? {
        guard let device = link.peer?.device,
            let standing = workspace.members.first(where: { $0.devices.contains(device) }),
            standing.member != workspace.member,
            channel.isPrivate || standing.role <= .member, channel.includes(standing.member)
        else { return nil }
        return standing.member
    }

    /// Tells programs here. A peer that may not read the channel is not believed to write in it,
    /// and the link authenticates the peer.
    func typingHeard(_ document: DocumentID, in workspace: Workspace, on link: PeerLink) {
        let now = time.monotonic
        guard home != nil, let sync = link.syncs[workspace.number], sync.standing == .full,
            sync.passing.take(at: now),
            let number = store.operations.document(document, in: workspace.number)?.number,
            let channel = workspace.channel(numbered: number),
            channel.includes(workspace.member),
            let member = reader(on: link, of: channel, in: workspace)
        else { return }
        // On the way two words may come closer together, but not this close.
        sync.typing = sync.typing.filter { $0.value &+ Limits.typingMilliseconds / 2 > now }
        guard sync.typing.updateValue(now, forKey: document) == nil else { return }
        let data: JSONValue = [
            "channel": .string(channel.publicID),
            "member": core.membership.person(member, in: workspace).json,
        ]
        core.events.pass(.typing, data, in: workspace, document: number)
    }
}
