import CRDTStore
import WorkspaceModel

/// Notices about private documents that are not here yet, or in which their senders are not known
/// yet. A device that was offline gets the mailbox and the documents in any order, and each notice
/// arrives only once.
struct EarlyNotices {
    /// Of one document, with who sent it.
    struct Entry: Hashable {
        let document: DocumentID
        let notice: PrivateNotice
    }

    /// The oldest first.
    private(set) var entries: [Entry] = []
    /// Whether they are others than were stored.
    private(set) var isChanged = false

    /// Takes a notice. Each sender has a quota. A device of this person has a larger one, since it
    /// hands on the notices of all channels that the local member ever had to leave. A sender over
    /// quota loses their oldest notice: a device that is revoked by now may have sent too many.
    /// When the list is full, the sender with the most notices loses the oldest, if that is more
    /// than this notice's sender has.
    ///
    /// - Returns: whether it is new and there is room for it.
    mutating func take(_ entry: Entry, isHandedOn: Bool = false) -> Bool {
        let room = isHandedOn ? Limits.earlyNoticesMax : Limits.earlyNoticesOfOneMax
        guard !entries.contains(entry) else { return false }
        let counts = Dictionary(grouping: entries, by: \.notice.sender).mapValues(\.count)
        let own = counts[entry.notice.sender] ?? 0
        let oldest = entries.firstIndex { $0.notice.sender == entry.notice.sender }
        if own >= room, let oldest {
            entries.remove(at: oldest)
        } else if entries.count >= Limits.earlyNoticesMax {
            let most = counts.values.max() ?? 0
            guard most > own + 1,
                let index = entries.firstIndex(where: { counts[$0.notice.sender] == most })
            else { return false }
            entries.remove(at: index)
        }
        entries.append(entry)
        isChanged = true
        return true
    }

    /// Gives those of a document whose senders were in it, and forgets them.
    mutating func give(
        of document: DocumentID, by people: Set<MemberID>
    ) -> [PrivateNotice] {
        let found = entries.filter {
            $0.document == document && $0.notice.sender.map { people.contains($0) } == true
        }
        guard !found.isEmpty else { return [] }
        entries.removeAll { found.contains($0) }
        isChanged = true
        return found.map(\.notice)
    }

    // MARK: Stored

    private static let byteCount = DocumentID.byteCount + PrivateNotice.byteCount

    /// Entries of 80 bytes: document 32, operation 32, sender 16.
    var bytes: [UInt8] { entries.flatMap { $0.document.bytes + $0.notice.bytes } }

    /// The bytes to store now.
    mutating func takeStoredForm() -> [UInt8] {
        isChanged = false
        return bytes
    }

    /// An empty list.
    init() {}

    init(_ bytes: [UInt8]) {
        for start in stride(from: 0, to: bytes.count, by: Self.byteCount) {
            let part = bytes[start..<min(start + Self.byteCount, bytes.count)]
            guard let document = DocumentID(untrusted: Array(part.prefix(DocumentID.byteCount))),
                let notice = PrivateNotice(Array(part.dropFirst(DocumentID.byteCount)))
            else { continue }
            entries.append(Entry(document: document, notice: notice))
        }
    }
}
