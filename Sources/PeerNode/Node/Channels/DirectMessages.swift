import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Direct conversations: who is meant by `@Mina`, and one name for the documents that several
/// people may have created concurrently.
extension Workspace {
    /// The id of a direct conversation of these people: `c_` and base32 of H16("wsx-dm1", workspace
    /// || members ascending). It names something in the view, never on the wire.
    func publicID(ofDirect people: [MemberID]) -> String {
        let name: OperationID = Hash.name("wsx-dm1", id.bytes, people.flatMap(\.bytes))
        return "c_" + Base32.encode([UInt8](name.bytes.prefix(16)))
    }

    /// The public id of a document that is a channel, or part of a direct conversation.
    func publicID(ofChannel document: DocumentID, number: Int64?) -> String {
        number.flatMap { channelIndex.channel($0)?.publicID } ?? PublicID.channel(document)
    }

    /// The direct conversation of exactly these people, whether it was opened already or not.
    ///
    /// - Parameter people: ascending, including the local member.
    func direct(of people: [MemberID]) -> Channel {
        let name = publicID(ofDirect: people)
        if let known = channelIndex.direct(name) { return known }
        let roles = Dictionary(uniqueKeysWithValues: people.map { ($0, Role.member) })
        return Channel(
            id: .zero, publicID: name, number: 0, createdAt: 0,
            rank: (0, .zero), rule: .closed(PrivateMembership(kind: .direct, roles: roles)),
            isDefault: false)
    }

    /// Whether a call means this person.
    func isMeant(_ member: MemberID, by reference: MemberReference) -> Bool {
        switch reference {
        case .id(let id): PublicID.member(member) == id
        case .name(let name): !named(name, among: [member]).isEmpty
        }
    }

    /// Those of `people` that a name means. A person with a name that could not be given here is
    /// only displayed under it, and found by id (``NewNames``).
    func named(_ name: String, among people: [MemberID]) -> [MemberID] {
        if NameFolding.matches(name, Self.oneself) { return people.filter { $0 == member } }
        return people.filter { member in
            let called = displayName(of: member)
            return NameFolding.matches(called, name) && NewNames.isPerson(called)
        }
    }

    /// Whether a conversation of several is meant by how lists show it.
    fileprivate func isMeant(_ channel: Channel, by name: String) -> Bool {
        channel.isDirect && NameFolding.matches(self.name(ofDirect: channel), name)
            && channel.people.allSatisfy { $0 == member || NewNames.isPerson(displayName(of: $0)) }
    }

    /// The name by which everybody can refer to themselves.
    static let oneself = "me"

    /// The names of the others; `me` for who talks to nobody else.
    func name(ofDirect channel: Channel) -> String {
        let others = channel.people.filter { $0 != member }
        guard !others.isEmpty else { return Self.oneself }
        return others.map(displayName).sorted().joined(separator: ", ")
    }

    /// The name of a channel or conversation for people, without reading the store.
    func shownName(of channel: Channel) -> String {
        if channel.isDirect { return name(ofDirect: channel) }
        let channels = channelIndex
        return channels.place(of: channel.publicID).map { channels.names[$0] } ?? ""
    }
}

extension Channels {
    /// The conversation with somebody. One with a former member is found too, since its messages
    /// can still be read.
    func direct(
        with reference: MemberReference, in workspace: Workspace, field: String = "channel"
    ) throws(NodeError) -> Workspace.Channel {
        if case .name(let name) = reference, name.utf8.contains(UInt8(ascii: ",")) {
            return try group(named: name, in: workspace, field: field)
        }
        let unknown: NodeError
        do throws(NodeError) {
            let other = try someone(reference, field: field, in: workspace, for: .talk)
            return workspace.direct(of: Set([workspace.member, other]).sorted())
        } catch {
            guard error.kind == .unknownUser else { throw error }
            unknown = error
        }
        let former = workspace.channelIndex.all.compactMap { channel -> MemberID? in
            let others = channel.people.filter { $0 != workspace.member }
            guard others.count == 1, let other = others.first else { return nil }
            return workspace.isMeant(other, by: reference) ? other : nil
        }
        guard let other = former.first else { throw unknown }
        if case .name(let name) = reference,
            workspace.visibleMembers.contains(where: {
                PartOfName.is(name, in: workspace.displayName(of: $0.member))
            })
        {
            throw unknown
        }
        guard former.count == 1 else {
            guard case .name(let name) = reference else { throw unknown }
            throw .ambiguous(
                name, candidates: former.map { core.membership.person($0, in: workspace).json },
                field: field)
        }
        return workspace.direct(of: [workspace.member, other].sorted())
    }

    /// The conversation of several people: as lists show it, `Joon, Sora`, or with a sign before
    /// each name. Nobody has a comma in a name by which they are meant.
    private func group(
        named name: String, in workspace: Workspace, field: String
    ) throws(NodeError) -> Workspace.Channel {
        let shown = workspace.channelIndex.all.filter { channel in
            channel.people.count > 2 && workspace.isMeant(channel, by: name)
        }
        guard shown.count < 2 else {
            let candidates = shown.map { channel -> JSONValue in
                [
                    "id": .string(channel.publicID),
                    "name": .string(workspace.name(ofDirect: channel)),
                ]
            }
            throw .ambiguous(name, candidates: candidates, field: field)
        }
        if let only = shown.first { return only }
        let parts = name.split(separator: ",")
        guard parts.count <= Limits.directPeopleMax else {
            throw NodeError(
                .badRequest, "a direct message has at most \(Limits.directPeopleMax) people",
                hint: "wsx-node channel create NAME --private", reason: "dm.people",
                fields: [.init(name: field, reason: "range")])
        }
        var people: Set = [workspace.member]
        for part in parts {
            guard let one = MemberReference(String(part.drop { $0 == " " })) else { continue }
            people.insert(try someone(one, field: field, in: workspace, for: .talk))
        }
        guard people.count > 2 else {
            throw .unknownUser(name, field: field)
        }
        return workspace.direct(of: people.sorted())
    }

    func publicID(ofChannel document: DocumentID, in workspace: Workspace) -> String {
        workspace.publicID(
            ofChannel: document,
            number: store.operations.document(document, in: workspace.number)?.number)
    }
}
