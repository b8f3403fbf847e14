import Foundation
import Testing
import WorkspaceModel

@testable import PeerNode

/// Paths from scripts: the file's type is checked before a byte is read.
struct `A path from outside` {
    @Test func `that is a pipe, a folder or a device keeps nobody waiting`() throws {
        try withTemporaryFolder { root in
            let pipe = root + "/pipe"
            #expect(mkfifo(pipe, 0o600) == 0)
            #expect(throws: SystemError.self) { try FileSystem.openPlainFile(pipe) }
            #expect(throws: SystemError.self) {
                try FileSystem.readPlain(pipe, byteCountMax: 10)
            }
            #expect(throws: SystemError.self) { try FileSystem.openPlainFile(root) }
            #expect(throws: SystemError.self) { try FileSystem.openPlainFile("/dev/zero") }
            #expect(throws: NodeError.self) {
                try BackupCheck.verify(pipe, passphrase: nil, in: .init(data: root, socket: root))
            }
            #expect(throws: NodeError.self) {
                try BackupCheck.verify(
                    "/dev/zero", passphrase: nil, in: .init(data: root, socket: root))
            }
            try FileSystem.create(root + "/file", with: [1, 2, 3])
            #expect(try FileSystem.readPlain(root + "/file", byteCountMax: 10) == [1, 2, 3])
            #expect(try FileSystem.openPlainFile(root + "/file").byteCount(path: "file") == 3)
        }
    }

    @Test func `gets folders that nobody else has made`() throws {
        try withTemporaryFolder { root in
            let made = try (0..<3).map { _ in try FileSystem.makeOwnFolder(at: root + "/x") }
            #expect(Set(made).count == 3)
            for path in made {
                let status = try FileSystem.status(of: path)
                #expect(status.kind == .folder && !status.isOpenToOthers)
            }
        }
    }
}
