import CRDTStore
import WorkspaceModel

/// Logging out: erases the keys, and as much of the stored data as was asked.
extension HomeSession {
    func logOut(
        wiping wipe: String, isForced: Bool, _ scope: CallScope
    ) throws(NodeError) -> SessionObject {
        guard ownDevice != nil else { throw .noIdentity }
        guard wipe == "all" || !lock.isLocked || wipe == "none" else { throw .locked(lock.phase) }
        guard wipe == "all" || lock.sealed != nil else {
            throw .forbidden(
                "the keys are not protected by a passphrase, so you cannot log out",
                reason: "session.no_passphrase",
                hint: "wsx-node passphrase change, or wsx-node session logout --wipe all")
        }
        if !isForced { try refuseUnsent(losesThem: wipe != "none") }
        if wipe == "all" {
            turn.emit(.wipeHome)
            stopEffects = true
            isStopping = true
            var object = SessionObject(state: "none")
            object.isWiped = true
            return object
        }
        try stored { () throws(StorageError) in
            if wipe == "messages" { try wipeMessages() }
            if lock.phase != .closed {
                if mayWrite, lock.phase == .gated || lock.phase == .open { try write() }
                try closeSession()
            }
        }
        return try session(scope)
    }

    // MARK: Unsent

    /// Operations that nobody else has yet would be out of reach, or lost.
    private func refuseUnsent(losesThem: Bool) throws(NodeError) {
        // A home that was started without its passphrase does not look into workspaces: what it
        // keeps, it keeps.
        let count = try stored { () throws(StorageError) in
            var count: Int64 = 0
            for workspace in workspaces.values {
                count += try unsent(in: workspace, losesThem: losesThem)
            }
            return count
        }
        guard count > 0 || (losesThem && lock.phase == .closed) else { return }
        let what =
            count > 0
            ? "\(count) operation\(count == 1 ? " is" : "s are") on no other device yet"
            : "a locked home cannot tell whether everything is on another device"
        throw NodeError(
            .unsynced, what,
            hint: losesThem
                ? "connect to another device first, or lose them with --force"
                : "connect to another device first, or give --force",
            reason: "session.unsent", details: ["unsent": .integer(count)])
    }

    private func unsent(
        in workspace: Workspace, losesThem: Bool
    ) throws(StorageError) -> Int64 {
        guard workspace.standing == .member,
            losesThem || core.links.devices(of: workspace).contains(where: { $0 != ownDevice })
        else { return 0 }
        var count: Int64 = 0
        for document in store.operations.documents(ofWorkspace: workspace.number) {
            for branch in store.operations.branches(in: document, of: workspace.number)
            where branch.log.device == ownDevice {
                count += try core.log.unsent(on: branch, in: workspace)
            }
        }
        return count
    }

    // MARK: Wiping

    /// Erases everything but the identity and the authority document. When the node is unlocked
    /// again it fetches from peers what they have. It begins new logs, since it no longer knows the
    /// ends of its own; that is not a restoration, and nobody is told of one.
    private func wipeMessages() throws(StorageError) {
        try core.log.renewStore()
        for workspace in workspaces.values.sorted(by: { $0.number < $1.number }) {
            try store.view.own.clearRegisters(of: workspace.number)
            for document in store.operations.documents(ofWorkspace: workspace.number)
            where document != workspace.id {
                guard let row = store.operations.document(document, in: workspace.number) else {
                    continue
                }
                try store.view.clear(row.number)
                let gone = try store.operations.erase(document: row.number, atLeast: .max)
                for branch in gone { store.peers.forget(branch: branch) }
            }
        }
        try store.peers.forgetAgreed()
        try store.events.forgetAll()
        folding = nil
    }
}
