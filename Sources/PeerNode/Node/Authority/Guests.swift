import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Guests: members who are only in private documents (PROTOCOL.md, 4.5).
extension Workspace {
    /// Names that private documents tell a guest, who can decrypt no name of the workspace.
    struct ToldNames {
        var workspace: String?
        var people: [MemberID: String] = [:]
    }

    /// How a guest's invite names a private document: H("wsx-guest1", invite key || document).
    ///
    /// Not in plain text: the name of a document is enough to ask for its operations, and every
    /// other guest reads the authority document too.
    static func name(of document: DocumentID, inInvite publicKey: [UInt8]) -> OperationID {
        Hash.name("wsx-guest1", publicKey, document.bytes)
    }

    /// Whether a guest's invite names a private document. Each call computes a hash.
    func names(_ document: DocumentID, in invite: AuthorityPayload.Invite) -> Bool {
        sealed.hashedNames &+= 1
        return invite.documents.contains(Self.name(of: document, inInvite: invite.publicKey))
    }

    /// The private documents known to this node that a guest's invite names. Ascending.
    func documents(of invite: AuthorityPayload.Invite) -> [PrivateDocument] {
        sealed.documents.values.filter { names($0.id, in: invite) }.sorted { $0.id < $1.id }
    }

    /// The newest names that valid additions state (PROTOCOL.md, 4.5, G-7).
    var told: ToldNames {
        if let known = judged.derived.told { return known }
        var told = ToldNames()
        var words: [(at: UInt64, id: OperationID, addition: PrivateAddition)] = []
        for document in sealed.documents.values {
            for (id, record) in document.records {
                guard case .add(let addition)? = record.change?.action,
                    addition.workspaceName != nil || addition.displayNames != nil,
                    document.authority.isValid(id)
                else { continue }
                words.append((record.timestamp.rawValue, id, addition))
            }
        }
        for word in words.sorted(by: { ($0.at, $0.id) < ($1.at, $1.id) }) {
            if let name = word.addition.workspaceName, (try? CheckedName.checkWire(name)) != nil {
                told.workspace = name
            }
            for entry in word.addition.displayNames ?? []
            where (try? CheckedName.checkWire(entry.name)) != nil {
                told.people[entry.member] = entry.name
            }
        }
        judged.derived.told = told
        return told
    }

    /// The people who share a private document with a member, including that member.
    func visiblePeople(of person: MemberID) -> Set<MemberID> {
        if let known = judged.derived.visiblePeople[person] { return known }
        var visiblePeople: Set<MemberID> = [person]
        for document in sealed.documents.values
        where document.isIn(person) {
            visiblePeople.formUnion(document.people)
        }
        judged.derived.visiblePeople[person] = visiblePeople
        return visiblePeople
    }

    /// Those of `members` whom this person may see: a guest sees only members of shared documents.
    var visibleMembers: [MemberStanding] {
        guard ownRole == .guest else { return members }
        let visiblePeople = visiblePeople(of: member)
        return members.filter { visiblePeople.contains($0.member) }
    }

    /// Whether this device holds the keys that its member needs: the group key, or for a guest the
    /// discovery secret.
    var isKeyed: Bool {
        ownRole == .guest ? !discovery.isEmpty : currentKey != nil
    }

    /// The name of the newest epoch key, held or not.
    var newestKeyName: KeyID? {
        let valid = authorityOrder.filter { judged.evaluator.isValid($0) }
        return valid.compactMap { id in
            authority[id]?.payload.newKey.map { (judged.evaluator.lamport(of: id) ?? 0, id, $0) }
        }.max { ($0.0, $0.1) < ($1.0, $1.1) }?.2
    }
}
