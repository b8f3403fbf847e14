import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Writes into private documents. An operation that introduces a key sends it out in the same
/// transaction: after a crash either both exist or neither.
final class PrivateAuthoring: CorePart {
    // MARK: Making

    /// Makes a private document, whose key goes to every device of its people.
    ///
    /// - Returns: its id, or `nil` when this device may not write anything.
    func makePrivate(
        _ root: PrivateRoot, in workspace: Workspace
    ) throws(StorageError) -> DocumentID? {
        let change = PrivateChange(.root(root), seat: nil)
        guard let home, storeIdentity != nil,
            let grant = workspace.writingGrant(
                of: home.device, leastRole: change.leastRole ?? .guest)
        else { return nil }
        try write()
        let timestamp = try core.log.nextTimestamp()
        let key = SymmetricKey(using: environment.random, lifetime: .long)
        let draft = OperationDraft(
            kind: .privateAuthority, document: .zero,
            incarnation: storeIdentity?.incarnation ?? 0, sequence: 0, previous: nil,
            timestamp: timestamp, grant: grant)
        let clear = PrivatePayload.Clear(
            workspace: workspace.id,
            nonce: environment.random.bytes(PrivatePayload.Clear.nonceByteCount))
        let signed = draft.sealedAndSigned(
            change, clear: clear, under: key, with: home.signing,
            using: environment.random)
        let document = DocumentID(sameBytesAs: signed.id)
        try core.privates.takePrivate(key, of: document, in: workspace)
        try core.log.acceptOwn(signed, in: workspace, document: document)
        try core.keys.mail(key, of: document, to: Set(root.seats.map(\.member)), in: workspace)
        return document
    }

    // MARK: Changing

    /// Seals, signs and stores a membership operation under the local member's seat.
    ///
    /// - Parameters:
    ///   - key: the key that the operation introduces, `nil` where it introduces none.
    ///   - isEffective: whether it has the intended effect, evaluated in the state that it would
    ///     create.
    /// - Returns: its id, or `nil` when it would have no effect; then nothing is written.
    func author(
        _ action: PrivateAction, in document: PrivateDocument, of workspace: Workspace,
        introducing key: SymmetricKey? = nil,
        isEffective: (PrivateAuthority) -> Bool = { _ in true }
    ) throws(StorageError) -> OperationID? {
        try core.privates.judgeNow(document.id, in: workspace)
        guard let home, storeIdentity != nil,
            let seat = document.authority.standing(of: workspace.member)?.seat,
            // A person who was a guest in between has an older grant, which does not allow this.
            let grant = workspace.writingGrant(
                of: home.device, leastRole: PrivateChange(action, seat: seat).leastRole ?? .guest),
            let sealing = key ?? sealingKey(of: document, in: workspace)?.key
                ?? document.newestKey
        else { return nil }
        let timestamp = try core.log.nextTimestamp()
        let log = LogName(
            document: document.id, device: home.device,
            incarnation: storeIdentity?.incarnation ?? 0)
        let own = store.operations.branches(of: log, in: workspace.number).last
        let previous = try own.flatMap { (branch) throws(StorageError) in
            try store.operations.nearest(
                ofKind: .privateAuthority, before: branch.tipSequence + 1, in: branch.number)
        }
        let heads = document.authority
            .citations(naming: [workspace.member] + action.named, bringsKey: action.epoch != nil)
            .filter { $0 != previous }.prefix(Limits.authDependenciesMax)
        let draft = OperationDraft(
            kind: .privateAuthority, document: document.id, incarnation: log.incarnation,
            sequence: own.map { $0.tipSequence + 1 } ?? 0, previous: own?.tip.id,
            timestamp: timestamp, grant: grant,
            dependencies: heads.compactMap(document.reference))
        let change = PrivateChange(action, seat: seat)
        let signed = draft.sealedAndSigned(
            change, clear: nil, under: sealing, with: home.signing, using: environment.random)
        // An operation without effect is not written at all, since it would be stored permanently.
        var new: [MemberID] = []
        if case .add(let addition) = action { new = addition.seats.map(\.member) }
        let ends = core.privates.ends(in: document, besides: new, of: workspace)
        let trial = PrivateAuthority(
            of: document.id,
            try core.privates.operations(of: document, ends: ends, in: workspace) + [
                PrivateOperation(
                    id: signed.id, author: workspace.member, previous: previous,
                    dependencies: heads.map { $0 }, keyID: sealing.keyID, change: change,
                    isAllowed: true,
                    knownEnds: ([grant] + core.privates.grants(namedBy: change, ends, in: workspace))
                        .reduce(into: []) {
                            $0.formUnion(core.privates.known(ends, by: $1, in: workspace))
                        })
            ], ends: ends)
        guard trial.isValid(signed.id), isEffective(trial) else { return nil }
        try write()
        if let key { try core.privates.takePrivate(key, of: document.id, in: workspace) }
        try core.log.acceptOwn(signed, in: workspace, document: document.id)
        return signed.id
    }

    // MARK: Content

    /// Seals, signs and stores content of a private document, under a key that no former member
    /// holds: if there is none yet, it is created first.
    ///
    /// - Returns: where it is stored, or `nil` when this device may not write there.
    func authorPrivateContent(
        _ content: ContentPayload, to document: PrivateDocument, in workspace: Workspace,
        overwriting overwritten: [OperationReference] = []
    ) throws(StorageError) -> (id: OperationID, arrival: Int64)? {
        // A removed member must not read anything written after the removal arrived.
        try core.privates.judgeNow(document.id, in: workspace)
        guard let home, document.isIn(workspace.member),
            let grant = workspace.writingGrant(of: home.device, leastRole: .guest)
        else { return nil }
        guard let sealing = try sealingKey(ofChanged: document, in: workspace) else { return nil }
        let introduction = introduction(toCite: sealing.id, in: document)
        let stored = try core.privates.authorContent(
            content, to: document.id, in: workspace, under: sealing, grant: grant,
            with: home.signing, overwriting: overwritten + introduction)
        if stored != nil { document.writtenUnder = sealing.id }
        return stored
    }

    /// The operation that introduced the key, for the first content under it: the verdict on the
    /// content depends on the key being right and known to its author, and an operation that nobody
    /// cites may be removed where its author has forked the log.
    private func introduction(
        toCite key: KeyID, in document: PrivateDocument
    ) -> [OperationReference] {
        guard document.writtenUnder != key,
            let reference = document.authority.introduction(of: key).flatMap(document.reference),
            reference.device != home?.device
                || reference.incarnation != storeIdentity?.incarnation
        else { return [] }
        return [reference]
    }
}
