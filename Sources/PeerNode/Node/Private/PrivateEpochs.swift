import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// The keys of private documents: which one seals, when a new one is due, and who gets it.
extension PrivateAuthoring {
    /// The key that seals now: introduced with every known end of a membership, of the document and
    /// of the workspace. `nil` when a new one is due, or it is not held.
    ///
    /// A key made by this side is also due when nobody knows who was given those of others.
    func sealingKey(
        of document: PrivateDocument, in workspace: Workspace
    ) -> (id: KeyID, key: SymmetricKey)? {
        workspace.sealingKey(of: document.id) {
            let ends = endsToAnswer(in: document, of: workspace)
            guard !core.keys.owesKey(of: document, in: workspace),
                let epoch = document.authority.sealingEpoch(answering: ends)?.epoch,
                let key = document.keys[epoch.keyID]
            else { return nil }
            return (epoch.keyID, key)
        }
    }

    /// The same, created first if a new one is due.
    ///
    /// One operation answers, and cites, only so much. Where members have made more of both than that,
    /// several follow each other.
    func sealingKey(
        ofChanged document: PrivateDocument, in workspace: Workspace
    ) throws(StorageError) -> (id: KeyID, key: SymmetricKey)? {
        for _ in 0..<Limits.privateKeyChangesMax {
            if let sealing = sealingKey(of: document, in: workspace) { return sealing }
            guard try changeKey(of: document, in: workspace) != nil else { return nil }
        }
        return sealingKey(of: document, in: workspace)
    }

    /// The valid removals and departures of the workspace that concern somebody, or a device of
    /// somebody, who was ever in the document, or comes into it now.
    func endsToAnswer(
        in document: PrivateDocument, besides new: [MemberID] = [], of workspace: Workspace
    ) -> Set<OperationID> {
        var ends: Set<OperationID> = []
        let people = document.everIn.union(new)
        for id in workspace.judged.membershipEnds {
            guard let record = workspace.authority[id] else { continue }
            let concerned: [MemberID]
            switch record.payload {
            case .remove(let remove): concerned = [remove.member]
            case .removeDevice(let device, _, _):
                concerned = workspace.judged.members(everUsing: device)
            default:
                concerned = [workspace.judged.author(of: id)].compactMap { $0 }
            }
            if concerned.contains(where: people.contains) { ends.insert(id) }
        }
        // A person who joined by an invite that was revoked since is not a member, but holds the
        // keys.
        if document.namesStrangers { ends.formUnion(workspace.revokedInvites) }
        return ends
    }

    /// A new key for the remaining members, with the older keys that it hands on.
    ///
    /// - Parameter new: the members that are added with it. Their seats hold because the epoch
    ///   answers the ends of their former memberships.
    func newEpoch(
        of document: PrivateDocument, for new: [MemberID] = [], in workspace: Workspace
    ) -> (key: SymmetricKey, epoch: PrivateEpoch) {
        let key = SymmetricKey(using: environment.random, lifetime: .long)
        let isFromJoin = document.root?.history == .fromJoin
        let held = isFromJoin ? Set(document.authorityKeys.names) : document.keys.names
        var older: [OlderPrivateKey] = []
        for name in document.authority.keysToHandOn(holding: held) {
            if let whole = document.keys[name] {
                older.append(
                    .sealing(
                        whole, form: isFromJoin ? .authority : .whole, under: key,
                        using: environment.random))
            } else if let subkey = document.authorityKeys.first(of: name) {
                older.append(
                    .sealing(subkey, of: name, under: key, using: environment.random))
            }
        }
        let ends = endsToAnswer(in: document, besides: new, of: workspace)
        // Theirs first: of very many the rest is answered by the next key. By which grants they are in
        // shows that their ends are known, as their seats need it.
        let returned = new.filter { workspace.memberEnds[$0]?.isEmpty == false }
        let grants = Set(
            returned.compactMap { member in
                workspace.members.first { $0.member == member }?.grant
            })
        let theirs = Set(new.flatMap { workspace.memberEnds[$0] ?? [] }).intersection(ends)
            .subtracting(document.answered)
        let answers =
            grants.sorted() + theirs.sorted()
            + ends.subtracting(document.answered).subtracting(theirs).sorted()
        return (
            key,
            PrivateEpoch(
                keyID: key.keyID, older: older,
                answers: answers.prefix(Limits.privateAnswersMax).sorted())
        )
    }

    /// Writes an operation that does nothing but change the key.
    ///
    /// - Returns: its id, or `nil` when this device may not; then nothing is written.
    @discardableResult
    func changeKey(
        of document: PrivateDocument, in workspace: Workspace
    ) throws(StorageError) -> OperationID? {
        let (key, epoch) = newEpoch(of: document, in: workspace)
        guard
            let id = try author(
                .rekey(epoch), in: document, of: workspace, introducing: key)
        else { return nil }
        try core.keys.mail(key, of: document.id, to: document.people, in: workspace)
        return id
    }
}

extension PrivateDocument {
    /// The ends that valid keys answer already: each key has them in its past.
    var answered: Set<OperationID> {
        let authority = authority
        let heads = Set(authority.heads)
        return Set(
            authority.epochs.filter { epoch in
                heads.contains {
                    $0 == epoch.operation || authority.isAncestor(epoch.operation, of: $0)
                }
            }.flatMap(\.answers))
    }

    /// The newest key that is held, whether or not it should still seal.
    var newestKey: SymmetricKey? {
        authority.epochs.last { keys.holds($0.epoch.keyID) }.flatMap { keys[$0.epoch.keyID] }
    }
}
