import CRDTStore
import WorkspaceModel

/// Removes a workspace that has ended from this home, with everything stored of it.
///
/// It disappears and its keys are erased at once. Its rows are deleted in slices, so that a long
/// history blocks nobody, and deletion continues after a crash.
extension Integrity {
    func forgetWorkspace(
        _ reference: WorkspaceReference, isForced: Bool, _ scope: CallScope
    ) throws(NodeError) -> WorkspaceObject {
        let workspace = try forgettable(reference)
        let name = NodeError.quoted(workspace.displayName)
        guard core.membership.ownEnd(in: workspace) != nil || workspace.fields.deletion != nil
        else {
            throw NodeError(
                .conflict, "you are a member of \(name)",
                hint: "leave it first: wsx-node workspace leave "
                    + NodeError.shellWord(workspace.displayName),
                reason: "workspace.member")
        }
        if !isForced { try refuseUnheardEnd(of: workspace) }
        let object: WorkspaceObject = try stored { () throws(StorageError) in
            try self.core.queries.object(of: workspace)
        }
        try stored { () throws(StorageError) in
            try write()
            // Pending read markers would be lost: the next core does not know them.
            try core.own.writeMarkers(all: true)
            try core.notes.publishing.publishAll()
            if try store.registry.value("selected") == workspace.id.bytes {
                try store.registry.setValue(nil, of: "selected")
            }
            // Where it is written to again one day, no place is used twice.
            try core.log.renewIncarnation()
            try store.registry.forgetWorkspace(workspace.number)
            try turn.record(.workspaceForgotten, workspace: nil, extra: workspace.id.bytes)
        }
        wantsRenewal = true
        return object
    }

    /// Among workspaces with the same name, the one that is over.
    private func forgettable(_ reference: WorkspaceReference) throws(NodeError) -> Workspace {
        if case .name(let name) = reference {
            let over = workspaces.values.filter {
                $0.standing == .member && core.membership.isOver($0)
                    && NameFolding.matches($0.displayName, name)
            }
            if over.count == 1, let only = over.first { return only }
        }
        return try core.queries.workspace(reference)
    }

    /// Others have to learn that somebody left, or ended the workspace, before it is erased here.
    private func refuseUnheardEnd(of workspace: Workspace) throws(NodeError) {
        let count = try stored { () throws(StorageError) in
            var count: Int64 = 0
            guard
                core.links.devices(of: workspace).contains(where: { $0 != turn.session.ownDevice })
            else { return count }
            for branch in store.operations.branches(in: workspace.id, of: workspace.number)
            where branch.log.device == turn.session.ownDevice {
                count += try core.log.unsent(on: branch, in: workspace)
            }
            return count
        }
        guard count > 0, core.membership.isOver(workspace) else { return }
        let what = workspace.fields.deletion == nil ? "you left" : "you deleted"
        throw NodeError(
            .unsynced,
            "nobody else knows yet that \(what) \(NodeError.quoted(workspace.displayName))",
            hint: "connect to someone first, or give --force", reason: "workspace.unsent",
            details: ["unsent": .integer(count)])
    }

    // MARK: Erasing

    /// When the next slice goes, on the monotonic clock.
    var forgettingDue: UInt64? {
        mayWrite && home != nil && !forgotten.isEmpty ? time.monotonic : nil
    }

    /// Erases a slice of a forgotten workspace; the rest follows after the next input.
    func eraseForgotten() throws(StorageError) {
        guard forgettingDue != nil, let number = forgotten.first else { return }
        try write()
        try eraseSlice(of: number)
    }

    /// Somebody who rejoins starts with nothing: the remains of the former store are erased first,
    /// however long that takes.
    func finishForgetting(_ id: WorkspaceID) throws(StorageError) {
        let number = forgotten.first { store.operations.document(numbered: $0)?.id == id }
        guard let number else { return }
        while forgotten.contains(number) { try eraseSlice(of: number) }
    }

    private func eraseSlice(of number: Int64) throws(StorageError) {
        hasErased = true
        let held = store.operations.documents(ofWorkspace: number).lazy
            .compactMap { self.store.operations.document($0, in: number) }
            .first { self.store.operations.holdsOperations(ofDocument: $0.number) }
        if let held {
            try store.view.clear(held.number)
            core.queries.reindex(erasedDocument: held.number)
            let gone = try store.operations.erase(
                document: held.number, atLeast: Limits.erasedPerTurnMax)
            for branch in gone { store.peers.forget(branch: branch) }
            return
        }
        try store.view.own.clearRegisters(of: number)
        try store.registry.setValue(nil, of: ReminderTimes.Told.name(of: number))
        try store.operations.remove(workspace: number)
        try store.registry.removeWorkspace(number)
        forgotten.removeAll { $0 == number }
        turn.emit(.log(.info, "workspace.forgotten"))
    }
}
