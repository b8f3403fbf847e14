import Foundation
import Glibc
import Testing
import WorkspaceTestKit

extension AttackedEndToEnd {
    struct `The end of the tests` {
        /// As when their process is killed: nobody lets go of the home.
        @Test func `ends the daemons that they started`() throws {
            let node = TemporaryNode()
            try #require(node.up(name: "Mina", workspace: "acme").status == 0)
            let other = TemporaryNode()
            try #require(other.up(name: "Joon", workspace: "acme").status == 0)
            let pid = try #require(node.pid)
            let guardian = Guardian(of: node.folder)
            #expect(guardian.process.isRunning)
            #expect(node.run("status", "--check").status == 0)
            guardian.end()
            #expect(eventually { Glibc.kill(pid, 0) != 0 })
            #expect(!FileManager.default.fileExists(atPath: node.folder))
            #expect(other.run("status", "--check").status == 0, "which it does not look after")
        }

        /// A lock file keeps the number of who held it last, and numbers come again.
        @Test func `ends nobody who has the number of a former daemon`() throws {
            let node = TemporaryNode()
            try #require(node.up(name: "Mina", workspace: "acme").status == 0)
            node.run("down")
            let stranger = Process()
            stranger.executableURL = URL(fileURLWithPath: "/usr/bin/tail")
            stranger.arguments = ["-f", "/dev/null"]
            try stranger.run()
            defer {
                // Threads of the tests hand on that they take no other signal.
                Glibc.kill(stranger.processIdentifier, SIGKILL)
                stranger.waitUntilExit()
            }
            try "\(stranger.processIdentifier)\n".write(
                toFile: node.home + "/lock", atomically: false, encoding: .utf8)
            node.kill()
            Guardian(of: node.folder).end()
            #expect(stranger.isRunning)
            #expect(!FileManager.default.fileExists(atPath: node.folder))
        }
    }
}
