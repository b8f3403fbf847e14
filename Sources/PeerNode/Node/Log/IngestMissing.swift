import CRDTStore
import SyncProtocol
import WorkspaceModel

/// The first entry of a run that has to wait, and what it waits for.
struct IngestGap {
    /// What is not stored.
    let missing: WaitingRoom.Missing
    /// What else the entry cites that is not stored, where that is computed: for the authority
    /// document, whose operations may be passed over until somebody is known to need them.
    var others: [OperationID] = []
    /// Where the cited operations are, as far as that is known.
    var needed: [WaitingRoom.Place] = []
    /// All that the entry cites in its document, where logs there have a bound on their branches.
    var cited: [WaitingRoom.Citation] = []
    /// The entry's place in the run.
    var offset: Int
    /// The missing operations, in the form for a request to a peer.
    var targets: [LogTip] = []
}

/// What a run cites that this node does not hold.
extension OperationLog {
    /// The first thing that a run cites and that is not stored.
    func missing(
        of run: OperationRun, in workspace: Workspace
    ) throws(StorageError) -> IngestGap? {
        if let previous = run.previousReference, try !holds(before: run, previous, in: workspace) {
            return IngestGap(missing: .previous(previous.id), offset: 0)
        }
        if run.log.document == workspace.id { return missingAuthority(of: run, in: workspace) }
        var lastGrant: OperationID?
        for (offset, entry) in run.entries.enumerated() {
            if entry.grant != lastGrant, entry.grant != .zero {
                guard workspace.authority[entry.grant] != nil else {
                    return IngestGap(missing: .operation(entry.grant), offset: offset)
                }
                lastGrant = entry.grant
            }
            for dependency in entry.dependencies {
                guard try holds(dependency, in: run, of: workspace) else {
                    var gap = IngestGap(
                        missing: .operation(dependency.id),
                        cited: entry.dependencies.map { citation($0, in: run.log.document) },
                        offset: offset)
                    for other in entry.dependencies
                    where try !holds(other, in: run, of: workspace) {
                        gap.targets.append(target(other, in: run.log.document))
                    }
                    gap.needed = gap.targets.filter { isCounted($0.log, in: workspace) }
                        .map { .init($0.log, $0.sequence) }
                    return gap
                }
            }
        }
        return nil
    }

    /// Whether shares pay for what is missing of a log (S-8, S-9).
    private func isCounted(_ log: LogName, in workspace: Workspace) -> Bool {
        shares.isPaidFor(log.document, in: workspace)
            || store.operations.branchCount(of: log, in: workspace.number) == 0
    }

    /// The same in the authority document, with all that the entry lacks.
    private func missingAuthority(
        of run: OperationRun, in workspace: Workspace
    ) -> IngestGap? {
        for (offset, entry) in run.entries.enumerated() {
            let cited = entry.dependencies.map(\.id) + (entry.grant == .zero ? [] : [entry.grant])
            let missing = Set(cited.filter { workspace.authority[$0] == nil }).sorted()
            guard let first = missing.first else { continue }
            let places = entry.dependencies.filter { workspace.authority[$0.id] == nil }.map {
                WaitingRoom.Place(
                    LogName(
                        document: workspace.id, device: $0.device, incarnation: $0.incarnation),
                    $0.sequence)
            }
            return IngestGap(
                missing: .operation(first), others: Array(missing.dropFirst()),
                needed: places, offset: offset)
        }
        return nil
    }

    /// The entries of its own log that an operation of the run cites and that are neither stored
    /// nor earlier in the run. Computed once the ids are known, because the division of a log into
    /// runs must not matter.
    func missing(
        inside checked: [CheckedOperation], of log: LogName, in workspace: Workspace
    ) throws(StorageError) -> IngestGap? {
        guard checked.contains(where: { !$0.header.dependencies.isEmpty }) else { return nil }
        var before: Set<OperationID> = []
        for (offset, operation) in checked.enumerated() {
            for dependency in operation.header.dependencies
            where dependency.device == log.device && dependency.incarnation == log.incarnation
                && !before.contains(dependency.id)
            {
                let found = try store.operations.find(
                    dependency, in: log.document, of: workspace.number)
                guard found != nil else {
                    return IngestGap(
                        missing: .operation(dependency.id),
                        cited: operation.header.dependencies.map { citation($0, in: log.document) },
                        offset: offset, targets: [target(dependency, in: log.document)])
                }
            }
            before.insert(operation.id)
        }
        return nil
    }

    /// Whether the operation before a run is stored: nearly always it is the tip of the log.
    private func holds(
        before run: OperationRun, _ previous: OperationReference, in workspace: Workspace
    ) throws(StorageError) -> Bool {
        let branches = store.operations.branches(of: run.log, in: workspace.number)
        let isTip = branches.contains {
            $0.tipSequence == previous.sequence && $0.tip.id == previous.id
        }
        if isTip { return true }
        return try store.operations.find(previous, in: run.log.document, of: workspace.number)
            != nil
    }

    private func target(_ reference: OperationReference, in document: DocumentID) -> LogTip {
        let log = LogName(
            document: document, device: reference.device, incarnation: reference.incarnation)
        return LogTip(
            log: log, sequence: reference.sequence, id: Identifier16(prefixOf: reference.id))
    }

    private func citation(
        _ reference: OperationReference, in document: DocumentID
    ) -> WaitingRoom.Citation {
        let log = LogName(
            document: document, device: reference.device, incarnation: reference.incarnation)
        return .init(reference.id, at: .init(log, reference.sequence))
    }

    private func holds(
        _ dependency: OperationReference, in run: OperationRun, of workspace: Workspace
    ) throws(StorageError) -> Bool {
        if dependency.device == run.log.device, dependency.incarnation == run.log.incarnation,
            dependency.sequence >= run.firstSequence
        {
            return true
        }
        return try store.operations.find(dependency, in: run.log.document, of: workspace.number)
            != nil
    }
}
