/// How many operations of each log had arrived when somebody read a conversation.
///
/// A message's key says where it sorts, not when it arrived: a member who was offline writes
/// messages that sort among those read long ago. A device lists the logs of which it has more than
/// this person's markers have said so far; markers are merged, log by log.
public struct ReadFrontier: Hashable, Sendable {
    /// Operations seen per log, counted from the first; keyed by 8 bytes of the log's name.
    public var counts: [UInt64: UInt64]

    /// The frontier with these counts.
    public init(_ counts: [UInt64: UInt64] = [:]) { self.counts = counts }

    /// Whether it lists no log.
    public var isEmpty: Bool { counts.isEmpty }

    /// Takes the larger count of each log.
    public mutating func merge(_ other: ReadFrontier) {
        counts.merge(other.counts, uniquingKeysWith: max)
    }

    /// The counts larger than those of `other`, in pieces that fit into one operation each.
    public func pieces(beyond other: ReadFrontier) -> [ReadFrontier] {
        let more = counts.filter { $0.value > other.counts[$0.key] ?? 0 }
            .sorted { $0.key < $1.key }
        return stride(from: 0, to: more.count, by: Limits.readFrontierLogsMax).map { start in
            let end = min(more.count, start + Limits.readFrontierLogsMax)
            return ReadFrontier(Dictionary(uniqueKeysWithValues: more[start..<end].map { $0 }))
        }
    }
}

extension ReadFrontier {
    /// `Enc` array of [bytes 8, uint], ascending by name.
    func encode(to encoder: inout CBOREncoder) {
        encoder.list(counts.sorted { $0.key < $1.key }) { encoder, entry in
            encoder.array(count: 2)
            encoder.byteString(bigEndianBytes(of: entry.key))
            encoder.uint(entry.value)
        }
    }

    /// Reads what `encode` writes.
    ///
    /// - Throws: `Malformed` for none, more than `Limits.readFrontierLogsMax`, or another order.
    init(_ decoder: inout CBORDecoder) throws(Malformed) {
        let start = decoder.position
        var last: UInt64?
        self.init()
        let entries = try decoder.list(max: Limits.readFrontierLogsMax) {
            (d) throws(Malformed) -> (UInt64, UInt64) in
            try d.arrayCount(exactly: 2)
            let name = try d.byteString(exactly: 8).reduce(0) { $0 << 8 | UInt64($1) }
            return (name, try d.uint())
        }
        guard !entries.isEmpty else { throw Malformed(.outOfRange, at: start) }
        for (name, count) in entries {
            guard last.map({ $0 < name }) ?? true else { throw Malformed(.outOfRange, at: start) }
            counts[name] = count
            last = name
        }
    }
}
