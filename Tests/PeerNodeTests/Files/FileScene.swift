import PeerNode
import WorkspaceModel
import WorkspaceTestKit

/// A world whose people share a channel and send each other files.
final class FileScene {
    let world: SimulatedWorld
    let nodes: [SimulatedNode]

    /// Founds a workspace and has the others join.
    init?(seed: UInt64, count: Int, options: SimulatedWorld.Options = FileScene.options) {
        let world = SimulatedWorld(seed: seed, options: options)
        let nodes = (0..<count).map { _ in world.addNode() }
        guard let link = Scenes.found(world, by: nodes[0]) else { return nil }
        for node in nodes.dropFirst() {
            guard Scenes.join(link, by: node, named: "Guest \(node.index)") else { return nil }
        }
        (self.world, self.nodes) = (world, nodes)
    }

    /// Whole frames, so that a file of a megabyte is some dozens of events.
    static var options: SimulatedWorld.Options {
        var options = SimulatedWorld.Options()
        options.pieceByteCountMax = 65_536
        return options
    }

    /// Bytes that look like nothing, and of which each part is another.
    static func bytes(_ count: Int, seed: UInt64) -> [UInt8] {
        MadeUpBytes.of(count, seed: seed)
    }

    /// Sends files of these contents in one message.
    ///
    /// - Returns: the message.
    func send(
        _ files: [[UInt8]], by node: SimulatedNode, to channel: String = "general"
    ) -> JSONValue? {
        Self.send(files, by: node, to: channel)
    }

    /// The same of one file, in any world.
    static func send(_ file: [UInt8], by node: SimulatedNode) -> JSONValue? {
        send([file], by: node, to: "general")
    }

    private static func send(
        _ files: [[UInt8]], by node: SimulatedNode, to channel: String
    ) -> JSONValue? {
        var ids: [JSONValue] = []
        for (index, bytes) in files.enumerated() {
            let path = "/sent/\(node.blobs.places.files.count)/file \(index).bin"
            node.blobs.places.files[path] = bytes
            guard let added = node.ask("blob.add", ["path": .string(path)]), let id = added["id"]
            else { return nil }
            ids.append(id)
        }
        return node.ask(
            "message.send", ["channel": .string(channel), "attachments": .array(ids)])
    }

    /// Saves a file of a message, and gives what was saved.
    func save(
        _ message: JSONValue?, _ index: Int = 1, by node: SimulatedNode,
        within limit: UInt64 = 600_000
    ) -> [UInt8]? {
        let call = beginSaving(message, index, by: node)
        world.run(within: limit) { call.map { node.answers[$0] != nil } ?? true }
        return saved(call, by: node)
    }

    func beginSaving(
        _ message: JSONValue?, _ index: Int = 1, by node: SimulatedNode
    ) -> UInt64? {
        node.call(
            "attachment.save",
            [
                "message": message?["id"] ?? .null, "index": .integer(Int64(index)),
                "folder": "/saved", "name": .string("\(node.blobs.places.files.count)"),
            ])
    }

    func saved(_ call: UInt64?, by node: SimulatedNode) -> [UInt8]? {
        guard let path = node.value(call)?["path"]?.stringValue else { return nil }
        return node.blobs.places.files[path]
    }

    /// Why a call failed.
    static func failure(_ call: UInt64?, by node: SimulatedNode) -> NodeError? {
        guard let call, case .failure(let error)? = node.answers[call] else { return nil }
        return error
    }
}
