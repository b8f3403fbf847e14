import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// A passphrase that the rules take.
let goodPassphrase = "correct horse battery"

extension CoreBench {
    /// A node whose keys a passphrase seals, with a workspace.
    func sealedNode(_ name: String, workspace: String? = "acme") throws -> BenchNode {
        let node = try bareNode(name)
        try node.ok(
            "identity.create",
            ["name": .string(name), "passphrase": .string(goodPassphrase)])
        if let workspace { try node.ok("workspace.create", ["name": .string(workspace)]) }
        return node
    }
}

extension BenchNode {
    /// The texts of a channel, oldest first.
    func texts(_ channel: String = "general") throws -> [String?] {
        try ok("message.history", ["channel": .string(channel), "limit": 100])["items"]?
            .arrayValue?.map { $0["text"]?.stringValue } ?? []
    }

    var session: JSONValue { (try? ok("session.status")) ?? .null }
}

struct `A locked node` {
    let bench = CoreBench()

    @Test func `answers nothing but who it is and how it is opened`() throws {
        let node = try bench.sealedNode("Mina")
        try node.ok("session.status")
        try node.ok("lock.now")
        for command in Command.methods where command.whileLocked == .refused {
            let given = command.example
            let error = try node.refused(command.name, given)
            #expect(error.kind == .locked, "\(command.name)")
            #expect(error.exitStatus == 4)
        }
        #expect(node.session["state"] == "locked")
        #expect(try node.ok("node.status")["locked"] == true)
        let shown = try node.ok("identity.show")
        #expect(shown["name"] == .null)
        #expect(shown["locked"] == true)
        #expect(shown["passphrase"] == true)
        #expect(try node.refused("identity.show", ["phrase": true]).kind == .locked)
        #expect(try node.refused("identity.show", ["seen": "abacus"]).kind == .locked)
    }

    @Test func `says no name and no text in what it answers`() throws {
        let node = try bench.sealedNode("Mina", workspace: "acmelocked")
        try node.ok("channel.create", ["name": "secretroom"])
        try node.ok("message.send", ["channel": "general", "text": "canarytext"])
        try node.ok("lock.now")
        for method in ["node.status", "node.doctor", "identity.show", "session.status"] {
            let text = try node.ok(method).text
            #expect(!text.contains("\"Mina\""), "\(method)")
            for word in ["acmelocked", "secretroom", "canarytext"] {
                #expect(!text.contains(word), "\(method)")
            }
        }
    }

    @Test func `opens to its passphrase and to no other`() throws {
        let node = try bench.sealedNode("Mina")
        try node.ok("message.send", ["channel": "general", "text": "before"])
        try node.ok("lock.now")
        let wrong = try node.refused("session.unlock", ["passphrase": "something else entirely"])
        #expect(wrong.kind == .wrongSecret)
        #expect(node.session["locked"] == true)
        try node.ok("session.unlock", ["passphrase": .string(goodPassphrase)])
        #expect(node.session["state"] == "open")
        #expect(try node.texts() == ["before"])
        try node.ok("message.send", ["channel": "general", "text": "after"])
        #expect(try node.texts() == ["before", "after"])
    }

    @Test func `starts locked, without peers, and its passphrase opens it`() throws {
        let node = try bench.sealedNode("Mina")
        let joon = try bench.guest("Joon", of: node)
        try node.ok("message.send", ["channel": "general", "text": "kept"])
        try node.restart()
        #expect(node.session["state"] == "closed")
        #expect(node.host?.wantsNetwork == false)
        #expect(try node.ok("node.status")["locked"] == true)
        try joon.ok("message.send", ["channel": "general", "text": "meanwhile"])
        try node.ok("session.unlock", ["passphrase": .string(goodPassphrase)])
        bench.advance(60_000)
        #expect(try node.texts() == ["kept", "meanwhile"])
    }

    @Test func `goes on to relay, and shows what came when it is opened`() throws {
        let mina = try bench.sealedNode("Mina")
        let joon = try bench.guest("Joon", of: mina)
        let sora = try bench.guest("Sora", of: mina)
        bench.cut(joon, sora)
        try mina.ok("lock.now")
        for number in 1...3 {
            try joon.ok(
                "message.send", ["channel": "general", "text": .string("through \(number)")])
        }
        bench.advance(2_000)
        #expect(try sora.texts() == ["through 1", "through 2", "through 3"])
        try mina.ok("session.unlock", ["passphrase": .string(goodPassphrase)])
        #expect(try mina.texts() == ["through 1", "through 2", "through 3"])
    }

    @Test func `gets keys that came while it was locked`() throws {
        let mina = try bench.sealedNode("Mina")
        let joon = try bench.guest("Joon", of: mina, role: "admin")
        try mina.ok("lock.now")
        try joon.ok("workspace.rekey")
        try joon.ok("channel.create", ["name": "later"])
        try joon.ok("message.send", ["channel": "later", "text": "under the new key"])
        bench.advance(2_000)
        try mina.ok("session.unlock", ["passphrase": .string(goodPassphrase)])
        #expect(try mina.texts("later") == ["under the new key"])
    }

    @Test func `shows what came while it was locked after a crash, too`() throws {
        let mina = try bench.sealedNode("Mina")
        let joon = try bench.guest("Joon", of: mina)
        try mina.ok("lock.now")
        try joon.ok("message.send", ["channel": "general", "text": "unopened"])
        bench.advance(2_000)
        bench.cut(mina, joon)
        try mina.restart()
        try mina.ok("session.unlock", ["passphrase": .string(goodPassphrase)])
        bench.advance(5_000)
        #expect(try mina.texts() == ["unopened"])
    }

    @Test func `holds no key and no text in its core`() throws {
        let mina = try bench.sealedNode("Mina")
        _ = try bench.guest("Joon", of: mina)
        try mina.ok("message.send", ["channel": "general", "text": "text"])
        let core = try #require(mina.host?.core)
        // As after somebody came back by the phrase.
        try mina.workspace().secrets.recoveryBox = AgreementKey(using: SeededRandom(seed: 1))
        try mina.ok("lock.now")
        #expect(core.session.home == nil)
        #expect(core.session.vault.count == 0)
        for workspace in core.workspaces.values {
            #expect(workspace.secrets.keys.isEmpty && workspace.secrets.recoveryBox == nil)
            #expect(workspace.secrets.mailbox.isEmpty && workspace.sealed.documents.isEmpty)
            #expect(
                workspace.people.openedNames.isEmpty && workspace.people.profileNames.isEmpty
                    && workspace.people.fields.isEmpty)
            #expect(workspace.book.channels.values.allSatisfy { $0.name == nil })
            #expect(!workspace.discovery.isEmpty)
        }
    }

    @Test func `writes nothing in its own name`() throws {
        let mina = try bench.sealedNode("Mina")
        let joon = try bench.guest("Joon", of: mina)
        let link = try mina.ok("invite.create")["link"] ?? .null
        try mina.ok("lock.now")
        let core = try #require(mina.host?.core)
        let own = { core.turn.store.operations.count }
        let before = own()
        bench.advance(120_000)
        #expect(own() == before)
        let stranger = try bench.bareNode("Stranger")
        bench.cut(stranger, joon)
        let error = try stranger.refused(
            "workspace.join", ["link": link, "name": "Stranger", "timeout_ms": 5_000])
        #expect(error.kind == .unreachable)
        #expect(own() == before)
    }

    @Test func `tells readers of events that it is locked, and the rest when it is open`() throws {
        let mina = try bench.sealedNode("Mina")
        let joon = try bench.guest("Joon", of: mina)
        let next = try mina.ok("events.wait", ["since": "latest"])["next"] ?? .null
        let wait = mina.begin("events.wait", ["since": next, "timeout_ms": 600_000])
        try mina.ok("lock.now")
        let told = try #require(try mina.answer(to: wait)?.get())
        #expect(told["items"]?.arrayValue?.map { $0["type"] } == ["session.locked"])
        try joon.ok("message.send", ["channel": "general", "text": "later"])
        bench.advance(2_000)
        try mina.ok("session.unlock", ["passphrase": .string(goodPassphrase)])
        let rest = try mina.ok("events.wait", ["since": told["next"] ?? .null])
        let types = rest["items"]?.arrayValue?.compactMap { $0["type"]?.stringValue } ?? []
        #expect(types.contains("session.unlocked"))
        #expect(types.filter { $0 == "message.created" }.count == 1)
        let message = rest["items"]?.arrayValue?.first { $0["type"] == "message.created" }
        #expect(message?["data"]?["text"] == "later")
    }

    @Test func `stays locked, and an open one open, when the store fails`() throws {
        let mina = try bench.sealedNode("Mina")
        let joon = try bench.guest("Joon", of: mina)
        mina.plant(.commitBefore(0), .full)
        #expect(mina.call("message.send", ["channel": "general", "text": "lost"]).isFailure)
        #expect(mina.session["state"] == "open")
        try mina.ok("lock.now")
        mina.plant(.commitBefore(0), .full)
        try joon.ok("message.send", ["channel": "general", "text": "first"])
        bench.advance(60_000)
        #expect(mina.session["state"] == "locked")
        try joon.ok("message.send", ["channel": "general", "text": "second"])
        bench.advance(60_000)
        try mina.ok("session.unlock", ["passphrase": .string(goodPassphrase)])
        #expect(try mina.texts() == ["first", "second"])
    }

    @Test func `cannot be locked without a passphrase`() throws {
        let node = try bench.node("Mina")
        let error = try node.refused("lock.now")
        #expect(error.kind == .forbidden)
        #expect(error.reason == "session.no_passphrase")
        #expect(node.session["state"] == "open")
        #expect(try node.ok("session.unlock", ["passphrase": "whatever it is"])["locked"] == false)
    }
}

extension Result {
    /// Whether it is a failure.
    fileprivate var isFailure: Bool {
        if case .failure = self { true } else { false }
    }
}
