import Foundation
import PeerNode
import Testing

struct `The file system` {
    private func error(_ body: () throws -> Void) -> Int32? {
        do { try body() } catch { return (error as? SystemError)?.number }
        return nil
    }

    @Test func `makes folders that are private, and leaves others as they are`() throws {
        try withTemporaryFolder { root in
            chmod(root, 0o755)
            try FileSystem.makeFolder(root + "/a//b/c/")
            for name in ["/a", "/a/b", "/a/b/c"] {
                let status = try FileSystem.status(of: root + name)
                #expect(status.kind == .folder)
                #expect(status.mode == 0o700)
            }
            #expect(try FileSystem.status(of: root).mode == 0o755)
            try FileSystem.makeFolder(root + "/a/b")
            try FileSystem.replace(root + "/file", with: [])
            #expect(error { try FileSystem.makeFolder(root + "/file") } == EEXIST)
            #expect(error { try FileSystem.makeFolder(root + "/file/x") } == EEXIST)
            #expect(error { try FileSystem.makeFolder(root + "/a\0b") } == EINVAL)
        }
    }

    @Test func `replaces a file as a whole, privately, and leaves no draft`() throws {
        try withTemporaryFolder { root in
            let path = root + "/f"
            for bytes: [UInt8] in [[], [1, 2, 3], [UInt8](repeating: 9, count: 300_000), [4]] {
                try FileSystem.replace(path, with: bytes)
                #expect(try FileSystem.read(path, byteCountMax: 300_000) == bytes)
            }
            #expect(try FileSystem.status(of: path).mode == 0o600)
            #expect(try FileManager.default.contentsOfDirectory(atPath: root) == ["f"])
        }
    }

    @Test func `writes through no link that stands where the draft goes`() throws {
        try withTemporaryFolder { root in
            try FileSystem.replace(root + "/victim", with: [1])
            #expect(symlink(root + "/victim", root + "/f.new") == 0)
            try FileSystem.replace(root + "/f", with: [2])
            #expect(try FileSystem.read(root + "/victim", byteCountMax: 9) == [1])
            #expect(try FileSystem.status(of: root + "/f").kind == .file)
        }
    }

    @Test func `keeps the old file when the new one cannot be put in place`() throws {
        try withTemporaryFolder { root in
            try FileSystem.makeFolder(root + "/f/inside")
            #expect(error { try FileSystem.replace(root + "/f", with: [1]) } == EISDIR)
            #expect(try FileManager.default.contentsOfDirectory(atPath: root) == ["f"])
            #expect(error { try FileSystem.replace(root + "/no/f", with: [1]) } == ENOENT)
        }
    }

    @Test func `refuses to read more than the bound`() throws {
        try withTemporaryFolder { root in
            try FileSystem.replace(root + "/f", with: [1, 2, 3, 4])
            #expect(try FileSystem.read(root + "/f", byteCountMax: 4).count == 4)
            #expect(error { _ = try FileSystem.read(root + "/f", byteCountMax: 3) } == EFBIG)
            #expect(error { _ = try FileSystem.read("/dev/zero", byteCountMax: 9) } == EFBIG)
            #expect(error { _ = try FileSystem.read(root + "/x", byteCountMax: 9) } == ENOENT)
        }
    }

    @Test func `removes, and says whether there was anything`() throws {
        try withTemporaryFolder { root in
            try FileSystem.replace(root + "/f", with: [1])
            #expect(try FileSystem.remove(root + "/f"))
            #expect(try !FileSystem.remove(root + "/f"))
        }
    }

    @Test func `knows free space, birth times and parents`() throws {
        try withTemporaryFolder { root in
            #expect(try FileSystem.freeByteCount(at: root) > 0)
            if let birth = try FileSystem.birthNanoseconds(of: root) {
                let age = Int64(WallClock.milliseconds()) - birth / 1_000_000
                #expect((-60_000...60_000).contains(age))
            }
            #expect(error { _ = try FileSystem.birthNanoseconds(of: root + "/x") } == ENOENT)
        }
        let parents = ["/a/b": "/a", "/a": "/", "a": ".", "a/b": "a", "/a/": "/a"]
        for (path, parent) in parents { #expect(FileSystem.parent(of: path) == parent) }
    }

    @Test func `tells a private folder from all that look like one`() throws {
        try withTemporaryFolder { root in
            let folder = root + "/d"
            try FileSystem.makeFolder(folder)
            try FileSystem.checkPrivateFolder(folder)
            typealias Fault = FileSystem.FolderFault
            for mode: UInt32 in [0o755, 0o770, 0o701, 0o704] {
                chmod(folder, mode)
                #expect(throws: Fault.loose(path: folder, mode: mode)) {
                    try FileSystem.checkPrivateFolder(folder)
                }
            }
            chmod(folder, 0o700)
            #expect(throws: Fault.foreign(path: folder, owner: geteuid())) {
                try FileSystem.checkPrivateFolder(folder, owner: geteuid() + 1)
            }
            #expect(symlink(folder, root + "/link") == 0)
            #expect(throws: Fault.notAFolder(path: root + "/link", isLink: true)) {
                try FileSystem.checkPrivateFolder(root + "/link")
            }
            try FileSystem.replace(root + "/f", with: [])
            #expect(throws: Fault.notAFolder(path: root + "/f", isLink: false)) {
                try FileSystem.checkPrivateFolder(root + "/f")
            }
            #expect(throws: Fault.system(SystemError("lstat", path: root + "/x", number: ENOENT))) {
                try FileSystem.checkPrivateFolder(root + "/x")
            }
        }
    }

    @Test func `puts call, path and reason into an error's text`() {
        let error = SystemError("open", path: "/x", number: ENOENT)
        #expect(error.description == "open /x: No such file or directory")
        #expect(SystemError("x", number: 99_999).description == "x: error 99999")
        #expect(error.isMissingFile && !error.isAddressTaken && !error.isOutOfDescriptors)
        #expect(SystemError("accept4", number: EMFILE).isOutOfDescriptors)
        #expect(SystemError("write", number: ENOSPC).isOutOfSpace)
    }
}

struct `A file lock` {
    @Test func `is held by one at a time, who is named, and ends with its object`() throws {
        try withTemporaryFolder { root in
            let path = root + "/lock"
            var first: FileLock? = try FileLock(path: path)
            #expect(throws: FileLock.Failure.held(pid: getpid())) { _ = try FileLock(path: path) }
            #expect(try FileSystem.status(of: path).mode == 0o600)
            withExtendedLifetime(first) {}
            first = nil
            _ = try FileLock(path: path)
        }
    }

    @Test func `does not trust what stands in the file`() throws {
        try withTemporaryFolder { root in
            let path = root + "/lock"
            let holder = try FileLock(path: path)
            for text in ["", "junk\n", "99999999999999\n", String(repeating: "7", count: 99)] {
                try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: [])
                #expect(throws: FileLock.Failure.held(pid: nil)) { _ = try FileLock(path: path) }
            }
            withExtendedLifetime(holder) {}
        }
    }

    @Test func `refuses a link, and a folder that is not there`() throws {
        try withTemporaryFolder { root in
            #expect(symlink(root + "/elsewhere", root + "/lock") == 0)
            for (path, number) in [(root + "/lock", ELOOP), (root + "/no/lock", ENOENT)] {
                let error = SystemError("open", path: path, number: number)
                #expect(throws: FileLock.Failure.system(error)) { _ = try FileLock(path: path) }
            }
        }
    }
}
