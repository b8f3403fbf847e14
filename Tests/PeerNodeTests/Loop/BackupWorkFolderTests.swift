import Foundation
import Testing
import WorkspaceModel

@testable import PeerNode

struct `A folder for the copy that a backup is made of` {
    private func home(_ root: String) -> HomeFolder {
        HomeFolder(data: root + "/home", socket: root + "/home/control.sock")
    }

    @Test func `is in the home, private, and goes with all that is in it`() throws {
        try withTemporaryFolder { root in
            let home = home(root)
            try home.prepare()
            let before = try FileSystem.names(in: home.data)
            let folder = try BackupWorkFolder.make(in: home)
            let path = FileSystem.parent(of: folder.store)
            #expect(try !FileSystem.status(of: path).isOpenToOthers)
            #expect(path.hasPrefix(home.data + "/backup.wsx-work."))
            for file in [folder.store, folder.store + "-wal"] {
                try FileSystem.create(file, with: [1])
            }
            folder.remove()
            #expect(try FileSystem.names(in: home.data) == before)
        }
    }

    /// As `backup verify` on a machine without a home.
    @Test func `leaves no home where there was none`() throws {
        try withTemporaryFolder { root in
            let folder = try BackupWorkFolder.make(in: home(root))
            try FileSystem.create(folder.store, with: [1])
            folder.remove()
            #expect(try FileSystem.names(in: root) == [])
        }
    }

    @Test func `takes what a crash has left, and nothing of anybody else`() throws {
        try withTemporaryFolder { root in
            let home = home(root)
            for name in ["backup.wsx-work.abcdef", "x.wsx-work.abcdef"] {
                try FileSystem.makeFolder(home.data + "/" + name)
                try FileSystem.create(home.data + "/" + name + "/node.db", with: [1])
            }
            // Perhaps about to be locked; and a name that leads elsewhere.
            try FileSystem.makeFolder(home.data + "/backup.wsx-work.fedcba")
            try FileSystem.makeFolder(root + "/victim")
            try FileSystem.create(root + "/victim/node.db", with: [7])
            try FileManager.default.createSymbolicLink(
                atPath: home.data + "/backup.wsx-work.linked",
                withDestinationPath: root + "/victim")
            let folder = try BackupWorkFolder.make(in: home)
            folder.remove()
            #expect(
                try FileSystem.names(in: home.data) == [
                    "backup.wsx-work.fedcba", "backup.wsx-work.linked", "x.wsx-work.abcdef",
                ])
            #expect(try FileSystem.read(root + "/victim/node.db", byteCountMax: 1) == [7])
        }
    }

    @Test func `is left alone while it is used`() throws {
        try withTemporaryFolder { root in
            let folder = try BackupWorkFolder.make(in: home(root))
            try FileSystem.create(folder.store, with: [1])
            let other = try BackupWorkFolder.make(in: home(root))
            #expect(try FileSystem.read(folder.store, byteCountMax: 1) == [1])
            #expect(other.store != folder.store)
            other.remove()
            folder.remove()
        }
    }
}

struct `A file that gets its name when it is whole` {
    /// Also on a file system where a file must have a name, which is not the one it will have.
    @Test(arguments: [true, false])
    func `is not there before, and private then`(isNameless: Bool) throws {
        try withTemporaryFolder { root in
            let draft = try DraftFile(for: root + "/X", isNameless: isNameless)
            let before = try FileSystem.names(in: root)
            #expect(before.count == (isNameless ? 0 : 1))
            for name in before {
                #expect(name.hasPrefix(".wsx-backup."))
                #expect(try !FileSystem.status(of: root + "/" + name).isOpenToOthers)
            }
            try draft.file.writeAll([1, 2], path: "X")
            try draft.place(at: root + "/X")
            draft.discard()
            #expect(try FileSystem.read(root + "/X", byteCountMax: 2) == [1, 2])
            #expect(try !FileSystem.status(of: root + "/X").isOpenToOthers)
            #expect(try FileSystem.names(in: root) == ["X"])
        }
    }

    @Test(arguments: [true, false])
    func `is dropped without a trace, and may have the longest name`(isNameless: Bool) throws {
        try withTemporaryFolder { root in
            let long = root + "/" + String(repeating: "n", count: 255)
            for isPlaced in [false, true] {
                let draft = try DraftFile(for: long, isNameless: isNameless)
                if isPlaced { try draft.place(at: long) }
                draft.discard()
                #expect(try FileSystem.names(in: root).count == (isPlaced ? 1 : 0))
            }
        }
    }

    /// Anyone who can write into the folder may replace the draft by a file of their own.
    @Test func `is not taken for another one that stands under its name`() throws {
        try withTemporaryFolder { root in
            let draft = try DraftFile(for: root + "/X", isNameless: false)
            let name = try #require(try FileSystem.names(in: root).first)
            try FileSystem.replace(root + "/" + name, with: [6, 6, 6])
            #expect(throws: SystemError.self) { try draft.place(at: root + "/X") }
            draft.discard()
            #expect(try FileSystem.read(root + "/X", byteCountMax: 3) == [6, 6, 6])
        }
    }

    @Test func `gets no name that is taken`() throws {
        try withTemporaryFolder { root in
            try FileSystem.create(root + "/a", with: [1])
            try FileSystem.create(root + "/b", with: [2])
            for isNameless in [true, false] {
                let draft = try DraftFile(for: root + "/b", isNameless: isNameless)
                #expect(throws: SystemError.self) { try draft.place(at: root + "/b") }
                draft.discard()
            }
            let draft = try DraftFile(for: root + "/b")
            do throws(SystemError) {
                try draft.place(at: root + "/b")
                Issue.record("it took the name")
            } catch { #expect(error.isExistingFile) }
            do throws(SystemError) {
                try FileSystem.moveToFreeName(root + "/a", root + "/b")
                Issue.record("it was moved")
            } catch { #expect(error.isExistingFile) }
            #expect(try FileSystem.read(root + "/b", byteCountMax: 1) == [2])
        }
    }
}
