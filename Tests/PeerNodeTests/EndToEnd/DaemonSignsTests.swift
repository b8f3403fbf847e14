import Foundation
import Testing
import WorkspaceTestKit

extension TerminalEndToEnd {
    struct `Waiting for a daemon` {
        private func signs(of node: TemporaryNode) -> DaemonSigns {
            DaemonSigns(of: [node.folder])
        }

        @Test func `is woken by what it writes, and by its end`() throws {
            let node = TemporaryNode()
            let start = signs(of: node)
            #expect(!start.wait(milliseconds: 0))
            node.up(name: "Mina", workspace: "acme")
            #expect(start.wait(milliseconds: LongestWait.milliseconds), "its home is made")
            let message = signs(of: node)
            node.run("send", "general", "one")
            #expect(message.wait(milliseconds: LongestWait.milliseconds), "its store is written")
            node.kill()
            node.up()
            let killed = signs(of: node)
            node.kill()
            #expect(
                killed.wait(milliseconds: LongestWait.milliseconds), "nothing is written by that")
            #expect(!signs(of: node).wait(milliseconds: 0), "it ended before")
        }

        @Test func `ends where a condition comes true, and gives up where it does not`() {
            var looks = 0
            #expect(
                eventually {
                    looks += 1
                    return looks == 3
                })
            #expect(!eventually(within: 0) { false })
        }
    }
}
