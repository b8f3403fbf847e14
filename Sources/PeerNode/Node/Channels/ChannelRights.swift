import CRDTStore
import WorkspaceModel

/// What forbids a change of a channel, and who is meant by a name: checked before anything is
/// written.
extension Channels {
    /// The member's own channels that are displayed with a suffix because an older one has their
    /// name.
    var twinWarnings: [StatusObject.Warning] {
        var warnings: [StatusObject.Warning] = []
        for workspace in workspaces.values.filter({ $0.standing == .member })
            .sorted(by: { $0.number < $1.number })
        {
            let index = workspace.channelIndex
            for (channel, shown) in zip(index.all, index.names)
            where channel.owner == workspace.member && channel.name != nil
                && channel.name != shown
            {
                warnings.append(
                    .init(
                        kind: .channelTwin,
                        message: "your channel \(NodeError.quoted(shown)) has the same name as "
                            + "another",
                        hint: "wsx-node channel edit \(NodeError.shellWord(shown)) --name NEW"))
            }
        }
        return warnings
    }

    // MARK: Refusals

    /// Nothing is written into a channel that is archived.
    func refuseArchived(
        _ channel: Workspace.Channel, in workspace: Workspace
    ) throws(NodeError) {
        guard channel.isArchived else { return }
        let name = shownName(channel, workspace)
        throw NodeError(
            .archived, "the channel \(NodeError.quoted(name)) is archived",
            hint: "its owner or an admin can run: wsx-node channel unarchive "
                + NodeError.shellWord(name),
            reason: "channel.archived")
    }

    /// The channel everybody is in is neither left nor closed.
    func refuseDefault(
        _ channel: Workspace.Channel, _ what: String, in workspace: Workspace
    ) throws(NodeError) {
        guard channel.isDefault else { return }
        throw NodeError(
            .defaultChannel,
            "\(NodeError.quoted(shownName(channel, workspace))) is the channel that everybody is "
                + "in; it cannot be \(what)",
            hint: "wsx-node channel list --all", reason: "channel.default",
            fields: [.init(name: "channel", reason: "default")])
    }

    /// The owner stays in the channel until it is somebody else's.
    func refuseOwner(
        _ member: MemberID, of channel: Workspace.Channel, in workspace: Workspace
    ) throws(NodeError) {
        guard channel.owner == member else { return }
        let name = shownName(channel, workspace)
        let word = NodeError.shellWord(name)
        let who = member == workspace.member ? "you own" : "the owner cannot leave"
        throw NodeError(
            .transferFirst, "\(who) the channel \(NodeError.quoted(name))",
            hint: "wsx-node channel transfer \(word) @U, or: wsx-node channel delete \(word)",
            reason: "channel.owner")
    }

    /// Channels that others are in get another owner before theirs leaves the workspace. The one
    /// that everybody is in is looked after by the workspace's admins.
    func refuseOwnerOfChannels(in workspace: Workspace) throws(NodeError) {
        let index = workspace.channelIndex
        var owned: [(id: String, name: String)] = []
        for (channel, name) in zip(index.all, index.names)
        where channel.owner == workspace.member && !channel.isDefault && !channel.isDirect {
            let isAlone = channel.privateMembership.map { $0.roles.count <= 1 } ?? false
            if !isAlone { owned.append((channel.publicID, name)) }
        }
        guard let first = owned.first else { return }
        let names = owned.map { NodeError.quoted($0.name) }.joined(separator: ", ")
        throw NodeError(
            .transferFirst, "you own \(names)",
            hint: "for each: wsx-node channel transfer \(NodeError.shellWord(first.name)) @U, "
                + "or channel delete",
            reason: "channel.owner",
            details: [
                "channels": .array(
                    owned.map { ["id": .string($0.id), "name": .string($0.name)] })
            ])
    }

    /// Only the owner, admins of the channel and those of the workspace change it.
    func require(
        _ right: ChannelRight, on channel: Workspace.Channel, in workspace: Workspace
    ) throws(NodeError) {
        guard let role = workspace.ownRole else { throw core.membership.notAllowed(in: workspace) }
        guard !channel.allows(right, to: workspace.member, of: role) else { return }
        let name = NodeError.quoted(shownName(channel, workspace))
        guard let owner = channel.owner else {
            // Its owner was removed from the workspace; adding them again does not make them its
            // owner.
            guard channel.isDirect else {
                throw .forbidden(
                    "the channel \(name) no longer has an owner, and nobody else may do that",
                    reason: "channel.ownerless",
                    hint: "create another: wsx-node channel create NAME --private")
            }
            throw .forbidden(
                "a direct message has no owner, and its people stay the same",
                reason: "channel.direct", hint: "create a channel: wsx-node channel create NAME")
        }
        if channel.isPrivate, workspace.role(of: owner) == nil {
            let former = NodeError.quoted(workspace.displayName(of: owner))
            throw .forbidden(
                "the channel \(name) belonged to \(former), who is no longer in the workspace",
                reason: "channel.ownerless",
                hint: "create another: wsx-node channel create NAME --private")
        }
        throw .forbidden(
            "the channel \(name) belongs to \(NodeError.quoted(workspace.displayName(of: owner)))",
            reason: "channel.role",
            hint: channel.isPrivate
                ? "ask its owner" : "ask its owner or an admin of the workspace")
    }

    /// The failure that a deleted channel is, when it is asked for by its id.
    func deletion(
        of id: String, in workspace: Workspace, field: String = "channel"
    ) -> NodeError? {
        guard
            let gone = workspace.book.deleted.first(where: { PublicID.channel($0.key) == id })
        else { return nil }
        let author = gone.value.author.map { " by " + workspace.displayName(of: $0) } ?? ""
        return NodeError(
            .notFound, "the channel was deleted\(author)", hint: "wsx-node channel list --all",
            reason: "channel.deleted", fields: [.init(name: field, reason: "deleted")])
    }

    /// The name under which people see it.
    func shownName(_ channel: Workspace.Channel, _ workspace: Workspace) -> String {
        let index = workspace.channelIndex
        return index.place(of: channel.publicID).map { index.names[$0] } ?? ""
    }

    /// Content that a non-member writes into a private channel counts for nobody.
    func refuseOutsider(
        of channel: Workspace.Channel, in workspace: Workspace
    ) throws(NodeError) {
        guard !channel.includes(workspace.member) else { return }
        throw .forbidden(
            "you are not in the channel \(NodeError.quoted(shownName(channel, workspace)))",
            reason: "channel.not_in", hint: "ask its owner to add you")
    }

    /// Refuses to remove people who are not in the channel, so that the caller notices a typing
    /// error.
    func refuseAbsent(
        _ people: [MemberID], from channel: Workspace.Channel, in workspace: Workspace
    ) throws(NodeError) {
        guard !channel.isDirect else { return }
        let present = try stored { () throws(StorageError) -> [MemberID] in
            if let privateMembership = channel.privateMembership {
                return Array(privateMembership.roles.keys)
            }
            return try followers(of: channel, in: workspace)
        }
        guard let absent = people.first(where: { !present.contains($0) }) else { return }
        let name = shownName(channel, workspace)
        let isSelf = absent == workspace.member
        let who = isSelf ? "you are" : "\(NodeError.quoted(workspace.displayName(of: absent))) is"
        throw NodeError(
            .notFound, "\(who) not in the channel \(NodeError.quoted(name))",
            hint: "wsx-node channel members \(NodeError.shellWord(name))", reason: "channel.not_in",
            fields: [.init(name: isSelf ? "channel" : "members", reason: "not_found")])
    }

    /// A message to people who are all out of the workspace reaches nobody.
    func refuseDeserted(
        _ channel: Workspace.Channel, in workspace: Workspace
    ) throws(NodeError) {
        let others = channel.people.filter { $0 != workspace.member }
        guard !others.isEmpty, others.allSatisfy({ workspace.role(of: $0) == nil }) else { return }
        let names = others.map { workspace.displayName(of: $0) }.joined(separator: ", ")
        throw .forbidden(
            "nobody would read it; no longer in the workspace: \(NodeError.quoted(names))",
            reason: "channel.deserted", hint: "wsx-node member list --removed")
    }

    // MARK: People

    /// Why a person is looked up.
    enum Purpose {
        /// For a public channel, or a part in one: nobody's guest.
        case `public`
        /// To own or look after a channel: no guest either.
        case charge
        /// To be let into a private channel: everybody.
        case privacy
        /// For a direct conversation: a guest talks to those who are in a private document with it,
        /// and nobody else to the guest. So both know each other's names.
        case talk
    }

    /// Somebody who is in the workspace now. A guest means, and sees, `visiblePeople` alone. To
    /// talk to somebody, a name that they had before is enough.
    func someone(
        _ reference: MemberReference, field: String, in workspace: Workspace,
        for purpose: Purpose = .public
    ) throws(NodeError) -> MemberID {
        let people = workspace.visibleMembers.filter { standing in
            standing.role <= .member || purpose == .privacy
                || purpose == .talk
                    && workspace.visiblePeople(of: workspace.member).contains(standing.member)
        }.map(\.member)
        switch reference {
        case .id(let id):
            if let found = people.first(where: { PublicID.member($0) == id }) { return found }
            try refuseGuest(field: field, for: purpose, in: workspace) {
                PublicID.member($0) == id
            }
            throw .unknownUser(id, field: field)
        case .name(let name):
            let found = workspace.named(name, among: people)
            guard !found.isEmpty else {
                let former = try core.profiles.former(
                    name, among: people, in: workspace, field: field, isTaken: purpose == .talk)
                if let former { return former }
                try refuseGuest(field: field, for: purpose, in: workspace) {
                    !workspace.named(name, among: [$0]).isEmpty
                }
                throw core.membership.unknown(name, among: people, in: workspace, field: field)
            }
            guard found.count == 1, let only = found.first else {
                throw .ambiguous(
                    name, candidates: found.map { core.membership.person($0, in: workspace).json },
                    field: field)
            }
            return only
        }
    }

    /// A guest is not missing: no public channel is for them, and no channel is theirs.
    private func refuseGuest(
        field: String, for purpose: Purpose, in workspace: Workspace,
        _ isMeant: (MemberID) -> Bool
    ) throws(NodeError) {
        guard purpose == .public || purpose == .charge,
            let guest = workspace.visibleMembers.first(where: {
                $0.role > .member && isMeant($0.member)
            })
        else { return }
        let rule =
            purpose == .charge
            ? "a guest cannot own a channel or be its admin"
            : "guests can only be in private channels"
        throw NodeError(
            .forbidden,
            "\(NodeError.quoted(workspace.displayName(of: guest.member))) is a guest, and \(rule)",
            reason: "member.guest", fields: [.init(name: field, reason: "guest")])
    }

    /// Somebody who is in a private channel, whether or not the workspace still has them.
    private func insider(
        _ reference: MemberReference, of channel: Workspace.Channel, in workspace: Workspace
    ) -> MemberID? {
        let found = (channel.privateMembership?.roles.keys.sorted() ?? []).filter {
            workspace.isMeant($0, by: reference)
        }
        return found.count == 1 ? found.first : nil
    }

    /// Several people, each once, in the order of their ids.
    ///
    /// - Parameter channel: whose people are meant first; they may have left the workspace.
    func everyone(
        _ references: [MemberReference], in workspace: Workspace,
        orIn channel: Workspace.Channel? = nil, for purpose: Purpose = .public
    ) throws(NodeError) -> [MemberID] {
        var people: Set<MemberID> = []
        for reference in references {
            if let channel, let known = insider(reference, of: channel, in: workspace) {
                people.insert(known)
                continue
            }
            people.insert(
                try someone(reference, field: "members", in: workspace, for: purpose))
        }
        return people.sorted()
    }
}
