import CRDTStore
import WorkspaceModel

/// Keys that authors have used and that are not held here, by author: the latest few of each
/// member, so that invented key names do not evict those of other authors.
///
/// A key is missing when two admins changed it concurrently, or when one changed it who had already
/// been removed elsewhere: what others have sealed under it meanwhile was meant for everybody.
struct LackedKeys: Equatable {
    /// Where something is sealed under a key.
    struct SealedRange: Hashable {
        let key: KeyID
        let document: DocumentID
        let device: DeviceID
    }

    private(set) var ranges: [MemberID: [SealedRange]] = [:]
    /// Whether they are otherwise than they were stored last.
    private(set) var isChanged = false

    var isEmpty: Bool { ranges.isEmpty }

    /// The names of the keys that something in these documents is sealed under.
    func names(in isWanted: (DocumentID) -> Bool) -> Set<KeyID> {
        Set(ranges.values.joined().filter { isWanted($0.document) }.map(\.key))
    }

    /// Notes that a member wrote under a key that is not held.
    mutating func note(_ range: SealedRange, by member: MemberID) {
        let known = ranges[member] ?? []
        guard !known.contains(range) else { return }
        let isFull = known.count >= Limits.lackedKeysPerMemberMax
        ranges[member] = (isFull ? Array(known.dropFirst()) : known) + [range]
        isChanged = true
    }

    /// Takes out what a key opens.
    mutating func take(_ key: KeyID) -> [SealedRange] {
        var taken: [SealedRange] = []
        for (member, known) in ranges where known.contains(where: { $0.key == key }) {
            taken += known.filter { $0.key == key }
            let left = known.filter { $0.key != key }
            ranges[member] = left.isEmpty ? nil : left
            isChanged = true
        }
        return taken.sorted { ($0.document, $0.device) < ($1.document, $1.device) }
    }

    /// As they are stored: member, key, document and device of each, in the order of the members.
    mutating func takeStoredForm() -> [UInt8] {
        isChanged = false
        return ranges.sorted { $0.key < $1.key }.flatMap { member, known in
            known.flatMap { member.bytes + $0.key.bytes + $0.document.bytes + $0.device.bytes }
        }
    }

    private static let rowByteCount =
        MemberID.byteCount + KeyID.byteCount + DocumentID.byteCount + DeviceID.byteCount

    /// None.
    init() {}

    /// Decodes what was stored, as far as it is well-formed.
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
            ranges[member, default: []].append(
                .init(key: key, document: document, device: device))
        }
    }
}
