import WorkspaceModel

/// Compares the clocks of other devices with this one.
///
/// Every handshake carries the wall clock of both sides (PROTOCOL, 5.1). It is stored as an offset
/// to the monotonic clock, so that a step of the local wall clock shows at once and a measurement
/// does not age. It decides nothing; it only serves to warn the owner.
struct PeerClocks {
    /// The most devices that are remembered; each is or was connected.
    static let devicesMax = 1_024
    /// A measurement of a device that did not reconnect is dropped after this time.
    static let memoryMilliseconds: UInt64 = 24 * 3_600_000
    /// A difference worth mentioning; synchronized clocks differ by less.
    static let differenceMax: Int64 = 120_000
    /// A difference worth a warning.
    static let day: Int64 = 24 * 3_600_000

    private struct Measure {
        /// Where the wall clock stood when the monotonic clock was at 0.
        var base: Int64
        /// When that was measured.
        var at: UInt64
        /// Whose device it is: a person has one voice, however many devices.
        let person: [UInt8]
    }

    private var measures: [DeviceID: Measure] = [:]

    /// How many devices' clocks are remembered.
    var count: Int { measures.count }

    /// Notes what the clock of a device showed.
    ///
    /// - Parameters:
    ///   - person: whose it is, any bytes that name one person; the device by itself without.
    ///   - moment: when it showed that, on the monotonic clock.
    mutating func note(
        _ device: DeviceID, of person: [UInt8]? = nil, showed wall: UInt64, at moment: UInt64
    ) {
        makeRoom(for: device)
        measures[device] = Measure(
            base: Self.base(wall, at: moment), at: moment, person: person ?? device.bytes)
    }

    private static func base(_ wall: UInt64, at moment: UInt64) -> Int64 {
        Int64(min(wall, HybridTimestamp.millisecondsMax)) - Int64(clamping: moment)
    }

    /// Compares the timestamp of an operation that its own device has handed over live.
    ///
    /// The operation may have been delayed, so it cannot show a clock that is behind; and its
    /// timestamp may exceed that device's wall clock by as much as clocks follow each other. What
    /// exceeds that shows a clock that was set forward since the handshake.
    ///
    /// - Returns: whether it shows that.
    mutating func note(_ device: DeviceID, wroteAt written: UInt64, at moment: UInt64) -> Bool {
        let base = Self.base(written, at: moment)
        guard let known = measures[device]?.base,
            base - known > Int64(Limits.clockLeadMillisecondsMax)
        else { return false }
        measures[device]?.base = base
        measures[device]?.at = moment
        return true
    }

    /// The measure that was taken first goes.
    private mutating func makeRoom(for device: DeviceID) {
        guard measures[device] == nil, measures.count >= Self.devicesMax else { return }
        let oldest = measures.min { ($0.value.at, $0.key) < ($1.value.at, $1.key) }
        if let oldest { measures[oldest.key] = nil }
    }

    /// Converts a base into a difference from the local wall clock.
    private func offset(at time: TurnTime) -> Int64 {
        Int64(clamping: time.monotonic)
            - Int64(min(time.wall, HybridTimestamp.millisecondsMax))
    }

    /// How far each person's clock is ahead of the local one, milliseconds, ascending: the median
    /// of that person's devices.
    private func differences(at time: TurnTime) -> [(device: DeviceID, by: Int64)] {
        let offset = offset(at: time)
        var people: [[UInt8]: [(device: DeviceID, by: Int64)]] = [:]
        for (device, measure) in measures
        where time.monotonic &- measure.at < Self.memoryMilliseconds {
            people[measure.person, default: []].append((device, measure.base + offset))
        }
        func isBefore(
            _ left: (device: DeviceID, by: Int64), _ right: (device: DeviceID, by: Int64)
        ) -> Bool {
            (left.by, left.device) < (right.by, right.device)
        }
        return people.values.map { $0.sorted(by: isBefore)[$0.count / 2] }.sorted(by: isBefore)
    }

    // MARK: Judging

    /// The conclusion about the local clock and about others'.
    enum Verdict: Equatable {
        /// No peer has told its time.
        case unknown
        /// Of so many people nobody differs by a noticeable amount.
        case fine(of: Int)
        /// So many others agree with each other, and this clock differs from theirs by so much:
        /// positive where they are ahead.
        case own(by: Int64, others: Int)
        /// This device's clock differs most, and nobody else's says which of the two is wrong.
        case doubtful(DeviceID, by: Int64)
        /// Others agree with this clock, and `count` do not; the worst of them.
        case others(DeviceID, by: Int64, count: Int)
    }

    /// Compares all clocks.
    func verdict(at time: TurnTime) -> Verdict {
        let all = differences(at: time)
        guard let first = all.first, let last = all.last else { return .unknown }
        let worst = last.by.magnitude >= first.by.magnitude ? last : first
        let off = all.count { $0.by.magnitude > Self.differenceMax.magnitude }
        guard off > 0 else { return .fine(of: all.count) }
        let agreeing = all.count - off
        // More people have to contradict this clock than confirm it, this one included.
        let (middle, size) = Self.largestGroup(of: all.map(\.by))
        if size > agreeing + 1, size > 1, middle.magnitude > Self.differenceMax.magnitude {
            return .own(by: middle, others: size)
        }
        return agreeing > 0
            ? .others(worst.device, by: worst.by, count: off)
            : .doubtful(worst.device, by: worst.by)
    }

    /// The largest group of values that differ by less than the noticeable amount: its median, and
    /// its size.
    private static func largestGroup(of ascending: [Int64]) -> (middle: Int64, size: Int) {
        var best = (middle: Int64(0), size: 0)
        var start = 0
        for end in ascending.indices {
            while ascending[end] - ascending[start] > differenceMax { start += 1 }
            let size = end - start + 1
            if size > best.size { best = (ascending[start + size / 2], size) }
        }
        return best
    }
}
