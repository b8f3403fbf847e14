import SyncProtocol
import WorkspaceModel

/// The history of a crowd, once for all of its nodes: a replica only knows how far it has each log.
/// A thousand copies of two thousand operations would not fit into memory.
///
/// No log forks and no operation cites another one, so every log can be pulled separately. In a
/// real workspace a message cites what its author saw last, about 84 bytes each.
final class CrowdHistory {
    /// The operations of one log.
    struct Log {
        let name: LogName
        /// The place of its document.
        let document: Int
        var entries: [OperationRun.Entry] = []
        var ids: [OperationID] = []
        var points: [LogPoint] = []

        func has(_ point: LogPoint) -> Bool {
            guard let place = Int(exactly: point.sequence), points.indices.contains(place) else {
                return false
            }
            return points[place] == point
        }
    }

    /// About what the seal of a text and the names of its fields cost.
    private static let sealBytes = 60
    /// Milliseconds since 1970, so that timestamps have their usual length.
    private static let start: UInt64 = 1_750_000_000_000

    /// Ascending.
    let documents: [DocumentID]
    private(set) var logs: [Log] = []
    private(set) var operationCount = 0
    /// What people wrote, without anything around it.
    private(set) var textBytes = 0
    private let places: [DocumentID: Int]
    private var numbers: [LogName: Int] = [:]
    private var numbersByDevice: [DeviceID: [Int]] = [:]
    private var numbersByDocument: [[Int]]
    private let key: KeyID
    private var random: SeededGenerator

    init(documents count: Int, seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var documents: [DocumentID] = []
        for _ in 0..<count { documents.append(DocumentID(random.bytes(32))) }
        documents.sort()
        self.documents = documents
        places = [DocumentID: Int](
            uniqueKeysWithValues: documents.enumerated().map { ($0.element, $0.offset) })
        numbersByDocument = [[Int]](repeating: [], count: count)
        key = KeyID(random.bytes(16))
        self.random = random
    }

    func number(of log: LogName) -> Int? { numbers[log] }
    func numbers(by device: DeviceID) -> [Int] { numbersByDevice[device] ?? [] }
    /// The logs of the document at `place`, in the order in which they began.
    func numbers(in place: Int) -> [Int] { numbersByDocument[place] }
    func place(of document: DocumentID) -> Int? { places[document] }

    /// Writes the next operation of a device in the document at `place`.
    ///
    /// - Returns: the number of its log.
    @discardableResult
    func write(by device: DeviceID, in place: Int, textBytes length: Int) -> Int {
        let number = beginLog(of: device, in: place)
        operationCount += 1
        textBytes += length
        let id = OperationID(random.bytes(32))
        logs[number].points.append(
            LogPoint(
                sequence: UInt64(logs[number].ids.count), id: Identifier16(prefixOf: id)))
        logs[number].ids.append(id)
        logs[number].entries.append(
            OperationRun.Entry(
                kind: 1,
                timestamp: HybridTimestamp(
                    milliseconds: Self.start + 1_000 * UInt64(operationCount), counter: 0),
                grant: OperationID(sameBytesAs: device), keyID: key, dependencies: [],
                payload: [UInt8](
                    repeating: UInt8(truncatingIfNeeded: operationCount),
                    count: length + Self.sealBytes),
                signature: Signature(random.bytes(64))))
        return number
    }

    private func beginLog(of device: DeviceID, in place: Int) -> Int {
        let name = LogName(document: documents[place], device: device, incarnation: 1)
        if let number = numbers[name] { return number }
        let number = logs.count
        logs.append(Log(name: name, document: place))
        numbers[name] = number
        numbersByDevice[device, default: []].append(number)
        numbersByDocument[place].append(number)
        return number
    }

    /// The last operation of a log, as its author pushes it.
    func last(of number: Int) -> (run: OperationRun, tip: LogTip)? {
        let log = logs[number]
        guard let entry = log.entries.last, let point = log.points.last else { return nil }
        let run = OperationRun(
            log: log.name, firstSequence: point.sequence, previous: log.ids.dropLast().last,
            entries: [entry])
        return (run, LogTip(log: log.name, sequence: point.sequence, id: point.id))
    }
}

/// The part of the history that one node has: what the session expects of a store.
struct CrowdReplica: Replica {
    /// A sum over logs, which takes the place of a hash: nobody attacks a model, and one operation
    /// more is one addition, where a crowd would else hash everything a thousand times.
    private struct Sum: Equatable {
        var first: UInt64 = 0
        var second: UInt64 = 0

        static func of(_ count: Int, in log: Int) -> Sum {
            guard count > 0 else { return Sum() }
            var random = SeededGenerator(seed: UInt64(log) << 32 | UInt64(count))
            return Sum(first: random.next(), second: random.next())
        }

        static func + (left: Sum, right: Sum) -> Sum {
            Sum(first: left.first &+ right.first, second: left.second &+ right.second)
        }

        static func - (left: Sum, right: Sum) -> Sum {
            Sum(first: left.first &- right.first, second: left.second &- right.second)
        }

        /// Never zeros, which say that nothing is told: also somebody without operations has a root.
        var digest: SetDigest { SetDigest(words: (first, second, 0, 1)) }
    }

    private let history: CrowdHistory
    /// How many operations are here of each log, by its number.
    private var counts: [Int] = []
    /// When the last of them came.
    private var changed: [UInt64] = []
    /// Over the logs of each document.
    private var sums: [Sum]
    /// Runs that came before what they continue.
    private var waiting: [OperationRun] = []
    private(set) var arrival: UInt64 = 0
    private(set) var operationCount = 0
    /// Runs that are not what was written.
    private(set) var foreignCount = 0

    init(of history: CrowdHistory) {
        self.history = history
        sums = [Sum](repeating: Sum(), count: history.documents.count)
    }

    // MARK: Storing

    /// Whether everything that was ever written is here.
    var isWhole: Bool { operationCount == history.operationCount }

    /// Has a log as far as it was written, without anybody sending it.
    mutating func hold(_ number: Int) { set(history.logs[number].ids.count, of: number) }

    /// Has everything.
    mutating func holdAll() {
        for number in history.logs.indices { hold(number) }
    }

    private func count(of number: Int) -> Int { number < counts.count ? counts[number] : 0 }

    private mutating func set(_ count: Int, of number: Int) {
        while counts.count <= number {
            counts.append(0)
            changed.append(0)
        }
        guard count > counts[number] else { return }
        let place = history.logs[number].document
        sums[place] =
            sums[place] - Sum.of(counts[number], in: number) + Sum.of(count, in: number)
        operationCount += count - counts[number]
        counts[number] = count
        arrival += 1
        changed[number] = arrival
    }

    /// Stores what can be stored, of these runs and of those that waited.
    ///
    /// - Returns: the logs whose tips moved, and those of which something waits, each ascending.
    mutating func ingest(_ runs: [OperationRun]) -> (moved: [LogName], waiting: [LogName]) {
        var moved: Set<LogName> = []
        waiting += runs
        var hasMoved = true
        while hasMoved {
            hasMoved = false
            let tried = waiting
            waiting = []
            for run in tried {
                switch take(run) {
                case nil: waiting.append(run)
                case false?: break
                case true?:
                    moved.insert(run.log)
                    hasMoved = true
                }
            }
        }
        return (moved.sorted(), Set(waiting.map(\.log)).sorted())
    }

    /// Whether the run brought something; `nil` while it waits for what it continues.
    private mutating func take(_ run: OperationRun) -> Bool? {
        guard let number = history.number(of: run.log), let first = Int(exactly: run.firstSequence)
        else {
            foreignCount += 1
            return false
        }
        let have = count(of: number)
        guard first <= have else { return nil }
        let end = first + run.entries.count
        guard end > have else { return false }
        let written = history.logs[number].entries
        guard end <= written.count,
            run.entries.dropFirst(have - first).elementsEqual(written[have..<end])
        else {
            foreignCount += 1
            return false
        }
        set(end, of: number)
        return true
    }

    // MARK: Digests

    var authorityDocument: DocumentID { DocumentID([UInt8](repeating: 0xaa, count: 32)) }

    var root: SetDigest { sums.reduce(Sum(), +).digest }

    var bucketDigests: [UInt8] {
        var buckets = [Sum](repeating: Sum(), count: 256)
        for (place, sum) in sums.enumerated() {
            let bucket = Int(Self.bucket(of: history.documents[place]))
            buckets[bucket] = buckets[bucket] + sum
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(16 * buckets.count)
        for sum in buckets {
            Identifier16<Named.Digest>(words: (sum.first, sum.second)).append(to: &bytes)
        }
        return bytes
    }

    func documentDigests(inBucket bucket: UInt8) -> [DocumentDigest] {
        var digests: [DocumentDigest] = []
        for (place, document) in history.documents.enumerated()
        where Self.bucket(of: document) == bucket && sums[place] != Sum() {
            let sum = sums[place]
            digests.append(
                DocumentDigest(
                    document: document, digest: Identifier16(words: (sum.first, sum.second))))
        }
        return digests
    }

    private static func bucket(of document: DocumentID) -> UInt8 {
        UInt8(truncatingIfNeeded: document.leadingWord >> 56)
    }

    func ownTipsDigest(of device: DeviceID) -> SetDigest {
        history.numbers(by: device)
            .reduce(Sum()) { $0 + Sum.of(count(of: $1), in: $1) }.digest
    }

    // MARK: Scope: nobody is a guest

    var ownDocuments: [DocumentID]? { nil }
    var isPeerGuest: Bool { false }
    func confined(to scope: SyncScope?) -> CrowdReplica { self }
    func serves(_ document: DocumentID) -> Bool { true }
    func takes(_ document: DocumentID) -> Bool { true }
    func holdsBack(_ log: LogName) -> Bool { false }
    func farewell(to device: DeviceID) -> [LogTip] { [] }

    // MARK: Tips

    private func tip(of number: Int) -> LogTip? {
        let count = count(of: number)
        guard count > 0 else { return nil }
        let log = history.logs[number]
        let point = log.points[count - 1]
        return LogTip(log: log.name, sequence: point.sequence, id: point.id)
    }

    func tips(of document: DocumentID) -> [LogTip] {
        guard let place = history.place(of: document) else { return [] }
        return history.numbers(in: place).compactMap { tip(of: $0) }
    }

    func tips(changedSince arrival: UInt64, limit: Int) -> [LogTip] {
        history.documents.indices.flatMap { place in
            history.numbers(in: place)
                .filter { $0 < changed.count && changed[$0] > arrival }
                .compactMap { tip(of: $0) }
        }
    }

    func tips(by device: DeviceID, limit: Int) -> [LogTip] {
        [LogTip](history.numbers(by: device).compactMap { tip(of: $0) }.prefix(limit))
    }

    func branchTips(of log: LogName) -> [LogPoint] {
        guard let number = history.number(of: log), let tip = tip(of: number) else { return [] }
        return [LogPoint(tip)]
    }

    /// By document and device, which is any order to a log's beginning.
    func inOrder(_ logs: Set<LogName>) -> [LogName] { logs.sorted() }

    func samples(of log: LogName, and place: UInt64?) -> [LogPoint] {
        guard let number = history.number(of: log) else { return [] }
        let points = history.logs[number].points.prefix(count(of: number))
        var samples: [LogPoint] = []
        var distance = 0
        while distance < points.count {
            samples.append(points[points.count - 1 - distance])
            distance = distance == 0 ? 1 : distance * 2
        }
        return samples
            + [points.first, points.first { $0.sequence == place }].compactMap { $0 }
    }

    func holds(_ tip: LogTip) -> Bool {
        guard let number = history.number(of: tip.log), tip.sequence < UInt64(count(of: number))
        else { return false }
        return history.logs[number].has(LogPoint(tip))
    }

    // MARK: Serving

    func runs(for item: PullItem, maxBytes: Int) -> PullAnswer {
        guard let number = history.number(of: item.target.log), holds(item.target),
            let target = Int(exactly: item.target.sequence)
        else { return .unknownTarget }
        let log = history.logs[number]
        let common = item.have.filter { log.has($0) }.compactMap { Int(exactly: $0.sequence) }
        let start: Int
        if let highest = common.max() {
            start = highest + 1
        } else if item.have.isEmpty || item.have.contains(where: { $0.sequence == 0 }) {
            start = 0
        } else {
            return .noCommonBranch
        }
        guard start <= target else { return .runs([], isComplete: true) }
        var run = OperationRun(
            log: log.name, firstSequence: UInt64(start),
            previous: start > 0 ? log.ids[start - 1] : nil, entries: [])
        var bytes = run.encodedBytesMax
        for entry in log.entries[start...target] {
            bytes += entry.encodedBytesMax
            guard bytes <= maxBytes else {
                return .runs(run.entries.isEmpty ? [] : [run], isComplete: false)
            }
            run.entries.append(entry)
        }
        return .runs([run], isComplete: true)
    }
}
