public import WorkspaceModel

/// Numbers about the node for a monitoring system.
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
            text += "# TYPE \(family.name) \(family.isCounter ? "counter" : "gauge")\n"
            for sample in family.samples {
                let labels = sample.labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }
                let list = labels.isEmpty ? "" : "{" + labels.joined(separator: ",") + "}"
                text += "\(family.name)\(list) \(sample.value)\n"
            }
        }
        return text
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
