import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Resolves what a call names: an id, or a name, ignoring case.
extension Queries {
    /// The workspace a call acts in: the one it names, else the selected one. A workspace that its
    /// owner has ended cannot be worked in any more.
    func workspace(_ scope: CallScope) throws(NodeError) -> Workspace {
        let workspace = try shownWorkspace(scope)
        guard workspace.fields.deletion == nil else {
            throw .forbidden(
                "the workspace \(NodeError.quoted(workspace.displayName)) was deleted",
                reason: "workspace.deleted", hint: "wsx-node workspace list")
        }
        return workspace
    }

    /// The workspace a call asks about, deleted or not.
    func shownWorkspace(_ scope: CallScope) throws(NodeError) -> Workspace {
        if let reference = scope.workspace { return try workspace(reference) }
        let selected = try stored { () throws(StorageError) in
            try core.membership.selectedWorkspace()
        }
        if let meant = try workspace(naming: scope.named, besides: selected) ?? selected {
            return meant
        }
        guard network.joining.pendingJoins.contains(where: { !$0.isRefused }) else {
            throw .noWorkspace
        }
        throw NodeError(
            .notFound,
            "you are not in a workspace yet: your request to join is waiting for an admin",
            hint: "this continues by itself; wsx-node status shows whether they were reached",
            reason: "workspace.pending")
    }

    /// The names of the other workspaces in which there is all that a call names; none where it is in the
    /// selected one, so that something else was missing.
    func workspaces(having things: [NamedThing]) throws(NodeError) -> [String] {
        guard !things.isEmpty else { return [] }
        let selected = try stored { () throws(StorageError) in
            try core.membership.selectedWorkspace()
        }
        if let selected, try has(things, selected) { return [] }
        var names: [String] = []
        for workspace in workspaces.values.sorted(by: { $0.number < $1.number })
        where workspace !== selected && workspace.standing == .member {
            if try has(things, workspace) { names.append(workspace.displayName) }
        }
        return names
    }

    /// The one workspace in which there is all that a call names by ids; `nil` where the selected one
    /// will do, and where it is not the only one.
    private func workspace(
        naming things: [NamedThing], besides selected: Workspace?
    ) throws(NodeError) -> Workspace? {
        guard !things.isEmpty, things.allSatisfy(\.isExact), workspaces.count > 1 else {
            return nil
        }
        if let selected, try has(things, selected) { return nil }
        var found: Workspace?
        for workspace in workspaces.values
        where workspace !== selected && workspace.standing == .member {
            guard try has(things, workspace) else { continue }
            guard found == nil else { return nil }
            found = workspace
        }
        return found
    }

    private func has(_ things: [NamedThing], _ workspace: Workspace) throws(NodeError) -> Bool {
        for thing in things where try !has(thing, workspace) { return false }
        return true
    }

    private func has(_ thing: NamedThing, _ workspace: Workspace) throws(NodeError) -> Bool {
        switch thing {
        case .channel(.id(let id)): return workspace.channelIndex.place(of: id) != nil
        case .channel(.name(let name)): return !workspace.channelIndex.matching(name).isEmpty
        // To who is gone nothing can be said.
        case .channel(.direct(let member)):
            return (try? person(member, in: workspace, orRemoved: false)) != nil
                || isCalledInPart(member, in: workspace)
        case .member(let member):
            return (try? person(member, in: workspace, orRemoved: true)) != nil
                || isCalledInPart(member, in: workspace)
        case .id(let id):
            if let key = PublicID.messageKey(id) {
                return try stored { () throws(StorageError) in
                    try store.view.message(key).map { channel($0.document, in: workspace) != nil }
                        ?? false
                }
            }
            if let key = PublicID.noteKey(id) {
                return try stored { () throws(StorageError) in
                    try core.notes.finding.place(of: key, in: workspace) != nil
                }
            }
            return workspace.invites.invites.contains { PublicID.invite($0) == id }
                || workspace.joinRequests.contains { $0.id == id }
        }
    }

    /// Whether somebody's name begins as a call says: enough to point to a workspace, and to mean
    /// nobody.
    private func isCalledInPart(_ reference: MemberReference, in workspace: Workspace) -> Bool {
        guard case .name(let name) = reference else { return false }
        return workspace.visibleMembers.contains {
            PartOfName.is(name, in: workspace.displayName(of: $0.member))
        }
    }

    /// The workspace with this id or name.
    func workspace(_ reference: WorkspaceReference) throws(NodeError) -> Workspace {
        let all = workspaces.values.filter { $0.standing == .member }
            .sorted { $0.number < $1.number }
        switch reference {
        case .id(let id):
            if let found = all.first(where: { PublicID.workspace($0.id) == id }) { return found }
            throw .notFound("workspace", id, field: "workspace", hint: "wsx-node workspace list")
        case .name(let name):
            let named = all.filter { NameFolding.matches($0.displayName, name) }
            // A workspace that is over no longer occupies its name.
            let found = named.filter { !core.membership.isOver($0) }
            return try single(
                found.isEmpty ? named : found, name, "workspace", names: all.map(\.displayName),
                hint: "wsx-node workspace list"
            ) { ["id": .string(PublicID.workspace($0.id)), "name": .string($0.displayName)] }
        }
    }

    /// The channel with this id or name, or the direct conversation with somebody.
    ///
    /// - Parameter field: the parameter in which it was named, for failures.
    func channel(
        _ reference: ChannelReference, in workspace: Workspace, field: String = "channel"
    ) throws(NodeError) -> Workspace.Channel {
        let channels = workspace.channelIndex
        switch reference {
        case .id(let id):
            if let place = channels.place(of: id) { return channels.all[place] }
            if let deleted = core.channels.deletion(of: id, in: workspace, field: field) {
                throw deleted
            }
            throw .notFound(
                "channel", id, field: field, hint: channelHint(in: workspace))
        case .name(let name):
            let found = try single(
                channels.matching(name), name, "channel", field: field, names: channels.references,
                hint: channelHint(in: workspace)
            ) {
                [
                    "id": .string(channels.all[$0].publicID),
                    "name": .string(channels.names[$0]),
                ]
            }
            return channels.all[found]
        case .direct(let reference):
            return try core.channels.direct(with: reference, in: workspace, field: field)
        }
    }

    func single<Item>(
        _ found: [Item], _ name: String, _ what: String, field: String? = nil,
        names: @autoclosure () -> [String], hint: String,
        _ candidate: (Item) -> JSONValue
    ) throws(NodeError) -> Item {
        if found.count > 1 {
            throw .ambiguous(name, candidates: found.map(candidate), field: field ?? what)
        }
        guard let only = found.first else {
            let similar = Similarity.nearest(to: name, in: names())
                .map { "did you mean \(NodeError.quoted($0))?" }
            throw .notFound(what, name, field: field ?? what, hint: similar ?? hint)
        }
        return only
    }

    // MARK: Pages

    /// One page of a list that is held in memory; the cursor is the place.
    func page<Item>(
        _ all: [Item], _ page: PageRequest
    ) throws(NodeError) -> (items: ArraySlice<Item>, next: PageEnd) {
        let (part, end) = try PageEnd.part(of: all.count, page)
        return (all[part], end)
    }

    /// The person with this id or name. Names are looked for among members first.
    ///
    /// - Parameters:
    ///   - removed: whether somebody who is out may be meant.
    ///   - formerly: whether a name that somebody had and nobody has now is enough.
    ///   - field: the parameter in which the person was named, for failures.
    func person(
        _ reference: MemberReference, in workspace: Workspace, orRemoved removed: Bool,
        orFormerly formerly: Bool = false, field: String = "member"
    ) throws(NodeError) -> MemberID {
        let current = workspace.visibleMembers.map(\.member)
        let past = removed ? core.membership.formerMembers(of: workspace) : []
        switch reference {
        case .id(let id):
            if let found = (current + past).first(where: { PublicID.member($0) == id }) {
                return found
            }
            throw .unknownUser(id, field: field)
        case .name(let name):
            for people in [current, past] {
                let found = workspace.named(name, among: people)
                if found.count > 1 {
                    throw .ambiguous(
                        name,
                        candidates: found.map { core.membership.person($0, in: workspace).json },
                        field: field)
                }
                guard let only = found.first else { continue }
                // Somebody who is here and called so by a part of the name is meant before who is gone.
                let isMeantHere =
                    people == past
                    && current.contains { PartOfName.is(name, in: workspace.displayName(of: $0)) }
                if isMeantHere { break }
                return only
            }
            let former = try core.profiles.former(
                name, among: current, in: workspace, field: field, isTaken: formerly)
            if let former { return former }
            throw core.membership.unknown(name, among: current, in: workspace, field: field)
        }
    }

    /// The hint with which a channel is not found.
    func channelHint(in workspace: Workspace) -> String {
        workspace.ownRole == .guest
            ? "guests can only be in private channels: wsx-node channel list"
            : "wsx-node channel list --all"
    }
}
