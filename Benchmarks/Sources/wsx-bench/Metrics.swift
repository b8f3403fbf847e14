import WorkspaceModel

/// The answer of `node.metrics`.
struct Metrics {
    private let lines: [Substring]

    init(_ socket: ControlSocket) throws {
        lines = try socket.call("node.metrics")["text"]?.stringValue?.split(separator: "\n") ?? []
    }

    /// The value of a family at a label of this value.
    func value(_ name: String, _ label: String) -> Int64 {
        let line = lines.first { $0.hasPrefix("\(name){") && $0.contains("\"\(label)\"") }
        return line?.split(separator: " ").last.flatMap { Int64($0) } ?? 0
    }

    /// Bytes that came over links since the start.
    var receivedBytes: Double { Double(value("wsx_net_bytes_total", "in")) }
}
