import PeerNode
import WorkspaceModel

/// Newcomers after the end reveal what everybody has kept: a newcomer gets all of it from one
/// member, and must be able to place it.
extension RandomLife {
    /// After `heal`: for every workspace and each of its members somebody comes in who reaches
    /// nobody but that member.
    ///
    /// - Returns: who could not, or has another digest in the end, in words.
    public func welcomeNewcomers() -> [String] {
        var problems: [String] = []
        for place in members.indices {
            let (workspace, nodes) = members[place]
            guard let link = newLink(to: workspace, by: world.nodes[nodes[0]]) else {
                problems.append("no invite to \(workspace)")
                continue
            }
            var everybody = nodes
            _ = meet(everybody, in: workspace)
            for host in nodes {
                everybody.append(world.nodes.count)
                if let problem = welcome(by: link, to: workspace, through: world.nodes[host]) {
                    problems.append(problem)
                }
            }
            world.network.heal()
            if !meet(everybody, in: workspace) {
                problems.append("digests of \(workspace) differ with the newcomers")
            }
        }
        return problems
    }

    private func newLink(to workspace: String, by founder: SimulatedNode) -> String? {
        founder.ask(
            "invite.create",
            ["workspace": .string(workspace), "uses": 20, "expires_ms": 31_536_000_000]
        )?["link"]?.stringValue
    }

    private func welcome(
        by link: String, to workspace: String, through host: SimulatedNode
    ) -> String? {
        let newcomer = world.addNode()
        for other in world.nodes where other !== host && other !== newcomer {
            world.network.part(newcomer, other)
        }
        let name = "newcomer \(newcomer.index) through node \(host.index)"
        guard let led = InviteLink(link, leadingTo: host.address) else { return "a bad link" }
        let call = newcomer.call(
            "workspace.join",
            ["link": .string(led.text.link), "name": .string(name), "timeout_ms": 120_000])
        guard let call else { return "\(name) does not run" }
        world.run(within: 130_000) { newcomer.answers[call] != nil }
        guard newcomer.value(call) != nil else {
            return "\(name) is not in: \(newcomer.answers[call].map { "\($0)" } ?? "-")"
        }
        let isEqual = meet([host.index, newcomer.index], in: workspace)
        return isEqual ? nil : "\(name) has another digest"
    }

    /// Lets time pass, 20 minutes at most, until these nodes show one digest.
    private func meet(_ nodes: [Int], in workspace: String) -> Bool {
        for _ in 0..<600 {
            let digests = nodes.map { digest(of: workspace, on: world.nodes[$0]) }
            if digests.allSatisfy({ $0 != nil && $0 == digests[0] }) { return true }
            world.run(for: 2_000)
        }
        return false
    }
}
