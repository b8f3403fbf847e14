import CRDTStore
import WorkspaceModel

/// Keys under which somebody wrote and that are not held here, by who wrote: of each member the
/// latest few, so that nobody's made-up names push out what others wrote under.
///
/// A key is missing where two admins changed it without knowing of each other, or one did who was
/// out already elsewhere: what others have sealed under it meanwhile was meant for everybody.
struct LackedKeys: Equatable {
    /// Where something is sealed under a key.
    struct Stretch: Hashable {
        let key: KeyID
        let document: DocumentID
        let device: DeviceID
    }

    private(set) var stretches: [MemberID: [Stretch]] = [:]
    /// Whether they are otherwise than they were stored last.
    private(set) var isChanged = false

    var isEmpty: Bool { stretches.isEmpty }

    /// The names of the keys that something in these documents is sealed under.
    func names(in isWanted: (DocumentID) -> Bool) -> Set<KeyID> {
        Set(stretches.values.joined().filter { isWanted($0.document) }.map(\.key))
    }

    /// Notes that a member wrote under a key that is not held.
    mutating func note(_ stretch: Stretch, by member: MemberID) {
        let known = stretches[member] ?? []
        guard !known.contains(stretch) else { return }
        let isFull = known.count >= Limits.lackedKeysPerMemberMax
        stretches[member] = (isFull ? Array(known.dropFirst()) : known) + [stretch]
        isChanged = true
    }

    /// Takes out what a key opens.
    mutating func take(_ key: KeyID) -> [Stretch] {
        var taken: [Stretch] = []
        for (member, known) in stretches where known.contains(where: { $0.key == key }) {
            taken += known.filter { $0.key == key }
            let left = known.filter { $0.key != key }
            stretches[member] = left.isEmpty ? nil : left
            isChanged = true
        }
        return taken.sorted { ($0.document, $0.device) < ($1.document, $1.device) }
    }

    /// As they are stored: member, key, document and device of each, in the order of the members.
    mutating func takeStoredForm() -> [UInt8] {
        isChanged = false
        return stretches.sorted { $0.key < $1.key }.flatMap { member, known in
            known.flatMap { member.bytes + $0.key.bytes + $0.document.bytes + $0.device.bytes }
        }
    }

    private static let rowByteCount =
        MemberID.byteCount + KeyID.byteCount + DocumentID.byteCount + DeviceID.byteCount

    /// None.
    init() {}

    /// What was stored; as much of it as makes sense.
    init(stored bytes: [UInt8]) {
        for start in stride(from: 0, to: bytes.count, by: Self.rowByteCount) {
            var rest = bytes[start...].prefix(Self.rowByteCount)
            func next(_ count: Int) -> [UInt8] {
                defer { rest = rest.dropFirst(count) }
                return Array(rest.prefix(count))
            }
            guard let member = MemberID(untrusted: next(MemberID.byteCount)),
                let key = KeyID(untrusted: next(KeyID.byteCount)),
                let document = DocumentID(untrusted: next(DocumentID.byteCount)),
                let device = DeviceID(untrusted: next(DeviceID.byteCount))
            else { return }
            stretches[member, default: []].append(
                .init(key: key, document: document, device: device))
        }
    }
}

extension KeySchedule {
    private static func lackedName(_ workspace: Workspace) -> String {
        "keys.lacked.\(workspace.number)"
    }

    /// Takes up what was missing when the node ran last.
    func loadLackedKeys(of workspace: Workspace) throws(StorageError) {
        guard let bytes = try store.registry.value(Self.lackedName(workspace)) else { return }
        workspace.secrets.lacked = LackedKeys(stored: bytes)
    }

    /// Writes what is missing now, where that is something else than before.
    func storeLackedKeys() throws(StorageError) {
        guard mayWrite, home != nil else { return }
        for workspace in workspaces.values.sorted(by: { $0.number < $1.number })
        where workspace.secrets.lacked.isChanged {
            try write()
            let bytes = workspace.secrets.lacked.takeStoredForm()
            try store.registry.setValue(
                bytes.isEmpty ? nil : bytes, of: Self.lackedName(workspace))
        }
    }

    /// Notes content that does not open because its key is not here.
    func noteLacked(_ header: OperationHeader, _ key: KeyID, in workspace: Workspace) {
        // A guest opens nothing public, and lacks nothing of it.
        guard home != nil,
            let kind = store.operations.document(header.document, in: workspace.number)?.kind,
            // Where a document shows only what came after the own coming in, older keys are no loss.
            kind == .privateDocument
                ? workspace.sealed.documents[header.document]?.root?.history == .all
                : (kind == .channel || kind == .profile) && !workspace.keys.isEmpty,
            let member = workspace.evaluator.subject(ofGrant: header.grant),
            header.device != turn.session.ownDevice
        else { return }
        workspace.secrets.lacked.note(
            .init(key: key, document: header.document, device: header.device), by: member)
    }
}
