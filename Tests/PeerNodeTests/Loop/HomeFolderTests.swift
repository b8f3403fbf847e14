import CRDTStore
import Foundation
import PeerNode
import Testing
import WorkspaceModel

struct `A home folder` {
    private func failure(_ home: HomeFolder) -> NodeError? {
        do throws(NodeError) { try home.prepare() } catch { return error }
        return nil
    }

    @Test func `is made with all its folders, for its owner alone, whatever the umask`() throws {
        try withTemporaryFolder { root in
            let home = HomeFolder(data: root + "/a/b", socket: root + "/run/deep/s")
            #expect(failure(home) == nil)
            // Twice is once.
            #expect(failure(home) == nil)
            for path in [root + "/a", home.data, home.identityFolder, root + "/run/deep"] {
                let mode = try FileSystem.status(of: path).mode
                #expect(mode == 0o700, "\(path)")
            }
        }
    }

    @Test(arguments: ["", "/identity"])
    func `is refused where others may enter, with the command that helps`(_ part: String) throws {
        try withTemporaryFolder { root in
            let home = HomeFolder(data: root, socket: root + "/control.sock")
            #expect(failure(home) == nil)
            #expect(chmod(root + part, 0o755) == 0)
            let error = try #require(failure(home))
            #expect(error.kind == .badConfiguration)
            #expect(error.exitStatus == 78)
            #expect(error.hint == "chmod 700 '\(root + part)'")
        }
    }

    @Test func `is refused where a file or a link stands in its place`() throws {
        try withTemporaryFolder { root in
            try FileSystem.replace(root + "/file", with: [1])
            #expect(symlink(root, root + "/link") == 0)
            for name in ["/file", "/file/below", "/link"] {
                let home = HomeFolder(data: root + name, socket: root + "/control.sock")
                #expect(failure(home)?.kind == .badConfiguration, "\(name)")
            }
        }
    }

    @Test func `has one node at a time, and names the one that has it`() throws {
        try withTemporaryFolder { root in
            let home = HomeFolder(data: root, socket: root + "/control.sock")
            var lock: FileLock? = try home.takeLock()
            do throws(NodeError) {
                _ = try home.takeLock()
                Issue.record("two locks")
            } catch {
                #expect(error.kind == .inUse)
                #expect(error.exitStatus == 6)
                #expect(error.details["pid"] == .integer(Int64(getpid())))
            }
            withExtendedLifetime(lock) {}
            lock = nil
            _ = try home.takeLock()
        }
    }
}

struct `The files of a home on the disk` {
    private func withFiles(_ body: (HomeFolder, DiskHomeFiles) throws -> Void) throws {
        try withTemporaryFolder { root in
            let home = HomeFolder(data: root, socket: root + "/control.sock")
            try home.prepare()
            try body(home, DiskHomeFiles(home: home))
        }
    }

    private func refusal(_ files: DiskHomeFiles) -> HomeFileError? {
        do throws(HomeFileError) { _ = try files.readIdentity() } catch { return error }
        return nil
    }

    @Test func `keep an identity that was made, and never replace it`() throws {
        try withFiles { home, files in
            #expect(try files.readIdentity() == nil)
            try files.createIdentity([1, 2, 3])
            #expect(throws: HomeFileError.self) { try files.createIdentity([4]) }
            #expect(try files.readIdentity() == [1, 2, 3])
            #expect(try FileSystem.status(of: home.identity).mode == 0o600)
            let names = try FileManager.default.contentsOfDirectory(atPath: home.identityFolder)
            #expect(names == ["device.key"])
        }
    }

    @Test func `refuse a key that others may read, and say what to do`() throws {
        try withFiles { home, files in
            try files.createIdentity([1])
            for mode: mode_t in [0o644, 0o640, 0o604, 0o660] {
                #expect(chmod(home.identity, mode) == 0)
                #expect(refusal(files)?.hint == "chmod 600 '\(home.identity)'")
            }
            #expect(chmod(home.identity, 0o600) == 0)
            #expect(refusal(files) == nil)
        }
    }

    @Test func `refuse a key that is a link, a folder or much too long`() throws {
        try withFiles { home, files in
            try FileSystem.replace(home.data + "/other", with: [1])
            #expect(symlink(home.data + "/other", home.identity) == 0)
            #expect(refusal(files) != nil)
            #expect(throws: HomeFileError.self) { try files.createIdentity([2]) }
            try FileSystem.remove(home.identity)
            #expect(mkdir(home.identity, 0o700) == 0)
            #expect(refusal(files) != nil)
            #expect(rmdir(home.identity) == 0)
            try FileSystem.replace(home.identity, with: [UInt8](repeating: 0, count: 65_537))
            #expect(refusal(files) != nil)
        }
    }

    @Test func `write the guard slot by slot, and read it whole`() throws {
        try withFiles { home, files in
            #expect(files.read() == nil)
            files.write(slot: 1, bytes: [UInt8](repeating: 7, count: 64))
            #expect(
                files.read() == [UInt8](repeating: 0, count: 64) + [UInt8](repeating: 7, count: 64))
            files.write(slot: 0, bytes: [UInt8](repeating: 5, count: 64))
            files.write(slot: 1, bytes: [UInt8](repeating: 6, count: 64))
            #expect(
                files.read() == [UInt8](repeating: 5, count: 64) + [UInt8](repeating: 6, count: 64))
            let mode = try FileSystem.status(of: home.storeGuard).mode
            #expect(mode == 0o600)
        }
    }

    @Test func `tell a store from its copy, and one machine from another`() throws {
        try withFiles { home, files in
            #expect(files.storeFacts.inode == 0)
            try FileSystem.replace(home.store, with: [1, 2, 3])
            let facts = files.storeFacts
            #expect(facts.inode != 0)
            #expect(files.storeFacts == facts)
            #expect(files.storeBytes == 3)
            #expect(files.freeBytes > 0)
            try FileSystem.replace(home.store + "-wal", with: [1, 2])
            #expect(files.storeBytes == 5)
            // A copy under the same name, while the original is still there.
            #expect(rename(home.store, home.data + "/original") == 0)
            try FileSystem.replace(home.store, with: [1, 2, 3])
            #expect(files.storeFacts != facts)

            try FileSystem.replace(home.data + "/m1", with: [UInt8]("abc\n".utf8))
            try FileSystem.replace(home.data + "/m2", with: [UInt8]("abd\n".utf8))
            let machines = ["/m1", "/m2", "/none"].map {
                DiskHomeFiles(home: home, machineFile: home.data + $0).storeFacts.machine
            }
            #expect(Set(machines).count == 3)
            #expect(machines[2] == 0)
        }
    }
}
