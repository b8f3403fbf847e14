import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

extension NodeError {
    /// A text that breaks a rule: the rule's sentence as the clause that a message is.
    static func badText(
        _ problem: TextProblem, field: String, hint: String?, reason: String
    ) -> NodeError {
        let sentence = problem.description
        let clause = sentence.prefix(1).lowercased() + sentence.dropFirst().dropLast()
        return NodeError(
            .badRequest, "'\(field)': \(clause)", hint: hint, reason: reason,
            fields: [.init(name: field, reason: problem == .tooManyBytes ? "too_long" : "form")])
    }
}

/// Identity, workspaces, channels and members, as commands ask for them.
extension CommandDesk {
    // MARK: Identity

    func createIdentity(
        _ draft: IdentityDraft, _ scope: CallScope
    ) throws(NodeError) -> CommandOutcome {
        if let known = core.queries.identityObject() {
            if scope.key != nil, try core.replay(scope) != nil {
                return .reply(Made(known, isReplayed: true))
            }
            throw NodeError(
                .duplicate,
                "this home already has an identity: \(NodeError.quoted(known.name ?? known.id))",
                hint: "wsx-node identity show", reason: "identity.exists")
        }
        let start = try checked(draft)
        guard let passphrase = draft.passphrase else {
            return .reply(try makeIdentity(start, under: nil, scope))
        }
        guard core.session.stretching == nil else {
            throw NodeError(
                .busy, "an identity is being created already", hint: "try again",
                reason: "session.busy")
        }
        let stretch = PassphraseVault.Stretch(
            cost: environment.passphraseCost, using: environment.random)
        core.session.begin(
            .create(start, stretch, scope), scope.call,
            [(stretch, LockState.secret(passphrase))])
        return .later
    }

    /// Everything about the draft, checked: one answer names all that fails.
    private func checked(_ draft: IdentityDraft) throws(NodeError) -> IdentityStart {
        var name = ""
        var failures: [NodeError] = []
        do throws(NodeError) { name = try NewNames.person(draft.name, field: "name") } catch {
            failures.append(error)
        }
        var profile: [ProfileChange.Field: String] = [:]
        do throws(NodeError) {
            let edit = ProfileEditDraft(
                name: nil, nickname: nil, values: draft.profile, shown: [], hidden: [])
            profile = try checked(edit).values.compactMapValues { $0 }
        } catch { failures.append(error) }
        if let problem = draft.passphrase.flatMap({ PassphraseRule.problem(of: $0) }) {
            failures.append(
                NodeError(
                    .badRequest, PassphraseRule.sentence(for: "passphrase"),
                    reason: "bad_passphrase",
                    fields: [.init(name: "passphrase", reason: problem)]))
        }
        guard var first = failures.first else {
            return IdentityStart(name: name, hasRecovery: draft.hasRecovery, profile: profile)
        }
        first.fields = failures.flatMap(\.fields)
        throw first
    }

    /// Makes the identity that `createIdentity` has checked.
    func makeIdentity(
        _ start: IdentityStart, under seal: (key: SymmetricKey, stretch: PassphraseVault.Stretch)?,
        _ scope: CallScope
    ) throws(NodeError) -> Made<IdentityObject> {
        // Somebody else may have made one while the passphrase was worked on.
        guard home == nil else {
            throw NodeError(
                .duplicate, "this home already has an identity", hint: "wsx-node identity show",
                reason: "identity.exists")
        }
        try core.enrolment.makeIdentity(
            name: start.name, recovery: start.hasRecovery ? .drawn : .none, under: seal)
        try stored { () throws(StorageError) in try core.profiles.keepStartProfile(start.profile) }
        guard let object = core.queries.identityObject() else {
            throw .internalFailure(reason: "identity")
        }
        try core.remember(scope, made: Array(object.id.utf8))
        return Made(object)
    }

    func identity(showsPhrase: Bool, _ scope: CallScope) throws(NodeError) -> IdentityObject {
        guard let known = core.queries.identityObject() else { throw .noIdentity }
        if known.isLocked, showsPhrase { throw .locked(turn.session.lock.phase) }
        let phrase = showsPhrase ? try core.enrolment.showPhrase() : nil
        guard var object = core.queries.identityObject() else { throw .noIdentity }
        object.phrase = phrase
        return object
    }

    // MARK: Workspaces

    func createWorkspace(
        _ draft: WorkspaceDraft, _ scope: CallScope
    ) throws(NodeError) -> Made<WorkspaceObject> {
        if let made = try core.replay(scope) {
            guard let id = WorkspaceID(untrusted: made),
                let known = workspaces.values.first(where: { $0.id == id })
            else { throw .internalFailure(reason: "replay") }
            return Made(
                try stored { () throws(StorageError) in try core.queries.object(of: known) },
                isReplayed: true)
        }
        let name = try NewNames.workspace(draft.name, field: "name")
        let channel = try NewNames.channel(draft.firstChannel, field: "first_channel")
        if workspaces.values.contains(where: {
            $0.standing == .member && !core.membership.isOver($0)
                && NameFolding.matches($0.displayName, name)
        }) {
            throw NodeError(
                .duplicate, "there is already a workspace \(NodeError.quoted(name)) here",
                hint: "wsx-node workspace use \(NodeError.shellWord(name))",
                reason: "workspace.exists",
                fields: [.init(name: "name", reason: "duplicate")])
        }
        let image = try draft.image.map { (typed) throws(NodeError) in
            try core.files.pictureText(typed)
        }
        let workspace = try stored { () throws(StorageError) in
            let workspace = try core.enrolment.found(
                name: name, description: draft.description, firstChannel: channel)
            if let image, !image.isEmpty {
                try core.enrolment.show(image, of: workspace)
            }
            try core.membership.select(workspace)
            try core.profiles.introduce(in: workspace)
            return workspace
        }
        draft.image.map { core.files.sent([$0]) }
        try core.remember(scope, made: workspace.id.bytes)
        core.links.workspaceListChanged()
        return Made(
            try stored { () throws(StorageError) in try core.queries.object(of: workspace) })
    }

    func workspaces(
        _ request: PageRequest, _ scope: CallScope
    ) throws(NodeError) -> Page<WorkspaceObject> {
        let all = workspaces.values.filter { $0.standing == .member }
            .sorted { $0.number < $1.number }
        let (items, next) = try core.queries.page(all, request)
        return Page(
            try stored { () throws(StorageError) in
                var objects: [WorkspaceObject] = []
                for workspace in items { objects.append(try core.queries.object(of: workspace)) }
                return objects
            }, next: next)
    }

    /// - Parameter counted: whether its messages are counted, which takes the longer the more there are.
    func workspace(counted: Bool, _ scope: CallScope) throws(NodeError) -> WorkspaceObject {
        let workspace = try core.queries.shownWorkspace(scope)
        return try stored { () throws(StorageError) in
            var object: WorkspaceObject = try self.core.queries.object(of: workspace)
            guard counted else { return object }
            var count: Int64 = 0
            for channel in workspace.channelIndex.all {
                for document in [channel.number] + channel.others {
                    count += try store.view.shownCount(in: document)
                }
            }
            object.messages = count
            return object
        }
    }

    func selectWorkspace(
        _ reference: WorkspaceReference, _ scope: CallScope
    ) throws(NodeError) -> WorkspaceObject {
        let workspace = try core.queries.workspace(reference)
        guard !core.membership.isOver(workspace) else { throw over(workspace) }
        return try stored { () throws(StorageError) in
            try core.membership.select(workspace)
            return try core.queries.object(of: workspace)
        }
    }

    /// Nothing acts by itself in a workspace that is over; what it holds is shown to who names it.
    private func over(_ workspace: Workspace) -> NodeError {
        let name = NodeError.quoted(workspace.displayName)
        let isDeleted = workspace.fields.deletion != nil
        return NodeError(
            .notFound,
            isDeleted ? "the workspace \(name) was deleted" : "you left the workspace \(name)",
            hint: isDeleted
                ? "wsx-node workspace list" : "read it with -w, or ask for a new invite",
            reason: isDeleted ? "workspace.deleted" : "workspace.left",
            fields: [.init(name: "workspace", reason: "over")])
    }

    // MARK: Members

    func members(
        removed: Bool, _ request: PageRequest, _ scope: CallScope
    ) throws(NodeError) -> Page<MemberObject> {
        let workspace: Workspace = try core.queries.workspace(scope)
        let all =
            removed
            ? core.membership.formerMembers(of: workspace) : workspace.visibleMembers.map(\.member)
        let objects = all.compactMap { core.queries.object(of: $0, in: workspace) }
            .sorted { ($0.joinedAt, $0.id) < ($1.joinedAt, $1.id) }
        let (items, next) = try core.queries.page(objects, request)
        return Page(Array(items), next: next)
    }

    // MARK: Channels

    func createChannel(
        _ draft: ChannelDraft, _ scope: CallScope
    ) throws(NodeError) -> Made<ChannelObject> {
        if let made = try core.replay(scope) {
            guard let id = DocumentID(untrusted: made),
                let workspace = workspaces.values.first(where: {
                    $0.book.channels[id] != nil || $0.book.deleted[id] != nil
                        || $0.sealed.documents[id] != nil
                })
            else { throw .internalFailure(reason: "replay") }
            // What was deleted since comes back as it can still be told.
            guard !core.events.isDeleted(id, in: workspace) else {
                return Made(core.events.goneChannel(id, in: workspace), isReplayed: true)
            }
            let known = try core.queries.channel(.id(PublicID.channel(id)), in: workspace)
            return Made(
                try stored { () throws(StorageError) in
                    try core.queries.object(of: known, in: workspace)
                },
                isReplayed: true)
        }
        let workspace: Workspace = try core.queries.workspace(scope)
        guard draft.isPrivate || draft.history == "all" else {
            throw NodeError(
                .badRequest, "every member can read all of a public channel",
                hint: "wsx-node channel create \(NodeError.shellWord(draft.name)) --private "
                    + "--history from-join",
                reason: "channel.history",
                fields: [.init(name: "history", reason: "not_private")])
        }
        guard let role = workspace.ownRole, role != .guest else {
            throw core.membership.notAllowed(in: workspace)
        }
        let name = try NewNames.channel(draft.name, field: "name")
        try refuseTwin(name, in: workspace)
        var document: DocumentID?
        if draft.isPrivate {
            document = try makePrivateChannel(draft, named: name, in: workspace)
        } else {
            document = try stored { () throws(StorageError) in
                try core.enrolment.makeChannel(
                    named: name, topic: draft.topic, description: draft.description,
                    in: workspace)
            }
        }
        guard let document,
            let channel = workspace.channelIndex.all.first(where: { $0.id == document })
        else { throw core.membership.notAllowed(in: workspace) }
        try core.remember(scope, made: document.bytes)
        return Made(
            try stored { () throws(StorageError) in
                try core.queries.object(of: channel, in: workspace)
            })
    }

    /// - Parameter except: the channel that gets the name, if there is one already.
    func refuseTwin(
        _ name: String, except: DocumentID? = nil, in workspace: Workspace
    ) throws(NodeError) {
        let twin = workspace.channelIndex.called(name).first { $0.id != except }
        guard let twin else { return }
        let shown = NodeError.shellWord(core.channels.shownName(twin, workspace))
        let what: String
        let hint: String
        switch (twin.isPrivate, twin.includes(workspace.member)) {
        case (false, _): (what, hint) = ("a channel", "wsx-node channel join \(shown)")
        case (true, true):
            let isOwn = twin.owner == workspace.member
            what = isOwn ? "a private channel of yours" : "a private channel that you are in"
            hint =
                "wsx-node channel show \(shown), or choose another name"
                + (isOwn ? ", or: wsx-node channel edit \(shown) --name NEW" : "")
        case (true, false):
            (what, hint) = ("a private channel that you were in", "choose another name")
        }
        throw NodeError(
            .duplicate,
            "there is already \(what) named \(NodeError.quoted(name))",
            hint: hint, reason: "channel.exists",
            fields: [.init(name: "name", reason: "duplicate")])
    }

    func channels(
        all: Bool, _ request: PageRequest, _ scope: CallScope
    ) throws(NodeError) -> Page<ChannelObject> {
        let workspace: Workspace = try core.queries.workspace(scope)
        let index = workspace.channelIndex
        let shown = try stored { () throws(StorageError) in
            try core.channels.overview(of: workspace)
        }
        let wanted = shown.lazy.filter { (all || $0.entry.isShown) && !$0.isDirect }.map(\.place)
        let (items, next) = try core.queries.page(Array(wanted), request)
        return Page(
            try stored { () throws(StorageError) in
                try items.map { (place) throws(StorageError) in
                    try core.queries.object(of: index.all[place], in: workspace)
                }
            }, next: next)
    }

    func channel(
        _ reference: ChannelReference, _ scope: CallScope
    ) throws(NodeError) -> ChannelObject {
        let workspace: Workspace = try core.queries.workspace(scope)
        let channel = try core.queries.channel(reference, in: workspace)
        return try stored { () throws(StorageError) in
            try core.queries.object(of: channel, in: workspace)
        }
    }

    func joinChannel(
        _ reference: ChannelReference, _ scope: CallScope
    ) throws(NodeError) -> ChannelObject {
        let workspace: Workspace = try core.queries.workspace(scope)
        let channel = try core.queries.channel(reference, in: workspace)
        try core.channels.refuseOutsider(of: channel, in: workspace)
        let isIn = try stored { () throws(StorageError) in
            if channel.isDefault || channel.isPrivate { return true }
            return try store.view.isFollowing(workspace.member, channel.number)
        }
        if !isIn {
            try core.channels.say(.join, of: [workspace.member], channel, in: workspace)
        }
        return try stored { () throws(StorageError) in
            try core.queries.object(of: channel, in: workspace)
        }
    }
}
