import CRDTStore
import WorkspaceModel

extension Messages {
    /// Takes note of what a change of authority bears on. It is carried out before anything is
    /// asked, written or removed here, and at the end of the turn.
    func settleLater(
        _ change: AuthChange, in workspace: Workspace, from source: OperationSource
    ) throws(StorageError) {
        let payer = unsettled.payer
        unsettled.payer = nil
        guard !change.isEmpty else { return }
        workspace.judged.contentLimits.removeAll()
        workspace.judged.deletionLimits.removeAll()
        let changed = change.all
        let reached = workspace.judged.grants(reachedByAny: changed).union(changed)
        // Nothing that is stored cites the others, and what comes is judged by what holds then.
        let grants = Set(reached.compactMap { store.operations.number(ofGrant: $0) })
        let people = Set(changed.compactMap { workspace.judged.subject(ofGrant: $0) })
        let bills = payer.map { [UnsettledVerdicts.Bill(payer: $0, grants: grants)] } ?? []
        unsettled.add(
            .init(grants: grants, people: people, source: source, bills: bills),
            of: workspace.number)
        // The rest of the same call depends on it.
        if source == .ourselves { return try settleVerdicts() }
        guard !grants.isEmpty else { return }
        // Grants that content cites must not be released in between.
        for document in store.operations.documents(ofWorkspace: workspace.number)
        where document != workspace.id {
            try core.log.retention.keepGrants(of: document, in: workspace)
        }
    }

    /// Whether verdicts on what a log holds wait, so that nothing can be judged beside them.
    func isUnsettled(_ log: LogName, in workspace: Workspace) -> Bool {
        let grants = unsettled.grants(of: workspace.number)
        guard !grants.isEmpty, log.document != workspace.id else { return false }
        return store.operations.branches(of: log, in: workspace.number).contains { branch in
            store.operations.spans(of: branch.number).contains { grants.contains($0.grant) }
        }
    }

    /// Shows and hides what verdicts bear on that have changed.
    func settleVerdicts() throws(StorageError) {
        guard !unsettled.isEmpty else { return }
        try write()
        for (number, work) in unsettled.takeAll() {
            guard let workspace = core.workspaces[number] else { continue }
            unsettled.forgetGivenBack()
            try settleContent(citing: work.grants, in: workspace, from: work.source)
            charge(work.bills)
            try settleSeats(of: work.people, in: workspace, from: work.source)
        }
    }

    /// Charges those who restore what was revoked for its cost (S-5).
    private func charge(_ bills: [UnsettledVerdicts.Bill]) {
        for bill in bills {
            let units = AuthorityBudget.units(
                ofVerdicts: unsettled.givenBackCount(under: bill.grants),
                isCapped: bill.payer.isCapped)
            guard units > 0 else { continue }
            core.log.shares.authorityBudget.charge(
                units, to: bill.payer.shares, now: time.monotonic)
        }
        unsettled.forgetGivenBack()
    }

    private func settleContent(
        citing grants: Set<Int64>, in workspace: Workspace, from source: OperationSource
    ) throws(StorageError) {
        guard !grants.isEmpty else { return }
        var hasChanged = false
        for document in store.operations.documents(ofWorkspace: workspace.number)
        where document != workspace.id {
            // A right over what others wrote may end where the right to write does not.
            if let number = store.operations.document(document, in: workspace.number)?.number {
                try reviewRedactions(inDocument: number, citing: grants)
            }
            guard try judge(document, citing: grants, in: workspace, because: source) else {
                // An operation that is void for another reason may now cite a void grant.
                try core.log.retention.keepGrants(of: document, in: workspace)
                continue
            }
            hasChanged = true
            try core.privates.rejudgePrivate(document, in: workspace, from: source)
            try core.log.retention.rekeep(document, in: workspace)
            for branch in store.operations.branches(in: document, of: workspace.number)
            where branch.parent != nil {
                core.log.pruning.noteBranches(of: branch.log, in: workspace)
            }
        }
        // Somebody may have compared meanwhile what was kept before.
        if hasChanged { try store.peers.forgetAgreed() }
        try core.profiles.reloadProfiles(of: workspace)
    }

    /// A former member of the workspace is out of its private channels, whatever they wrote there,
    /// and somebody who was never a member has no seat there. Most changes concern no member, and
    /// then no document is examined.
    private func settleSeats(
        of people: Set<MemberID>, in workspace: Workspace, from source: OperationSource
    ) throws(StorageError) {
        let ends = workspace.memberEnds
        guard !people.isEmpty || workspace.sealed.settledEnds != ends else { return }
        turn.tally.noteSeatRound()
        let known = people.map { ($0, workspace.judged.hasLetIn($0)) }
        let due = workspace.sealed.documents.values.filter { document in
            document.ends != self.core.privates.ends(in: document, of: workspace)
                // A grant may be named as the proof of what it knows.
                || people.contains(where: { document.ends[$0]?.isEmpty == false })
                || known.contains(where: { document.isOutdated(on: $0, isKnown: $1) })
        }
        for document in due.sorted(by: { $0.id < $1.id }) {
            try core.privates.rejudgePrivate(document.id, in: workspace, from: source)
        }
        // An operation written meanwhile may have ended another membership.
        workspace.sealed.settledEnds = workspace.memberEnds == ends ? ends : nil
    }
}
