import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Gives keys of private documents to later devices: to linked ones, and to the one with which a
/// person recovers by the phrase.
final class PrivateHandover: CorePart {
    /// Deliveries for the mailbox of a workspace, as soon as nothing is being taken in.
    var mailDue: [Int64: [MailboxDelivery]] = [:]

    // MARK: Linked devices

    /// Sends a new device of this person the keys to read what this one reads.
    func handOver(to entry: DeviceEntry, in workspace: Workspace) throws(StorageError) {
        guard let box = AgreementPublicKey(untrusted: entry.agreementKey) else { return }
        var deliveries: [MailboxDelivery] = []
        for document in workspace.sealed.documents.values.sorted(by: { $0.id < $1.id })
        where document.isIn(workspace.member) {
            for key in document.keysToHandOver {
                deliveries.append(MailboxDelivery(.key(key, of: document.id), to: box))
            }
            guard document.isLeft(by: workspace.member) else { continue }
            for notice in document.heededNotices.sorted() {
                deliveries.append(
                    MailboxDelivery(.notice(notice.operation, in: document.id), to: box))
            }
        }
        try core.keys.mail(deliveries, in: workspace)
    }

    /// The devices that this one has linked and that are in, with the time of that; and a phrase
    /// that was added by the one before it, which is on no machine that could report it.
    private func linkedHere(in workspace: Workspace) -> [(entry: DeviceEntry, at: UInt64)] {
        guard let home else { return [] }
        return workspace.secrets.index.deviceLists.compactMap { id in
            guard let record = workspace.authority[id],
                case .addDevices(let devices, _, _, let takesPlace) = record.payload,
                takesPlace || record.log.device == home.device, let entry = devices.first,
                workspace.judged.isIn(entry.device, as: workspace.member)
            else { return nil }
            return (entry, record.timestamp.milliseconds)
        }
    }

    /// Passes on a notice whose sender may not have known a device that this one has linked.
    func passOn(
        _ notice: PrivateNotice, of document: DocumentID, writtenAt: UInt64,
        in workspace: Workspace
    ) {
        guard notice.sender != workspace.member else { return }
        for (entry, at) in linkedHere(in: workspace) where writtenAt < at &+ Self.day {
            guard let box = AgreementPublicKey(untrusted: entry.agreementKey) else { continue }
            mailDue[workspace.number, default: []].append(
                MailboxDelivery(.notice(notice.operation, in: document), to: box))
        }
    }

    /// The same of one that came before what it names: not before that is here, for anybody may name what
    /// never comes, as often as they like.
    func passOn(_ notice: PrivateNotice, of document: PrivateDocument, in workspace: Workspace) {
        guard let named = document.records[notice.operation] else { return }
        passOn(
            notice, of: document.id, writtenAt: named.timestamp.milliseconds, in: workspace)
    }

    private static var day: UInt64 { 24 * 3_600 * 1_000 }

    /// Passes on a key from a sender who may not have known a device that this one has linked. An
    /// author who wrote long after the device was added knew of it.
    func passOn(
        _ keys: Set<KeyID>, of document: PrivateDocument, in workspace: Workspace
    ) {
        guard !keys.isEmpty else { return }
        let added = linkedHere(in: workspace)
        guard !added.isEmpty else { return }
        for epoch in document.authority.epochs where keys.contains(epoch.epoch.keyID) {
            guard let record = document.records[epoch.operation],
                record.author != workspace.member, let key = document.keys[epoch.epoch.keyID]
            else { continue }
            for (entry, at) in added {
                guard record.timestamp.milliseconds < at &+ Self.day,
                    let box = AgreementPublicKey(untrusted: entry.agreementKey)
                else { continue }
                mailDue[workspace.number, default: []].append(
                    MailboxDelivery(.key(key, of: document.id), to: box))
            }
        }
    }

    /// Writes what could not be written while something was being taken in.
    func mailWhenDue() throws(StorageError) {
        guard mayWrite, !mailDue.isEmpty else { return }
        let due = mailDue.sorted { $0.key < $1.key }
        mailDue = [:]
        for (number, deliveries) in due {
            guard let workspace = core.workspaces[number], workspace.standing == .member else {
                continue
            }
            try core.keys.mail(deliveries.filter { isStillSaid($0, in: workspace) }, in: workspace)
        }
    }

    /// Whether a notice to pass on has kept its place.
    private func isStillSaid(_ delivery: MailboxDelivery, in workspace: Workspace) -> Bool {
        guard case .notice(let operation, let id) = delivery.message,
            let document = workspace.sealed.documents[id]
        else { return true }
        return document.notices.contains { $0.operation == operation }
    }

    // MARK: Coming back

    /// How long the phrase's box key is kept: boxes for it may come late.
    private static let recoveryBoxMilliseconds: UInt64 = 30 * 24 * 3_600 * 1_000

    private static func recoveryBoxName(_ workspace: Workspace) -> String {
        "recovery.box.\(workspace.number)"
    }

    /// Keeps the phrase's box key, which opens what is in the mailbox and signs nothing.
    func keepRecoveryBox(
        _ box: AgreementKey, of workspace: Workspace
    ) throws(StorageError) {
        guard let home else { return }
        let name = Self.recoveryBoxName(workspace)
        workspace.secrets.recoveryBox = box
        workspace.secrets.mailbox = [:]
        var secret = box.exposedSecret()
        defer { SecretBytes.wipe(&secret) }
        try store.registry.setValue(
            bigEndianBytes(of: time.wall)
                + home.seal(secret, name: Array(name.utf8), using: environment.random), of: name)
    }

    func loadRecoveryBox(of workspace: Workspace) throws(StorageError) {
        let name = Self.recoveryBoxName(workspace)
        guard let home, let value = try store.registry.value(name), value.count > 8 else { return }
        let since = value[..<8].reduce(0) { $0 << 8 | UInt64($1) }
        guard time.wall < since &+ Self.recoveryBoxMilliseconds else {
            try store.begin()
            return try store.registry.setValue(nil, of: name)
        }
        guard var secret = home.open(Array(value[8...]), name: Array(name.utf8)),
            secret.count == AgreementKey.secretByteCount
        else { return }
        defer { SecretBytes.wipe(&secret) }
        workspace.secrets.recoveryBox = AgreementKey(secret: secret)
    }
}

extension PrivateDocument {
    /// The keys that another device of a member needs: where the whole history is shown, the keys
    /// that lead to all others; elsewhere each key by itself, the newest if there are very many.
    var keysToHandOver: [SymmetricKey] {
        let held = keys.names
        guard root?.history == .fromJoin else {
            return authority.keysToHandOn(holding: held).compactMap { keys[$0] }
        }
        return authority.epochs.map(\.epoch.keyID).filter(held.contains)
            .suffix(Limits.olderKeysMax).compactMap { keys[$0] }
    }
}
