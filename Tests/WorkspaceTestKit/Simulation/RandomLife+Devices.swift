import PeerNode
import WorkspaceModel

/// People who link further devices, talk from them, and revoke some.
extension RandomLife {
    /// A node that is to become somebody's further device.
    struct Linking {
        let node: Int
        let owner: Int
        /// The owner's call that makes the link, and the node's that takes it.
        var offer: UInt64?
        var answer: UInt64?
    }

    /// Whose node it is: the place of that person's first one.
    func person(of index: Int) -> Int { owners[index] ?? index }

    /// Whether a node comes in as somebody's further device, and not by an invite.
    func isFurther(_ index: Int) -> Bool {
        owners[index] != nil || linkings.contains { $0.node == index }
    }

    /// All nodes of one person that are linked.
    func nodes(of person: Int) -> [Int] {
        [person] + owners.keys.filter { owners[$0] == person }.sorted()
    }

    /// Somebody links a further device now and then, or revokes one.
    func changeDevices() {
        switch deviceGenerator.below(30) {
        case 0 where owners.count + linkings.count < 2:
            let people = Set(members.flatMap(\.nodes).map(person(of:))).sorted()
            guard let owner = people.randomElement(using: &deviceGenerator) else { return }
            linkings.append(Linking(node: world.addNode().index, owner: owner))
        case 1: revokeDevice()
        default: break
        }
    }

    func followDevices() {
        for place in linkings.indices.reversed() {
            let linking = linkings[place]
            let (owner, node) = (world.nodes[linking.owner], world.nodes[linking.node])
            if node.value(linking.answer) != nil {
                owners[linking.node] = linking.owner
                linkings.remove(at: place)
            } else if let answer = linking.answer {
                // The code is good for one attempt.
                if node.answers[answer] != nil || isLost(answer, on: node) {
                    linkings[place].offer = nil
                    linkings[place].answer = nil
                }
            } else if let code = owner.value(linking.offer)?["link"] {
                let name = JSONValue.string("Person \(linking.owner)")
                linkings[place].answer = node.call("device.link", ["code": code, "name": name])
            } else if linking.offer.map({ owner.answers[$0] != nil || isLost($0, on: owner) })
                ?? true
            {
                linkings[place].offer = owner.call("device.link")
            }
        }
        followRevocations()
        for (place, member) in members.enumerated() {
            for (index, owner) in owners.sorted(by: { $0.key < $1.key })
            where member.nodes.contains(owner) && !member.nodes.contains(index)
                && !isRemoved(index, from: place)
            {
                if digest(of: member.workspace, on: world.nodes[index]) != nil {
                    members[place].nodes.append(index)
                } else if !linkings.contains(where: { $0.node == index }),
                    !revocations.contains(where: { $0.node == index })
                {
                    // A device is in the workspaces that its owner was in when it was linked.
                    linkings.append(Linking(node: index, owner: owner))
                }
            }
        }
    }

    private func revokeDevice() {
        // What is on its way in elsewhere would come in there after all.
        let linked = owners.keys.filter { index in
            !revocations.contains { $0.node == index } && !linkings.contains { $0.node == index }
        }
        guard let index = linked.sorted().randomElement(using: &deviceGenerator),
            let owner = owners[index],
            let id = world.nodes[index].ask("identity.show")?["id"]
        else { return }
        let call = world.nodes[owner].call("device.revoke", ["device": id])
        if let call { revocations.append((index, id, call)) }
    }

    private func followRevocations() {
        for (place, (index, id, call)) in revocations.enumerated() {
            guard let owner = owners[index] else { continue }
            let node = world.nodes[owner]
            if node.value(call) != nil {
                for place in members.indices {
                    removed[place, default: []].insert(index)
                    members[place].nodes.removeAll { $0 == index }
                }
                owners[index] = nil
            } else if node.answers[call] != nil || isLost(call, on: node) {
                // What came of it nobody was told: whoever is not sure does it again.
                guard let again = node.call("device.revoke", ["device": id]) else { continue }
                revocations[place].call = again
            }
        }
        revocations.removeAll { owners[$0.node] == nil }
    }
}
