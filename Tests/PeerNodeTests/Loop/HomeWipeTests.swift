import Foundation
import Testing
import WorkspaceModel

@testable import PeerNode

@Suite struct `A wipe of a home` {
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

    /// What a crash leaves of `backup create`: the draft, and the copy of the store beside it.
    @Test(arguments: [BackupHeader.draftBytes, [UInt8](repeating: 0, count: 384)])
    func `takes a backup along that a crash cut short`(_ start: [UInt8]) throws {
        try withTemporaryFolder { root in
            let zeros = [UInt8](repeating: 0, count: 383)
            let home = try home(
                in: root,
                [
                    "X.new": start + [1, 2, 3], "X.store": [9], "X.store-journal": [9],
                    "early.bak.new": start, "early.bak.store": [9],
                    // Somebody else's.
                    "Y.new": zeros + [1], "Y.store": [9], "Z.store": [9], "zeros": start,
                ])
            try HomeWipe.begin(home)
            #expect(try left(home) == ["Y.new", "Y.store", "Z.store", "zeros"])
        }
    }

    @Test func `knows a draft by its name and its beginning`() {
        let start = BackupHeader.draftBytes
        #expect(start.count == BackupHeader.byteCount)
        #expect(BackupHeader(start) == nil, "nobody restores from it")
        #expect(BackupHeader.target(ofDraft: "/h/X.new", beginning: start) == "/h/X")
        #expect(BackupHeader.target(ofDraft: "/h/X", beginning: start) == nil)
        #expect(
            BackupHeader.target(ofDraft: "/h/X.new", beginning: Array(start.dropLast())) == nil)
        #expect(BackupHeader.target(ofDraft: "/h/X.new", beginning: start.map { $0 ^ 1 }) == nil)
    }
}
