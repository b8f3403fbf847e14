import PeerNode
import Testing
import WorkspaceModel

@testable import wsx_node

/// `file get` of a file that nobody sends.
struct `Getting a file that nobody sends` {
    private let io = MemoryIO()

    init() {
        io.node?.fileWaitsSince = io.now - 86_400_000
        io.happensInPause = { [unowned io = self.io] in io.now += 200 }
    }

    private func get(_ more: String...) -> Int32 {
        Program.run(
            arguments: ["file", "get", "b_01hx9t4c"] + more, environment: [:], io: io)
    }

    @Test func `waits as long as it is told to, and lets the daemon say what is missing`() {
        _ = get("-o", "/home/x", "--timeout", "3s")
        #expect(io.waited == 3_000)
        #expect(io.node?.filePatience == 0)
        #expect(io.node?.asked.contains { $0.contains("saveFile /home") } == true)
        #expect(io.node?.asked.contains { $0.contains("fileHolders") } == false)
    }

    @Test(arguments: [Limits.fileAloneMilliseconds, Limits.fileWaitMilliseconds])
    func `waits as long as the node says, which knows the others`(patience: UInt64) {
        io.node?.callsWait = Int64(patience)
        _ = get("-o", "/home/x")
        #expect(io.waited == Int64(patience))
        #expect(io.node?.filePatience == 0)
        #expect(io.node?.asked.contains { $0.contains("fileHolders") } == false)
    }

    @Test func `waits longer where the node says so meanwhile`() {
        io.node?.callsWait = 5_000
        io.happensInPause = { [unowned io = self.io] in
            io.now += 200
            if io.waited == 4_000 { io.node?.callsWait = 60_000 }
        }
        _ = get("-o", "/home/x")
        #expect(io.waited == 60_000)
    }

    @Test func `waits again when somebody has sent some of it`() {
        io.node?.callsWait = 5_000
        io.happensInPause = { [unowned io = self.io] in
            io.now += 200
            if io.waited == 4_000 { io.node?.fileWaitsSince = nil }
            if io.waited == 6_000 { io.node?.fileWaitsSince = io.now }
        }
        _ = get("-o", "/home/x")
        #expect(io.waited == 11_000)
    }

    /// Two minutes of silence were told as a fault of the daemon.
    @Test func `says of a file that is missed who was asked, and blames no daemon`() {
        let error = NodeError(
            .blobMissing, "no device that has 'a' can be reached", hint: "asked: Joon")
        io.happensInPause = { [unowned io = self.io] in
            io.now += 200
            if io.waited >= 3_000 { io.node?.failure = error }
        }
        #expect(get("-o", "/home/x", "--timeout", "4s") == 7)
        #expect(io.errors.contains("no device that has 'a' can be reached"))
        #expect(io.errors.contains("asked: Joon") && !io.errors.contains("daemon"))
    }
}
