public import WorkspaceModel

/// What a remove or leave keeps of the logs of a private document, in few bytes.
///
/// The remover decides how many places a remove names, and all of them stay in memory, since any
/// log may be queried. So an entry takes 24 bytes, and each log 16.
public struct CutTable: Hashable, Sendable {
    /// The places of one log, which end before `end` among all.
    private struct Log: Hashable, Sendable {
        let name: UInt64
        var end: Int
    }

    /// By log, then ascending, each once.
    private let places: [CutPlace]
    /// Ascending by name.
    private let logs: [Log]

    /// The entries of `cuts`, each once; their order does not matter.
    public init(_ cuts: some Sequence<CutEntry>) {
        let sorted = cuts.map { (log: Self.name(of: $0.log), place: CutPlace($0)) }
            .sorted { ($0.log, $0.place) < ($1.log, $1.place) }
        var places: [CutPlace] = []
        var logs: [Log] = []
        places.reserveCapacity(sorted.count)
        for (log, place) in sorted {
            if logs.last?.name != log {
                logs.append(Log(name: log, end: places.count))
            } else if places.last == place {
                continue
            }
            places.append(place)
            logs[logs.count - 1].end = places.count
        }
        self.places = places
        self.logs = logs
    }

    /// No entries: nothing of any log is kept.
    public static var none: Self { Self([] as [CutEntry]) }

    /// Whether it has no entry.
    public var isEmpty: Bool { places.isEmpty }

    /// The bytes that it takes in memory.
    public var byteCount: Int {
        places.count * MemoryLayout<CutPlace>.stride + logs.count * MemoryLayout<Log>.stride
    }

    /// What is kept of a log, sharing the memory of the table.
    ///
    /// - Cost: a binary search.
    public func places(in log: LogName) -> ArraySlice<CutPlace> {
        let name = Self.name(of: log)
        var (start, end) = (0, logs.count)
        while start < end {
            let middle = start + (end - start) / 2
            if logs[middle].name < name { start = middle + 1 } else { end = middle }
        }
        guard start < logs.count, logs[start].name == name else { return [] }
        return places[(start > 0 ? logs[start - 1].end : 0)..<logs[start].end]
    }

    /// A short key of a log: two logs share one only if their author intends it. That gains
    /// nothing: a place is identified by the id of its operation, which is in one log only.
    private static func name(of log: LogName) -> UInt64 {
        let (device, _, _, _) = log.device.words
        let (document, _, _, _) = log.document.words
        return device ^ (document &* 3) &+ UInt64(log.incarnation) &* 0x9e37_79b9_7f4a_7c15
    }
}

/// The last place of a log that is kept, without the name of the log.
public struct CutPlace: Hashable, Comparable, Sendable {
    /// Its sequence number.
    public let sequence: UInt64
    /// The first 16 bytes of the id there.
    public let id: Identifier16<Named.Operation>

    /// The place that an entry names in its log.
    public init(_ entry: CutEntry) {
        sequence = entry.sequence
        id = entry.id
    }

    /// By sequence number, then by id.
    public static func < (left: Self, right: Self) -> Bool {
        (left.sequence, left.id) < (right.sequence, right.id)
    }
}
