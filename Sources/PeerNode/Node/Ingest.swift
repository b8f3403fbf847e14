import CRDTStore
import SyncProtocol
import WorkspaceModel

/// The waist: every operation, our own and other people's, comes through `accept`.
extension NodeCore {
    /// Checks a run and stores what is new of it, with what follows from it at once. Waiting runs
    /// that it releases are taken when the turn ends (`acceptReleased`).
    @discardableResult
    func accept(
        _ run: OperationRun, in workspace: Workspace, from source: OperationSource
    ) throws(StorageError) -> IngestOutcome {
        let outcome = try acceptAll(of: run, in: workspace, from: source)
        try foldUnfolded(in: workspace, from: source)
        try pruneIfCrowded(run.log, in: workspace)
        return outcome
    }

    /// Takes runs for which something has come that they waited for: so many that whoever asks
    /// something is not kept waiting, and the rest in the next turns.
    func acceptReleased() throws(StorageError) {
        guard mayWrite else { return }
        try settleVerdicts()
        var left = Limits.releasedPerTurnMax
        // A queue and not recursion: what waits may be a long chain in reverse.
        while left > 0, let guest = released.popLast() {
            // Whoever brought it for one workspace has not brought it for another.
            guard let own = workspaces[guest.workspace] else { continue }
            if isUnsettled(guest.run.log, in: own) {
                released.append(guest)
                break
            }
            // It is compared with each branch of its log.
            let branches = store.operations.branchCount(of: guest.run.log, in: own.number)
            left -= guest.run.entries.count + branches / 64
            let source = OperationSource.released(
                source: guest.source, isBackfill: guest.isBackfill)
            let outcome = try acceptAll(of: guest.run, in: own, from: source)
            try foldUnfolded(in: own, from: source)
            // Not held against who brought it: it waited for a place, and another branch may have
            // taken that.
            if case .rejected(let rejection) = outcome {
                effects.append(.log(.info, "op.rejected waited=true reason=\(rejection.word)"))
            }
            try pruneIfCrowded(guest.run.log, in: own)
        }
        try settleVerdicts()
        if !released.isEmpty { return hasMoreToDo = true }
        // Only now: what was released may cite what would have to go.
        if !overgrown.isEmpty { try pruneOvergrown() }
        crowdedAt = [:]
    }

    /// Authority operations are taken one by one: each may cite the one before it as its grant,
    /// and each verifies by itself anyway.
    private func acceptAll(
        of run: OperationRun, in workspace: Workspace, from source: OperationSource
    ) throws(StorageError) -> IngestOutcome {
        let end = run.firstSequence.addingReportingOverflow(UInt64(run.entries.count))
        guard !end.overflow else { return .rejected(.malformed(Malformed(.outOfRange, at: 0))) }
        // Where it could not wait for that.
        if isUnsettled(run.log, in: workspace) { try settleVerdicts() }
        guard run.log.document == workspace.id, run.entries.count > 1 else {
            return try acceptOne(run, in: workspace, from: source)
        }
        var stored = 0
        var hasDropped = false
        for (offset, entry) in run.entries.enumerated() {
            let sequence = run.firstSequence + UInt64(offset)
            let single = OperationRun(log: run.log, firstSequence: sequence, entries: [entry])
            switch try acceptOne(single, in: workspace, from: source) {
            case .stored(let count): stored += count
            case .known: break
            // Nor could what follows in the log be paid for.
            case .dropped where holdsBack(run.log, in: workspace):
                return stored > 0 ? .stored(stored) : .dropped
            case .dropped: hasDropped = true
            case .waiting: return try park(run, from: offset, source, workspace)
            case .rejected(let rejection): return .rejected(rejection)
            }
        }
        if stored > 0 { return .stored(stored) }
        return hasDropped ? .dropped : .known
    }

    /// The entry at `offset` waits already; what follows it in the run waits for it.
    private func park(
        _ run: OperationRun, from offset: Int, _ source: OperationSource, _ workspace: Workspace
    ) throws(StorageError) -> IngestOutcome {
        let next = run.firstSequence + UInt64(offset) + 1
        let rest = OperationRun(
            log: run.log, firstSequence: next, entries: Array(run.entries.dropFirst(offset + 1)))
        if !rest.entries.isEmpty {
            let guest = guest(rest, in: workspace, from: source)
            _ = waiting.admit(guest, until: .place(run.log, next - 1))
        }
        return .waiting
    }

    /// - Parameter isNeeded: something that waits goes on from it, so that it is not one branch too
    ///   many.
    @discardableResult
    private func acceptOne(
        _ run: OperationRun, in workspace: Workspace, from source: OperationSource,
        isNeeded: Bool = false
    ) throws(StorageError) -> IngestOutcome {
        if isErased(run, in: workspace) { return .known }
        if isOutOfScope(run, in: workspace) { return .rejected(.wrongScope) }
        // Before anything is waited for: what is judged on its own bytes must not take up room.
        do throws(Rejection) {
            for entry in run.entries { try OperationChecks.checkForm(entry) }
        } catch {
            return .rejected(error)
        }
        if let gap = try missing(of: run, in: workspace) {
            // What is one branch too many would not be taken when it has what it cites either.
            if !isNeeded, !gap.cited.isEmpty, try isSurplus(run, in: workspace) { return .known }
            return try wait(for: gap, run, in: workspace, from: source)
        }
        let position: RunPosition
        switch try place(run, in: workspace, isNeeded: isNeeded) {
        case .refused(let rejection): return .rejected(rejection)
        case .surplus: return .known
        case .at(let found): position = found
        }
        if store.operations.damagedCount > 0, position.skipped > 0 {
            try repair(with: position.checked, of: run.log, in: workspace, from: source)
        }
        if position.skipped > 0 {
            try fillMissing(with: position.checked, of: run.log, in: workspace, from: source)
        }
        guard position.skipped < run.entries.count else { return .known }
        var checked = Array(position.checked.dropFirst(position.skipped))
        if checked.isEmpty {
            do throws(Rejection) {
                checked = try OperationChecks.check(
                    run, after: position.link, signedHere: source == .ourselves)
            } catch {
                return .rejected(error)
            }
        }
        if let root = checked.first?.privateRoot, root.workspace != workspace.id {
            return .rejected(.wrongScope)
        }
        if var gap = try missing(inside: checked, of: run.log, in: workspace) {
            gap.offset += run.entries.count - checked.count
            return try wait(for: gap, run, in: workspace, from: source)
        }
        var verdict: AuthChange?
        if run.log.document == workspace.id, let operation = checked.first {
            switch judge(operation, of: run.log, in: workspace, from: source) {
            case .refused(let fault):
                effects.append(.log(.info, "auth.fault fault=\(fault.rawValue)"))
                return .rejected(.unauthorised)
            case .dropped: return .dropped
            case .taken(let change): verdict = change
            }
        }
        try append(
            checked, of: run.log, at: position.place, in: workspace, from: source,
            judged: verdict)
        return .stored(checked.count)
    }

    /// Lets a run wait for what it cites, but not what stands before that: two runs may each cite
    /// what lies in the other, and whole ones would wait for each other for ever. Where the
    /// signature before the gap is bad, only a later one covers the start, and all of it waits.
    private func wait(
        for gap: IngestGap, _ run: OperationRun, in workspace: Workspace,
        from source: OperationSource
    ) throws(StorageError) -> IngestOutcome {
        var rest = run
        var cited = gap.cited
        if gap.offset > 0 {
            let start = OperationRun(
                log: run.log, firstSequence: run.firstSequence,
                entries: Array(run.entries.prefix(gap.offset)))
            let mayCite = !cited.isEmpty && waiting.mayCite(cited.count + 1, source.number)
            let last = mayCite ? try lastOperation(of: start, in: workspace) : nil
            switch try acceptOne(start, in: workspace, from: source, isNeeded: last != nil) {
            case .stored, .known, .dropped:
                last.map { cited.append($0) }
                rest = OperationRun(
                    log: run.log, firstSequence: run.firstSequence + UInt64(gap.offset),
                    entries: Array(run.entries.dropFirst(gap.offset)))
            case .waiting, .rejected: break
            }
        }
        if gap.offset == 0, !cited.isEmpty, waiting.mayCite(cited.count + 1, source.number) {
            try operation(before: run, in: workspace).map { cited.append($0) }
        }
        if isLeftAtSource(rest, gap, in: workspace) { return .dropped }
        // Only what changes rights has to be paid for, and nothing of a first sync.
        let mayVouch =
            source.isBackfill || gap.needed.isEmpty ? false : try isSigned(rest, in: workspace)
        let guest = guest(
            rest, needing: mayVouch ? gap.needed : [], citing: cited, in: workspace,
            from: source)
        // Who has this has that. It may have been passed over as one branch too many.
        if let target = gap.target,
            let sync = network.links[LinkID(source.number)]?.syncs[workspace.number]
        {
            sync.cited.append(target)
        }
        if waiting.admit(guest, until: gap.missing, besides: gap.others), mayVouch {
            needed[workspace.number, default: []].formUnion(gap.needed.map(\.log))
        }
        return .waiting
    }

    /// The last operation of a run, where its place can be told.
    private func lastOperation(
        of run: OperationRun, in workspace: Workspace
    ) throws(StorageError) -> WaitingRoom.Citation? {
        guard case .at(let position) = try place(run, in: workspace, isNeeded: true) else {
            return nil
        }
        let id: OperationID?
        if position.checked.isEmpty {
            id = (try? OperationChecks.identities(of: run, after: position.link))?.last?.id
        } else {
            id = position.checked.last?.id
        }
        let sequence = run.firstSequence + UInt64(run.entries.count) - 1
        return id.map { .init($0, at: .init(run.log, sequence)) }
    }

    /// What a run goes on from, where that can be told: without it the run could not be taken either.
    private func operation(
        before run: OperationRun, in workspace: Workspace
    ) throws(StorageError) -> WaitingRoom.Citation? {
        guard run.firstSequence > 0,
            case .at(let position) = try place(run, in: workspace, isNeeded: true),
            position.skipped == 0, let link = position.link
        else { return nil }
        return .init(link.id, at: .init(run.log, run.firstSequence - 1))
    }

    /// Whether a run stands behind what could not be paid for: it waits at its source. Here it would
    /// only take room.
    private func isLeftAtSource(
        _ run: OperationRun, _ gap: IngestGap, in workspace: Workspace
    ) -> Bool {
        guard case .place = gap.missing else { return false }
        return holdsBack(run.log, in: workspace)
    }

    /// Whether its author wrote this at all, as far as that can be told while the run waits. Whoever
    /// makes something up in somebody's name must not have others' operations taken for that.
    private func isSigned(
        _ run: OperationRun, in workspace: Workspace
    ) throws(StorageError) -> Bool {
        guard case .at(let position) = try place(run, in: workspace) else { return false }
        if !position.checked.isEmpty { return true }
        return (try? OperationChecks.check(run, after: position.link)) != nil
    }

    /// - Parameter needed: what it needs of others, where it is known to be its author's.
    private func guest(
        _ run: OperationRun, needing needed: [WaitingRoom.Place] = [],
        citing cited: [WaitingRoom.Citation] = [], in workspace: Workspace,
        from source: OperationSource
    ) -> WaitingRoom.Guest {
        let isAuthority = run.log.document == workspace.id && !source.isBackfill
        var vouchers: [WaitingRoom.Voucher] = []
        if !needed.isEmpty {
            let author = payer(of: run.log.device, source, in: workspace)
            vouchers =
                [.init(author, run.log.device)]
                + waiting.vouchers(for: .init(run.log, run.firstSequence))
        }
        return WaitingRoom.Guest(
            run: run, source: source.number, arrived: time.monotonic,
            workspace: workspace.number, isBackfill: source.isBackfill,
            isOutsiders: isOutsider(source, in: workspace), isAuthority: isAuthority,
            vouchers: vouchers, needed: needed, cited: cited)
    }

    /// Whether the run belongs to a channel or workspace whose operations were, or should be, erased. What is
    /// deleted for everybody is no fault of whoever has not heard.
    private func isErased(_ run: OperationRun, in workspace: Workspace) -> Bool {
        let document = run.log.document
        let isOver = workspace.deletedChannels[document].map { $0.erasure <= time.wall } ?? false
        guard let ended = workspace.ended, document != workspace.id else { return isOver }
        return isOver || ended &+ Limits.deletedWorkspaceMilliseconds <= time.wall
    }

    /// Whether the run puts content into the authority document or the mailbox, or the other way
    /// round.
    private func isOutOfScope(_ run: OperationRun, in workspace: Workspace) -> Bool {
        let isAuthorityDocument = run.log.document == workspace.id
        let isMailbox = run.log.document == workspace.mailboxDocument
        return run.entries.contains {
            ($0.kind == OperationKind.authority.rawValue) != isAuthorityDocument
                || ($0.kind == OperationKind.mailbox.rawValue) != isMailbox
        }
    }
}
