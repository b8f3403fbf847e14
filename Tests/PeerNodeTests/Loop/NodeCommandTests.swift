import CRDTStore
import Foundation
import Testing
import WorkspaceModel

@testable import PeerNode
@testable import wsx_node

struct `What a daemon is told` {
    private func options(_ words: [String], settings: String = "") throws -> NodeLoop.Options {
        let scan = try ArgumentScanner.scan(["daemon", "run"] + words, against: Command.all)
        return try NodeCommand.loopOptions(scan, ConfigFile([UInt8](settings.utf8)))
    }

    @Test func `is on the command line, then in the settings, then as usual`() throws {
        let settings = "[net]\nlisten = \"127.0.0.1:5\"\nannounce = false\n"
        let usual = try options([])
        #expect(usual.listen == nil && usual.announces)
        let set = try options([], settings: settings)
        #expect(set.listen == ListenAddress(host: .loopbackV4, port: 5) && !set.announces)
        let given = try options(
            ["--listen", "0.0.0.0:6", "--announce", "on"], settings: settings)
        #expect(given.listen == ListenAddress(host: .anyV4, port: 6) && given.announces)
    }

    @Test func `is refused by the place where it was wrong`() {
        let typed = #expect(throws: NodeError.self) { try options(["--listen", "here"]) }
        #expect(typed?.kind == .badRequest)
        let set = #expect(throws: NodeError.self) {
            try options([], settings: "[net]\nlisten = \"here\"\n")
        }
        #expect(set?.kind == .badConfiguration)
    }
}

struct `The file of a store` {
    private func withHome(_ body: (HomeFolder) throws -> Void) throws {
        try withTemporaryFolder { root in
            let home = HomeFolder(data: root, socket: root + "/control.sock")
            try home.prepare()
            try body(home)
        }
    }

    private func failure(_ home: HomeFolder) -> StorageError.Kind? {
        do throws(StorageError) { _ = try StoreFile.open(home) } catch { return error.kind }
        return nil
    }

    @Test func `is made once, for its owner alone, and opened from then on`() throws {
        try withHome { home in
            #expect(failure(home) == nil)
            let made = try FileSystem.status(of: home.store)
            #expect(made.mode == 0o600)
            #expect(failure(home) == nil)
            let opened = try FileSystem.status(of: home.store)
            #expect(opened.inode == made.inode)
        }
    }

    @Test func `is made in a home whose first start was cut short`() throws {
        try withHome { home in
            try FileSystem.replace(home.store, with: [])
            #expect(failure(home) == nil)
        }
    }

    @Test func `is never recreated under an identity that had one`() throws {
        try withHome { home in
            try DiskHomeFiles(home: home).createIdentity([1])
            #expect(failure(home) == .empty)
            #expect((try? FileSystem.status(of: home.store)) == nil)
            try FileSystem.replace(home.store, with: [])
            #expect(failure(home) == .empty)
            let error = NodeError(start: .store(StorageError(.empty, "x")), home: home)
            #expect(error.kind == .storeFailed)
        }
    }

    /// As SQLite sees a young store, all of which is in its log, where that begins with a damaged page.
    @Test func `is not recreated if nothing of it can be read`() throws {
        try withHome { home in
            #expect(failure(home) == nil)
            let connection = try Connection(path: home.store, mode: .main)
            try connection.begin()
            try connection.setSchemaVersion(0)
            try connection.commit()
            try DiskHomeFiles(home: home).createIdentity([1])
            let names = [home.store, home.store + "-wal"]
            let before = names.map { FileManager.default.contents(atPath: $0) }
            #expect(failure(home) == .empty)
            #expect(names.map { FileManager.default.contents(atPath: $0) } == before)
        }
    }

    @Test(
        arguments: [
            (StorageError.Kind.newerSchema, 78), (.olderSchema, 78), (.cannotOpen, 78),
            (.readOnly, 78), (.notOurs, 78),
            (.corrupt, 70), (.ioFailure, 70),
        ] as [(StorageError.Kind, Int32)])
    func `ends a start with a status that says whose turn it is`(
        _ kind: StorageError.Kind, _ status: Int32
    ) {
        let home = HomeFolder(data: "/d", socket: "/d/s")
        let error = NodeError(start: .store(StorageError(kind, "why")), home: home)
        #expect(error.exitStatus == status)
        #expect(error.message.contains("'/d/node.db'"))
        #expect(error.message.contains("why"))
    }
}
