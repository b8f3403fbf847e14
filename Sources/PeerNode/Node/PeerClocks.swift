import WorkspaceModel

/// How far the clocks of other devices are ahead of this one, as far as what they wrote shows.
///
/// Peers do not tell each other the time. An operation that a device hands over itself was written
/// a moment ago, or earlier and kept; so its time shows when that clock is ahead, and cannot show
/// that it is behind.
struct PeerClocks {
    /// So many devices are remembered at most: each is one that is or was connected.
    static let devicesMax = 1_024
    /// After this time a measure is forgotten when there is another.
    static let memoryMilliseconds: UInt64 = 3_600_000
    /// What is worth a word: clocks that are kept differ by less.
    static let leadMax: Int64 = 120_000

    /// The largest lead of a device's clock lately, milliseconds, and when it was seen.
    private(set) var leads: [DeviceID: (lead: Int64, at: UInt64)] = [:]

    /// Notes an operation that its own device handed over, outside of a first sync.
    mutating func note(_ device: DeviceID, wroteAt written: UInt64, _ time: TurnTime) {
        let lead = Int64(clamping: written) - Int64(clamping: time.wall)
        if let known = leads[device], known.lead > lead,
            time.monotonic &- known.at < Self.memoryMilliseconds
        {
            return
        }
        guard leads[device] != nil || leads.count < Self.devicesMax else { return }
        leads[device] = (lead, time.monotonic)
    }

    /// The devices whose clocks are ahead by more than is worth a word, the furthest first.
    var ahead: [(device: DeviceID, lead: Int64)] {
        leads.filter { $0.value.lead > Self.leadMax }
            .map { ($0.key, $0.value.lead) }
            .sorted { ($1.lead, $0.device) < ($0.lead, $1.device) }
    }
}
