import CRDTStore
import WorkspaceModel

/// Which tips of other logs an author cites, so that every node displays the new operation after
/// them where the clock alone does not ensure it (PROTOCOL.md, 2.2).
///
/// A timestamp in the future is capped by each node's own clock, so each node displays that
/// operation, and everything that cites it, at another place. Later operations of several people
/// are in the same order everywhere only if each cites the ones before.
extension OperationLog {
    /// The tips of other logs that the clock alone does not put before `timestamp`.
    func unorderedTips(
        of document: DocumentID, in workspace: Workspace, before timestamp: HybridTimestamp,
        own: LogName
    ) throws(StorageError) -> [OperationReference] {
        let isFirst = store.operations.branches(of: own, in: workspace.number).isEmpty
        let newest = workspace.held.newestTimestamp[document] ?? 0
        guard isFirst || newest >= timestamp.rawValue else { return [] }
        let owners = LogOwners(
            store.operations.branches(in: document, of: workspace.number)
                .filter { $0.log != own }, in: workspace)
        let others = owners.branches.filter {
            $0.log.device == own.device || mayBeCited($0.log, owners, in: workspace)
        }
        // An operation from the future is displayed at the time at which each node first sees it.
        // Only citing keeps a new incarnation behind the earlier ones.
        let unordered = others.filter { branch in
            Workspace.latest(of: branch) >= timestamp.rawValue
                || isFirst && branch.log.device == own.device
        }.sorted { $0.tip.timestamp.rawValue > $1.tip.timestamp.rawValue }
            .prefix(2 * Limits.dependenciesMax)
        var cited: [LogBranch] = []
        for branch in unordered where cited.count < Limits.dependenciesMax {
            let isOwn = branch.log.device == own.device
            guard try isOwn ? true : restsOnFew(branch, owners, in: workspace) else { continue }
            cited.append(branch)
        }
        let future = cited.filter { $0.tip.timestamp.rawValue >= timestamp.rawValue }
        guard let first = future.map(\.changedArrival).min() else {
            return cited.map(\.tipReference)
        }
        var reach = CausalReach()
        let known = Set(cited.map(\.number))
        let later = others.filter { $0.changedArrival > first && !known.contains($0.number) }
            .sorted { $0.changedArrival > $1.changedArrival }
        for branch in later where cited.count < Limits.dependenciesMax {
            guard !reach.has(branch), try restsOnFew(branch, owners, in: workspace) else {
                continue
            }
            cited.append(branch)
            try look(behind: branch, in: workspace, &reach)
        }
        return cited.map(\.tipReference)
    }

    /// The logs that an honest author may depend on. Not logs that are displayed to nobody: any
    /// workspace member can write arbitrary content into a private document's logs. Nor logs of a
    /// device that has begun very many, since others may hold different ones of them (S-9).
    private func mayBeCited(
        _ log: LogName, _ owners: LogOwners, in workspace: Workspace
    ) -> Bool {
        guard let document = workspace.sealed.documents[log.document] else {
            return !owners.isCrowding(log.device)
        }
        return !owners.isCrowding(log.device)
            && workspace.judged.evaluator.members(everUsing: log.device)
                .contains { document.everIn.contains($0) }
    }

    /// Whether nothing before the tip of a branch is in a log of someone who has begun very many,
    /// as far as a short search shows: an author with few logs may cite all of an accomplice's.
    private func restsOnFew(
        _ branch: LogBranch, _ owners: LogOwners, in workspace: Workspace
    ) throws(StorageError) -> Bool {
        guard owners.isCrowded else { return true }
        let document = branch.log.document
        guard let tip = try store.operations.place(in: branch.number, at: branch.tipSequence)
        else { return false }
        var (open, seen, stepsLeft) = ([tip], Set([tip.arrival]), Limits.causalStepsMax)
        while let place = open.popLast() {
            stepsLeft -= 1
            guard stepsLeft >= 0,
                let stored = try store.operations.operation(place.arrival, hasPayload: false),
                !stored.entry.dependencies.contains(where: { owners.isCrowding($0.device) })
            else { return false }
            var before: [StoredPlace] = []
            if place.sequence > 0 {
                try store.operations.place(in: place.branch, at: place.sequence - 1)
                    .map { before.append($0) }
            }
            for reference in stored.entry.dependencies {
                try store.operations.find(reference, in: document, of: workspace.number)
                    .map { before.append($0) }
            }
            open += before.filter { seen.insert($0.arrival).inserted }
        }
        return true
    }

    /// Notes what the tip of a branch has in its past, as far as a short look tells.
    private func look(
        behind branch: LogBranch, in workspace: Workspace, _ reach: inout CausalReach
    ) throws(StorageError) {
        guard let tip = try store.operations.place(in: branch.number, at: branch.tipSequence)
        else { return }
        reach.note(branch.log, branch.tipSequence)
        var open = [tip]
        while let place = open.popLast(), reach.takeStep() {
            guard let stored = try store.operations.operation(place.arrival, hasPayload: false)
            else { continue }
            if place.sequence > 0,
                let previous = try store.operations.place(
                    in: place.branch, at: place.sequence - 1)
            {
                open.append(previous)
            }
            for reference in stored.entry.dependencies {
                let log = LogName(
                    document: branch.log.document, device: reference.device,
                    incarnation: reference.incarnation)
                guard reach.note(log, reference.sequence),
                    let place = try store.operations.find(
                        reference, in: branch.log.document, of: workspace.number)
                else { continue }
                open.append(place)
            }
        }
    }
}

/// Who owns the logs of a document, and which devices have more than others build on.
private struct LogOwners {
    let branches: [LogBranch]
    /// By device whose share pays for them: a member's bytes, or the device's where nothing valid binds
    /// it, for anybody may list a device as somebody else's in vain.
    private var payers: [DeviceID: [UInt8]] = [:]
    private var crowding: Set<[UInt8]> = []

    init(_ branches: [LogBranch], in workspace: Workspace) {
        self.branches = branches
        var counts: [[UInt8]: Int] = [:]
        for branch in branches {
            let device = branch.log.device
            let payer = payers[device] ?? workspace.owner(of: device)?.bytes ?? device.bytes
            payers[device] = payer
            counts[payer, default: 0] += 1
        }
        crowding = Set(counts.filter { $0.value > Limits.citedLogsPerMemberMax }.keys)
    }

    /// Whether anybody has more than others build on.
    var isCrowded: Bool { !crowding.isEmpty }

    /// Whether the member whose device it is has.
    func isCrowding(_ device: DeviceID) -> Bool {
        payers[device].map(crowding.contains) ?? false
    }
}

/// How much of each log is known to be in the past of what is already cited. A log that it misses
/// is cited once more, which does no harm.
private struct CausalReach {
    private var ends: [LogName: UInt64] = [:]
    private var stepsLeft = Limits.causalStepsMax

    func has(_ branch: LogBranch) -> Bool {
        ends[branch.log].map { $0 >= branch.tipSequence } ?? false
    }

    /// - Returns: whether that was news.
    @discardableResult
    mutating func note(_ log: LogName, _ sequence: UInt64) -> Bool {
        if let known = ends[log], known >= sequence { return false }
        ends[log] = sequence
        return true
    }

    mutating func takeStep() -> Bool {
        stepsLeft -= 1
        return stepsLeft >= 0
    }
}

extension LogBranch {
    fileprivate var tipReference: OperationReference {
        OperationReference(
            device: log.device, incarnation: log.incarnation, sequence: tipSequence, id: tip.id)
    }
}
