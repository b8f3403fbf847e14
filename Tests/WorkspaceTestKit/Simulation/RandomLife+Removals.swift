import WorkspaceModel

/// Founders who remove people at random. Nobody removed returns in the same life.
extension RandomLife {
    /// Whether the node was removed from the workspace with this place in `members`.
    func isRemoved(_ index: Int, from workspace: Int) -> Bool {
        removed[workspace]?.contains(index) == true
    }

    /// Whether the node was out of some workspace at some time.
    public func hasBeenOut(_ index: Int) -> Bool {
        (Array(removed.values) + Array(voided.values)).contains { $0.contains(index) }
    }

    /// Whether the author of a message was removed from its workspace: what he was told is on his
    /// disk may have been cut off.
    func isExcused(_ message: Sent) -> Bool {
        members.indices.contains { place in
            members[place].workspace == message.workspace
                && (isRemoved(message.author, from: place)
                    || voided[place]?.contains(message.author) == true)
        }
    }

    func removeSomebody() {
        guard let workspace = members.indices.randomElement(using: &generator),
            let founder = members[workspace].nodes.first,
            let index = members[workspace].nodes.dropFirst().randomElement(using: &generator)
        else { return }
        let call = world.nodes[founder].call(
            "member.remove",
            [
                "workspace": .string(members[workspace].workspace),
                "member": .string("Person \(index)"), "force": true,
            ])
        if let call { removals.append((workspace, index, call)) }
    }

    func followRemovals() {
        for (workspace, index, call) in removals {
            guard let founder = members[workspace].nodes.first else { continue }
            let node = world.nodes[founder]
            if node.value(call) != nil {
                removed[workspace, default: []].insert(index)
                members[workspace].nodes.removeAll { $0 == index }
            } else if isUnsure(call, on: node) {
                // The founder crashed, or the disk failed: whether it is there shows only when the
                // node is back.
                guard node.isRunning else { continue }
                let people = node.ask(
                    "member.list",
                    ["workspace": .string(members[workspace].workspace), "limit": 100])
                guard let items = people?["items"]?.arrayValue else { continue }
                if !items.contains(where: { $0["name"]?.stringValue == "Person \(index)" }) {
                    removed[workspace, default: []].insert(index)
                    members[workspace].nodes.removeAll { $0 == index }
                }
            } else if node.answers[call] == nil {
                continue
            }
            removals.removeAll { $0.call == call && $0.workspace == workspace }
        }
    }

    /// Whether nobody was told what came of a call: it is lost, or the disk failed.
    private func isUnsure(_ call: UInt64, on node: SimulatedNode) -> Bool {
        guard case .failure(let error)? = node.answers[call] else { return isLost(call, on: node) }
        return Self.passing.contains(error.kind)
    }

    /// A person who was let in by somebody who was removed meanwhile, or by a device that was revoked, is
    /// out and says so. They come back by another invite.
    func followVoided() {
        for place in members.indices {
            for index in members[place].nodes.dropFirst()
            where hasNoRole(index, in: members[place].workspace) {
                voided[place, default: []].insert(index)
                members[place].nodes.removeAll { $0 == index }
            }
        }
    }

    private func isListed(_ workspace: String, on index: Int) -> Bool {
        let items = world.nodes[index].ask("workspace.list")?["items"]?.arrayValue ?? []
        return items.contains { $0["id"]?.stringValue == workspace }
    }

    /// Whether a node knows that it is out of a workspace.
    func hasNoRole(_ index: Int, in workspace: String) -> Bool {
        let listed = world.nodes[index].ask("workspace.list")?["items"]?.arrayValue?
            .first { $0["id"]?.stringValue == workspace }
        return listed?["role"] == .null
    }

    /// Those who were removed and do not say so themselves, in words.
    public func unawareOfRemoval() -> [String] {
        removed.keys.sorted().flatMap { place in
            (removed[place] ?? []).sorted().compactMap { index -> String? in
                let workspace = members[place].workspace
                guard isListed(workspace, on: index), !hasNoRole(index, in: workspace) else {
                    return nil
                }
                return "node \(index) does not know that it was removed from \(workspace)"
            }
        }
    }
}
