import PeerNode
import WorkspaceModel

/// Actions that `work` never chooses, done once by each of a few people, so that every part
/// of the node is used.
extension RandomLife {
    /// Plays the short life that stands for how nodes behave: by chance, healed, a tour, by chance
    /// again, healed, and a tour.
    ///
    /// - Returns: what all nodes did. The world is over then.
    public static func behaviour(seed: UInt64) -> BehaviourHashes {
        let life = RandomLife(seed: seed)
        defer { life.world.end() }
        let recorder = BehaviourRecorder(watching: life.world)
        for _ in 0..<2 {
            life.work(steps: 12)
            _ = life.heal(within: 4 * 60_000)
            life.tour()
        }
        return recorder.finish(life.world)
    }

    /// At most three people of each workspace write, look at what there is, and lock their homes.
    func tour() {
        for (workspace, nodes) in members {
            let visitors = nodes.prefix(3).map { world.nodes[$0] }
            for (place, node) in visitors.enumerated() {
                let next = visitors[(place + 1) % visitors.count]
                write(on: node, to: "Person \(person(of: next.index))", in: workspace)
            }
            world.run(for: 3_000)
            for node in visitors { look(on: node, at: workspace) }
        }
        for node in world.nodes.prefix(2) { lock(node) }
        world.run(for: 3_000)
    }

    private func write(on node: SimulatedNode, to other: String, in workspace: String) {
        func ask(_ method: String, _ parameters: JSONValue) -> JSONValue? {
            var all = parameters.objectValue ?? JSONObject()
            all.append("workspace", .string(workspace))
            return node.ask(method, .object(all))
        }
        let words = JSONValue.string("@\(other) see https://example.org, number \(sent.count)")
        let said = ask("message.send", ["channel": "general", "text": words])
        if let message = said?["id"] {
            _ = ask("message.send", ["channel": "general", "text": "yes", "thread": message])
            _ = ask("message.react", ["message": message, "emoji": "👍"])
            _ = ask("message.edit", ["message": message, "text": "something else"])
            _ = ask("message.pin", ["message": message])
        }
        let passing = ask("message.send", ["channel": "general", "text": "never mind"])
        if let message = passing?["id"] { _ = ask("message.delete", ["message": message]) }
        if let direct = ask("dm.open", ["members": [.string(other)]])?["id"] {
            _ = ask("message.send", ["channel": direct, "text": "a word between us"])
        }
        _ = ask("profile.set", ["description": "Paints at night", "show": ["description"]])
        _ = ask("profile.image.set", ["preset": 7])
        _ = ask("presence.set", ["state": "busy", "text": "in a meeting"])
        _ = ask("typing.send", ["channel": "general"])
        _ = ask("read.mark", ["channel": "general"])
        _ = ask("channel.mute", ["channel": "general"])
        _ = ask("channel.notify", ["channel": "general", "level": "mentions"])
        _ = ask("notify.set", ["level": "mentions"])
        _ = ask("ui.pref.set", ["setting": "theme", "value": "dark"])
        _ = ask("member.role", ["member": .string(other), "role": "admin"])
        _ = ask("workspace.edit", ["description": "where we talk"])
        if let topic = channels[workspace]?.last {
            _ = ask("channel.leave", ["channel": .string(topic)])
            _ = ask("channel.join", ["channel": .string(topic)])
        }
    }

    private func look(on node: SimulatedNode, at workspace: String) {
        let questions: [(method: String, parameters: JSONObject)] = [
            ("home.get", [:]), ("workspace.get", ["counted": true]), ("member.list", [:]),
            ("channel.list", ["scope": "all"]), ("channel.members", ["channel": "general"]),
            ("message.history", ["channel": "general", "limit": 100]),
            ("message.history", ["channel": "general", "pinned": true]), ("dm.list", [:]),
            ("search", ["query": "number"]), ("user.find", ["text": "Person"]),
            ("unread.get", [:]), ("read.status", [:]), ("presence.list", [:]),
            ("profile.get", [:]), ("ui.pref.list", [:]), ("notify.get", [:]),
            ("policy.get", [:]), ("invite.list", [:]), ("device.list", [:]),
            ("sync.status", [:]), ("peer.list", [:]), ("session.status", [:]),
        ]
        for (method, parameters) in questions {
            var all = parameters
            all.append("workspace", .string(workspace))
            _ = node.ask(method, .object(all))
        }
    }

    /// With a passphrase that is gone in the end: a home that is locked takes no part in a life.
    private func lock(_ node: SimulatedNode) {
        let passphrase: JSONValue = "correct horse battery"
        guard node.ask("identity.passphrase.change", ["new": passphrase]) != nil else { return }
        _ = node.ask("lock.now")
        _ = node.ask("home.get")
        _ = node.ask("session.unlock", ["passphrase": passphrase])
        _ = node.ask("identity.passphrase.change", ["current": passphrase, "remove": true])
    }
}
