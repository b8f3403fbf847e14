import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// Asks peers for keys of private documents, and answers: for keys that were missed because two
/// members wrote without knowing each other's devices.
final class PrivateAsking: CorePart {
    // MARK: Asking

    /// Asks a peer whose copy is known to equal this one for what still does not open.
    func askForKeys(of workspace: Workspace, on link: PeerLink, _ sync: WorkspaceLink) {
        guard sync.standing == .full, let peer = link.peer?.device, mayWrite else { return }
        let others = workspace.judged.members(of: peer)
        let view = CoreReplica(for: self, workspace: workspace, peer: peer)
        // If a document must not be shown to the peer, neither must its existence.
        guard sync.session.scope != nil || !view.isPeerGuest else { return }
        core.keys.askForGroupKeys(of: workspace, on: link, sync)
        let scope = view.confined(to: sync.session.scope)
        for (document, keys) in missingKeys(of: workspace, from: others)
        where scope.serves(document) {
            // A request without a result on this link is repeated on the next.
            guard link.keys.wanted[document] != keys else { continue }
            guard link.keys.askedKeys < Limits.keysAskedPerLinkMax else { return }
            link.keys.wanted[document] = keys
            link.keys.askedThrough[document] = store.operations.arrival
            link.keys.askedKeys += max(keys.count, 1)
            link.session.send(
                .keyWant(KeyWant(workspace: sync.number, document: document, keys: keys)),
                in: .control, isUnasked: false)
        }
    }

    /// Keys that are missing here and that one of `others`, who share a device, may have. A new
    /// device also asks about documents that it knows nothing of, since they may include it; any
    /// other device asks members and authors there. Known documents come first.
    private func missingKeys(
        of workspace: Workspace, from others: [MemberID]
    ) -> [(DocumentID, [KeyID])] {
        var missing: [(DocumentID, [KeyID])] = []
        var unknown: [(DocumentID, [KeyID])] = []
        let devices = Set(
            workspace.members.filter { others.contains($0.member) }.flatMap(\.devices))
        for id in store.operations.privateDocuments(ofWorkspace: workspace.number) {
            guard let document = workspace.sealed.documents[id] else {
                if (try? core.privates.erasing.isErased(private: id)) != false { continue }
                if isNewHere(workspace) || others.contains(workspace.member)
                    || store.operations.hasLog(of: devices, in: id, of: workspace.number)
                {
                    unknown.append((id, []))
                }
                continue
            }
            guard document.root != nil else {
                missing.append((id, []))
                continue
            }
            guard others.contains(where: document.isIn) else { continue }
            var wanted = document.lackedKeys(for: workspace.member)
            if document.root?.history == .all {
                wanted.formUnion(workspace.secrets.lacked.names { $0 == id })
            }
            guard !wanted.isEmpty else { continue }
            missing.append((id, Array(wanted.sorted().prefix(SyncMessage.wantedKeysMax))))
        }
        return missing + unknown
    }

    /// Whether this device joined less than 30 days ago.
    private func isNewHere(_ workspace: Workspace) -> Bool {
        let month: UInt64 = 30 * 24 * 3_600 * 1_000
        return time.wall < workspace.seat.joined &+ month
    }

    // MARK: Answering

    /// Among members who share a device, the one who has a seat.
    private func reader(_ members: [MemberID], of document: PrivateDocument) -> MemberID? {
        members.first(where: document.isIn) ?? members.first
    }

    func keysWanted(
        _ want: KeyWant, in workspace: Workspace, on link: PeerLink
    ) throws(StorageError) {
        if want.document == workspace.id {
            return try core.keys.groupKeysWanted(want, in: workspace, on: link)
        }
        // While something waits to be judged nobody can say who may be given what.
        guard try !core.privates.awaitsJudging(want.document, in: workspace) else { return }
        guard let home, let sync = link.syncs[workspace.number], sync.standing == .full,
            let device = link.peer?.device,
            let document = workspace.sealed.documents[want.document],
            let other = reader(workspace.judged.members(of: device), of: document),
            document.isIn(other),
            let box = workspace.boxKeys(of: [other]).first(where: { $0.device == device })
        else { return }
        guard !core.keys.withholds(keysOf: document, from: other, on: device, in: workspace) else {
            link.keys.withheld[document.id] = want
            return
        }
        let allowed = document.authority.keys(for: other)
        // Where members see the whole history, they also see what is under a key that no valid
        // operation introduces.
        let isOpen = document.root?.history == .all
        let mayGive = { (name: KeyID) in
            allowed.contains(name) || isOpen && document.keys.holds(name)
                || document.authority.mayGive(name, to: other)
        }
        var given = want.keys.filter(mayGive)
        if given.isEmpty {
            let leading = document.authority.keysToHandOn(holding: document.keys.names)
            given =
                document.root?.history == .fromJoin
                ? Array(allowed.suffix(SyncMessage.wantedKeysMax))
                : (leading + [document.records[document.rootID]?.keyID].compactMap { $0 })
                    .filter(allowed.contains)
        }
        for name in given {
            guard let key = document.keys[name] else { continue }
            give(key, of: document.id, to: box.agreementKey, on: link, sync, from: home)
        }
    }

    /// Sends a key that was asked for in a box, as long as there is room for more on the link.
    func give(
        _ key: SymmetricKey, of document: DocumentID, to box: AgreementPublicKey,
        on link: PeerLink, _ sync: WorkspaceLink, from home: HomeIdentity
    ) {
        guard link.keys.givenKeys < Limits.keysAskedPerLinkMax else { return }
        link.keys.givenKeys += 1
        let place = MailboxPlace(
            mailbox: document, sender: home.device, incarnation: 0, sequence: 0)
        let payload = MailboxPayload.sealing(
            [MailboxDelivery(.key(key, of: document), to: box)], from: home.box, at: place,
            using: environment.random)
        link.session.send(
            .keyHave(
                KeyHave(workspace: sync.number, document: document, payload: payload.encoded)),
            in: .control, isUnasked: false)
    }

    /// Takes a key that was asked for on this link, where an operation of the document names it.
    /// Everything else is passed over: what nobody asked for would fill the store, and what
    /// nothing names opens nothing.
    func keyGiven(
        _ have: KeyHave, in workspace: Workspace, on link: PeerLink
    ) throws(StorageError) {
        guard link.keys.refusedKeys < Limits.unprovenKeysMax else { return }
        let isOfUse =
            have.document == workspace.id
            ? try core.keys.takeGivenGroupKey(have, in: workspace, on: link)
            : try takeGiven(have, in: workspace, on: link)
        guard isOfUse else {
            link.keys.refusedKeys += 1
            let from = link.peer.map { PublicID.device($0.device) } ?? "?"
            return turn.emit(.log(.info, "key.refused device=\(from)"))
        }
    }

    /// - Returns: whether it was of any use.
    private func takeGiven(
        _ have: KeyHave, in workspace: Workspace, on link: PeerLink
    ) throws(StorageError) -> Bool {
        guard let device = link.peer?.device, mayWrite, link.keys.wanted[have.document] != nil,
            let row = store.operations.privateDocument(have.document, in: workspace.number),
            let payload = try? MailboxPayload(decoding: have.payload)
        else { return false }
        let place = MailboxPlace(
            mailbox: have.document, sender: device, incarnation: 0, sequence: 0)
        for secret in core.keys.mailboxSecrets(with: device, in: workspace) {
            guard case .key(let key, have.document)? = secret.open(payload, at: place),
                try isNamed(key.keyID, in: row, workspace)
            else { continue }
            if try core.privates.takePrivate(key, of: have.document, in: workspace) {
                core.privates.judgeLater(
                    have.document, in: workspace, from: .released(source: 0, isBackfill: false))
            }
            link.keys.answeredThrough[have.document] = link.keys.askedThrough[have.document]
            try core.privates.notices.overruleNotices(of: have.document, by: link, in: workspace)
            return true
        }
        return false
    }

    /// Whether a stored membership operation is sealed under the key, or something else that its
    /// author may have meant for everybody.
    private func isNamed(
        _ name: KeyID, in row: OperationStore.DocumentRow, _ workspace: Workspace
    ) throws(StorageError) -> Bool {
        if let document = workspace.sealed.documents[row.id] {
            return document.membership.names(key: name)
                || workspace.secrets.lacked.names { $0 == row.id }.contains(name)
        }
        for arrival in try store.operations.arrivals(ofKind: .privateAuthority, in: row.number)
        where try store.operations.operation(arrival)?.entry.keyID == name {
            return true
        }
        return false
    }
}

extension PrivateDocument {
    /// The names of the keys that are missing to open what `member` may read: those of membership
    /// operations, and those that members may be given. Content by someone who was never admitted,
    /// as far as is known, may name any key and is ignored.
    func lackedKeys(for member: MemberID) -> Set<KeyID> {
        let people = closed.isEmpty ? [] : everIn
        let written = closed.compactMap { records[$0] }
            .filter { $0.author.map(people.contains) ?? false }
        var lacked = Set(written.map(\.keyID).filter { !authorityKeys.holds($0) })
        lacked.formUnion(keysOfNotices)
        lacked.formUnion(missingKeys(of: member))
        return lacked
    }
}

/// Reports missing keys to people.
extension PrivateAsking {
    /// A message for people about each visible private document that lacks keys.
    private var lacks: [String] {
        workspaces.values.sorted { $0.number < $1.number }.flatMap { workspace in
            workspace.sealed.documents.values.sorted { $0.id < $1.id }.compactMap { document in
                let count = document.lackedKeys(for: workspace.member).count
                guard count > 0, !document.isLeft(by: workspace.member),
                    let channel = workspace.channel(of: document),
                    channel.includes(workspace.member)
                else { return nil }
                let keys = count == 1 ? "1 key is" : "\(count) keys are"
                let index = workspace.channelIndex
                let name = NodeError.quoted(
                    index.place(of: channel.publicID).map { index.names[$0] } ?? "")
                return "\(name): \(keys) missing, so what was written since cannot be read here; "
                    + "asking its members for it"
            }
        }
    }

    /// A message for people about each workspace in which this device was sent a key of a private
    /// document that does not open what others wrote there. Without any key, a document may not be
    /// meant for this person.
    private var unopened: [String] {
        workspaces.values.sorted { $0.number < $1.number }.compactMap { workspace in
            let count = workspace.sealed.documents.values.count { document in
                document.root == nil
                    && store.operations.holdsOperations(ofDocument: document.number)
            }
            guard count > 0, workspace.standing == .member else { return nil }
            let what =
                count == 1 ? "1 private conversation" : "\(count) private conversations"
            return "\(NodeError.quoted(workspace.displayName)): \(what) cannot be read here, "
                + "though you were sent a key; asking those who write there for the right one"
        }
    }

    private static let lackHint =
        "stay connected to a member; if nobody sends it, you may have been removed"

    /// One warning for all of them.
    func keyWarnings() -> [StatusObject.Warning] {
        (lacks + unopened).prefix(1).map {
            .init(kind: .keysMissing, message: $0, hint: "wsx-node doctor")
        }
    }

    /// One finding for each.
    func keyFindings() -> [FindingObject] {
        (lacks + unopened).map {
            .init(id: "keys", state: "warn", message: $0, hint: Self.lackHint)
        }
    }
}
