import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// The control socket of a node with a workspace: lines, or one HTTP request, in any pieces.
extension FuzzTarget {
    static let control = FuzzTarget(
        "control", "bytes to the control socket of a node with a store: each call gets one answer",
        bytesMax: 4_096, secondsMax: 25, memoryMax: 2_048
    ) { bytes in
        guard let cut = bytes.first else { return }
        let (bench, ada) = try FuzzScene.shared.get().bench()
        var player = ControlPlayer(bench: bench, node: ada)
        let content = Array(bytes.dropFirst())
        // Most inputs come whole: how bytes are cut is what `http` tries.
        for piece in cut & 1 == 0 ? [content] : FuzzBytes.pieces(of: content, by: cut) {
            try player.receive(piece)
        }
        try player.finish()
    }
}

private struct ControlPlayer {
    let bench: CoreBench
    let node: BenchNode
    private var connection = ControlConnection(id: 5)
    private var open: [CallID] = []
    private var waited = 0

    init(bench: CoreBench, node: BenchNode) { (self.bench, self.node) = (bench, node) }

    mutating func receive(_ bytes: [UInt8]) throws {
        guard connection.wantsInput else { return }
        connection.receive(bytes)
        try serve()
        // The bytes of a file go nowhere: there is no loop that hands them to the worker.
        _ = connection.takeFile()
    }

    private mutating func serve() throws {
        while let request = connection.nextRequest() {
            open.append(request.call)
            bench.give(
                .call(request.call, method: request.method, arguments: request.parameters),
                to: node)
            bench.settle()
            if waited < 4, node.answer(to: request.call) == nil {
                waited += 1
                bench.advance(1_500)
            }
            try answer()
        }
    }

    /// Hands over what was answered. What waits for an event or a peer goes on waiting.
    private mutating func answer() throws {
        for call in open {
            guard let answer = node.answer(to: call) else { continue }
            connection.answer(call, answer)
        }
        open.removeAll { node.answer(to: $0) != nil }
        if connection.unsent.first == UInt8(ascii: "{") {
            for line in connection.unsent.split(separator: 0x0A) {
                let value = try JSONValue(parsing: Array(line))
                try hold(value["jsonrpc"] == "2.0", "an answer that is none")
                let parts = [value["result"], value["error"]].compactMap { $0 }
                try hold(parts.count == 1, "an answer with result and error, or neither")
            }
        }
        connection.didSend(connection.unsentCount)
    }

    mutating func finish() throws {
        connection.endOfInput()
        try serve()
        connection.hangUp()
        bench.give(.controlClosed(connection: 5), to: node)
        bench.settle()
        guard !node.hasStopped, !node.wipesHome else { return }
        let last = node.call("node.version", on: 6)
        if case .failure(let error) = last {
            try hold(error.reason != "bench.no_answer", "no answer any more")
        }
    }
}
