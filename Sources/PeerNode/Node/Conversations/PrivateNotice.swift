import CRDTStore
import WorkspaceModel

/// Tells a member that they are out of a private document. The operation that removed them is
/// sealed under a key that they do not get, so its author also leaves a notice in the mailbox.
///
/// Anyone who knows of a document can leave such a notice, so it counts only where the operation
/// that it names is here, was written by the sender, who could have removed the local member, and
/// its key is not here. A device passes it on to the devices that it links. Nobody can remove an
/// owner, or anyone from a direct conversation.
struct PrivateNotice: Hashable, Comparable {
    /// The operation that removed the local member.
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
    /// Whether notices say that the local member was removed, by an operation whose key they do not
    /// get. Once the key is here, an operation that it opens is judged as usual, and one that it
    /// does not open means nothing.
    func isLeft(by member: MemberID) -> Bool {
        !heededNotices.isEmpty && isLeft(by: member, as: authority)
    }

    /// The same by other verdicts than the current ones.
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

    /// The keys of operations that notices name and that do not open here. A member gets some of
    /// them on request; someone who is known to be out gets none.
    var keysOfNotices: Set<KeyID> {
        Set(heededNotices.compactMap { records[$0.operation] }.filter(isClosed).map(\.keyID))
    }

    /// Whether an operation that a notice names has arrived since it was last looked for.
    var awaitsNamed: Bool {
        notices.contains { records[$0.operation] != nil && !soughtNotices.contains($0) }
    }

    /// Takes a notice. There is room for few: first for senders who could have removed the local
    /// member, and for the latest notice of each sender. An operation that can be read by now is
    /// judged as usual and needs no notice.
    ///
    /// - Returns: whether it is new and there is room for it.
    func take(_ notice: PrivateNotice, to member: MemberID) -> Bool {
        func mayCount(_ notice: PrivateNotice) -> Bool {
            records[notice.operation].map(isClosed) ?? true
        }
        func leads(_ notice: PrivateNotice) -> Bool {
            notice.sender.map { authority.couldRemove(member, by: $0) } ?? true
        }
        guard mayCount(notice), !notices.contains(notice) else { return false }
        notices = notices.filter(mayCount)
        // The age of an operation that is not here yet is unknown.
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
