import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `A passcode` {
    let bench = CoreBench()

    private func gated() throws -> BenchNode {
        let node = try bench.sealedNode("Mina")
        try node.ok("lock.set", ["code": "2580"])
        try node.ok("lock.now")
        return node
    }

    @Test func `gates a running node, whose keys stay`() throws {
        let node = try gated()
        #expect(node.session["state"] == "passcode")
        #expect(try node.refused("channel.list").reason == "session.passcode")
        #expect(node.host?.core.session.home != nil)
        try node.ok("lock.unlock", ["code": "2580"])
        #expect(node.session["state"] == "open")
        #expect(node.derivationCount == 1)
    }

    @Test func `drops the keys after three wrong ones`() throws {
        let node = try gated()
        for left in [2, 1] {
            let error = try node.refused("lock.unlock", ["code": "0000"])
            #expect(error.kind == .wrongSecret)
            #expect(error.details["tries_left"] == .integer(Int64(left)))
        }
        #expect(try node.refused("lock.unlock", ["code": "1111"]).kind == .locked)
        #expect(node.session["state"] == "locked")
        #expect(node.host?.core.session.home == nil)
        #expect(try node.refused("lock.unlock", ["code": "2580"]).kind == .locked)
        try node.ok("session.unlock", ["passphrase": .string(goodPassphrase)])
        #expect(node.session["passcode"] == false)
    }

    @Test func `that is right gives three tries again`() throws {
        let node = try gated()
        for _ in 1...3 {
            for _ in 1...2 { _ = try node.refused("lock.unlock", ["code": "0000"]) }
            try node.ok("lock.unlock", ["code": "2580"])
            try node.ok("lock.now")
        }
        #expect(node.session["state"] == "passcode")
    }

    @Test func `is on no disk, in no form, and gone after a restart`() throws {
        let node = try bench.sealedNode("Mina")
        let before = try node.image
        let identity = node.files.identity
        try node.ok("lock.set", ["code": "2580"])
        try node.ok("lock.change", ["current": "2580", "new": "0852"])
        #expect(try node.image == before)
        #expect(node.files.identity == identity)
        try node.restart()
        #expect(node.session["passcode"] == false)
    }

    @Test func `is removed by itself, by a log-out, and with the passphrase`() throws {
        let node = try bench.sealedNode("Mina")
        try node.ok("lock.set", ["code": "2580"])
        #expect(try node.refused("lock.remove", ["code": "0000"]).kind == .wrongSecret)
        #expect(try node.ok("lock.remove", ["code": "2580"])["passcode"] == false)
        try node.ok("lock.set", ["code": "2580"])
        try node.ok("session.logout")
        #expect(node.session["passcode"] == false)
        try node.ok("session.unlock", ["passphrase": .string(goodPassphrase)])
        try node.ok("lock.set", ["code": "2580"])
        let shown = try node.ok(
            "identity.passphrase.change", ["current": .string(goodPassphrase), "remove": true])
        #expect(shown["passphrase"] == false)
        #expect(node.session["passcode"] == false)
    }

    struct Refused: Sendable, CustomTestStringConvertible {
        let method: String
        let parameters: JSONValue
        let kind: NodeError.Kind
        var fields: [String] = []
        var testDescription: String { "\(method) \(parameters.text)" }
    }

    @Test(arguments: [
        Refused(
            method: "lock.set", parameters: ["code": "258"], kind: .badRequest, fields: ["code"]),
        Refused(
            method: "lock.set", parameters: ["code": "25x0"], kind: .badRequest, fields: ["code"]),
        Refused(
            method: "lock.set", parameters: ["code": "25800"], kind: .badRequest, fields: ["code"]),
        Refused(
            method: "lock.change", parameters: ["current": "x", "new": "y"], kind: .badRequest,
            fields: ["current", "new"]),
        Refused(
            method: "lock.change", parameters: ["current": "2580", "new": "0852"], kind: .notFound),
        Refused(method: "lock.remove", parameters: ["code": "2580"], kind: .notFound),
    ])
    func `must be four digits, and one that is there`(_ refused: Refused) throws {
        let node = try bench.sealedNode("Mina")
        let error = try node.refused(refused.method, refused.parameters)
        #expect(error.kind == refused.kind)
        #expect(error.fields.map(\.name) == refused.fields)
    }

    @Test func `needs a passphrase behind it, and no other passcode before it`() throws {
        let open = try bench.node("Joon")
        #expect(try open.refused("lock.set", ["code": "2580"]).kind == .forbidden)
        let node = try bench.sealedNode("Mina")
        try node.ok("lock.set", ["code": "2580"])
        #expect(try node.refused("lock.set", ["code": "1111"]).kind == .duplicate)
    }
}

struct `A log-out` {
    let bench = CoreBench()

    @Test func `takes keys and network away, and keeps what is stored`() throws {
        let mina = try bench.sealedNode("Mina")
        let joon = try bench.guest("Joon", of: mina)
        try mina.ok("message.send", ["channel": "general", "text": "kept"])
        bench.advance(2_000)
        #expect(try mina.ok("session.logout")["state"] == "closed")
        #expect(mina.host?.core.workspaces.isEmpty == true)
        #expect(mina.host?.core.links.network.links.isEmpty == true)
        #expect(mina.host?.wantsNetwork == false)
        try joon.ok("message.send", ["channel": "general", "text": "meanwhile"])
        try mina.ok("session.unlock", ["passphrase": .string(goodPassphrase)])
        bench.advance(120_000)
        #expect(try mina.texts() == ["kept", "meanwhile"])
        try mina.ok("message.send", ["channel": "general", "text": "back"])
        bench.advance(2_000)
        #expect(try joon.texts() == ["kept", "meanwhile", "back"])
    }

    @Test func `is refused while something is on no other device`() throws {
        let mina = try bench.sealedNode("Mina")
        let joon = try bench.guest("Joon", of: mina)
        bench.advance(2_000)
        bench.cut(mina, joon)
        try mina.ok("message.send", ["channel": "general", "text": "mine alone"])
        for wipe in ["none", "messages", "all"] {
            let error = try mina.refused("session.logout", ["wipe": .string(wipe)])
            #expect(error.kind == .unsynced)
            #expect(error.details["unsent"] == 1)
        }
        #expect(mina.session["state"] == "open")
        #expect(try mina.ok("session.logout", ["force": true])["state"] == "closed")
    }

    @Test func `of somebody who is alone loses nothing unless it wipes`() throws {
        let mina = try bench.sealedNode("Mina")
        #expect(try mina.refused("session.logout", ["wipe": "messages"]).kind == .unsynced)
        #expect(try mina.refused("session.logout", ["wipe": "all"]).kind == .unsynced)
        #expect(try mina.ok("session.logout")["state"] == "closed")
    }

    @Test func `that wipes messages fetches them again afterwards`() throws {
        let mina = try bench.sealedNode("Mina")
        let joon = try bench.guest("Joon", of: mina)
        try mina.ok("message.send", ["channel": "general", "text": "hers"])
        try joon.ok("message.send", ["channel": "general", "text": "his"])
        bench.advance(2_000)
        try mina.ok("session.logout", ["wipe": "messages"])
        let left = try #require(mina.host?.core.turn.store.operations)
        #expect(left.count > 0)
        bench.cut(mina, joon)
        try mina.ok("session.unlock", ["passphrase": .string(goodPassphrase)])
        #expect(try mina.texts().isEmpty)
        bench.heal(mina, joon)
        bench.advance(120_000)
        #expect(try mina.texts() == ["hers", "his"])
        try mina.ok("message.send", ["channel": "general", "text": "again"])
        bench.advance(2_000)
        #expect(try joon.texts() == ["hers", "his", "again"])
    }

    /// The store is renewed once, by the log-out itself, and nobody has copied anything.
    @Test func `that wipes messages is not taken for a copied home`() throws {
        let mina = try bench.sealedNode("Mina")
        let joon = try bench.guest("Joon", of: mina)
        bench.advance(2_000)
        func store() throws -> [UInt8]? {
            try #require(mina.host?.core).turn.store.registry.value("store")
        }
        let first = try store()
        try mina.ok("session.logout", ["wipe": "messages"])
        let second = try store()
        #expect(second != first)
        try mina.ok("session.unlock", ["passphrase": .string(goodPassphrase)])
        bench.advance(60_000)
        #expect(try store() == second)
        #expect(!mina.log.contains { $0.contains("store.restored") })
        #expect(try !mina.eventTypes().contains("store.restored"))
        let told = try mina.ok("node.status").text + mina.ok("node.doctor").text
        for word in ["copied", "from a copy", "replaced", "restored"] {
            #expect(!told.contains(word), "\(word)")
        }
        try mina.restart()
        try mina.ok("session.unlock", ["passphrase": .string(goodPassphrase)])
        #expect(try store() == second)
        try mina.ok("message.send", ["channel": "general", "text": "again"])
        bench.advance(2_000)
        #expect(try joon.texts() == ["again"])
    }

    @Test func `that wipes all ends the node and asks that its files go`() throws {
        let mina = try bench.sealedNode("Mina")
        #expect(
            try mina.ok("session.logout", ["wipe": "all", "force": true])["wiped"] == true)
        #expect(mina.wipesHome && mina.hasStopped)
    }

    @Test func `needs a passphrase, or wipes all`() throws {
        let node = try bench.node("Mina")
        for wipe in ["none", "messages"] {
            let error = try node.refused(
                "session.logout", ["wipe": .string(wipe), "force": true])
            #expect(error.reason == "session.no_passphrase")
        }
        try node.ok("session.logout", ["wipe": "all", "force": true])
        #expect(node.wipesHome)
    }

    @Test func `of a locked node keeps it closed`() throws {
        let mina = try bench.sealedNode("Mina")
        try mina.ok("lock.now")
        #expect(try mina.refused("session.logout", ["wipe": "messages"]).kind == .locked)
        #expect(try mina.ok("session.logout")["state"] == "closed")
        #expect(try mina.ok("session.logout")["state"] == "closed")
        try mina.ok("session.unlock", ["passphrase": .string(goodPassphrase)])
    }
}
