import SyncProtocol
import WorkspaceModel

/// The traffic of a crowd: sums only, since a list of all messages would be larger
/// than everything else.
package struct CrowdTraffic {
    /// The length of a frame, and the tag of its encryption.
    private static let frameBytes = 2 + 16

    /// Of all links together, with frames and their fragments; without the handshake and TCP.
    package private(set) var byteCount = 0
    /// Of each node, what it sent and what it got.
    private(set) var byNode: [Int]
    /// Operations in messages, each as often as it was sent.
    package private(set) var operationCount = 0
    private var counts = [Int](repeating: 0, count: 256)
    private var bytes = [Int](repeating: 0, count: 256)

    init(nodes: Int) { byNode = [Int](repeating: 0, count: nodes) }

    mutating func addNode() { byNode.append(0) }

    mutating func note(_ message: SyncMessage, bytes length: Int) {
        counts[Int(message.type)] += 1
        bytes[Int(message.type)] += length
        if case .operations(_, _, let runs, _) = message {
            operationCount += runs.reduce(0) { $0 + $1.entries.count }
        }
    }

    mutating func noteFrame(_ plaintextBytes: Int, from sender: Int, to receiver: Int) {
        let length = plaintextBytes + Self.frameBytes
        byteCount += length
        byNode[sender] += length
        byNode[receiver] += length
    }

    /// How many messages of a type were sent.
    package func count(_ type: UInt8) -> Int { counts[Int(type)] }
    /// Their bytes, before they were put into frames.
    func bytes(_ type: UInt8) -> Int { bytes[Int(type)] }
}

/// The cost of one event in a crowd, as a row of the table in docs/SCALE.md.
package struct CrowdRow: CustomStringConvertible {
    let what: String
    package let traffic: CrowdTraffic
    /// The text once for each who lacked it.
    let floor: Int
    /// After how many turns everybody had it, and after how many milliseconds; `nil` where that was
    /// not so.
    package let end: (turns: Int, milliseconds: UInt64)?

    private static let kinds: [(type: UInt8, name: String)] = [
        (0x01, "ws_open"), (0x10, "digest_ws"), (0x11, "digest_docs"), (0x12, "tips"),
        (0x13, "pull"), (0x15, "ops"), (0x96, "reach"),
    ]

    /// The head of the table.
    package static var head: String {
        let names =
            ["what", "all links, kB", "busiest node, kB", "floor, kB", "turns", "ms"]
            + kinds.map { "\($0.name), kB" }
        let lines = ["---"] + [String](repeating: "---:", count: names.count - 1)
        return row(names) + "\n" + row(lines)
    }

    /// The row.
    package var description: String {
        let figures = [
            Self.kilobytes(traffic.byteCount), Self.kilobytes(traffic.byNode.max() ?? 0),
            Self.kilobytes(floor), end.map { "\($0.turns)" } ?? "never",
            end.map { "\($0.milliseconds)" } ?? "never",
        ]
        let kinds = Self.kinds.map { kind in
            "\(traffic.count(kind.type)): \(Self.kilobytes(traffic.bytes(kind.type)))"
        }
        return Self.row([what] + figures + kinds)
    }

    private static func row(_ cells: [String]) -> String {
        "| " + cells.joined(separator: " | ") + " |"
    }

    /// With one digit behind the point.
    private static func kilobytes(_ bytes: Int) -> String {
        let tenths = (bytes + 50) / 100
        return "\(tenths / 10).\(tenths % 10)"
    }
}
