import CRDTStore
import WorkspaceModel

/// Being told that one is out of a private document: the operation that says so is sealed under a
/// key that one does not get, so whoever wrote it also leaves a word in the mailbox.
///
/// Anybody who knows of a document can leave such a word, so it counts for little: where the
/// operation that it names is here, is by the one who sent it and could have put the own member out,
/// and its key is not here. An own device passes it on to those that it links. An owner is put out by
/// nobody, and nobody out of a conversation.
struct PrivateNotice: Hashable, Comparable {
    /// The operation by which the own member is out.
    let operation: OperationID
    /// Who sent it; `nil` where that was not kept.
    let sender: MemberID?

    static func < (left: Self, right: Self) -> Bool {
        left.operation == right.operation
            ? left.sender ?? .zero < right.sender ?? .zero : left.operation < right.operation
    }
}

extension PrivateNotice {
    static let byteCount = OperationID.byteCount + MemberID.byteCount

    var bytes: [UInt8] { operation.bytes + (sender ?? .zero).bytes }

    init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount,
            let operation = OperationID(untrusted: Array(bytes.prefix(OperationID.byteCount))),
            let sender = MemberID(untrusted: Array(bytes.dropFirst(OperationID.byteCount)))
        else { return nil }
        self.init(operation: operation, sender: sender == .zero ? nil : sender)
    }
}

extension PrivateDocument {
    /// Whether the own member was told to be out, by an operation whose key it does not get. Once
    /// that is here, what it opens speaks for itself, and what it does not open means nothing.
    func isLeft(by member: MemberID) -> Bool {
        !heededNotices.isEmpty && isLeft(by: member, as: authority)
    }

    /// The same by other verdicts than those of now.
    func isLeft(by member: MemberID, as authority: PrivateAuthority) -> Bool {
        guard authority.root?.subtype == .channel else { return false }
        return heededNotices.contains { notice in
            guard let record = records[notice.operation], isClosed(record),
                let author = record.author,
                [nil, author, member].contains(notice.sender)
            else { return false }
            return authority.couldRemove(member, by: author)
        }
    }

    /// Whether it is sealed under a key that is not here. A key is known by its name; what was handed on
    /// of an epoch proves nothing.
    private func isClosed(_ record: Record) -> Bool {
        record.change == nil && !keys.holds(record.keyID)
    }

    /// The keys of what notices name that nobody has opened: whoever is in is given some when they ask
    /// for these, and whoever is known to be out is given none.
    var keysOfNotices: Set<KeyID> {
        Set(heededNotices.compactMap { records[$0.operation] }.filter(isClosed).map(\.keyID))
    }

    /// Whether what a notice names has come since it was looked for.
    var awaitsNamed: Bool {
        notices.contains { records[$0.operation] != nil && !soughtNotices.contains($0) }
    }

    /// Takes a notice in. There is room for few, most of all of those who could have put the own member
    /// out, and of one sender for the latest. What can be read by now speaks for itself, and takes none.
    ///
    /// - Returns: whether it is new and has room.
    func take(_ notice: PrivateNotice, to member: MemberID) -> Bool {
        func mayCount(_ notice: PrivateNotice) -> Bool {
            records[notice.operation].map(isClosed) ?? true
        }
        func leads(_ notice: PrivateNotice) -> Bool {
            notice.sender.map { authority.couldRemove(member, by: $0) } ?? true
        }
        guard mayCount(notice), !notices.contains(notice) else { return false }
        notices = notices.filter(mayCount)
        // Of what is not here yet nobody knows how late it was written.
        func age(_ notice: PrivateNotice) -> Int64 { records[notice.operation]?.arrival ?? .max }
        let ofSender = notices.indices.filter { notices[$0].sender == notice.sender }
        if ofSender.count >= Limits.unprovenKeysMax {
            let oldest = ofSender.min { age(notices[$0]) < age(notices[$1]) }
            guard let oldest, age(notice) == .max || age(notices[oldest]) < age(notice) else {
                return false
            }
            notices.remove(at: oldest)
        } else if notices.count >= Limits.privateNoticesMax {
            guard leads(notice), let idle = notices.firstIndex(where: { !leads($0) }) else {
                return false
            }
            notices.remove(at: idle)
        }
        notices.append(notice)
        return true
    }
}
