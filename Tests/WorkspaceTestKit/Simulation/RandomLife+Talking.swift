import PeerNode
import WorkspaceModel

/// Messages, deletions and annotations.
extension RandomLife {
    func sendSomething() {
        guard let (workspace, index) = pickMember() else { return }
        let id = members[workspace].workspace
        for _ in 0..<(generator.oneIn(5) ? 1 + generator.below(8) : 1) {
            let channel = channels[id]?.randomElement(using: &generator) ?? "general"
            send("n\(index)-\(sent.count)", to: channel, by: index, in: workspace)
        }
    }

    func send(_ text: String, to channel: String, by author: Int, in workspace: Int) {
        var message = Sent(
            author: author, workspace: members[workspace].workspace, channel: channel, text: text)
        message.call = call(for: message)
        sent.append(message)
    }

    /// The author deletes one of the newest messages.
    func deleteSomething() {
        let known = sent.indices.filter { place in
            sent[place].isAcknowledged && sent[place].deletion == nil && isIn(sent[place])
        }
        guard let place = known.suffix(8).randomElement(using: &generator) else { return }
        let message = sent[place]
        let node = world.nodes[message.author]
        guard let id = node.value(message.call)?["id"] else { return }
        sent[place].deletion = node.call(
            "message.delete", ["workspace": .string(message.workspace), "message": id])
    }

    private func isIn(_ message: Sent) -> Bool {
        members.contains {
            $0.workspace == message.workspace && $0.nodes.contains(message.author)
        }
    }

    func call(for message: Sent) -> UInt64? {
        world.nodes[message.author].call(
            "message.send",
            [
                "workspace": .string(message.workspace), "channel": .string(message.channel),
                "text": .string(message.text), "key": .string("k" + message.text),
            ])
    }

    /// Somebody edits, pins or reacts to what was sent, or takes that back.
    func saySomethingAboutAMessage() {
        guard let (workspace, index) = pickMember() else { return }
        let id = members[workspace].workspace
        let known = sent.filter { $0.workspace == id && $0.isAcknowledged }
        guard let message = known.suffix(8).randomElement(using: &generator),
            let name = world.nodes[message.author].value(message.call)?["id"]
        else { return }
        var parameters: JSONObject = ["workspace": .string(id), "message": name]
        switch generator.below(6) {
        case 0: world.nodes[index].call("message.pin", .object(parameters))
        case 1: world.nodes[index].call("message.unpin", .object(parameters))
        case 2:
            parameters.append("text", .string("\(message.text)~\(generator.below(1_000))"))
            world.nodes[message.author].call("message.edit", .object(parameters))
        default:
            parameters.append("emoji", .string(["👍", "🎉", "👀"][generator.below(3)]))
            parameters.append("remove", .bool(generator.oneIn(3)))
            world.nodes[index].call("message.react", .object(parameters))
        }
    }

    /// Failures after which people try again, under the same key.
    static let passing: Set<NodeError.Kind> = [.busy, .storageFull, .storeFailed]

    func followSends() {
        for index in sent.indices where !sent[index].isAcknowledged && !sent[index].isRefused {
            let node = world.nodes[sent[index].author]
            guard let call = sent[index].call, !isLost(call, on: node) else {
                sent[index].call = self.call(for: sent[index])
                continue
            }
            switch node.answers[call] {
            case .success?: sent[index].isAcknowledged = true
            case .failure(let error)? where Self.passing.contains(error.kind):
                sent[index].call = nil
                sent[index].isRepeated = true
            case .failure?: sent[index].isRefused = true
            case nil: break
            }
        }
    }
}
