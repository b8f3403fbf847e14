import CRDTStore
import WorkspaceModel

/// Changes channels and their membership. Refusals come before anything is written.
final class ChannelHandler: CorePart, ChannelCommands {
    // MARK: Looking

    func findChannels(
        _ text: String, _ request: PageRequest, _ scope: CallScope
    ) throws(NodeError) -> Page<ChannelObject> {
        let workspace: Workspace = try core.queries.workspace(scope)
        let wanted = NameFolding.key(of: text) ?? text
        let index = workspace.channelIndex
        let found = index.all.indices.filter { place in
            let channel = index.all[place]
            guard !channel.isDirect else { return false }
            return [index.names[place], channel.topic, channel.description].contains { field in
                guard let field else { return false }
                return (NameFolding.key(of: field) ?? field).holds(wanted)
            }
        }.map { index.all[$0] }
        let (items, next) = try core.queries.page(found, request)
        return Page(
            try stored { () throws(StorageError) in
                var objects: [ChannelObject] = []
                for channel in items {
                    objects.append(try core.queries.object(of: channel, in: workspace))
                }
                return objects
            }, next: next)
    }

    func channelMembers(
        _ reference: ChannelReference, _ request: PageRequest, _ scope: CallScope
    ) throws(NodeError) -> Page<MemberObject> {
        let workspace: Workspace = try core.queries.workspace(scope)
        let channel = try core.queries.channel(reference, in: workspace)
        let people = try stored { () throws(StorageError) in
            try core.channels.followers(of: channel, in: workspace)
        }
        let (items, next) = try core.queries.page(people, request)
        return Page(
            items.compactMap { member in
                var object = core.queries.object(of: member, in: workspace)
                object?.role = channel.role(of: member).word
                return object
            }, next: next)
    }

    // MARK: The channel

    func editChannel(
        _ edit: ChannelEdit, _ scope: CallScope
    ) throws(NodeError) -> ChannelObject {
        let workspace: Workspace = try core.queries.workspace(scope)
        let channel = try core.queries.channel(edit.channel, in: workspace)
        guard
            edit.name != nil || edit.topic != nil || edit.description != nil || edit.image != nil
                || edit.copies != nil
        else {
            throw NodeError(
                .badRequest, "nothing to change",
                hint: "give --name, --topic, --description, --image or --copies",
                reason: "nothing",
                fields: [.init(name: "name", reason: "missing")])
        }
        try core.channels.require(.edit, on: channel, in: workspace)
        let name = try edit.name.map { (name) throws(NodeError) in
            try NewNames.channel(name, field: "name")
        }
        if let name { try refuseTwin(name, except: channel.id, in: workspace) }
        let image = try edit.image.map { (typed) throws(NodeError) in
            try core.files.pictureChoice.text(typed)
        }
        let copies = edit.copies.map { UInt64(clamping: $0) }
        let isAsItWas =
            (name ?? channel.name) == channel.name
            && (image ?? channel.image ?? "") == (channel.image ?? "")
            && (copies ?? UInt64(channel.copies)) == UInt64(channel.copies)
            && (edit.topic ?? channel.topic ?? "") == (channel.topic ?? "")
            && (edit.description ?? channel.description ?? "") == (channel.description ?? "")
        if isAsItWas { return try answer(channel, in: workspace) }
        let object: ChannelObject
        if channel.isPrivate {
            var settings = PrivateSettings(
                name: name, topic: edit.topic, description: edit.description)
            (settings.image, settings.copies) = (image, copies)
            object = try set(settings, of: channel, in: workspace)
        } else {
            object = try set(channel, in: workspace) { settings, draft in
                settings.name = name.map { draft.sealed($0, field: 5) }
                settings.topic = edit.topic.map { draft.sealed($0, field: 6) }
                settings.description = edit.description.map { draft.sealed($0, field: 7) }
                settings.image = image.map { draft.sealed($0, field: 11) }
                settings.copies = copies
            }
        }
        edit.image.map { core.files.drafts.sent([$0]) }
        return object
    }

    func setArchived(
        _ isArchived: Bool, _ reference: ChannelReference, _ scope: CallScope
    ) throws(NodeError) -> ChannelObject {
        let workspace: Workspace = try core.queries.workspace(scope)
        let channel = try core.queries.channel(reference, in: workspace)
        if isArchived { try core.channels.refuseDefault(channel, "archived", in: workspace) }
        try core.channels.require(.manage, on: channel, in: workspace)
        if channel.isArchived == isArchived { return try answer(channel, in: workspace) }
        if channel.isPrivate {
            return try set(
                PrivateSettings(archived: isArchived), of: channel, in: workspace)
        }
        return try set(channel, in: workspace) { settings, _ in settings.archived = isArchived }
    }

    func transferChannel(
        _ reference: ChannelReference, to member: MemberReference, _ scope: CallScope
    ) throws(NodeError) -> ChannelObject {
        let workspace: Workspace = try core.queries.workspace(scope)
        let channel = try core.queries.channel(reference, in: workspace)
        let heir = try core.channels.someone(
            member, field: "member", in: workspace, for: .charge)
        try core.channels.require(.manage, on: channel, in: workspace)
        if heir == channel.owner { return try answer(channel, in: workspace) }
        try refuseAbsent(heir, from: channel, in: workspace)
        if channel.isPrivate { return try transferPrivate(channel, to: heir, in: workspace) }
        return try set(channel, in: workspace) { settings, _ in settings.owner = heir }
    }

    /// A public channel goes to nobody who does not follow it: they would not see what is theirs.
    private func refuseAbsent(
        _ heir: MemberID, from channel: Workspace.Channel, in workspace: Workspace
    ) throws(NodeError) {
        guard !channel.isPrivate, !channel.isDefault else { return }
        let isThere = try stored { () throws(StorageError) in
            try store.view.following.isFollowing(heir, channel.number)
        }
        guard !isThere else { return }
        let (name, shown) = (
            workspace.displayName(of: heir), core.channels.shownName(channel, workspace)
        )
        throw .forbidden(
            "\(NodeError.quoted(name)) is not in \(NodeError.quoted(shown))",
            reason: "channel.absent",
            hint: "first: wsx-node channel add \(NodeError.shellWord(shown)) "
                + NodeError.shellWord("@" + name))
    }

    func setChannelRole(
        _ role: String, of member: MemberReference, in reference: ChannelReference,
        _ scope: CallScope
    ) throws(NodeError) -> ChannelObject {
        let workspace: Workspace = try core.queries.workspace(scope)
        let channel = try core.queries.channel(reference, in: workspace)
        let person = try core.channels.someone(
            member, field: "member", in: workspace, for: .charge)
        try core.channels.require(.manage, on: channel, in: workspace)
        guard person != channel.owner else {
            throw NodeError(
                .transferFirst, "the channel's owner cannot be given a lesser role",
                hint: "wsx-node channel transfer "
                    + NodeError.shellWord(core.channels.shownName(channel, workspace)) + " @U",
                reason: "channel.owner")
        }
        if channel.isPrivate { try refuseOutsider(person, of: channel, in: workspace) }
        var admins = Set(channel.admins)
        if role == "admin" { admins.insert(person) } else { admins.remove(person) }
        if admins == Set(channel.admins) { return try answer(channel, in: workspace) }
        if channel.isPrivate {
            return try setPrivateRole(
                role == "admin" ? .admin : .member, of: person, in: channel, workspace)
        }
        return try set(channel, in: workspace) { settings, _ in
            settings.roles = admins.sorted().map { .init(member: $0, role: .admin) }
        }
    }

    func deleteChannel(
        _ reference: ChannelReference, _ scope: CallScope
    ) throws(NodeError) -> ChannelObject {
        let workspace: Workspace = try core.queries.workspace(scope)
        let channel = try core.queries.channel(reference, in: workspace)
        try core.channels.refuseDefault(channel, "deleted", in: workspace)
        try core.channels.require(.manage, on: channel, in: workspace)
        let last = try answer(channel, in: workspace)
        guard let ruling = channel.ruling else {
            try deletePrivate(channel, in: workspace)
            return last
        }
        let written = try stored { () throws(StorageError) in
            try core.log.authorAuthority(in: workspace, naming: [ruling.lastLink]) { _ in
                .deleteDocument(channel.id, chainLink: ruling.lastLink)
            }
        }
        guard written != nil else { throw core.membership.notAllowed(in: workspace) }
        return last
    }

    // MARK: People

    func addToChannel(
        _ members: [MemberReference], _ reference: ChannelReference, _ scope: CallScope
    ) throws(NodeError) -> ChannelObject {
        let workspace: Workspace = try core.queries.workspace(scope)
        let channel = try core.queries.channel(reference, in: workspace)
        let people = try core.channels.everyone(
            members, in: workspace, for: channel.isPrivate ? .privacy : .public)
        try core.channels.require(.edit, on: channel, in: workspace)
        try core.channels.refuseArchived(channel, in: workspace)
        if channel.isPrivate { return try addToPrivate(people, channel, in: workspace) }
        return try follow(.add, people, channel, in: workspace) { !$1.contains($0) }
    }

    func removeFromChannel(
        _ members: [MemberReference], _ reference: ChannelReference, _ scope: CallScope
    ) throws(NodeError) -> ChannelObject {
        let workspace: Workspace = try core.queries.workspace(scope)
        let channel = try core.queries.channel(reference, in: workspace)
        let people = try core.channels.everyone(members, in: workspace, orIn: channel)
        try core.channels.refuseDefault(channel, "left", in: workspace)
        if people != [workspace.member] {
            try core.channels.require(.edit, on: channel, in: workspace)
        }
        for member in people { try core.channels.refuseOwner(member, of: channel, in: workspace) }
        let present = people.filter { !ledByLeaver($0, channel, in: workspace) }
        try core.channels.refuseAbsent(present, from: channel, in: workspace)
        if channel.isPrivate {
            return people == [workspace.member]
                ? try leavePrivate(channel, in: workspace)
                : try removeFromPrivate(people, channel, in: workspace)
        }
        return try follow(.remove, people, channel, in: workspace) { $1.contains($0) }
    }

    func leaveChannel(
        _ reference: ChannelReference, _ scope: CallScope
    ) throws(NodeError) -> ChannelObject {
        let workspace: Workspace = try core.queries.workspace(scope)
        let channel = try core.queries.channel(reference, in: workspace)
        try core.channels.refuseDefault(channel, "left", in: workspace)
        try core.channels.refuseOwner(workspace.member, of: channel, in: workspace)
        try core.channels.refuseAbsent([workspace.member], from: channel, in: workspace)
        if channel.isPrivate { return try leavePrivate(channel, in: workspace) }
        return try follow(.leave, [workspace.member], channel, in: workspace) { $1.contains($0) }
    }

    // MARK: Writing

    func answer(
        _ channel: Workspace.Channel, in workspace: Workspace
    ) throws(NodeError) -> ChannelObject {
        let current = workspace.channelIndex.channel(channel.number) ?? channel
        return try stored { () throws(StorageError) in
            try core.queries.object(of: current, in: workspace)
        }
    }

    /// Writes settings under the last link of the channel's chain.
    private func set(
        _ channel: Workspace.Channel, in workspace: Workspace,
        _ change: (inout AuthorityPayload.DocumentSettings, OperationLog.AuthorityDraft) -> Void
    ) throws(NodeError) -> ChannelObject {
        guard let ruling = channel.ruling else { throw .internalFailure(reason: "channel") }
        let link = ruling.lastLink
        let written = try stored { () throws(StorageError) in
            try core.log.authorAuthority(in: workspace, naming: [link]) { draft in
                var settings = AuthorityPayload.DocumentSettings(document: channel.id)
                settings.replaces = link == ruling.creation ? nil : link
                change(&settings, draft)
                settings.cuts = core.channels.cuts(of: settings, after: ruling, in: workspace)
                return .setDocument(settings)
            }
        }
        guard written != nil else { throw core.membership.notAllowed(in: workspace) }
        return try answer(channel, in: workspace)
    }

    /// Says of those whom it concerns that they follow a channel, or no longer.
    private func follow(
        _ action: ContentPayload.MembershipAction, _ people: [MemberID],
        _ channel: Workspace.Channel, in workspace: Workspace,
        where isConcerned: (MemberID, [MemberID]) -> Bool
    ) throws(NodeError) -> ChannelObject {
        let present = try stored { () throws(StorageError) in
            try core.channels.followers(of: channel, in: workspace)
        }
        try core.channels.say(
            action, of: people.filter { isConcerned($0, present) }, channel, in: workspace)
        return try answer(channel, in: workspace)
    }
}
