import CRDTStore
import SyncProtocol
import WorkspaceModel

/// The waist: every operation, this node's and everyone else's, goes through `accept`.
extension OperationLog {
    /// Checks a run and stores what is new of it, with what follows from it at once. Waiting runs
    /// that it releases are taken when the turn ends (`acceptReleased`).
    ///
    /// - Parameter looks: the cost of verdicts after which the rest is left in `untaken`.
    @discardableResult
    func accept(
        _ run: OperationRun, in workspace: Workspace, from source: OperationSource,
        upTo looks: Int = .max
    ) throws(StorageError) -> IngestOutcome {
        let outcome = try acceptAll(of: run, in: workspace, from: source, upTo: looks)
        let rest = untaken
        try sink.foldUnfolded(in: workspace, from: source)
        try pruning.pruneIfCrowded(run.log, in: workspace)
        untaken = rest
        return outcome
    }

    /// Takes runs whose dependencies have arrived: a bounded number, so that callers do not wait,
    /// and the rest in the next turns.
    func acceptReleased() throws(StorageError) {
        guard mayWrite else { return }
        try sink.settleVerdicts()
        var left = Limits.releasedPerTurnMax
        // A queue and not recursion: what waits may be a long chain in reverse.
        while left > 0, let guest = released.popLast() {
            // The source of a run in one workspace is not its source in another.
            guard let own = core.workspaces[guest.workspace] else { continue }
            if sink.isUnsettled(guest.run.log, in: own) {
                released.append(guest)
                break
            }
            // It is compared with each branch of its log.
            let branches = store.operations.branchCount(of: guest.run.log, in: own.number)
            let (run, rest) = guest.run.split(ofAuthority: own.id)
            left -= run.entries.count + branches / 64
            let source = OperationSource.released(
                source: guest.source, isBackfill: guest.isBackfill)
            let looks = own.judged.evaluator.looks
            let outcome = try acceptAll(
                of: run, in: own, from: source, upTo: left * Limits.authorityLooksPerOperation)
            left -= max(0, own.judged.evaluator.looks - looks) / Limits.authorityLooksPerOperation
            // The last one is taken first.
            released += [rest, untaken].compactMap { $0 }.map { guest.with($0) }
            try sink.foldUnfolded(in: own, from: source)
            // Not held against who brought it: it waited for a place, and another branch may have
            // taken that.
            if case .rejected(let rejection) = outcome {
                turn.emit(.log(.info, "op.rejected waited=true reason=\(rejection.word)"))
            }
            try pruning.pruneIfCrowded(guest.run.log, in: own)
        }
        try sink.settleVerdicts()
        if !released.isEmpty { return turn.hasMoreToDo = true }
        // Only now: what was released may cite what would have to go.
        try pruning.pruneLoosened()
        pruning.forgetCrowded()
    }

    /// Authority operations are taken one by one: each may cite the one before it as its grant, and
    /// each is verified by itself anyway. A few may affect so many others that the turn is used up.
    private func acceptAll(
        of run: OperationRun, in workspace: Workspace, from source: OperationSource,
        upTo looks: Int
    ) throws(StorageError) -> IngestOutcome {
        untaken = nil
        let end = run.firstSequence.addingReportingOverflow(UInt64(run.entries.count))
        guard !end.overflow else { return .rejected(.malformed(Malformed(.outOfRange, at: 0))) }
        // Where it could not wait for that.
        if sink.isUnsettled(run.log, in: workspace) { try sink.settleVerdicts() }
        guard run.log.document == workspace.id, run.entries.count > 1 else {
            return try acceptOne(run, in: workspace, from: source)
        }
        var stored = 0
        var hasDropped = false
        var previous = run.previous
        let before = workspace.judged.evaluator.looks
        for (offset, entry) in run.entries.enumerated() {
            let single = OperationRun(
                log: run.log, firstSequence: run.firstSequence + UInt64(offset),
                previous: previous, entries: [entry])
            switch try acceptOne(single, in: workspace, from: source) {
            case .stored(let count): stored += count
            case .known: break
            // Nor could what follows in the log be paid for.
            case .dropped where shares.holdsBack(run.log, in: workspace):
                return stored > 0 ? .stored(stored) : .dropped
            case .dropped: hasDropped = true
            case .waiting: return park(run, behind: single, at: offset, source, workspace)
            case .rejected(let rejection): return .rejected(rejection)
            }
            guard offset + 1 < run.entries.count else { break }
            do throws(Rejection) {
                previous = try OperationChecks.identities(of: single).last?.id
            } catch {
                return .rejected(error)
            }
            if let previous, workspace.judged.evaluator.looks - before >= looks {
                untaken = run.rest(from: offset + 1, behind: previous)
                break
            }
        }
        if stored > 0 { return .stored(stored) }
        return hasDropped ? .dropped : .known
    }

    /// The entry at `offset` waits already; what follows it in the run waits for it.
    private func park(
        _ run: OperationRun, behind single: OperationRun, at offset: Int,
        _ source: OperationSource, _ workspace: Workspace
    ) -> IngestOutcome {
        let last: OperationID?
        do throws(Rejection) {
            last = try OperationChecks.identities(of: single).last?.id
        } catch {
            return .rejected(error)
        }
        guard let last, offset + 1 < run.entries.count else { return .waiting }
        let guest = guest(
            run.rest(from: offset + 1, behind: last), in: workspace, from: source)
        _ = waiting.admit(guest, until: .previous(last))
        return .waiting
    }

    /// - Parameters:
    ///   - isNeeded: something that waits goes on from it, so that it is not one branch too many.
    ///   - isPaid: all of it was paid for.
    @discardableResult
    private func acceptOne(
        _ run: OperationRun, in workspace: Workspace, from source: OperationSource,
        isNeeded: Bool = false, isPaid: Bool = false
    ) throws(StorageError) -> IngestOutcome {
        if isErased(run, in: workspace) { return .known }
        if isOutOfScope(run, in: workspace) { return .rejected(.wrongScope) }
        // Before anything waits: an operation that fails on its own bytes must not take up space.
        do throws(Rejection) {
            for entry in run.entries { try OperationChecks.checkForm(entry) }
        } catch {
            return .rejected(error)
        }
        if let gap = try missing(of: run, in: workspace) {
            // An excess branch would not be taken even with everything that it cites.
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
            try sink.repair(
                with: position.checked, of: run.log, in: workspace, from: source)
        }
        if position.skipped > 0 {
            try sink.fillMissing(
                with: position.checked, of: run.log, in: workspace, from: source)
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
        let paid =
            isPaid
            ? checked.count : shares.pay(for: checked, of: run.log, in: workspace, from: source)
        if paid < checked.count {
            let start = run.start(run.entries.count - checked.count + paid)
            return try acceptPaid(paid, of: start, in: workspace, from: source)
        }
        var verdict: AuthChange?
        if run.log.document == workspace.id, let operation = checked.first {
            switch judge(operation, of: run.log, in: workspace, from: source) {
            case .refused(let fault):
                turn.emit(.log(.info, "auth.fault fault=\(fault.rawValue)"))
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

    /// Takes the start of a run that was paid for. The rest waits at its source.
    private func acceptPaid(
        _ count: Int, of start: OperationRun, in workspace: Workspace, from source: OperationSource
    ) throws(StorageError) -> IngestOutcome {
        guard count > 0 else { return .dropped }
        let outcome = try acceptOne(start, in: workspace, from: source, isPaid: true)
        // Where its last signature is bad, only what was not paid for covers it.
        if case .rejected = outcome { return .dropped }
        return outcome
    }

    /// Lets a run wait for what it cites, but stores the part before that: two runs may each cite
    /// an entry inside the other, and as a whole they would wait for each other without end. Where
    /// the signature before the gap is invalid, only a later one covers the start, so the whole run
    /// waits.
    private func wait(
        for gap: IngestGap, _ run: OperationRun, in workspace: Workspace,
        from source: OperationSource
    ) throws(StorageError) -> IngestOutcome {
        // It would not be judged afterwards either. What follows a refused one in its log would
        // wait for that.
        if run.log.document == workspace.id, shares.isUsedUpByFaults(source, in: workspace) {
            return .dropped
        }
        var rest = run
        var cited = gap.cited
        if gap.offset > 0 {
            let start = run.start(gap.offset)
            let last: ChainLink?
            do throws(Rejection) {
                last = try OperationChecks.identities(of: start).last
            } catch {
                return .rejected(error)
            }
            let mayCite = !cited.isEmpty && waiting.mayCite(cited.count + 1, source.number)
            switch try acceptOne(start, in: workspace, from: source, isNeeded: mayCite) {
            case .stored, .known, .dropped:
                last.map { rest = run.rest(from: gap.offset, behind: $0.id) }
                if mayCite { citation(ofPrevious: rest).map { cited.append($0) } }
            case .waiting, .rejected: break
            }
        }
        let isCited = cited.isEmpty ? isWaitedFor(run, in: workspace) : true
        if gap.offset == 0, isCited, waiting.mayCite(cited.count + 1, source.number) {
            citation(ofPrevious: run).map { cited.append($0) }
        }
        if isLeftAtSource(rest, gap, in: workspace) { return .dropped }
        // Only what changes rights has to be paid for, and nothing of a first sync.
        let mayVouch =
            source.isBackfill || gap.needed.isEmpty ? false : try isSigned(rest, in: workspace)
        let guest = guest(
            rest, needing: mayVouch ? gap.needed : [], citing: cited, in: workspace,
            from: source)
        let isKept = waiting.admit(guest, until: gap.missing, besides: gap.others)
        // A peer that has this has that too. It may have been passed over as one branch too many.
        if !gap.targets.isEmpty,
            let sync = network.links[LinkID(source.number)]?.syncs[workspace.number]
        {
            sync.cited.append(.init(run.log, for: gap.targets, isKept: isKept))
        }
        if isKept, mayVouch {
            needed[workspace.number, default: []].formUnion(gap.needed.map(\.log))
        }
        return .waiting
    }

    /// The entry that a run continues: without it the run could not be taken either.
    private func citation(ofPrevious run: OperationRun) -> WaitingRoom.Citation? {
        run.previousReference.map { .init($0.id, at: .init(run.log, $0.sequence)) }
    }

    /// Whether a waiting operation cites one of a run whose log may have more branches than are
    /// kept: then the entry that the run continues is needed too, even though it would exceed the
    /// bound.
    private func isWaitedFor(_ run: OperationRun, in workspace: Workspace) -> Bool {
        guard run.log.document != workspace.id,
            store.operations.branchCount(of: run.log, in: workspace.number) >= Limits.branchesMax,
            let identities = try? OperationChecks.identities(of: run)
        else { return false }
        turn.tally.noteHashed(run.entries.count)
        return waiting.needs(identities, at: run.firstSequence, of: run.log)
    }

    /// Whether a run follows something that could not be paid for: it waits at its source. Here it
    /// would only take up space.
    private func isLeftAtSource(
        _ run: OperationRun, _ gap: IngestGap, in workspace: Workspace
    ) -> Bool {
        guard case .previous = gap.missing else { return false }
        return shares.holdsBack(run.log, in: workspace)
    }

    /// Whether its author signed this at all, as far as that can be checked while the run waits. A
    /// forger must not be able to have another author's operations mistaken for theirs.
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
        let author = shares.payer(of: run.log.device, source, in: workspace)
        var vouchers: [WaitingRoom.Voucher] = []
        if !needed.isEmpty {
            vouchers =
                [.init(author, run.log.device)]
                + waiting.vouchers(for: .init(run.log, run.firstSequence))
        }
        let admin = isAuthority ? vouchers.first { shares.isAdmin($0, in: workspace) } : nil
        let others = vouchers.filter { $0.member != author }
        return WaitingRoom.Guest(
            run: run, source: source.number, arrived: time.monotonic,
            workspace: workspace.number, isBackfill: source.isBackfill,
            isOutsiders: isOutsider(source, in: workspace), isAuthority: isAuthority,
            payer: (admin ?? others.first)?.member ?? author, isAdmins: admin != nil,
            vouchers: vouchers, needed: needed, cited: cited)
    }

    /// Whether the run belongs to a channel or workspace whose operations were, or should be,
    /// erased. A sender that has not heard of the deletion is not at fault.
    private func isErased(_ run: OperationRun, in workspace: Workspace) -> Bool {
        let document = run.log.document
        let isOver = workspace.book.deleted[document].map { $0.erasure <= time.wall } ?? false
        guard let ended = workspace.seat.ended, document != workspace.id else { return isOver }
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
