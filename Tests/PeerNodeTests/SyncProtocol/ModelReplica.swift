import SyncProtocol
import WorkspaceModel
import WorkspaceTestKit

/// A workspace in memory: what the session expects of a store, in the simplest correct way.
///
/// An operation's id is a plain mix of its previous id and its payload, and its "signature" is the
/// id twice, so that a run determines its branch as with a real signature.
struct ModelReplica: Replica {
    struct Stored {
        let log: LogName
        let sequence: UInt64
        let id: OperationID
        let previous: OperationID?
        let entry: OperationRun.Entry
    }

    let authorityDocument: DocumentID
    private(set) var operations: [OperationID: Stored] = [:]
    private var byLog: [LogName: [OperationID]] = [:]
    private var logs: [DocumentID: [LogName]] = [:]
    private var parents: Set<OperationID> = []
    private var changed: [LogName: UInt64] = [:]
    private(set) var arrival: UInt64 = 0
    /// What was stored last.
    private(set) var newest: OperationID?
    /// Runs that wait for what they cite or continue.
    private(set) var waiting: [OperationRun] = []
    /// So many of them have room, and those behind them are dropped.
    var waitingMax = Int.max
    /// What waits since the last runs came, and for what.
    private(set) var citing: [SyncSession.Citing] = []
    /// Operations that came, also more than once.
    private(set) var receivedCount = 0

    /// What it names as a guest, `nil` where it is none.
    var ownDocuments: [DocumentID]?
    /// Whether the peer is a guest.
    var isPeerGuest = false
    /// Documents that no guest is served, whatever it names.
    var publicDocuments: Set<DocumentID> = [] { didSet { known = Known() } }
    private var scope: SyncScope? { didSet { known = Known() } }

    /// What was computed about this state: a session asks for it at nearly each message. What changes
    /// the state has another one, and copies share theirs until then.
    private final class Known {
        var buckets: [UInt8]?
        var root: SetDigest?
    }
    private var known = Known()

    init(authorityDocument: DocumentID) { self.authorityDocument = authorityDocument }

    // MARK: Scope

    func confined(to scope: SyncScope?) -> ModelReplica {
        guard scope != nil || self.scope != nil else { return self }
        var confined = self
        confined.scope = scope
        return confined
    }

    func serves(_ document: DocumentID) -> Bool {
        guard let scope, document != authorityDocument else { return true }
        return scope.documents.contains(document) && !publicDocuments.contains(document)
    }

    func takes(_ document: DocumentID) -> Bool { serves(document) }

    // MARK: Writing

    /// Writes the next operation of `log` behind `previous`, which may fork the log.
    @discardableResult
    mutating func write(
        _ log: LogName, behind previous: OperationID?, payload: [UInt8],
        dependencies: [OperationReference] = []
    ) -> OperationRun {
        let sequence = previous.flatMap { operations[$0] }.map { $0.sequence + 1 } ?? 0
        let id = Self.id(of: log, previous: previous, payload: payload)
        let entry = OperationRun.Entry(
            kind: 1, timestamp: HybridTimestamp(rawValue: 1_000 + sequence), grant: .zero,
            keyID: nil, dependencies: dependencies, payload: payload,
            signature: Signature(id.bytes + id.bytes))
        let run = OperationRun(
            log: log, firstSequence: sequence, previous: previous, entries: [entry])
        store(
            Stored(log: log, sequence: sequence, id: id, previous: previous, entry: entry))
        return run
    }

    /// Stores what can be stored, of this run and of those that waited.
    ///
    /// - Returns: the logs whose tips moved, ascending.
    mutating func ingest(_ runs: [OperationRun]) -> (moved: [LogName], waiting: [LogName]) {
        var moved: Set<LogName> = []
        waiting += runs
        receivedCount += runs.reduce(0) { $0 + $1.entries.count }
        var hasMoved = true
        while hasMoved {
            hasMoved = false
            let tried = waiting
            waiting = []
            for run in tried {
                let rest = take(run)
                if rest?.entries.count != run.entries.count {
                    moved.insert(run.log)
                    hasMoved = true
                }
                if let rest { waiting.append(rest) }
            }
        }
        citing = waiting.enumerated().map { place, run in
            let missing = (run.entries.first?.dependencies ?? [])
                .filter { operations[$0.id] == nil }
            return .init(
                run.log, for: missing.map { Self.tip($0, in: run.log.document) },
                isKept: place < waitingMax)
        }
        let logs = Set(waiting.map(\.log)).sorted()
        waiting = Array(waiting.prefix(waitingMax))
        return (moved.sorted(), logs)
    }

    private static func tip(_ cited: OperationReference, in document: DocumentID) -> LogTip {
        let log = LogName(
            document: document, device: cited.device, incarnation: cited.incarnation)
        return LogTip(log: log, sequence: cited.sequence, id: Identifier16(prefixOf: cited.id))
    }

    /// By name, which is any order to a log's author.
    func inOrder(_ logs: Set<LogName>) -> [LogName] { logs.sorted() }

    /// Forgets the waiting room, as a restart does.
    mutating func forgetWaiting() { waiting = [] }

    /// Stores the run's beginning as far as possible; returns what has to wait.
    private mutating func take(_ run: OperationRun) -> OperationRun? {
        guard let branch = branch(of: run) else { return run }
        var previous = branch
        for (place, entry) in run.entries.enumerated() {
            let sequence = run.firstSequence + UInt64(place)
            guard entry.dependencies.allSatisfy({ operations[$0.id] != nil }) else {
                return OperationRun(
                    log: run.log, firstSequence: sequence, previous: previous,
                    entries: [OperationRun.Entry](run.entries[place...]))
            }
            let id = Self.id(of: run.log, previous: previous, payload: entry.payload)
            guard entry.signature.bytes == id.bytes + id.bytes else { return nil }
            store(
                Stored(
                    log: run.log, sequence: sequence, id: id, previous: previous, entry: entry))
            previous = id
        }
        return nil
    }

    /// The operation that the run goes on from: `.some(nil)` at the start.
    private func branch(of run: OperationRun) -> OperationID?? {
        guard run.firstSequence > 0, let previous = run.previous else { return .some(nil) }
        return operations[previous]?.sequence == run.firstSequence - 1 ? previous : .none
    }

    private mutating func store(_ operation: Stored) {
        guard operations[operation.id] == nil else { return }
        operations[operation.id] = operation
        if byLog[operation.log] == nil {
            logs[operation.log.document, default: []].append(operation.log)
        }
        byLog[operation.log, default: []].append(operation.id)
        if let previous = operation.previous { parents.insert(previous) }
        arrival += 1
        newest = operation.id
        changed[operation.log] = arrival
        known = Known()
    }

    // MARK: What the session asks

    var documents: [DocumentID] {
        logs.keys.filter { serves($0) }.sorted()
    }

    var bucketDigests: [UInt8] {
        if let buckets = known.buckets { return buckets }
        var buckets = [UInt8](repeating: 0, count: 16 * 256)
        var contents: [UInt8: [UInt8]] = [:]
        for document in documents {
            contents[document.bytes[0], default: []] += document.bytes + digest(of: document)
        }
        for (bucket, bytes) in contents {
            let start = 16 * Int(bucket)
            buckets.replaceSubrange(start..<start + 16, with: PlainMix.of(bytes).bytes.prefix(16))
        }
        known.buckets = buckets
        return buckets
    }

    var root: SetDigest {
        if let root = known.root { return root }
        let root = SetDigest(sameBytesAs: PlainMix.of(bucketDigests))
        known.root = root
        return root
    }

    func documentDigests(inBucket bucket: UInt8) -> [DocumentDigest] {
        documents.filter { $0.bytes[0] == bucket }.map { document in
            DocumentDigest(
                document: document,
                digest: Identifier16([UInt8](digest(of: document).prefix(16))))
        }
    }

    private func digest(of document: DocumentID) -> [UInt8] {
        PlainMix.of(PlainMix.bytes(of: tips(of: document))).bytes
    }

    func tips(of document: DocumentID) -> [LogTip] {
        guard serves(document) else { return [] }
        return (logs[document] ?? []).sorted().flatMap { tips(ofLog: $0) }
    }

    func tips(changedSince arrival: UInt64, limit: Int) -> [LogTip] {
        changed.filter { $0.value > arrival && serves($0.key.document) }.keys.sorted()
            .flatMap { tips(ofLog: $0) }
    }

    private func tips(ofLog log: LogName) -> [LogTip] {
        branchTips(of: log).map { LogTip(log: log, sequence: $0.sequence, id: $0.id) }
    }

    /// The ids of the last operations of all branches.
    func heads(of log: LogName) -> [Stored] {
        (byLog[log] ?? []).filter { !parents.contains($0) }.compactMap { operations[$0] }
            .sorted { ($0.sequence, $0.id) < ($1.sequence, $1.id) }
    }

    func branchTips(of log: LogName) -> [LogPoint] {
        heads(of: log).map { LogPoint(sequence: $0.sequence, id: Identifier16(prefixOf: $0.id)) }
    }

    func samples(of log: LogName, and place: UInt64?) -> [LogPoint] {
        heads(of: log).flatMap { head in
            let path = path(to: head.id)
            var points: [LogPoint] = []
            var distance = 0
            while distance < path.count {
                let operation = path[path.count - 1 - distance]
                points.append(
                    LogPoint(
                        sequence: operation.sequence, id: Identifier16(prefixOf: operation.id)))
                distance = distance == 0 ? 1 : distance * 2
            }
            let others = [path.first, path.first { $0.sequence == place }].compactMap { $0 }
            return points
                + others.map {
                    LogPoint(sequence: $0.sequence, id: Identifier16(prefixOf: $0.id))
                }
        }
    }

    /// The logs of which nothing more is taken.
    var heldBack: Set<LogName> = []
    func holdsBack(_ log: LogName) -> Bool { heldBack.contains(log) }

    func holds(_ tip: LogTip) -> Bool { find(tip) != nil }

    private func find(_ tip: LogTip) -> Stored? {
        byLog[tip.log]?.lazy.compactMap { operations[$0] }.first {
            $0.sequence == tip.sequence && Identifier16(prefixOf: $0.id) == tip.id
        }
    }

    func runs(for item: PullItem, maxBytes: Int) -> PullAnswer {
        guard let target = find(item.target) else { return .unknownTarget }
        let path = path(to: target.id)
        let common = item.have.filter { point in
            point.sequence < UInt64(path.count)
                && Identifier16(prefixOf: path[Int(point.sequence)].id) == point.id
        }
        let start: Int
        if let highest = common.map(\.sequence).max() {
            start = Int(highest) + 1
        } else if item.have.isEmpty || item.have.contains(where: { $0.sequence == 0 }) {
            start = 0
        } else {
            return .noCommonBranch
        }
        var run = OperationRun(
            log: item.target.log, firstSequence: UInt64(start),
            previous: start > 0 ? path[start - 1].id : nil, entries: [])
        var bytes = run.encodedBytesMax
        for operation in path[min(start, path.count)...] {
            bytes += operation.entry.encodedBytesMax
            guard bytes <= maxBytes else {
                return .runs(run.entries.isEmpty ? [] : [run], isComplete: false)
            }
            run.entries.append(operation.entry)
        }
        return .runs(run.entries.isEmpty ? [] : [run], isComplete: true)
    }

    /// The result of `farewell(to:)` for every device.
    var farewellTips: [LogTip] = []

    func farewell(to device: DeviceID) -> [LogTip] { farewellTips }

    func tips(by device: DeviceID, limit: Int) -> [LogTip] {
        let logs = byLog.keys.filter { $0.device == device && serves($0.document) }.sorted()
        return [LogTip](logs.flatMap { tips(ofLog: $0) }.prefix(limit))
    }

    func ownTipsDigest(of device: DeviceID) -> SetDigest {
        let logs = byLog.keys.filter { $0.device == device && serves($0.document) }.sorted()
        return SetDigest(
            sameBytesAs: PlainMix.of(PlainMix.bytes(of: logs.flatMap { tips(ofLog: $0) })))
    }

    private func path(to id: OperationID) -> [Stored] {
        var path: [Stored] = []
        var next: OperationID? = id
        while let id = next, let operation = operations[id] {
            path.append(operation)
            next = operation.previous
        }
        return path.reversed()
    }

    // MARK: Plain mixing

    private static func id(
        of log: LogName, previous: OperationID?, payload: [UInt8]
    ) -> OperationID {
        var bytes = log.document.bytes
        bytes += log.device.bytes
        bytes.append(UInt8(truncatingIfNeeded: log.incarnation))
        bytes += previous?.bytes ?? []
        // Enough to tell payloads of tests apart; mixing all of a large one takes too long.
        bytes += payload.prefix(64)
        bytes.append(UInt8(truncatingIfNeeded: payload.count))
        return PlainMix.of(bytes)
    }
}
