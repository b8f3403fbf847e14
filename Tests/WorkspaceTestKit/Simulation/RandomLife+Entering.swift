import PeerNode
import WorkspaceModel

/// Founding workspaces, inviting and joining.
extension RandomLife {
    func found(by index: Int, named name: String) {
        let node = world.nodes[index]
        if node.ask("identity.show") == nil {
            _ = node.ask("identity.create", ["name": .string("Person \(index)")])
        }
        guard let made = node.ask("workspace.create", ["name": .string(name)]),
            let id = made["id"]?.stringValue
        else { return world.fail("node \(index) could not found a workspace") }
        members.append((id, [index]))
        channels[id] = ["general"]
        if hasRemovals {
            node.call(
                "policy.set", ["workspace": .string(id), "who_may_invite": "members"])
        }
        invite(members.count - 1, by: index)
    }

    func invite(_ workspace: Int, by index: Int) {
        let call = world.nodes[index].call(
            "invite.create",
            [
                "workspace": .string(members[workspace].workspace), "uses": 20,
                "expires_ms": 31_536_000_000,
            ])
        if let call { invites.append((workspace, index, call)) }
    }

    func joinSomething() {
        guard let (workspace, link, _) = links.randomElement(using: &generator) else { return }
        let outside = world.nodes.indices.filter { index in
            !members[workspace].nodes.contains(index) && !isRemoved(index, from: workspace)
                && !isFurther(index)
                && !joins.contains { $0.node == index && $0.workspace == workspace }
        }
        guard let index = outside.randomElement(using: &generator) else { return }
        // Somebody else than who made the invite may open.
        let host = members[workspace].nodes.randomElement(using: &generator) ?? 0
        let isLed = hasRemovals && generator.oneIn(2)
        let led = InviteLink(link, leadingTo: world.nodes[host].address)
        join(workspace, isLed ? led?.text.link ?? link : link, by: index)
    }

    func join(_ workspace: Int, _ link: String, by index: Int) {
        let call = world.nodes[index].call(
            "workspace.join",
            ["link": .string(link), "name": .string("Person \(index)"), "timeout_ms": 60_000])
        joins.append((workspace, index, call))
    }

    func followInvites() {
        for (workspace, index, call) in invites {
            let node = world.nodes[index]
            if let link = node.value(call)?["link"]?.stringValue {
                links.append((workspace, link, index))
            } else if isLost(call, on: node), node.isRunning {
                invite(workspace, by: index)
            } else if node.answers[call] == nil {
                continue
            }
            invites.removeAll { $0.call == call && $0.node == index }
        }
    }

    func followJoins() {
        for (workspace, index, call) in joins {
            let node = world.nodes[index]
            if node.value(call) != nil {
                members[workspace].nodes.append(index)
            } else if let call, !isLost(call, on: node), node.answers[call] == nil {
                continue
            }
            joins.removeAll { $0.workspace == workspace && $0.node == index }
        }
    }

    func letEverybodyIn(_ workspace: Int) {
        // Those of others may be worth nothing: their makers may have been removed.
        let founder = members[workspace].nodes[0]
        let link = links.first { $0.workspace == workspace && $0.from == founder }?.link
        guard let link else {
            if !invites.contains(where: { $0.workspace == workspace && $0.node == founder }) {
                invite(workspace, by: founder)
            }
            return
        }
        for index in world.nodes.indices
        where !members[workspace].nodes.contains(index) && !isRemoved(index, from: workspace)
            && !isFurther(index)
            && !joins.contains(where: { $0.workspace == workspace && $0.node == index })
        {
            join(workspace, link, by: index)
        }
    }
}
