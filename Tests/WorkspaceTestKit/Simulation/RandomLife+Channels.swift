import PeerNode
import WorkspaceModel

/// Channels that people make and change, public and private ones.
extension RandomLife {
    func createChannel() {
        guard let (workspace, index) = pickMember() else { return }
        let id = members[workspace].workspace
        let name = "topic-\(index)-\(sent.count)-\(channels[id]?.count ?? 0)"
        let call = world.nodes[index].call(
            "channel.create", ["workspace": .string(id), "name": .string(name)])
        if call != nil { channels[id, default: []].append(name) }
    }

    /// Somebody tries to change a channel, who may or may not.
    func changeChannel() {
        guard let (workspace, index) = pickMember() else { return }
        let id = members[workspace].workspace
        guard let channel = channels[id]?.randomElement(using: &generator) else { return }
        var parameters: JSONObject = ["workspace": .string(id), "channel": .string(channel)]
        let other = person(of: members[workspace].nodes.randomElement(using: &generator) ?? index)
        let method = ["edit", "transfer", "role", "archive", "unarchive"][generator.below(5)]
        switch method {
        case "edit": parameters.append("topic", .string("topic \(generator.below(1_000))"))
        case "transfer": parameters.append("member", .string("Person \(other)"))
        case "role":
            parameters.append("member", .string("Person \(other)"))
            parameters.append("role", generator.oneIn(2) ? "admin" : "member")
        default: break
        }
        world.nodes[index].call("channel." + method, .object(parameters))
    }

    // MARK: Private channels

    /// The founder makes one, or adds somebody.
    func changePrivateChannel() {
        guard let workspace = members.indices.randomElement(using: &generator),
            let founder = members[workspace].nodes.first
        else { return }
        let (id, node) = (members[workspace].workspace, world.nodes[founder])
        let own = privateChannels.indices.filter { privateChannels[$0].workspace == workspace }
        guard let place = own.randomElement(using: &generator), !generator.oneIn(4) else {
            let name = "board-\(workspace)-\(privateChannels.count)"
            let parameters: JSONValue = [
                "workspace": .string(id), "name": .string(name), "private": true,
                "history": "all",
            ]
            guard node.call("channel.create", parameters) != nil else { return }
            return privateChannels.append(
                PrivateChannel(workspace: workspace, name: name, nodes: [founder]))
        }
        let outside = Set(members[workspace].nodes.map(person(of:)))
            .subtracting(privateChannels[place].nodes).sorted()
        guard let added = outside.randomElement(using: &generator) else { return }
        let parameters: JSONValue = [
            "workspace": .string(id), "channel": .string(privateChannels[place].name),
            "members": [.string("Person \(added)")],
        ]
        if node.call("channel.add", parameters) != nil {
            privateChannels[place].nodes.insert(added)
        }
    }

    func sendPrivately() {
        guard let channel = privateChannels.randomElement(using: &generator),
            let person = channel.nodes.sorted().randomElement(using: &generator),
            let author = nodes(of: person).randomElement(using: &deviceGenerator),
            members[channel.workspace].nodes.contains(author)
        else { return }
        send("n\(author)-\(sent.count)", to: channel.name, by: author, in: channel.workspace)
    }
}
