import PeerNode
import Testing
import WorkspaceModel

@testable import wsx_node

/// `file get` of a file that nobody sends.
@Suite struct `Getting a file that nobody sends` {
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

    @Test func `waits shortly where no device that is connected has it`() {
        _ = get("-o", "/home/x")
        #expect(io.waited == Int64(Limits.fileAloneMilliseconds))
        #expect(io.node?.filePatience == 0)
    }

    @Test func `waits a minute for a device that has it and is busy`() {
        io.node?.isFileOffered = true
        _ = get("-o", "/home/x")
        #expect(io.waited == Int64(Limits.fileWaitMilliseconds))
        #expect(io.node?.filePatience == 0)
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
