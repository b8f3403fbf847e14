import Foundation
import Testing
import WorkspaceModel

@testable import PeerNode

@Suite struct `A folder for what is made on the way to a backup` {
    private func names(_ root: String) throws -> [String] {
        try FileSystem.names(in: root)
    }

    @Test func `is private, and goes with all that is in it`() throws {
        try withTemporaryFolder { root in
            let folder = try BackupWorkFolder.make(at: root + "/X")
            let path = FileSystem.parent(of: folder.store)
            #expect(try !FileSystem.status(of: path).isOpenToOthers)
            #expect(path.hasPrefix(root + "/X.wsx-work."))
            let name = String(path.split(separator: "/").last ?? "")
            #expect(BackupWorkFolder.target(ofFolder: name) == "X")
            for file in [folder.draft, folder.store, folder.store + "-wal"] {
                try FileSystem.create(file, with: [1])
            }
            folder.remove()
            #expect(try names(root) == [])
        }
    }

    @Test func `takes what a crash has left of one of the same name, and no other`() throws {
        try withTemporaryFolder { root in
            let abandoned = [
                "X.wsx-work.abcdef", "X.wsx-work.ABCDEF", "Y.wsx-work.abcdef", "X.wsx-work.a",
                "AX.wsx-work.abcdef",
            ]
            for name in abandoned {
                try FileSystem.makeFolder(root + "/" + name)
                try FileSystem.create(root + "/" + name + "/node.db", with: [1])
            }
            // Nobody's draft, and perhaps about to be locked.
            try FileSystem.makeFolder(root + "/X.wsx-work.fedcba")
            let folder = try BackupWorkFolder.make(at: root + "/X")
            folder.remove()
            #expect(
                try names(root) == [
                    "AX.wsx-work.abcdef", "X.wsx-work.a", "X.wsx-work.fedcba", "Y.wsx-work.abcdef",
                ])
        }
    }

    @Test func `is left alone while it is used`() throws {
        try withTemporaryFolder { root in
            let folder = try BackupWorkFolder.make(at: root + "/X")
            try FileSystem.create(folder.store, with: [1])
            let other = try BackupWorkFolder.make(at: root + "/X")
            #expect(try FileSystem.read(folder.store, byteCountMax: 1) == [1])
            #expect(other.store != folder.store)
            other.remove()
            folder.remove()
        }
    }

    @Test func `makes nobody's file go`() throws {
        try withTemporaryFolder { root in
            let kept = ["X.new", "X.store", "X.store-journal", "X.verify"]
            for name in kept { try FileSystem.create(root + "/" + name, with: [7]) }
            let folder = try BackupWorkFolder.make(at: root + "/X")
            try FileSystem.create(folder.draft, with: [1, 2])
            try FileSystem.moveToFreeName(folder.draft, root + "/X")
            folder.remove()
            #expect(try names(root) == ["X"] + kept)
            #expect(try FileSystem.read(root + "/X", byteCountMax: 2) == [1, 2])
        }
    }

    @Test func `gives no name that is taken`() throws {
        try withTemporaryFolder { root in
            try FileSystem.create(root + "/a", with: [1])
            try FileSystem.create(root + "/b", with: [2])
            do throws(SystemError) {
                try FileSystem.moveToFreeName(root + "/a", root + "/b")
                Issue.record("it was moved")
            } catch { #expect(error.isExistingFile) }
            #expect(try FileSystem.read(root + "/b", byteCountMax: 1) == [2])
        }
    }
}
