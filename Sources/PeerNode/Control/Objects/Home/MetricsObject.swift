public import WorkspaceModel

/// Metrics of the node for a monitoring system.
///
/// Labels carry states, origins, methods, kinds and ids of devices; never a name of a person, a
/// channel or a workspace.
public struct MetricsObject: ControlObject {
    /// One measured thing with all of its values.
    public struct Family: Sendable {
        /// Such as `wsx_peers`.
        public let name: String
        /// What is measured, in one line.
        public let help: String
        /// Whether it only grows while the process lives.
        public let isCounter: Bool
        /// Values with their labels.
        public var samples: [Sample]
        /// Whether the samples are the buckets, sums and counts of a histogram.
        public var isHistogram = false

        /// A family with these values.
        public init(
            _ name: String, _ help: String, isCounter: Bool = false, samples: [Sample]
        ) {
            self.name = name
            self.help = help
            self.isCounter = isCounter
            self.samples = samples
        }
    }

    /// One value.
    public struct Sample: Sendable {
        /// Names and values, in the order in which they are shown.
        public let labels: [(name: String, value: String)]
        /// What was measured.
        public let value: Int64
        /// What follows the family's name, such as `_bucket` of a histogram.
        public var suffix = ""
        /// Whether the value counts thousandths.
        public var isThousandths = false

        /// A value with its labels.
        public init(_ value: Int64, _ labels: (name: String, value: String)...) {
            self.labels = labels
            self.value = value
        }
    }

    /// In the order of the page.
    public var families: [Family]

    /// The page with these families.
    public init(_ families: [Family]) { self.families = families }

    /// The page in version 0.0.4 of the text format of Prometheus.
    public var text: String {
        var text = ""
        for family in families where !family.samples.isEmpty {
            text += "# HELP \(family.name) \(family.help)\n"
            let type = family.isHistogram ? "histogram" : family.isCounter ? "counter" : "gauge"
            text += "# TYPE \(family.name) \(type)\n"
            for sample in family.samples {
                let labels = sample.labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }
                let list = labels.isEmpty ? "" : "{" + labels.joined(separator: ",") + "}"
                text += "\(family.name)\(sample.suffix)\(list) \(sample.valueText)\n"
            }
        }
        return text
    }

    /// The samples of one histogram of milliseconds, shown in seconds.
    ///
    /// - Parameters:
    ///   - bounds: upper ends, ascending.
    ///   - counts: how many values each range has; the last range has no end.
    static func histogram(
        bounds: [UInt64], counts: [Int], total: UInt64, _ label: (name: String, value: String)
    ) -> [Sample] {
        var samples: [Sample] = []
        var sum = 0
        for (place, count) in counts.enumerated() {
            sum += count
            let end = place < bounds.count ? thousandths(Int64(clamping: bounds[place])) : "+Inf"
            var sample = Sample(Int64(sum), label, ("le", end))
            sample.suffix = "_bucket"
            samples.append(sample)
        }
        var all = Sample(Int64(clamping: total), label)
        all.suffix = "_sum"
        all.isThousandths = true
        var count = Sample(Int64(sum), label)
        count.suffix = "_count"
        return samples + [all, count]
    }

    /// `1.25` for 1,250: no more digits than needed.
    static func thousandths(_ value: Int64) -> String {
        let digits = String(value % 1_000)
        var part = String(repeating: "0", count: 3 - digits.utf8.count) + digits
        while part.last == "0" { part.removeLast() }
        return String(value / 1_000) + (part.isEmpty ? "" : "." + part)
    }

    /// `{"text":…}`: the page.
    public var json: JSONValue { ["text": .string(text)] }

    private static func escaped(_ value: String) -> String {
        var text = ""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}

extension MetricsObject.Sample {
    fileprivate var valueText: String {
        isThousandths ? MetricsObject.thousandths(value) : String(value)
    }
}
