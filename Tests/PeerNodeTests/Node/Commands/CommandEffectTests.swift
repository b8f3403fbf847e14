import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `What a command changes` {
    let bench = CoreBench()

    /// Those whose examples only read.
    static let readers = Command.methods.filter {
        $0.effect(of: $0.example.objectValue ?? [:]) == .reads
    }

    /// What an example is answered with where that is no success, and no matter of the store: the
    /// bench has no thread for a backup, nobody was removed, no file was sent, and nobody opened a ledger.
    static let otherwise: [String: NodeError.Kind] = [
        "backup.verify": .unsupported, "member.status": .conflict, "blob.stat": .notFound,
        "blob.holders": .notFound, "note.get": .notFound, "note.history": .notFound,
        "coin.balance": .notFound,
    ]

    /// A node in which there is what the examples name, and the id of a message.
    private func populated() throws -> (node: BenchNode, message: String) {
        let mina = try bench.node("Mina")
        _ = try bench.guest("Joon", of: mina)
        try mina.ok("channel.create", ["name": "plans"])
        try mina.ok("ui.pref.set", ["setting": "theme", "value": "dark"])
        let message = try mina.send("hello").text("id")
        bench.advance(120_000)
        return (mina, message)
    }

    /// The example of a command, about a message that is there.
    private static func example(of command: Command, _ message: String) -> JSONValue {
        guard var given = command.example.objectValue else { return command.example }
        for parameter in command.remoteParameters where given[parameter.name] != nil {
            switch parameter.shape {
            case .identifier(prefix: "m_"): given[parameter.name] = .string(message)
            case .list(.identifier(prefix: "m_"), _):
                given[parameter.name] = .array([.string(message)])
            default: break
            }
        }
        return .object(given)
    }

    private func expectAnswer(
        of command: Command, _ world: (node: BenchNode, message: String), _ when: String
    ) {
        let given = Self.example(of: command, world.message)
        guard case .failure(let error) = world.node.call(command.name, given) else { return }
        #expect(
            Self.otherwise[command.name] == error.kind, "\(command.name), \(when): \(error.message)"
        )
    }

    @Test func `is nothing where it reads`() throws {
        let world = try populated()
        // What a question tidies is tidy by then.
        for command in Self.readers { expectAnswer(of: command, world, "first") }
        bench.advance(120_000)
        let connection = try #require(world.node.connection)
        for command in Self.readers {
            let (commits, rows) = (connection.commitCount, connection.totalChangedRowCount)
            expectAnswer(of: command, world, "again")
            #expect(connection.commitCount == commits, "\(command.name) ends a transaction")
            #expect(connection.totalChangedRowCount == rows, "\(command.name) writes")
        }
        #expect(world.node.connection === connection)
    }

    /// The disk is full, or has failed, and takes no transaction any more.
    @Test(arguments: [StorageError.Kind.full, .ioFailure])
    func `does not matter to reads if the store refuses to begin`(
        _ kind: StorageError.Kind
    ) throws {
        let world = try populated()
        world.node.refusesBegin = kind
        let lost = try world.node.refused(
            "message.send", ["channel": "general", "text": "lost"])
        #expect(lost.kind == (kind == .full ? .storageFull : .storeFailed))
        for command in Self.readers { expectAnswer(of: command, world, "\(kind)") }
        #expect(try world.node.log() == ["hello"])
        #expect(!world.node.hasStopped)
    }

    /// What a call that writes says after the disk has failed, though its arguments are wrong.
    @Test func `is refused as a whole after the disk has failed`() throws {
        let world = try populated()
        world.node.refusesBegin = .ioFailure
        _ = try world.node.refused("message.send", ["channel": "general", "text": "lost"])
        for command in Command.methods where command.effect >= .writes {
            let error = try world.node.refused(command.name, command.example)
            #expect(error.kind == .storeFailed, "\(command.name)")
        }
        let heavier: [(String, JSONValue)] = [
            ("identity.show", ["phrase": true]), ("unread.get", ["mark_all": true]),
            ("node.check", ["repair": true]), ("session.logout", ["wipe": "messages"]),
            ("notify.command", ["command": "exit 0"]), ("events.wait", ["name": "new"]),
            ("events.subscribe", ["name": "new"]),
        ]
        for (method, given) in heavier {
            #expect(try world.node.refused(method, given).kind == .storeFailed, "\(method)")
        }
    }

    @Test func `is a matter of memory for a lock, which a failed disk does not keep off`() throws {
        let node = try bench.sealedNode("Mina")
        try node.send("kept")
        bench.advance(120_000)
        node.refusesBegin = .ioFailure
        _ = try node.refused("message.send", ["channel": "general", "text": "lost"])
        let commits = node.connection?.commitCount
        #expect(try node.ok("node.check")["problem_count"] == 0)
        // The bench has no thread for it; the node gave it away.
        let backup = try node.refused("backup.create", ["path": "/backups/acme.bak"])
        #expect(backup.kind == .unsupported)
        #expect(try node.ok("lock.now")["state"] == "locked")
        let core = try #require(node.host?.core)
        #expect(core.session.home == nil && core.session.vault.count == 0)
        #expect(try node.refused("channel.list").kind == .locked)
        #expect(try node.ok("session.logout")["state"] == "closed")
        #expect(core.workspaces.isEmpty)
        bench.advance(60_000)
        #expect(node.connection?.commitCount == commits)
        #expect(!node.hasStopped)
        node.refusesBegin = nil
        try node.restart()
        try node.ok("session.unlock", ["passphrase": .string(goodPassphrase)])
        #expect(try node.texts() == ["kept"])
    }

    @Test func `is a matter of memory for logging out of an open node, too`() throws {
        let node = try bench.sealedNode("Mina")
        bench.advance(120_000)
        node.refusesBegin = .ioFailure
        _ = try node.refused("message.send", ["channel": "general", "text": "lost"])
        try node.ok("lock.set", ["code": "2580"])
        #expect(try node.ok("lock.now")["state"] == "passcode")
        #expect(try node.ok("session.logout")["state"] == "closed")
        #expect(node.host?.core.session.home == nil)
        #expect(!node.hasStopped)
    }
}
