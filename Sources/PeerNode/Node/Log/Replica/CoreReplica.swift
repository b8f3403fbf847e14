import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// One workspace as sync sessions see it: reads the store, always in one consistent state.
///
/// A session has no way to report a failed read; `NodeTurn.failure` keeps it, and the turn fails
/// with it.
struct CoreReplica: Replica {
    /// Whose turn it reads in.
    let room: CorePart
    let workspace: Workspace
    /// The device at the other end, where a session asks.
    var peer: DeviceID?
    var scope: SyncScope?
    var part = ScopedDigest()

    init(for room: CorePart, workspace: Workspace, peer: DeviceID? = nil) {
        self.room = room
        self.workspace = workspace
        self.peer = peer
    }

    private var operations: OperationStore { room.turn.store.operations }

    private func read<Value>(
        _ fallback: Value, _ body: () throws(StorageError) -> Value
    ) -> Value {
        do throws(StorageError) {
            return try body()
        } catch {
            room.turn.failure = error
            return fallback
        }
    }

    var authorityDocument: DocumentID { workspace.id }

    var root: SetDigest {
        room.core.log.refreshDigest(of: workspace)
        return withDigest { $0.root() }
    }

    var bucketDigests: [UInt8] {
        room.core.log.refreshDigest(of: workspace)
        return withDigest { $0.bucketBytes() }
    }

    var arrival: UInt64 { UInt64(max(operations.arrival, 0)) }

    func documentDigests(inBucket bucket: UInt8) -> [DocumentDigest] {
        room.core.log.refreshDigest(of: workspace)
        return withDigest { $0.documents(in: bucket) }.map {
            DocumentDigest(document: $0.document, digest: Identifier16(prefixOf: $0.digest))
        }
    }

    func tips(of document: DocumentID) -> [LogTip] {
        guard !workspace.isGone(document), serves(document) else { return [] }
        return read([]) { () throws(StorageError) in
            inOrder(
                try operations.intactBranches(in: document, of: workspace.number)
                    .compactMap(\.announcement))
        }
    }

    func tips(changedSince arrival: UInt64, limit: Int) -> [LogTip] {
        read([]) { () throws(StorageError) in
            var tips: [LogTip] = []
            for branch in operations.branches(
                changedAfter: Int64(clamping: arrival), workspace: workspace.number)
            where !workspace.isGone(branch.log.document) && serves(branch.log.document) {
                try operations.intact(branch)?.announcement.map { tips.append($0) }
            }
            return inOrder(tips)
        }
    }

    func inOrder(_ logs: Set<LogName>) -> [LogName] {
        logs.map { ($0, start(of: $0)) }
            .sorted { ($0.0.document, $0.1, $0.0) < ($1.0.document, $1.1, $1.0) }.map(\.0)
    }

    private func inOrder(_ tips: [LogTip]) -> [LogTip] {
        tips.map { ($0, start(of: $0.log)) }.sorted { left, right in
            if left.0.log == right.0.log {
                return (left.0.sequence, left.0.id) < (right.0.sequence, right.0.id)
            }
            return (left.0.log.document, left.1, left.0.log)
                < (right.0.log.document, right.1, right.0.log)
        }.map(\.0)
    }

    /// Logs that began later have larger numbers: what an operation cites is stored before it.
    private func start(of log: LogName) -> Int64 {
        operations.firstBranch(of: log, in: workspace.number) ?? .max
    }

    private func branches(of log: LogName) -> [LogBranch] {
        read([]) { () throws(StorageError) in
            try operations.intactBranches(of: log, in: workspace.number)
        }
    }

    func branchTips(of log: LogName) -> [LogPoint] {
        branches(of: log).map {
            LogPoint(sequence: $0.tipSequence, id: Identifier16(prefixOf: $0.tip.id))
        }.sorted { ($0.sequence, $0.id) < ($1.sequence, $1.id) }
    }

    func samples(of log: LogName, and place: UInt64?) -> [LogPoint] {
        var points: Set<LogPoint> = []
        for branch in branches(of: log) {
            // Never beyond the end: what follows damage has to arrive again.
            for place in [branch.tipSequence, min(place ?? 0, branch.tipSequence)] {
                point(in: branch.number, at: place).map { _ = points.insert($0) }
            }
            var distance: UInt64 = 1
            while distance <= branch.tipSequence, points.count < SyncMessage.pullPointsMax - 1 {
                point(in: branch.number, at: branch.tipSequence - distance)
                    .map { _ = points.insert($0) }
                distance *= 2
            }
            point(in: branch.number, at: 0).map { _ = points.insert($0) }
        }
        return points.sorted { ($0.sequence, $0.id) < ($1.sequence, $1.id) }
            .suffix(SyncMessage.pullPointsMax)
    }

    private func point(in branch: Int64, at sequence: UInt64) -> LogPoint? {
        read(nil) { () throws(StorageError) in
            try operations.place(in: branch, at: sequence).map {
                LogPoint(sequence: sequence, id: Identifier16(prefixOf: $0.link.id))
            }
        }
    }

    func holdsBack(_ log: LogName) -> Bool { room.core.log.shares.holdsBack(log, in: workspace) }

    func holds(_ tip: LogTip) -> Bool { branch(holding: tip) != nil }

    /// The branch that holds the tip.
    func branch(holding tip: LogTip) -> LogBranch? {
        for branch in branches(of: tip.log)
        where branch.tipSequence >= tip.sequence {
            if branch.tipSequence == tip.sequence {
                if Identifier16(prefixOf: branch.tip.id) == tip.id { return branch }
                continue
            }
            if point(in: branch.number, at: tip.sequence)?.id == tip.id { return branch }
        }
        return nil
    }

    func runs(for item: PullItem, maxBytes: Int) -> PullAnswer {
        guard let branch = branch(holding: item.target) else { return .unknownTarget }
        var first: UInt64 = 0
        if let common = lastCommon(of: branch, with: item.have) {
            first = common + 1
        } else if !item.have.isEmpty, !item.have.contains(where: { $0.sequence == 0 }) {
            return .noCommonBranch
        }
        guard first <= item.target.sequence else { return .runs([], isComplete: true) }
        let found = read(([], false)) { () throws(StorageError) in
            try operations.runs(
                of: branch.number, from: first, through: item.target.sequence,
                byteCountMax: maxBytes)
        }
        guard !found.0.isEmpty else { return .unknownTarget }
        return .runs(found.0, isComplete: found.1)
    }

    /// The last place of a branch that a peer with these points also holds. A peer that has an
    /// operation has everything before it, so a point on another branch implies this branch up to
    /// where the two part.
    private func lastCommon(of branch: LogBranch, with have: [LogPoint]) -> UInt64? {
        let others = branches(of: branch.log).filter { $0.number != branch.number }
        var last: UInt64?
        for place in have.sorted(by: { $0.sequence > $1.sequence }) {
            if let last, place.sequence <= last { break }
            if place.sequence <= branch.tipSequence,
                point(in: branch.number, at: place.sequence)?.id == place.id
            {
                return max(last ?? 0, place.sequence)
            }
            let other = others.first { other in
                (other.forkSequence...other.tipSequence).contains(place.sequence)
                    && point(in: other.number, at: place.sequence)?.id == place.id
            }
            guard let other,
                let common = operations.lastCommon(
                    of: branch.number, with: other.number, through: place.sequence)
            else { continue }
            last = max(last ?? 0, common)
        }
        return last
    }

    func farewell(to device: DeviceID) -> [LogTip] { workspace.farewell(to: device) }

    func tips(by device: DeviceID, limit: Int) -> [LogTip] {
        [LogTip](branches(by: device).compactMap(\.announcement).prefix(limit))
    }

    private func branches(by device: DeviceID) -> [LogBranch] {
        read([]) { () throws(StorageError) in
            var found: [LogBranch] = []
            for document in operations.documents(ofWorkspace: workspace.number)
            where !workspace.isGone(document) && serves(document) {
                found += try operations.intactBranches(in: document, of: workspace.number)
                    .filter { $0.log.device == device }
            }
            return found
        }
    }

    func ownTipsDigest(of device: DeviceID) -> SetDigest {
        let branches = branches(by: device).sorted {
            ($0.log, $0.tipSequence, $0.tip.id) < ($1.log, $1.tipSequence, $1.tip.id)
        }
        var encoder = CBOREncoder(reservingBytes: 128 * branches.count + 8)
        encoder.array(count: branches.count)
        for branch in branches {
            encoder.array(count: 5)
            encoder.byteString(branch.log.document)
            encoder.byteString(branch.log.device)
            encoder.uint(UInt64(branch.log.incarnation))
            encoder.uint(branch.tipSequence)
            encoder.byteString(branch.tip.id)
        }
        return Hash.name("wsx-mine1", encoder.bytes)
    }
}

extension OperationRun {
    /// The place of the last entry, `nil` for an empty run.
    var lastSequence: UInt64? {
        entries.isEmpty ? nil : firstSequence + UInt64(entries.count - 1)
    }
}
