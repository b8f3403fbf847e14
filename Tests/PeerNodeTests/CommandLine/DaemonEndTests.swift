import PeerNode
import Testing
import WorkspaceModel

@testable import wsx_node

struct `The end of a daemon` {
    static let commands = [["down"], ["session", "logout", "--wipe", "all", "--force", "--yes"]]

    private func run(_ words: [String], _ milliseconds: Int64) -> (status: Int32, io: MemoryIO) {
        let io = MemoryIO()
        io.endsAfter = milliseconds
        return (Program.run(arguments: words + ["--json"], environment: [:], io: io), io)
    }

    @Test(arguments: commands)
    func `is waited for, however slow the disk is`(_ words: [String]) {
        let (status, io) = run(words, 100_000)
        #expect(status == 0, "\(io.errors)")
        #expect(!io.output.isEmpty)
    }

    @Test(arguments: commands)
    func `that does not come is told as that, and as nothing else`(_ words: [String]) throws {
        let (status, io) = run(words, .max)
        #expect(status == 7)
        #expect(io.errors.contains("\"kind\":\"timeout\""), "\(io.errors)")
        #expect(io.output.isEmpty)
    }

    @Test func `is waited for no longer than was said`() {
        #expect(run(["down", "--timeout", "3s"], 2_000).status == 0)
        #expect(run(["down", "--timeout", "1s"], 2_000).status == 7)
    }
}
