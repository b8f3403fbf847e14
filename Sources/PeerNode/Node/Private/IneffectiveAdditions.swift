import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Notifies people who were named in an addition that does not count because its author was
/// removed.
///
/// They hold that author's key and see what precedes the removal, which stays sealed for them:
/// nothing else would show them that they are not in (PROTOCOL.md, 4.4).
struct IneffectiveAdditions {
    /// Who was told, and by which removal.
    struct Entry: Hashable {
        let member: MemberID
        let removal: OperationID
    }

    private(set) var told: Set<Entry>

    /// Takes up who is named now.
    ///
    /// - Returns: who was not told so far, ascending, as far as there is room.
    mutating func take(_ named: [MemberID: Set<OperationID>]) -> [Entry] {
        let new = named.flatMap { member, removals in
            removals.map { Entry(member: member, removal: $0) }
        }.filter { !told.contains($0) }
            .sorted { ($0.member, $0.removal) < ($1.member, $1.removal) }
            .prefix(max(0, Limits.ineffectiveAdditionsToldMax - told.count))
        told.formUnion(new)
        return Array(new)
    }

    // MARK: Stored

    private static let byteCount = MemberID.byteCount + OperationID.byteCount

    /// Entries of 48 bytes: member 16, operation 32.
    var bytes: [UInt8] {
        told.sorted { ($0.member, $0.removal) < ($1.member, $1.removal) }
            .flatMap { $0.member.bytes + $0.removal.bytes }
    }

    init(_ bytes: [UInt8]) {
        told = []
        for start in stride(from: 0, to: bytes.count, by: Self.byteCount) {
            let part = bytes[start..<min(start + Self.byteCount, bytes.count)]
            guard let member = MemberID(untrusted: Array(part.prefix(MemberID.byteCount))),
                let removal = OperationID(untrusted: Array(part.dropFirst(MemberID.byteCount)))
            else { continue }
            told.insert(Entry(member: member, removal: removal))
        }
    }
}

extension PrivateAuthoring {
    /// Leaves a notice for everyone who was named in an addition by someone that the local member
    /// had removed.
    func tellThoseNamedWithoutEffect(
        in document: PrivateDocument, of workspace: Workspace
    ) throws(StorageError) {
        guard home != nil, document.root?.subtype == .channel,
            document.isIn(workspace.member)
        else { return }
        let others = Set(workspace.members.map(\.member)).subtracting([workspace.member])
        let named = document.authority.namedWithoutEffect(
            byThoseRemovedBy: workspace.member, among: others)
        guard !named.isEmpty else { return }
        let name = "private.vain.\(document.number)"
        var additions = IneffectiveAdditions(try store.registry.value(name) ?? [])
        let new = additions.take(named)
        guard !new.isEmpty else { return }
        try write()
        try store.registry.setValue(additions.bytes, of: name)
        for entry in new {
            try core.keys.mail(
                removalNotices(entry.removal, in: document.id, to: entry.member, workspace),
                in: workspace)
        }
    }

    /// A notice for each device of a member but this one.
    func removalNotices(
        _ removal: OperationID, in document: DocumentID, to member: MemberID, _ workspace: Workspace
    ) -> [MailboxDelivery] {
        workspace.boxKeys(of: [member]).filter { $0.device != home?.device }.map {
            MailboxDelivery(.notice(removal, in: document), to: $0.agreementKey)
        }
    }
}
