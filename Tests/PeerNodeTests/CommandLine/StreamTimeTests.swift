import PeerNode
import Testing
import WorkspaceModel

@testable import wsx_node

struct `The time that was given to a stream` {
    /// A daemon that takes a while for every answer, and has nothing to tell then.
    private func world(delay: Int64 = 5_000) -> MemoryIO {
        let io = MemoryIO()
        io.isSilent = true
        io.delay = delay
        return io
    }

    static let rows: [(words: [String], status: Int32)] = [
        (["events", "--timeout", "100ms"], 0),
        (["events", "--timeout", "100ms", "--exit-code"], 9),
        (["events", "--timeout", "100ms", "--count", "1"], 7),
        (["tail", "--timeout", "100ms"], 0), (["--timeout", "0s", "tail"], 0),
        (["log", "general", "--follow", "--timeout", "100ms"], 0),
    ]

    @Test(arguments: rows)
    func `begins when it is open, however long that takes`(_ words: [String], _ status: Int32) {
        let io = world()
        let begin = io.now
        #expect(Program.run(arguments: words, environment: [:], io: io) == status, "\(io.errors)")
        // Every answer was waited for, and then the stream for no longer than was said.
        #expect((io.now - begin) % 5_000 == (words.contains("0s") ? 0 : 100))
        #expect(io.now - begin >= 5_000)
    }

    @Test func `is not endless for a daemon that never answers`() {
        let io = world(delay: .max)
        #expect(io.run("tail", "--timeout", "1s") == 7)
    }

    @Test(arguments: [["status", "--timeout", "1s"], ["log", "general", "--timeout", "1s"]])
    func `is that of every answer where there is no stream`(_ words: [String]) {
        let io = world()
        #expect(Program.run(arguments: words, environment: [:], io: io) == 7)
    }
}
