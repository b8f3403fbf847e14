import Foundation
import Testing
import WorkspaceModel

@testable import PeerNode

struct `A wipe of a home` {
    /// A home with the files that a node leaves, by name.
    private func home(in root: String, _ more: [String: [UInt8]] = [:]) throws -> HomeFolder {
        let home = HomeFolder(data: root + "/home", socket: root + "/home/control.sock")
        try home.prepare()
        var files: [String: [UInt8]] = [
            "identity/device.key": Array("the keys".utf8), "node.db": [1], "node.db-wal": [2],
            "node.guard": [3], "listen": [4], "daemon.log": [5], "daemon.log.1": [6],
            "search.db": [7], "node.schema": [8],
            "node.schema.new": [9], "node.db-wal.new": [10],
        ]
        files.merge(more) { _, new in new }
        for (name, bytes) in files { try FileSystem.replace(home.data + "/" + name, with: bytes) }
        return home
    }

    private func left(_ home: HomeFolder) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: home.data).sorted()
    }

    @Test func `leaves nothing of a node`() throws {
        try withTemporaryFolder { root in
            let home = try home(in: root, ["notes.txt": [8]])
            #expect(home.holdsKeys)
            try HomeWipe.begin(home)
            #expect(try left(home) == ["notes.txt"])
            #expect(!home.holdsKeys)
        }
    }

    /// Files of messages are the largest that a node leaves, and sealed by keys that may have leaked.
    @Test func `leaves no file of a message, and nothing else that lies beside them`() throws {
        try withTemporaryFolder { root in
            let home = try home(in: root)
            let names = ["0a/0a11", "ff/ff22", "new/7", "mine/x", "zz/y"]
            for name in names {
                let path = home.blobs + "/" + name
                try FileSystem.makeFolder(FileSystem.parent(of: path))
                try FileSystem.replace(path, with: [1])
            }
            try HomeWipe.begin(home)
            #expect(
                try left(home) == ["blobs", "blobs/mine", "blobs/mine/x", "blobs/zz", "blobs/zz/y"])
            try FileManager.default.removeItem(atPath: home.blobs)
            let again = try self.home(in: root)
            for name in names.prefix(3) {
                let path = again.blobs + "/" + name
                try FileSystem.makeFolder(FileSystem.parent(of: path))
                try FileSystem.replace(path, with: [1])
            }
            try HomeWipe.begin(again)
            #expect(try left(again) == [])
        }
    }

    /// As on a full disk, where not even an empty file can be made.
    @Test func `goes on where its mark cannot be set`() throws {
        try withTemporaryFolder { root in
            let home = try home(in: root)
            // In the way of the mark's draft.
            try FileManager.default.createDirectory(
                atPath: home.data + "/wipe.new", withIntermediateDirectories: false)
            try HomeWipe.begin(home)
            #expect(try left(home) == ["wipe.new"])
        }
    }

    @Test func `says what it cannot remove, and removes the rest, and ends later`() throws {
        try withTemporaryFolder { root in
            let home = try home(in: root)
            try FileManager.default.removeItem(atPath: home.listen)
            try FileManager.default.createDirectory(
                atPath: home.listen + "/inside", withIntermediateDirectories: true)
            #expect(throws: NodeError.self) { try HomeWipe.begin(home) }
            // The log, to say why, and the mark, with which the next start goes on.
            #expect(
                try left(home)
                    == [
                        "daemon.log", "daemon.log.1", "identity", "listen", "listen/inside", "wipe",
                    ].filter {
                        $0 != "identity"
                            || FileManager.default.fileExists(
                                atPath: home.identityFolder)
                    })
            #expect(!FileManager.default.fileExists(atPath: home.identity))
            #expect(home.holdsKeys, "it is not finished")
            try FileManager.default.removeItem(atPath: home.listen)
            try HomeWipe.finish(home)
            #expect(!home.holdsKeys)
            #expect(!FileManager.default.fileExists(atPath: home.log))
        }
    }

    /// What a crash leaves of `backup create` and `backup verify`: their folder.
    @Test func `removes a backup that a crash cut short`() throws {
        try withTemporaryFolder { root in
            let files = [
                "backup.wsx-work.a1B2c3/node.db", "backup.wsx-work.abcdef/node.db-journal",
                // Somebody else's.
                "backup.wsx-work.fedcba/thesis", "X.store", "X.new",
            ]
            for file in files {
                try FileSystem.makeFolder(FileSystem.parent(of: root + "/home/" + file))
            }
            let home = try home(in: root, .init(uniqueKeysWithValues: files.map { ($0, [9]) }))
            try HomeWipe.begin(home)
            #expect(
                try left(home) == [
                    "X.new", "X.store", "backup.wsx-work.fedcba", "backup.wsx-work.fedcba/thesis",
                ])
        }
    }

    /// Also one beside the keys, in the program's own folder.
    @Test func `removes backups that were written into the home`() throws {
        try withTemporaryFolder { root in
            let device = DeviceID([UInt8](repeating: 7, count: 32))
            let backup = BackupHeader(createdAt: 1, device: device, vault: nil).bytes
            let home = try home(
                in: root, ["a.bak": backup, "identity/b.bak": backup, "c.bak": [1, 2, 3]])
            try HomeWipe.begin(home)
            #expect(try left(home) == ["c.bak"])
        }
    }
}
