import CRDTStore
import WorkspaceModel

/// Derives everything from the operations, in a store that contains nothing else: after its pages
/// were damaged, and for comparison with an existing store.
extension Integrity {
    /// Builds what the store says is not built: verdicts, retained tips and views. No events are
    /// reported, since all of it has happened before.
    ///
    /// All of it is one transaction: after a crash the store is as before, and is built again.
    func buildViews() throws(StorageError) {
        guard home != nil, try store.registry.value(StoreSalvage.unbuilt) != nil else { return }
        try store.begin()
        try buildUntold()
        try tellUntold()
        var todo = SearchTodo()
        todo.isAll = true
        try store.registry.setValue(todo.bytes, of: Queries.todoName)
        try store.registry.setValue(nil, of: StoreSalvage.unbuilt)
        try store.registry.setValue(nil, of: BlobTable.unreadFiles)
    }

    private func buildUntold() throws(StorageError) {
        turn.isBuilding = true
        defer { turn.isBuilding = false }
        let (effects, notices, mail) = (
            turn.effects, core.events.notices, core.privates.handover.mailDue
        )
        let ordered = workspaces.values.sorted { $0.number < $1.number }
        try store.operations.mendTips()
        try store.operations.noteAllCitations()
        for workspace in ordered {
            _ = try judgeContent(of: workspace, because: Self.built)
            try core.privates.rejudgeUnshown(in: workspace)
        }
        // From row to row: in a damaged store one may stand far behind the others.
        var next: Int64 = 1
        while let number = try store.operations.nextArrival(from: next) {
            try build(number)
            next = number + 1
        }
        for workspace in ordered {
            try core.messages.foldUnfolded(in: workspace, from: Self.built)
            try core.messages.reviewRedactions(of: workspace)
        }
        while !core.messages.redactionReviews.isEmpty, !workspaces.isEmpty {
            try core.messages.settleRedactions()
        }
        while core.channels.pendingAssertions.any {
            core.channels.pendingAssertions.room = Limits.followersHeardPerTurnMax
            try core.channels.foldPending()
        }
        for workspace in ordered { try core.profiles.reloadProfiles(of: workspace) }
        try core.own.settleLate()
        (self.turn.effects, self.core.events.notices, core.privates.handover.mailDue) = (
            effects, notices, mail
        )
        (core.log.appended, core.log.retention.moved, core.profiles.profileEdits) = ([], [:], [:])
    }

    /// Tells of what was stored and not shown yet when the store was damaged: in a channel that was
    /// about to open, say, or while it was not judged.
    private func tellUntold() throws(StorageError) {
        let created = EventType.messageCreated.rawValue
        try store.view.noteShown(byEvents: created)
        for row in try store.view.untold(byEvents: created) {
            guard let document = store.operations.document(numbered: row.document),
                let workspace = core.workspaces[document.workspace],
                workspace.book.deleted[document.id] == nil
            else { continue }
            try core.messages.recordCreated(
                row, in: workspace, .released(source: 0, isBackfill: false))
        }
    }

    /// Enters the workspaces that the store has lost the rows of: those in whose authority document
    /// this device is somebody's.
    func enterLostWorkspaces(_ home: HomeIdentity) throws(StorageError) {
        guard try store.registry.value(StoreSalvage.unbuilt) != nil else { return }
        let known = Set(try store.registry.workspaces().map(\.number))
        for row in store.operations.authorityDocuments where !known.contains(row.number) {
            let blank = RegistryStore.WorkspaceRow(
                number: row.number, standing: .member, member: .zero, joined: 0)
            let workspace = Workspace(id: row.id, row: blank, vault: turn.session.vault)
            try core.loadAuthority(of: workspace)
            guard let member = workspace.member(of: home) else { continue }
            try store.begin()
            try store.registry.setWorkspace(
                .init(number: row.number, standing: .member, member: member, joined: 0))
        }
    }

    private static let built = OperationSource.released(source: 0, isBackfill: true)

    /// Folds one operation, whatever it is.
    private func build(_ arrival: Int64) throws(StorageError) {
        guard let stored = try store.operations.operation(arrival),
            let document = store.operations.document(numbered: stored.document),
            let workspace = core.workspaces[document.workspace]
        else { return }
        if document.kind.mayHoldContent, let redaction = stored.redaction {
            return try core.messages.note(
                redaction, by: arrival, under: stored.grantNumber, in: document, Self.built)
        }
        switch document.kind.access {
        case .unsealed: break
        case .boxes, .insiders:
            try core.messages.sealed.foldPrivate(stored, in: workspace, from: Self.built)
        case .workspace, .undecided:
            try core.messages.fold(stored, document, in: workspace, from: Self.built)
        }
    }
}
