import CRDTStore
import SyncProtocol
import WorkspaceModel

/// Where operations come from.
enum OperationSource: Equatable {
    /// This device wrote them in this turn.
    case ourselves
    /// A peer sent them; `backfill` when they are part of a first sync.
    case peer(DeviceID, source: UInt64, isBackfill: Bool)

    /// They waited for what they cite, since a peer sent them.
    case released(source: UInt64, isBackfill: Bool)

    /// The number under which its waiting operations are counted.
    var number: UInt64 {
        switch self {
        case .ourselves: 0
        case .peer(_, let source, _), .released(let source, _): source
        }
    }

    /// Whether bots should leave it alone.
    var isBackfill: Bool {
        switch self {
        case .ourselves: false
        case .peer(_, _, let isBackfill), .released(_, let isBackfill): isBackfill
        }
    }
}

/// What became of a run.
enum IngestOutcome: Equatable {
    /// So many operations were new, and are stored.
    case stored(Int)
    /// All of it was there already.
    case known
    /// It cites something unknown and waits for it, or was dropped because too much waits.
    case waiting
    /// It breaks a rule.
    case rejected(Rejection)
}

/// A run that was stored in this turn.
struct AppendedRun {
    let workspace: Int64
    let branch: Int64
    let log: LogName
    /// Its last operation.
    var tip: LogTip
    /// The operations themselves where they are to be pushed: what this device wrote.
    var own: OperationRun?

    /// Payloads in one push, so that it stays far below what may wait unasked, in bytes.
    static let pushedBytesMax = 64 * 1024

    /// Takes up what this device wrote next on the same branch. A burst of messages is then one
    /// push, with one signature to verify.
    ///
    /// - Returns: whether it did.
    mutating func take(_ next: AppendedRun) -> Bool {
        guard branch == next.branch, var run = own, let following = next.own,
            following.firstSequence == run.firstSequence + UInt64(run.entries.count),
            run.payloadByteCount + following.payloadByteCount <= Self.pushedBytesMax
        else { return false }
        own = nil
        run.entries += following.entries
        own = run
        tip = next.tip
        return true
    }
}

extension OperationRun {
    fileprivate var payloadByteCount: Int {
        entries.indices.reduce(0) { $0 + entries[$1].payload.count }
    }
}

/// The waist: every operation, our own and other people's, comes through `accept`.
extension NodeCore {
    /// Checks a run and stores what is new of it, with everything that follows from it, waiting
    /// runs that it releases included.
    @discardableResult
    func accept(
        _ run: OperationRun, in workspace: Workspace, from source: OperationSource
    ) throws(StorageError) -> IngestOutcome {
        let outcome = try acceptAll(of: run, in: workspace, from: source)
        // A queue and not recursion: what waits may be a long chain in reverse.
        while let guest = released.popLast() {
            // Whoever brought it for one workspace has not brought it for another.
            guard let own = workspaces[guest.workspace] else { continue }
            try acceptAll(
                of: guest.run, in: own,
                from: .released(source: guest.source, isBackfill: guest.isBackfill))
        }
        return outcome
    }

    /// Authority operations are taken one by one: each may cite the one before it as its grant,
    /// and each verifies by itself anyway.
    @discardableResult
    private func acceptAll(
        of run: OperationRun, in workspace: Workspace, from source: OperationSource
    ) throws(StorageError) -> IngestOutcome {
        let end = run.firstSequence.addingReportingOverflow(UInt64(run.entries.count))
        guard !end.overflow else { return .rejected(.malformed(Malformed(.outOfRange, at: 0))) }
        guard run.log.document == workspace.id, run.entries.count > 1 else {
            return try acceptOne(run, in: workspace, from: source)
        }
        var stored = 0
        for (offset, entry) in run.entries.enumerated() {
            let sequence = run.firstSequence + UInt64(offset)
            let single = OperationRun(log: run.log, firstSequence: sequence, entries: [entry])
            switch try acceptOne(single, in: workspace, from: source) {
            case .stored(let count): stored += count
            case .known: break
            case .waiting: return try park(run, from: offset, source, workspace)
            case .rejected(let rejection): return .rejected(rejection)
            }
        }
        return stored == 0 ? .known : .stored(stored)
    }

    /// The entry at `offset` waits already; what follows it in the run waits for it.
    private func park(
        _ run: OperationRun, from offset: Int, _ source: OperationSource, _ workspace: Workspace
    ) throws(StorageError) -> IngestOutcome {
        let next = run.firstSequence + UInt64(offset) + 1
        let rest = OperationRun(
            log: run.log, firstSequence: next, entries: Array(run.entries.dropFirst(offset + 1)))
        if !rest.entries.isEmpty {
            let guest = WaitingRoom.Guest(
                run: rest, source: source.number, arrived: time.monotonic,
                workspace: workspace.number, isBackfill: source.isBackfill)
            _ = waiting.admit(guest, until: .place(run.log, next - 1))
        }
        return .waiting
    }

    @discardableResult
    private func acceptOne(
        _ run: OperationRun, in workspace: Workspace, from source: OperationSource
    ) throws(StorageError) -> IngestOutcome {
        if belongsElsewhere(run, in: workspace) { return .known }
        if isOutOfScope(run, in: workspace) { return .rejected(.wrongScope) }
        if let missing = try missing(of: run, in: workspace) {
            return park(missing, run, in: workspace, from: source)
        }
        let position: RunPosition
        switch try place(run) {
        case .failure(let rejection): return .rejected(rejection)
        case .success(let found): position = found
        }
        guard position.skipped < run.entries.count else { return .known }
        var rest = run
        if position.skipped > 0 {
            rest = OperationRun(
                log: run.log, firstSequence: run.firstSequence + UInt64(position.skipped),
                entries: Array(run.entries.dropFirst(position.skipped)))
        }
        let checked: [CheckedOperation]
        do throws(Rejection) {
            checked = try OperationChecks.check(
                rest, after: position.link, signedHere: source == .ourselves)
        } catch {
            return .rejected(error)
        }
        if let missing = try missing(inside: checked, of: run.log) {
            return park(missing, run, in: workspace, from: source)
        }
        try append(checked, of: run.log, at: position.place, in: workspace, from: source)
        return .stored(checked.count)
    }

    private func park(
        _ missing: WaitingRoom.Missing, _ run: OperationRun, in workspace: Workspace,
        from source: OperationSource
    ) -> IngestOutcome {
        let guest = WaitingRoom.Guest(
            run: run, source: source.number, arrived: time.monotonic,
            workspace: workspace.number, isBackfill: source.isBackfill)
        _ = waiting.admit(guest, until: missing)
        return .waiting
    }

    /// Whether the run claims a document of another workspace. It is passed over, and not held
    /// against who brings it: a peer that is not in both workspaces cannot know.
    private func belongsElsewhere(_ run: OperationRun, in workspace: Workspace) -> Bool {
        guard let known = store.operations.document(run.log.document) else { return false }
        return known.workspace != workspace.number
    }

    /// Whether the run puts content into the authority document, or the other way round.
    private func isOutOfScope(_ run: OperationRun, in workspace: Workspace) -> Bool {
        let isAuthorityDocument = run.log.document == workspace.id
        return run.entries.contains {
            ($0.kind == OperationKind.authority.rawValue) != isAuthorityDocument
        }
    }

    // MARK: Where a run belongs

    struct RunPosition {
        let place: OperationStore.Place
        let link: ChainLink?
        /// Entries at its start that are stored already.
        let skipped: Int
    }

    private func place(
        _ run: OperationRun
    ) throws(StorageError) -> Result<RunPosition, Rejection> {
        let branches = store.operations.branches(of: run.log)
        guard !branches.isEmpty else {
            return .success(RunPosition(place: .newLog, link: nil, skipped: 0))
        }
        if branches.count == 1, let only = branches.first,
            run.firstSequence == only.tipSequence &+ 1
        {
            return .success(
                RunPosition(place: .behind(branch: only.number), link: only.tip, skipped: 0))
        }
        return try placeBesideOthers(run, branches)
    }

    /// The general case: part of the run is stored, or the log has forked, or forks here.
    ///
    /// The run does not name its previous operation, so every stored candidate is tried; the
    /// signature of the run verifies behind one of them only.
    private func placeBesideOthers(
        _ run: OperationRun, _ branches: [LogBranch]
    ) throws(StorageError) -> Result<RunPosition, Rejection> {
        var firstRefusal: Rejection?
        for candidate in try candidates(before: run.firstSequence, in: branches) {
            let checked: [CheckedOperation]
            do throws(Rejection) {
                checked = try OperationChecks.check(run, after: candidate.link)
            } catch {
                firstRefusal = firstRefusal ?? error
                continue
            }
            return .success(try follow(checked, from: candidate))
        }
        return .failure(firstRefusal ?? .badSignature)
    }

    private struct Candidate {
        let branch: Int64
        let link: ChainLink?
    }

    /// The stored operations that a run starting at `sequence` may continue.
    private func candidates(
        before sequence: UInt64, in branches: [LogBranch]
    ) throws(StorageError) -> [Candidate] {
        guard sequence > 0 else {
            return branches.first.map { [Candidate(branch: $0.number, link: nil)] } ?? []
        }
        var seen: Set<OperationID> = []
        var candidates: [Candidate] = []
        for branch in branches where branch.tipSequence >= sequence - 1 {
            guard let place = try store.operations.place(in: branch.number, at: sequence - 1),
                seen.insert(place.link.id).inserted
            else { continue }
            candidates.append(Candidate(branch: branch.number, link: place.link))
        }
        return candidates
    }

    /// Walks along stored operations as long as they equal the run's, over all branches, and
    /// says where the rest of the run goes.
    private func follow(
        _ checked: [CheckedOperation], from start: Candidate
    ) throws(StorageError) -> RunPosition {
        var link = start.link
        var branch = start.branch
        for (skipped, operation) in checked.enumerated() {
            if let next = try stored(operation) {
                branch = next
                link = operation.link
                continue
            }
            let sequence = operation.header.sequence
            if let tip = store.operations.branch(branch), tip.tip.id == link?.id {
                return RunPosition(place: .behind(branch: branch), link: link, skipped: skipped)
            }
            return RunPosition(
                place: .fork(of: branch, at: sequence), link: link, skipped: skipped)
        }
        return RunPosition(place: .newLog, link: link, skipped: checked.count)
    }

    /// The branch that holds exactly this operation, or `nil` when it is new.
    private func stored(_ operation: CheckedOperation) throws(StorageError) -> Int64? {
        let log = LogName(
            document: operation.header.document == .zero
                ? DocumentID(sameBytesAs: operation.id) : operation.header.document,
            device: operation.header.device, incarnation: operation.header.incarnation)
        let reference = OperationReference(
            device: log.device, incarnation: log.incarnation,
            sequence: operation.header.sequence, id: operation.id)
        return try store.operations.find(reference, in: log.document)?.branch
    }

    // MARK: What is missing

    /// The first thing that a run cites and that is not stored.
    private func missing(
        of run: OperationRun, in workspace: Workspace
    ) throws(StorageError) -> WaitingRoom.Missing? {
        if run.firstSequence > 0 {
            let branches = store.operations.branches(of: run.log)
            guard branches.contains(where: { $0.tipSequence >= run.firstSequence - 1 }) else {
                return .place(run.log, run.firstSequence - 1)
            }
        }
        var lastGrant: OperationID?
        for entry in run.entries {
            if entry.grant != lastGrant, entry.grant != .zero {
                guard workspace.authority[entry.grant] != nil else {
                    return .operation(entry.grant)
                }
                lastGrant = entry.grant
            }
            for dependency in entry.dependencies {
                guard try holds(dependency, in: run, of: workspace) else {
                    return .operation(dependency.id)
                }
            }
        }
        return nil
    }

    /// What an operation of the run cites of its own log, and that is neither stored nor before it
    /// in the run. Asked once the ids are known, for how a log is cut into runs decides nothing.
    private func missing(
        inside checked: [CheckedOperation], of log: LogName
    ) throws(StorageError) -> WaitingRoom.Missing? {
        guard checked.contains(where: { !$0.header.dependencies.isEmpty }) else { return nil }
        var before: Set<OperationID> = []
        for operation in checked {
            for dependency in operation.header.dependencies
            where dependency.device == log.device && dependency.incarnation == log.incarnation
                && !before.contains(dependency.id)
            {
                guard try store.operations.find(dependency, in: log.document) != nil else {
                    return .operation(dependency.id)
                }
            }
            before.insert(operation.id)
        }
        return nil
    }

    private func holds(
        _ dependency: OperationReference, in run: OperationRun, of workspace: Workspace
    ) throws(StorageError) -> Bool {
        if run.log.document == workspace.id { return workspace.authority[dependency.id] != nil }
        if dependency.device == run.log.device, dependency.incarnation == run.log.incarnation,
            dependency.sequence >= run.firstSequence
        {
            return true
        }
        return try store.operations.find(dependency, in: run.log.document) != nil
    }

    // MARK: Storing

    private func append(
        _ operations: [CheckedOperation], of log: LogName, at place: OperationStore.Place,
        in workspace: Workspace, from source: OperationSource
    ) throws(StorageError) {
        try write()
        let isAuthority = log.document == workspace.id
        try store.operations.enter(
            log.document, workspace: isAuthority ? nil : workspace.number,
            kind: isAuthority ? .authority : .unknown)
        let floors = try floors(of: operations, in: log.document)
        let (branch, appended) = try store.operations.append(
            operations, in: log, at: place, seen: time.wall, above: floors)
        if source != .ourselves { noteOwn(log) }
        if case .fork(let parent, let sequence) = place {
            try noteFork(of: parent, at: sequence, branch: branch, in: workspace)
        }
        if let last = operations.last {
            clock.observe(last.header.timestamp, wallMilliseconds: time.wall)
            let newest = workspace.newestTimestamp[log.document] ?? 0
            let latest = store.operations.branch(branch).map(Workspace.latest) ?? 0
            workspace.newestTimestamp[log.document] = max(newest, latest)
        }
        if isAuthority {
            for operation in appended {
                try applyAuthority(operation, branch: branch, in: workspace, from: source)
            }
        } else {
            try applyContent(appended, log: log, branch: branch, in: workspace, from: source)
        }
        if case .peer(let device, _, _) = source, let last = operations.last {
            // Whoever brings operations holds them.
            store.peers.noteHeld(by: device, branch: branch, through: last.header.sequence)
        }
        moved[workspace.number, default: []].insert(branch)
        noteAppended(operations, of: log, branch: branch, in: workspace, from: source)
        try releaseWaiting(for: appended, log: log, in: workspace)
    }

    private func noteAppended(
        _ operations: [CheckedOperation], of log: LogName, branch: Int64, in workspace: Workspace,
        from source: OperationSource
    ) {
        guard let last = operations.last else { return }
        let next = AppendedRun(
            workspace: workspace.number, branch: branch, log: log,
            tip: LogTip(
                log: log, sequence: last.header.sequence, id: Identifier16(prefixOf: last.id)),
            own: source == .ourselves ? run(of: operations, in: log) : nil)
        if let index = appended.indices.last, appended[index].take(next) { return }
        appended.append(next)
    }

    private func run(of operations: [CheckedOperation], in log: LogName) -> OperationRun {
        OperationRun(
            log: log, firstSequence: operations.first?.header.sequence ?? 0,
            entries: operations.map { operation in
                OperationRun.Entry(
                    kind: operation.header.kind, timestamp: operation.header.timestamp,
                    grant: operation.header.grant, keyID: operation.header.keyID,
                    dependencies: operation.header.dependencies, payload: operation.payload,
                    signature: operation.signature)
            })
    }

    /// What the display order of each operation must exceed because of its dependencies.
    private func floors(
        of operations: [CheckedOperation], in document: DocumentID
    ) throws(StorageError) -> [Int64] {
        var floors: [Int64] = []
        floors.reserveCapacity(operations.count)
        for operation in operations {
            var floor: Int64 = 0
            for dependency in operation.header.dependencies {
                let place = try store.operations.find(dependency, in: document)
                floor = max(floor, place?.sort ?? 0)
            }
            floors.append(floor)
        }
        return floors
    }

    private func noteFork(
        of parent: Int64, at sequence: UInt64, branch: Int64, in workspace: Workspace
    ) throws(StorageError) {
        try store.registry.addEvidence(
            branch: parent, sequence: sequence, other: branch, at: time.wall)
        guard let log = store.operations.branch(branch)?.log else { return }
        try record(.forkFound, workspace: workspace, extra: log.device.bytes)
        effects.append(
            .log(.warning, "fork.found device=\(PublicID.device(log.device)) seq=\(sequence)"))
    }

    private func releaseWaiting(
        for appended: [OperationStore.Appended], log: LogName, in workspace: Workspace
    ) throws(StorageError) {
        guard waiting.operationCount > 0 else { return }
        for operation in appended {
            released += waiting.release(.operation(operation.operation.id))
            released += waiting.release(.place(log, operation.operation.header.sequence))
        }
    }
}
