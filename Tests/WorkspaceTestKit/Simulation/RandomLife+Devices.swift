import PeerNode
import WorkspaceModel

/// People who link further devices, talk from them, and revoke some.
extension RandomLife {
    /// A node that is to become somebody's further device.
    struct Linking {
        let node: Int
        let owner: Int
        /// The person's words, where the node comes by them and an invite, and not by a code.
        var phrase: JSONValue?
        /// The owner's call that makes the link, and the node's that takes it.
        var offer: UInt64?
        var answer: UInt64?
    }

    /// A device that is to count no more.
    struct Revocation {
        let node: Int
        /// Its id.
        let device: JSONValue
        /// The node of the same person that revokes it, and the words where it needs them.
        let revoker: Int
        var phrase: JSONValue?
        var call: UInt64?
        var isDone = false
    }

    /// Whose node it is: the place of that person's first one.
    func person(of index: Int) -> Int { owners[index] ?? copies[index] ?? index }

    /// Whether a node comes in as somebody's further device, and not by an invite.
    func isFurther(_ index: Int) -> Bool {
        owners[index] != nil || linkings.contains { $0.node == index }
    }

    /// All nodes of one person that are linked or copies, the first one first where it is not lost.
    func nodes(of person: Int) -> [Int] {
        (lost[person] != nil ? [] : [person])
            + owners.keys.filter { owners[$0] == person }.sorted()
            + copies.keys.filter { copies[$0] == person }.sorted()
    }

    /// Somebody links a further device now and then, comes back by the phrase, or revokes one.
    func changeDevices() {
        switch deviceGenerator.below(30) {
        case 0 where owners.count + linkings.count < 2:
            let people = Set(members.flatMap(\.nodes).map(person(of:))).subtracting(lost.keys)
                .sorted()
            guard let owner = people.randomElement(using: &deviceGenerator) else { return }
            linkings.append(Linking(node: world.addNode().index, owner: owner))
        case 1: revokeDevice()
        case 2...5 where owners.count + linkings.count < 2: recoverSomebody()
        default: break
        }
    }

    func followDevices() {
        for place in linkings.indices.reversed() {
            let linking = linkings[place]
            let (owner, node) = (world.nodes[linking.owner], world.nodes[linking.node])
            if node.value(linking.answer) != nil || lacksNothing(linking) {
                finish(place)
            } else if let phrase = linking.phrase {
                followRecovery(place, by: phrase)
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
        for place in members.indices { linkOwned(in: place) }
    }

    /// Whether an earlier attempt made the node a device of its person, though the node went down
    /// before it could say so.
    private func lacksNothing(_ linking: Linking) -> Bool {
        guard let answer = linking.answer,
            case .failure(let error)? = world.nodes[linking.node].answers[answer]
        else { return false }
        return error.reason == "link.nothing"
    }

    /// A node has become a device of its person.
    func finish(_ place: Int) {
        let linking = linkings.remove(at: place)
        owners[linking.node] = linking.owner
        if linking.phrase != nil { recovered.insert(linking.node) }
        revokeLost(linking)
    }

    /// A device is in the workspaces that its owner was in when it was linked: it is linked again
    /// for those that its owner has come into since.
    private func linkOwned(in place: Int) {
        let member = members[place]
        for (index, owner) in owners.sorted(by: { $0.key < $1.key })
        where (member.nodes.contains(owner) || lost[owner] != nil)
            && !member.nodes.contains(index) && !isRemoved(index, from: place)
        {
            if digest(of: member.workspace, on: world.nodes[index]) != nil,
                !hasNoRole(index, in: member.workspace)
            {
                members[place].nodes.append(index)
            } else if !linkings.contains(where: { $0.node == index }),
                !revocations.contains(where: { $0.node == index })
            {
                let phrase = lost[owner] == nil ? nil : phrases[owner]
                linkings.append(Linking(node: index, owner: owner, phrase: phrase))
            }
        }
    }

    private func revokeDevice() {
        // What is on its way in elsewhere would come in there after all.
        let linked = owners.filter { index, owner in
            lost[owner] == nil && !revocations.contains { $0.node == index }
                && !linkings.contains { $0.node == index }
        }
        guard let index = linked.keys.sorted().randomElement(using: &deviceGenerator),
            let owner = owners[index],
            let id = world.nodes[index].ask("identity.show")?["id"]
        else { return }
        revoke(Revocation(node: index, device: id, revoker: owner))
    }

    func revoke(_ wanted: Revocation) {
        var revocation = wanted
        revocation.call = revocationCall(wanted)
        revocations.append(revocation)
    }

    private func revocationCall(_ revocation: Revocation) -> UInt64? {
        var parameters: JSONObject = ["device": revocation.device]
        if let phrase = revocation.phrase { parameters.append("phrase", phrase) }
        return world.nodes[revocation.revoker].call("device.revoke", .object(parameters))
    }

    private func followRevocations() {
        for (place, revocation) in revocations.enumerated() {
            let (node, call) = (world.nodes[revocation.revoker], revocation.call)
            if node.value(call) != nil {
                for place in members.indices {
                    removed[place, default: []].insert(revocation.node)
                    members[place].nodes.removeAll { $0 == revocation.node }
                }
                owners[revocation.node] = nil
                revocations[place].isDone = true
            } else if call.map({ node.answers[$0] != nil || isLost($0, on: node) }) ?? true {
                // Nobody was told the result: an unsure user does it again.
                revocations[place].call = revocationCall(revocation)
            }
        }
        revocations.removeAll(where: \.isDone)
    }
}
