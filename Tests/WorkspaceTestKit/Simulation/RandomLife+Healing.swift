import PeerNode
import WorkspaceModel

/// Repairing everything at the end.
extension RandomLife {
    /// Mends everything, lets everybody in who is not, and waits until all agree.
    ///
    /// - Returns: whether they do, within `limit` virtual milliseconds.
    public func heal(within limit: UInt64 = 40 * 60_000) -> Bool {
        isHealing = true
        let end = world.now + limit
        world.network.heal()
        world.options.latency = 1...20
        for node in world.nodes {
            node.commitsUntilCrash = nil
            if faults.contains(.clockYears) { node.clockSkew = 0 }
        }
        follow()
        // Invites that were made ten years ago by the clock have ended.
        links = []
        snapshots = [:]
        for node in world.nodes { node.call("net.resume") }
        while world.now < end {
            world.run(for: 5_000)
            follow()
            if cutsWords { followVoided() }
            for workspace in members.indices { letEverybodyIn(workspace) }
            if isSettled, world.run(within: 1_000, until: { false }) || isSettled { return true }
        }
        return false
    }

    var isSettled: Bool {
        guard joins.isEmpty, removals.isEmpty, linkings.isEmpty, revocations.isEmpty,
            sent.allSatisfy({ $0.isAcknowledged || $0.isRefused })
        else {
            return false
        }
        for (place, (workspace, nodes)) in members.enumerated() {
            let outside = removed[place]?.count ?? 0
            guard nodes.count + outside == world.nodes.count else { return false }
            let digests = nodes.map { digest(of: workspace, on: world.nodes[$0]) }
            guard digests.allSatisfy({ $0 != nil && $0 == digests[0] }) else { return false }
            guard !hasDevices || !nodes.contains(where: waitsForKeys) else { return false }
        }
        return true
    }

    /// Whether a home that came back by the phrase keeps keys to itself until it has met another member,
    /// or another one misses them.
    private func waitsForKeys(_ index: Int) -> Bool {
        let warnings = world.nodes[index].ask("node.status")?["warnings"]?.arrayValue ?? []
        let kinds = warnings.compactMap { $0["kind"]?.stringValue }
        return kinds.contains("keys.withheld") || kinds.contains("keys.missing")
    }

    /// The digest that a node shows for a workspace.
    public func digest(of workspace: String, on node: SimulatedNode) -> String? {
        node.ask("workspace.list")?["items"]?.arrayValue?
            .first { $0["id"]?.stringValue == workspace }?["digest"]?.stringValue
    }

    /// What is waited for, and what its last attempt was answered, to find out why nothing settles.
    public var pending: [String] {
        func answer(_ call: UInt64?, on index: Int) -> String {
            guard let call else { return "not asked" }
            let node = world.nodes[index]
            return node.answers[call].map { "\($0)" }
                ?? (node.openCalls.contains(call) ? "asked" : "lost")
        }
        var lines: [String] = []
        for join in joins {
            let last = answer(join.call, on: join.node)
            lines.append("join of \(join.workspace) by \(join.node): \(last)")
        }
        for removal in removals { lines.append("removal of \(removal.node)") }
        for linking in linkings {
            let offer = answer(linking.offer, on: linking.owner)
            let last = answer(linking.answer, on: linking.node)
            let way = linking.phrase == nil ? "by a code" : "by the words"
            lines.append("linking of \(linking.node) to \(linking.owner) \(way): \(offer), \(last)")
        }
        for revocation in revocations {
            let last = answer(revocation.call, on: revocation.revoker)
            lines.append("revocation of \(revocation.node) by \(revocation.revoker): \(last)")
        }
        for node in members.flatMap(\.nodes) where hasDevices && waitsForKeys(node) {
            lines.append("node \(node) waits for keys")
        }
        lines.append("removed \(removed), lost \(lost.keys.sorted()), owners \(owners)")
        return lines
    }
}
