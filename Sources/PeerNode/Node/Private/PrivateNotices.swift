import CRDTStore
import WorkspaceModel

/// Mailbox notices that the local member was removed from a private document: which of them count,
/// and what is stored of them.
final class PrivateNotices: CorePart {
    /// Finds the notices whose named operation is valid in the workspace.
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
        guard let author = workspace.judged.subject(ofGrant: header.grant) else {
            return nil
        }
        let notice = PrivateNotice(operation: operation, sender: author)
        guard let document = try core.privates.privateDocument(id, in: workspace),
            document.everIn.contains(author)
        else {
            try keepEarly(notice, of: id, in: workspace)
            return nil
        }
        guard document.take(notice, to: workspace.member) else { return nil }
        try store(noticesOf: document)
        for link in network.ordered { try overruleNotices(of: id, by: link, in: workspace) }
        guard document.records[operation] != nil else { return nil }
        core.privates.handover.passOn(
            notice, of: id, writtenAt: header.timestamp.milliseconds, in: workspace)
        core.privates.judgeLater(
            id, isAnew: true, in: workspace, from: .released(source: 0, isBackfill: false))
        return nil
    }

    /// Drops notices by weaker senders once a member of higher rank, asked for the named
    /// operations' keys, has given this device a key: someone who is known to be out gets none. So
    /// an admin cannot remove a member on that member's own node alone, by an operation that opens
    /// for nobody.
    func overruleNotices(
        of id: DocumentID, by link: PeerLink, in workspace: Workspace
    ) throws(StorageError) {
        guard let arrival = link.keys.answeredThrough[id], let giver = link.peer?.device,
            let document = workspace.sealed.documents[id], !document.notices.isEmpty
        else { return }
        let people = workspace.judged.members(of: giver)
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
        core.privates.judgeLater(
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
