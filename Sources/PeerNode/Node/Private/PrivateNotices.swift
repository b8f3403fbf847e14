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

extension PrivateDocuments {
    /// Finds out which notices name something that the workspace lets stand.
    func heedNotices(
        of document: PrivateDocument, in workspace: Workspace
    ) throws(StorageError) {
        document.heededNotices = []
        document.soughtNotices = []
        for notice in document.notices {
            guard let record = document.records[notice.operation] else { continue }
            document.soughtNotices.insert(notice)
            let stands = try core.membership.standsUnwidened(
                record.sequence, on: record.branch, under: record.grant, in: workspace)
            if stands { document.heededNotices.insert(notice) }
        }
    }

    private static func name(_ document: Int64) -> String { "private.notices.\(document)" }

    /// - Returns: the document, when this is news from somebody who was in it.
    func takeNotice(
        _ operation: OperationID, of id: DocumentID, _ header: OperationHeader,
        in workspace: Workspace
    ) throws(StorageError) -> DocumentID? {
        guard let author = workspace.evaluator.subject(ofGrant: header.grant) else { return nil }
        let notice = PrivateNotice(operation: operation, sender: author)
        guard let document = try privateDocument(id, in: workspace),
            document.everIn.contains(author)
        else {
            try keepEarly(notice, of: id, in: workspace)
            return nil
        }
        guard document.take(notice, to: workspace.member) else { return nil }
        try store(noticesOf: document)
        for link in network.ordered { try overruleNotices(of: id, by: link, in: workspace) }
        guard document.records[operation] != nil else { return nil }
        passOn(notice, of: id, writtenAt: header.timestamp.milliseconds, in: workspace)
        judgeLater(
            id, isAnew: true, in: workspace, from: .released(source: 0, isBackfill: false))
        return nil
    }

    /// Somebody who leads has given this device a key, and had what notices of weaker ones name when asked
    /// for it: whoever is known to be out is given none. So no admin has others out at their own node alone,
    /// by an operation that opens for nobody.
    func overruleNotices(
        of id: DocumentID, by link: PeerLink, in workspace: Workspace
    ) throws(StorageError) {
        guard let arrival = link.answeredThrough[id], let giver = link.peer?.device,
            let document = workspace.sealed.documents[id], !document.notices.isEmpty
        else { return }
        let people = workspace.evaluator.members(of: giver)
            .filter { document.isIn($0) }
        guard !people.contains(workspace.member) else { return }
        let overruled = document.notices.filter { notice in
            guard let record = document.records[notice.operation], record.change == nil,
                record.arrival <= arrival, let author = record.author
            else { return false }
            return people.contains { document.authority.outranks($0, author) }
        }
        guard !overruled.isEmpty else { return }
        document.notices.removeAll(where: overruled.contains)
        try store(noticesOf: document)
        judgeLater(
            id, isAnew: true, in: workspace, from: .released(source: 0, isBackfill: false))
    }

    func store(noticesOf document: PrivateDocument) throws(StorageError) {
        try write()
        try store.registry.setValue(
            document.notices.flatMap(\.bytes), of: Self.name(document.number))
    }

    func loadNotices(of document: PrivateDocument) throws(StorageError) {
        let bytes = try store.registry.value(Self.name(document.number)) ?? []
        for start in stride(from: 0, to: bytes.count, by: PrivateNotice.byteCount) {
            let part = Array(bytes[start..<min(start + PrivateNotice.byteCount, bytes.count)])
            PrivateNotice(part).map { document.notices.append($0) }
        }
        // Earlier versions did not keep who had sent one.
        let former = try store.registry.value("private.out.\(document.number)") ?? []
        for start in stride(from: 0, to: former.count, by: OperationID.byteCount) {
            let part = Array(former[start..<min(start + OperationID.byteCount, former.count)])
            OperationID(untrusted: part).map {
                document.notices.append(.init(operation: $0, sender: nil))
            }
        }
    }
}
