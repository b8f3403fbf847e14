import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// Operations whose stored bytes are damaged, as far as peers ask for them.
extension OperationLog {
    /// Notes damage that somebody came across. It is acted upon at the end of the turn.
    func noteDamage(at sequence: UInt64, of branch: Int64) {
        guard store.operations.noteDamage(at: sequence, of: branch) else { return }
        turn.hasMoreToDo = true
    }

    /// Whether a part of the authority document is damaged: then nobody can say who may do what.
    func hasDamagedAuthority(_ workspace: Workspace) -> Bool {
        store.operations.damagedBranches.contains { number in
            guard let branch = store.operations.branch(number) else { return false }
            return branch.document == workspace.number
        }
    }

    /// Brings the digest up to date with the kept tips that moved since it was asked last.
    func refreshDigest(of workspace: Workspace) {
        for document in workspace.held.staleDocuments {
            let isDeleted = workspace.isGone(document)
            do throws(StorageError) {
                workspace.held.digest.update(
                    document,
                    tips: isDeleted
                        ? []
                        : try store.operations.intactBranches(in: document, of: workspace.number))
            } catch { turn.failure = error }
        }
        workspace.held.staleDocuments = []
    }

    /// The private documents that this device asks for as a guest: those to which it was ever given
    /// a key. Ascending; if there are more than an opening can hold, those that are stored first.
    ///
    /// The store is asked and not the keys, which a locked node does not have.
    func namedDocuments(of workspace: Workspace) -> [DocumentID] {
        if let known = workspace.sealed.named { return known }
        var named: (known: [DocumentID], unknown: [DocumentID]) = ([], [])
        do throws(StorageError) {
            for id in store.operations.documents(ofWorkspace: workspace.number) {
                guard let row = store.operations.document(id, in: workspace.number),
                    row.kind.access.mayBePrivate,
                    try !store.registry.secrets(of: row.number).isEmpty
                else { continue }
                if row.kind == .unknown { named.unknown.append(id) } else { named.known.append(id) }
            }
        } catch {
            turn.failure = error
            return []
        }
        // Keys may name documents that never were: what is there goes before them.
        let all = named.known.sorted() + named.unknown.sorted()
        let list = all.prefix(Limits.scopeDocumentsMax).sorted()
        workspace.sealed.named = list
        return list
    }

    /// How many operations at the end of a branch nobody else is known to hold.
    func unsent(
        on branch: LogBranch, in workspace: Workspace
    ) throws(StorageError) -> Int64 {
        var count: Int64 = 0
        var sequence = branch.tipSequence
        while sequence >= branch.forkSequence, count < 10_000 {
            guard let place = try store.operations.place(in: branch.number, at: sequence) else {
                return count
            }
            let others = store.peers.holders(
                of: branch.number, through: sequence, arrival: place.arrival,
                workspace: workspace.number
            ).filter { $0 != turn.session.ownDevice }
            guard others.isEmpty else { return count }
            count += 1
            guard sequence > 0 else { return count }
            sequence -= 1
        }
        return count
    }
}
