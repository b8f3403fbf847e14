import Foundation
import Testing
import WorkspaceModel
import WorkspaceTestKit

extension TerminalEndToEnd {
    /// Machines that are carried from one network to another while everything runs. Without a look at
    /// what has changed a link stays for a minute and more that leads nowhere.
    @Suite(.enabled(if: NetworkLab.isPossible, "needs root and network namespaces"))
    struct `A machine that changes its network` {
        /// Far less than the kernel, or the ping of an idle link, takes to notice.
        private static let patience = 15.0

        private struct Team {
            let lab: NetworkLab
            let nodes: [TemporaryNode]

            init(_ names: [String]) throws {
                lab = try #require(NetworkLab(machines: names))
                nodes = names.map { _ in TemporaryNode() }
                for (node, name) in zip(nodes, names) { try lab.start(node, on: name) }
                nodes[0].run("up", "--name", names[0], "--workspace", "acme")
                for (node, name) in zip(nodes, names).dropFirst() {
                    let outcome = node.run(
                        "join", nodes[0].invite(), "--name", name, "--timeout", "60s")
                    #expect(outcome.status == 0, "\(outcome.errors)")
                }
                #expect(eventually { nodes.allSatisfy { peers(of: $0) == nodes.count - 1 } })
            }

            func peers(of node: TemporaryNode) -> Int {
                node.run("peer", "list", "--json").objects.count { $0["state"] == "connected" }
            }
        }

        private func expect(_ text: String, from author: TemporaryNode, at others: [TemporaryNode])
        {
            #expect(author.run("send", "general", text).status == 0)
            for (number, other) in others.enumerated() {
                #expect(
                    eventually(within: Self.patience) { other.texts(limit: 3).contains(text) },
                    "\(text) at \(number)")
            }
        }

        @Test(arguments: [2, 5])
        func `is reached, and reaches others, there and back again`(count: Int) throws {
            let names = (0..<count).map { "m\($0)" }
            let team = try Team(names)
            let mover = team.nodes[count - 1]
            let others = Array(team.nodes.dropLast())
            for (round, network) in [2, 1].enumerated() {
                #expect(team.lab.move(names[count - 1], to: network))
                expect("out \(round)", from: mover, at: others)
                expect("in \(round)", from: others[0], at: [mover])
            }
        }

        /// Who stays hears nothing from its own kernel, and finds the other one all the same.
        @Test func `is found by what IPv6 gives each interface alone`() throws {
            let team = try Team(["m0", "m1"])
            #expect(team.lab.leaveLinkLocal("m0") && team.lab.leaveLinkLocal("m1"))
            expect("by link-local", from: team.nodes[1], at: [team.nodes[0]])
            expect("and back", from: team.nodes[0], at: [team.nodes[1]])
        }
    }
}
