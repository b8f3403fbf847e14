import Glibc
import WorkspaceModel

/// The figures of one row, gathered over its runs and printed as one line.
struct Figures {
    private let anchor: String
    private var samples: [(name: String, values: [Double])] = []
    private var meta: [(name: String, value: String)] = []

    init(_ anchor: String) { self.anchor = anchor }

    /// One more sample of the figure `name`.
    mutating func add(_ name: String, _ value: Double) {
        if let index = samples.firstIndex(where: { $0.name == name }) {
            samples[index].values.append(value)
        } else {
            samples.append((name, [value]))
        }
    }

    /// A fact about the whole row.
    mutating func note(_ name: String, _ value: some CustomStringConvertible) {
        meta.append((name, value.description))
    }

    /// {"anchor", "figures": {name: {median, min, max, n}}, "meta"}.
    func print() {
        var figures = JSONObject()
        for sample in samples {
            let values = sample.values.sorted()
            var figure = JSONObject()
            figure.append("median", Self.number(Self.median(values)))
            figure.append("min", Self.number(values.first ?? 0))
            figure.append("max", Self.number(values.last ?? 0))
            figure.append("n", .integer(Int64(values.count)))
            figures.append(sample.name, .object(figure))
        }
        var facts = JSONObject()
        for fact in meta { facts.append(fact.name, .string(fact.value)) }
        let line: JSONValue = [
            "anchor": .string(anchor), "figures": .object(figures), "meta": .object(facts),
        ]
        Swift.print(line.text)
    }

    static func median(_ sorted: [Double]) -> Double {
        guard !sorted.isEmpty else { return 0 }
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }

    /// The value below which `part` of `values` lie.
    static func quantile(_ part: Double, of values: [Double]) -> Double {
        let sorted = values.sorted()
        guard !sorted.isEmpty else { return 0 }
        return sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))]
    }

    /// Five digits say as much as a shared machine does.
    private static func number(_ value: Double) -> JSONValue {
        var scale = 1.0
        while abs(value) * scale < 10_000, scale < 1e6 { scale *= 10 }
        let rounded = (value * scale).rounded() / scale
        return .decimal("\(rounded)")
    }
}

/// Seconds that `body` takes by the wall clock.
func seconds(_ body: () throws -> Void) rethrows -> Double {
    let start = ContinuousClock.now
    try body()
    return elapsed(since: start)
}

/// Seconds since `start`.
func elapsed(since start: ContinuousClock.Instant) -> Double {
    let parts = start.duration(to: .now).components
    return Double(parts.seconds) + Double(parts.attoseconds) * 1e-18
}

/// Seconds of processor time that this program spends in `body`: a busy machine changes them less.
func processorSeconds(_ body: () throws -> Void) rethrows -> Double {
    func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
    let start = now()
    try body()
    return now() - start
}
