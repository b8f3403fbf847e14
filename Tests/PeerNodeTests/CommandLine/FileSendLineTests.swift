import Foundation
import PeerNode
import Testing
import WorkspaceModel

@testable import wsx_node

/// Which files the command line reads itself, and which it leaves to the daemon.
struct `Files of a message on the command line` {
    private let io = MemoryIO()

    private func asked(_ prefix: String) -> [String] {
        io.node?.asked.filter { $0.hasPrefix(prefix) } ?? []
    }

    @Test(arguments: [0, 1, Limits.inlineFileBytesMax])
    func `go with the call where they are small`(count: Int) {
        let bytes = [UInt8](repeating: 0x0A, count: count)
        io.files["/here/a b.txt"] = bytes
        #expect(io.run("send", "general", "--file", "a b.txt") == 0, "\(io.errors)")
        #expect(asked("putFile").first?.hasPrefix("putFile a b.txt \(count)") == true)
        #expect(io.node?.fileContents == [bytes])
        #expect(asked("addFile") == [])
    }

    @Test func `are left to the daemon where they are larger, or cannot be read`() {
        io.files["/film"] = [UInt8](repeating: 1, count: Limits.inlineFileBytesMax + 1)
        for path in ["/film", "/absent"] {
            #expect(io.run("send", "general", "--file", path) == 0, "\(io.errors)")
            #expect(asked("addFile \(path)").count == 1)
        }
        #expect(asked("putFile") == [])
    }

    /// A link is refused by the daemon, whatever it leads to, and so it must not be read here.
    @Test func `are read here only if they are regular files themselves`() throws {
        let folder = FileManager.default.temporaryDirectory.path + "/wsx-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try Data([1, 2, 3]).write(to: URL(fileURLWithPath: folder + "/file"))
        try FileManager.default.createSymbolicLink(
            atPath: folder + "/link", withDestinationPath: "file")
        #expect(mkfifo(folder + "/pipe", 0o600) == 0)
        let io = SystemIO()
        #expect(io.smallFile(folder + "/file", limit: 3) == [1, 2, 3])
        #expect(io.smallFile(folder + "/file", limit: 2) == nil)
        for name in ["/link", "/pipe", "", "/absent"] {
            #expect(io.smallFile(folder + name, limit: 3) == nil, "\(name)")
        }
    }
}
