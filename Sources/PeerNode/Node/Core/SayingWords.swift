import CRDTStore
import WorkspaceModel

extension CoreMember where Core == NodeCore {
    /// Says something in a register until it counts.
    ///
    /// - Parameter isOwn: whether only devices of this person can have said something there.
    /// - Throws: also where so much was said there that this cannot count.
    func sayUntilItCounts(
        _ content: ContentPayload, in register: ViewStore.Annotation.Register, isOwn: Bool,
        to document: DocumentID, of workspace: Workspace
    ) throws(NodeError) {
        let heads = try stored { () throws(StorageError) in
            try store.view.heads(register, limit: Limits.ownWordsMax + 1)
        }
        try refuseOverruled(heads.count, isOwn: isOwn)
        let isWritten = try stored { () throws(StorageError) in
            try write(over: heads.count) { (made) throws(StorageError) in
                try store.view.current(register)?.id == made
            } _: { () throws(StorageError) in
                try core.privates.authorContent(
                    content, to: document, in: workspace,
                    overwriting: try references(to: store.view.whatToCite(in: register)))?.id
            }
        }
        guard isWritten else { throw core.membership.notAllowed(in: workspace) }
    }
}
