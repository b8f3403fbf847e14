import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Direct conversations: who is meant by `@Mina`, and one name for what several people may have
/// opened while they were apart.
extension Workspace {
    /// What a direct conversation of these people is called: `c_` and base32 of
    /// H16("wsx-dm1", workspace || members ascending). It names something in the view, never on
    /// the wire.
    func publicID(ofDirect people: [MemberID]) -> String {
        let name: OperationID = Hash.name("wsx-dm1", id.bytes, people.flatMap(\.bytes))
        return "c_" + Base32.encode([UInt8](name.bytes.prefix(16)))
    }

    /// What people see of a document that is a channel, or part of a direct conversation.
    func publicID(ofChannel document: DocumentID, number: Int64?) -> String {
        number.flatMap { channelIndex.channel($0)?.publicID } ?? PublicID.channel(document)
    }

    /// The direct conversation of exactly these people, whether somebody has opened it or not.
    ///
    /// - Parameter people: ascending, with the own member among them.
    func direct(of people: [MemberID]) -> Channel {
        if let known = channelIndex.direct(of: people) { return known }
        let roles = Dictionary(uniqueKeysWithValues: people.map { ($0, Role.member) })
        return Channel(
            id: .zero, publicID: publicID(ofDirect: people), number: 0, createdAt: 0,
            rank: (0, .zero), rule: .closed(Circle(kind: .direct, roles: roles)),
            isDefault: false)
    }

    /// The names of the others, or the own one of who talks to nobody else.
    func name(ofDirect channel: Channel) -> String {
        let others = channel.people.filter { $0 != member }
        return (others.isEmpty ? [member] : others).map(displayName).sorted().joined(
            separator: ", ")
    }
}

extension NodeCore {
    func publicID(ofChannel document: DocumentID, in workspace: Workspace) -> String {
        workspace.publicID(
            ofChannel: document,
            number: store.operations.document(document, in: workspace.number)?.number)
    }
}
