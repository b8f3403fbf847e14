import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Which key seals in a private channel, and what must be kept so that others accept it.
struct `The key of a private channel` {
    private typealias Table = `Private channels`.Table

    private func people(_ node: BenchNode) throws -> [String] {
        try node.ok("channel.members", ["channel": "vault"]).texts("name").sorted()
    }

    private func texts(_ node: BenchNode) throws -> [String] {
        try node.ok("message.history", ["channel": "vault"]).items.compactMap {
            $0["text"]?.stringValue
        }
    }

    /// Neither knows of the other, by the book: the key of the removal may not be given to who was added,
    /// and the key of the addition is held by who was removed.
    @Test(arguments: ["from-join", "all"])
    func `leaves nobody blind who was added while somebody was taken out`(history: String) throws {
        let table = try Table()
        let dora = try table.bench.guest("Dora", of: table.ada)
        table.bench.advance(5_000)
        try table.ada.ok(
            "channel.create", ["name": "vault", "private": true, "history": .string(history)])
        try table.ada.ok("channel.add", ["channel": "vault", "members": ["@Bob", "@Cleo"]])
        try table.ada.ok(
            "channel.role", ["channel": "vault", "member": "@Bob", "role": "admin"])
        table.bench.advance(5_000)
        for node in [table.ada, table.cleo, dora] { table.bench.cut(table.bob, node) }
        try table.bob.ok("channel.remove", ["channel": "vault", "members": ["@Cleo"]])
        try table.ada.ok("channel.add", ["channel": "vault", "members": ["@Dora"]])
        table.bench.advance(5_000)
        for node in [table.ada, table.cleo, dora] { table.bench.heal(table.bob, node) }
        table.bench.advance(20_000)
        try table.ada.send("after both", to: "vault")
        table.bench.advance(60_000)
        for node in [table.ada, table.bob, dora] {
            #expect(try people(node) == ["Ada", "Bob", "Dora"], "\(node.name)")
            #expect(try texts(node) == ["after both"], "\(node.name)")
        }
        #expect(try !texts(table.cleo).contains("after both"))
        try dora.send("and I say", to: "vault")
        table.bench.advance(5_000)
        #expect(try texts(table.bob) == ["after both", "and I say"])
        #expect(try !texts(table.cleo).contains("and I say"))
    }

    @Test func `is cited by the first words under it, and by no more`() throws {
        let table = try Table()
        try table.ada.ok("channel.create", ["name": "vault", "private": true])
        try table.ada.ok("channel.add", ["channel": "vault", "members": ["@Bob"]])
        table.bench.advance(5_000)
        let rekey = try table.bob.inTurn { core, workspace in
            let document = try #require(
                workspace.sealed.documents.values.first { $0.root?.name == "vault" })
            return try #require(try core.privates.authoring.changeKey(of: document, in: workspace))
        }
        table.bench.advance(5_000)
        for text in ["one", "two", "three"] { try table.ada.send(text, to: "vault") }
        let core = try #require(table.ada.host?.core)
        let workspace = try table.ada.workspace()
        let document = try #require(
            workspace.sealed.documents.values.first { $0.root?.name == "vault" })
        var citing: [Bool] = []
        try core.turn.store.operations.forEachOperation(in: document.id, of: workspace.number) {
            stored throws(StorageError) in
            guard stored.entry.kind == OperationKind.content.rawValue,
                case .message? = try core.keys.content(of: stored, in: workspace)
            else { return }
            citing.append(stored.entry.dependencies.contains { $0.id == rekey })
        }
        #expect(citing == [true, false, false])
    }

    /// A home from before a removal hears of it from somebody who cannot read it, and has nobody else to ask
    /// for the key: what it made itself it was sent.
    @Test func `that a restored home made itself since is opened again`() throws {
        let table = try Table()
        try table.ada.ok("channel.create", ["name": "vault", "private": true])
        try table.ada.ok("channel.add", ["channel": "vault", "members": ["@Bob"]])
        table.bench.advance(5_000)
        let (image, guardBytes) = (try table.ada.image, table.ada.files.guardBytes)
        try table.ada.ok("channel.remove", ["channel": "vault", "members": ["@Bob"]])
        try table.ada.ok("channel.create", ["name": "den", "private": true])
        table.bench.advance(10_000)
        table.ada.kill()
        table.bob.kill()
        try table.ada.replaceStore(image)
        table.ada.files.guardBytes = guardBytes
        try table.ada.boot()
        table.bench.advance(60_000)
        #expect(try people(table.ada) == ["Ada"])
        #expect(try table.ada.ok("channel.list").texts("name").contains("den"))
        try table.ada.send("for nobody else", to: "vault")
        try table.bob.boot()
        table.bench.advance(60_000)
        #expect(try !texts(table.bob).contains("for nobody else"))
        #expect(try table.ada.digest() == table.cleo.digest())
    }
}
