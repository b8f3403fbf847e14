import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Implements the commands about invites.
final class InviteHandler: CorePart, InviteCommands {
    func createInvite(
        _ draft: InviteDraft, _ scope: CallScope
    ) throws(NodeError) -> Made<InviteObject> {
        if let made = try core.replay(scope) {
            guard let id = OperationID(untrusted: made),
                let workspace = workspaces.values.first(where: { $0.authority[id] != nil }),
                let object = core.membership.object(ofInvite: id, in: workspace)
            else { throw .internalFailure(reason: "replay") }
            return Made(object, isReplayed: true)
        }
        let workspace: Workspace = try core.queries.workspace(scope)
        let role = try core.membership.inviteRole(draft, in: workspace)
        let channels = try inviteChannels(draft, of: role, in: workspace)
        let secret = InviteSecret(using: environment.random)
        let documents = channels.map { document in
            role == .guest
                ? Workspace.name(of: document, inInvite: secret.publicKey.bytes)
                : OperationID(sameBytesAs: document)
        }
        let expires = time.wall &+ UInt64(max(draft.expiresInMilliseconds, 0))
        let cited = workspace.ownRole == .member ? workspace.fields.invitePolicy : nil
        let id = try stored { () throws(StorageError) in
            let id = try core.log.authorAuthority(in: workspace) { authoring in
                .invite(
                    .init(
                        role: role,
                        maximum: min(UInt64(max(draft.uses, 1)), Limits.inviteUsesMax),
                        expires: expires, publicKey: secret.publicKey.bytes,
                        approve: draft.needsApproval, documents: documents,
                        psk: authoring.sealed(secret.psk.exposedCopy(), field: 7),
                        policy: cited))
            }
            if let id, let home {
                try store.registry.setValue(
                    home.seal(
                        secret.exposedSeed(), name: id.bytes, using: environment.random),
                    of: "seed:" + Hexadecimal.text(id.bytes))
            }
            return id
        }
        guard let id, let object = core.membership.object(ofInvite: id, in: workspace) else {
            throw core.membership.notAllowed(in: workspace)
        }
        try core.remember(scope, made: id.bytes)
        return Made(object)
    }

    /// Open ones first, then the newest of what is over.
    func invites(
        _ request: PageRequest, _ scope: CallScope
    ) throws(NodeError) -> Page<InviteObject> {
        let workspace: Workspace = try core.queries.workspace(scope)
        var (open, over): ([OperationID], [OperationID]) = ([], [])
        for id in workspace.invites.invites {
            guard let state = core.membership.state(ofInvite: id, in: workspace) else { continue }
            if state == .open { open.append(id) } else { over.append(id) }
        }
        let (shown, next) = try core.queries.page(open + over, request)
        return Page(
            shown.compactMap { core.membership.object(ofInvite: $0, in: workspace) }, next: next)
    }

    func revokeInvite(_ id: String, _ scope: CallScope) throws(NodeError) -> InviteObject {
        let workspace: Workspace = try core.queries.workspace(scope)
        let found = workspace.invites.invites.first { PublicID.invite($0) == id }
        guard let found else {
            throw .notFound("invite", id, field: "id", hint: "wsx-node invite list")
        }
        if !core.membership.isRevoked(found, in: workspace) {
            guard core.membership.mayRevoke(found, in: workspace) else {
                throw core.membership.notAllowed(in: workspace)
            }
            let made = try stored { () throws(StorageError) in
                try core.membership.revoke(found, in: workspace)
            }
            guard made else { throw core.membership.notAllowed(in: workspace) }
        }
        guard let object = core.membership.object(ofInvite: found, in: workspace) else {
            throw .internalFailure(reason: "invite")
        }
        return object
    }

    /// The channels that joiners are added to, each once, in the order given.
    func inviteChannels(
        _ draft: InviteDraft, of role: Role, in workspace: Workspace
    ) throws(NodeError) -> [DocumentID] {
        var found: [DocumentID] = []
        for reference in draft.channels {
            let channel = try core.queries.channel(reference, in: workspace, field: "channels")
            if role == .guest { try refuseForGuests(channel, in: workspace) }
            guard role == .guest || !channel.isPrivate else {
                throw NodeError(
                    .badRequest, "only guests can be invited to a private channel",
                    hint: "once they have joined: wsx-node channel add NAME @THEM",
                    reason: "channel.private",
                    fields: [.init(name: "channels", reason: "private")])
            }
            guard !channel.isArchived else {
                throw NodeError(
                    .archived, "that channel is archived", hint: "choose another",
                    reason: "channel.archived", fields: [.init(name: "channels", reason: "form")])
            }
            if !found.contains(channel.id) { found.append(channel.id) }
        }
        return found
    }

    /// Only private channels take guests, and only who leads one brings somebody into it.
    private func refuseForGuests(
        _ channel: Workspace.Channel, in workspace: Workspace
    ) throws(NodeError) {
        guard channel.isPrivate else {
            throw NodeError(
                .badRequest, "guests can only be in private channels",
                hint: "wsx-node channel create NAME --private", reason: "channel.public",
                fields: [.init(name: "channels", reason: "public")])
        }
        try core.channels.require(.edit, on: channel, in: workspace)
    }
}
