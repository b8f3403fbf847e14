import PeerNode
import WorkspaceModel

/// People who recover by their phrase in a new home, beside the old one or because that is lost.
extension RandomLife {
    /// Somebody who is in everywhere types the words into a new home. The old one may be lost by
    /// then: it never starts again, and is revoked from the new one.
    func recoverSomebody() {
        let people = members.reduce(into: Set(world.nodes.indices)) { people, member in
            people.formIntersection(member.nodes)
        }
        let busy = Set(linkings.map(\.owner) + joins.map(\.node) + revocations.map(\.revoker))
        let able = people.subtracting(busy).filter { owners[$0] == nil }
        // Founders go on inviting, and what a lost home alone knows of further devices is lost too.
        let free = able.subtracting(owners.values).subtracting(members.compactMap(\.nodes.first))
        let isLoss = !free.isEmpty && deviceGenerator.oneIn(2)
        guard
            let owner = (isLoss ? free : able).sorted().randomElement(using: &deviceGenerator),
            let phrase = phrase(of: owner)
        else { return }
        if isLoss { lose(owner) }
        linkings.append(Linking(node: world.addNode().index, owner: owner, phrase: phrase))
    }

    /// A node shows the words once, and its person has written them down.
    private func phrase(of owner: Int) -> JSONValue? {
        if let known = phrases[owner] { return known }
        let shown = world.nodes[owner].ask("identity.show", ["phrase": true])
        phrases[owner] = shown?["phrase"]
        return phrases[owner]
    }

    /// How many homes people have come back in by their words.
    public var recoveredCount: Int { recovered.count }

    /// Whether the node never runs again.
    public func isLost(node index: Int) -> Bool { lost[index] != nil }

    /// The node is never started again. Of what it was still asked nobody hears.
    private func lose(_ index: Int) {
        let node = world.nodes[index]
        guard let device = node.ask("identity.show")?["id"] else { return }
        lost[index] = device
        node.crash(isSilent: true)
        for place in members.indices {
            removed[place, default: []].insert(index)
            members[place].nodes.removeAll { $0 == index }
        }
        for place in sent.indices where sent[place].author == index && !sent[place].isAcknowledged {
            sent[place].isRefused = true
        }
    }

    /// Types the words in again, with any invite that leads there, until somebody answers.
    func followRecovery(_ place: Int, by phrase: JSONValue) {
        let linking = linkings[place]
        let node = world.nodes[linking.node]
        if let answer = linking.answer {
            guard node.answers[answer] != nil || isLost(answer, on: node) else { return }
            linkings[place].answer = nil
        }
        // They are in, and the node went down before it could say so.
        if members.allSatisfy({ digest(of: $0.workspace, on: node) != nil }) {
            return finish(place)
        }
        let missing = links.filter { digest(of: members[$0.workspace].workspace, on: node) == nil }
        guard node.isRunning, let link = missing.randomElement(using: &deviceGenerator) else {
            return
        }
        linkings[place].answer = node.call(
            "identity.recover",
            [
                "phrase": phrase, "link": .string(link.link),
                "name": .string("Person \(linking.owner)"), "timeout_ms": 60_000,
            ])
    }

    /// The first thing that somebody does in a new home after the loss of the old one.
    func revokeLost(_ linking: Linking) {
        guard let device = lost[linking.owner], let phrase = linking.phrase else { return }
        revoke(
            Revocation(
                node: linking.owner, device: device, revoker: linking.node, phrase: phrase))
    }
}
