import CRDTStore
import WorkspaceModel

/// Presents private documents as channels and direct conversations.
extension Workspace {
    /// Every private channel and conversation that the local member is, or was, in. Several
    /// documents with the same people appear as one conversation, and new messages go into the one
    /// with the smallest id.
    var privateChannels: [Channel] {
        var channels: [Channel] = []
        var directs: [[MemberID]: Channel] = [:]
        for document in sealed.documents.values.sorted(by: { $0.id < $1.id }) {
            guard let channel = channel(of: document) else { continue }
            guard channel.isDirect else {
                channels.append(channel)
                continue
            }
            if directs[channel.people] == nil {
                directs[channel.people] = channel
            } else {
                directs[channel.people]?.others.append(channel.number)
            }
        }
        return channels + directs.values
    }

    /// One private document as people see it, `nil` where they do not: its root is not here, or
    /// does not count, or names others, or it was deleted.
    func channel(of document: PrivateDocument) -> Channel? {
        if let known = document.shown { return known }
        let channel = makeChannel(of: document, as: document.authority)
        document.shown = .some(channel)
        return channel
    }

    /// A private document that was deleted, as it was last displayed.
    func deletedChannel(of document: PrivateDocument) -> Channel? {
        document.deletion.flatMap { _ in
            makeChannel(of: document, as: document.authority, orDeleted: true)
        }
    }

    /// The same by other verdicts than those of now.
    func makeChannel(
        of document: PrivateDocument, as authority: PrivateAuthority, orDeleted: Bool = false
    ) -> Channel? {
        guard let record = document.records[document.rootID], let root = authority.root,
            root.subtype != .own, authority.isValid(document.rootID),
            // A former member keeps what was said until they left.
            authority.hasSeated(member, asAtLeast: .guest) || !authority.ends(of: member).isEmpty
        else { return nil }
        let fields = authority.fields
        guard fields.deletion == nil || orDeleted else { return nil }
        let isDirect = root.subtype == .directMessage
        var privateMembership = PrivateMembership(kind: isDirect ? .direct : .channel, roles: [:])
        for standing in authority.members {
            privateMembership.roles[standing.member] = standing.role
        }
        privateMembership.isFromJoin = root.history == .fromJoin
        privateMembership.isArchived = fields.archived
        if document.isLeft(by: member, as: authority) { privateMembership.roles[member] = nil }
        var channel = Channel(
            id: document.id,
            publicID: isDirect
                ? publicID(ofDirect: privateMembership.roles.keys.sorted())
                : PublicID.channel(document.id),
            number: document.number, createdAt: record.timestamp.milliseconds,
            rank: (record.timestamp.rawValue, document.rootID), rule: .closed(privateMembership),
            isDefault: false)
        channel.isOwn = record.author == member
        channel.name = fields.name
        channel.topic = fields.topic.flatMap { $0.isEmpty ? nil : $0 }
        channel.description = fields.description.flatMap { $0.isEmpty ? nil : $0 }
        channel.image = fields.image.flatMap { $0.isEmpty ? nil : $0 }
        channel.copies = Int(clamping: fields.copies)
        return channel
    }
}

extension PrivateDocuments {
    /// The document behind a channel, if more than an outline is known.
    func document(
        of channel: Workspace.Channel, in workspace: Workspace
    ) throws(NodeError) -> PrivateDocument {
        guard let document = workspace.sealed.documents[channel.id] else {
            throw .internalFailure(reason: "private.document")
        }
        return document
    }
}
