import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Creates and changes private channels and their membership. Refusals come before anything is
/// written, and permissions are checked in the state that the change would create.
extension ChannelHandler {
    // MARK: The channel

    func makePrivateChannel(
        _ draft: ChannelDraft, named name: String, in workspace: Workspace
    ) throws(NodeError) -> DocumentID? {
        let root = PrivateRoot(
            subtype: .channel, seats: [PrivateSeat(workspace.member, .owner)],
            history: draft.history == "from-join" ? .fromJoin : .all, name: name,
            topic: draft.topic, description: draft.description)
        return try stored { () throws(StorageError) in
            try core.privates.authoring.makePrivate(root, in: workspace)
        }
    }

    /// Changes texts or the archive flag.
    func set(
        _ settings: PrivateSettings, of channel: Workspace.Channel, in workspace: Workspace
    ) throws(NodeError) -> ChannelObject {
        try change(channel, in: workspace, .set(settings))
    }

    func transferPrivate(
        _ channel: Workspace.Channel, to heir: MemberID, in workspace: Workspace
    ) throws(NodeError) -> ChannelObject {
        try refuseOutsider(heir, of: channel, in: workspace)
        return try change(channel, in: workspace, .role(heir, .owner, drops: true)) {
            $0.standing(of: heir)?.role == .owner
        }
    }

    func setPrivateRole(
        _ role: Role, of person: MemberID, in channel: Workspace.Channel, _ workspace: Workspace
    ) throws(NodeError) -> ChannelObject {
        try refuseOutsider(person, of: channel, in: workspace)
        return try change(channel, in: workspace, .role(person, role, drops: false)) {
            $0.standing(of: person)?.role == role
        }
    }

    func deletePrivate(
        _ channel: Workspace.Channel, in workspace: Workspace
    ) throws(NodeError) {
        _ = try change(channel, in: workspace, .delete)
    }

    // MARK: People

    /// Adds people. Those who see only later messages, or return, are added with a new key; so is
    /// everybody while one is due.
    func addToPrivate(
        _ people: [MemberID], _ channel: Workspace.Channel, in workspace: Workspace
    ) throws(NodeError) -> ChannelObject {
        let document = try core.privates.document(of: channel, in: workspace)
        let new = people.filter { !channel.includes($0) }
        guard !new.isEmpty else { return try answer(channel, in: workspace) }
        let addition = core.privates.authoring.addition(of: new, to: document, in: workspace)
        try write(
            .add(addition.payload), in: document, of: channel, workspace,
            introducing: addition.fresh
        ) { trial in new.allSatisfy { trial.standing(of: $0) != nil } }
        try stored { () throws(StorageError) in
            try core.privates.authoring.mail(addition, of: document, in: workspace)
        }
        return try answer(channel, in: workspace)
    }

    /// Takes people out, each with a new key for those who stay, and tells them.
    func removeFromPrivate(
        _ people: [MemberID], _ channel: Workspace.Channel, in workspace: Workspace
    ) throws(NodeError) -> ChannelObject {
        let document = try core.privates.document(of: channel, in: workspace)
        for member in people
        where channel.includes(member) || ledByLeaver(member, channel, in: workspace) {
            let cuts = privateCuts(of: member, in: document, workspace)
            let (key, epoch) = core.privates.authoring.newEpoch(of: document, in: workspace)
            let id = try write(
                .remove(member, cuts: cuts, epoch: epoch), in: document, of: channel, workspace,
                introducing: key
            ) { $0.standing(of: member) == nil && !$0.leadsInThePast(member) }
            try stored { () throws(StorageError) in
                try core.keys.mail(key, of: document.id, to: document.people, in: workspace)
                try core.keys.mail(
                    core.privates.authoring.removalNotices(
                        id, in: document.id, to: member, workspace),
                    in: workspace)
            }
        }
        return try answer(channel, in: workspace)
    }

    /// Whether somebody else has left who led the channel: what they write as if they had not counts until
    /// somebody stronger ends it.
    func ledByLeaver(
        _ person: MemberID, _ channel: Workspace.Channel, in workspace: Workspace
    ) -> Bool {
        guard person != workspace.member, channel.isPrivate,
            let document = try? core.privates.document(of: channel, in: workspace)
        else { return false }
        return document.authority.leadsInThePast(person)
    }

    func leavePrivate(
        _ channel: Workspace.Channel, in workspace: Workspace
    ) throws(NodeError) -> ChannelObject {
        guard !channel.isDirect else {
            throw .forbidden(
                "you cannot leave a direct message", reason: "channel.direct",
                hint: "it stays quiet while nobody writes in it")
        }
        guard channel.includes(workspace.member) else { return try answer(channel, in: workspace) }
        let document = try core.privates.document(of: channel, in: workspace)
        let cuts = privateCuts(of: workspace.member, in: document, workspace)
        try write(.leave(cuts: cuts), in: document, of: channel, workspace) {
            $0.standing(of: workspace.member) == nil
        }
        return try answer(channel, in: workspace)
    }

    /// The cuts for what somebody wrote in one document: they keep all that this node knows.
    private func privateCuts(
        of member: MemberID, in document: PrivateDocument, _ workspace: Workspace
    ) -> [CutEntry] {
        let devices = core.membership.devices(everOf: member, in: workspace)
        let cuts = core.membership.cuts(ofDevices: devices, in: workspace, only: document.id)
        return Array(cuts.suffix(Limits.privateCutsMax))
    }

    // MARK: Writing

    private func change(
        _ channel: Workspace.Channel, in workspace: Workspace, _ action: PrivateAction,
        isEffective: (PrivateAuthority) -> Bool = { _ in true }
    ) throws(NodeError) -> ChannelObject {
        let document = try core.privates.document(of: channel, in: workspace)
        try write(action, in: document, of: channel, workspace, isEffective: isEffective)
        return try answer(channel, in: workspace)
    }

    @discardableResult
    private func write(
        _ action: PrivateAction, in document: PrivateDocument, of channel: Workspace.Channel,
        _ workspace: Workspace, introducing key: SymmetricKey? = nil,
        isEffective: (PrivateAuthority) -> Bool
    ) throws(NodeError) -> OperationID {
        let written = try stored { () throws(StorageError) in
            try core.privates.authoring.author(
                action, in: document, of: workspace, introducing: key, isEffective: isEffective)
        }
        guard let written else {
            guard workspace.ownRole != nil else { throw core.membership.notAllowed(in: workspace) }
            throw .forbidden(
                "your role in \(NodeError.quoted(core.channels.shownName(channel, workspace))) does not allow "
                    + "this", reason: "channel.role", hint: "ask its owner")
        }
        return written
    }

    /// Only who is in a private channel has a role there.
    func refuseOutsider(
        _ person: MemberID, of channel: Workspace.Channel, in workspace: Workspace
    ) throws(NodeError) {
        guard !channel.includes(person) else { return }
        let (who, name) = (
            workspace.displayName(of: person), core.channels.shownName(channel, workspace)
        )
        throw NodeError(
            .notFound, "\(NodeError.quoted(who)) is not in \(NodeError.quoted(name))",
            hint:
                "wsx-node channel add \(NodeError.shellWord(name)) \(NodeError.shellWord("@" + who))",
            reason: "channel.not_in",
            fields: [.init(name: "member", reason: "not_found")])
    }
}
