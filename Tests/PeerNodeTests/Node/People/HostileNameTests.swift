import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Names that no honest program writes, and the protocol allows: they are shown, and do not affect
/// what references, lists or conversations mean.
struct `Somebody whose name looks like a reference` {
    private func world() throws -> (bench: CoreBench, mina: BenchNode, eve: BenchNode) {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        for name in ["Nora", "Joon"] { _ = try bench.guest(name, of: mina) }
        let eve = try bench.guest("Eve", of: mina)
        bench.advance(5_000)
        return (bench, mina, eve)
    }

    private func callEve(_ name: String, _ eve: BenchNode, in bench: CoreBench) throws {
        try eve.inTurn { core, workspace in
            _ = try #require(
                try core.privates.authorContent(
                    .profile(name: name), to: workspace.profileDocument, in: workspace))
        }
        bench.advance(5_000)
    }

    private func hears(_ eve: BenchNode) throws -> Bool {
        try !(eve.ok("dm.list")["items"]?.arrayValue ?? []).isEmpty
    }

    @Test(arguments: ["me", "ME", "@me"])
    func `gets nothing that you send to yourself`(name: String) throws {
        let (bench, mina, eve) = try world()
        try callEve(name, eve, in: bench)
        let sent = try mina.ok("message.send", ["channel": "@me", "text": "for myself"])
        bench.advance(5_000)
        #expect(try !hears(eve), "\(sent)")
        #expect(try mina.ok("message.history", ["channel": "@me"]).items.count == 1)
    }

    @Test(arguments: ["Joon, Nora", "Nora, Joon"], [false, true])
    func `gets nothing that is for several people`(name: String, isTalkedTo: Bool) throws {
        let (bench, mina, eve) = try world()
        try callEve(name, eve, in: bench)
        let id = try eve.ok("identity.show")["members"]?[0]?["member"] ?? .null
        if isTalkedTo { try mina.ok("message.send", ["channel": id, "text": "to you alone"]) }
        bench.advance(5_000)
        for _ in 0..<2 {
            let sent = try mina.ok(
                "message.send", ["channel": .string("@" + name), "text": "for both"])
            bench.advance(5_000)
            #expect(try hears(eve) == isTalkedTo, "\(sent)")
            #expect(try eve.texts(of: "both").isEmpty)
        }
    }

    /// Two of one name, each in a conversation that is shown alike: none is taken.
    @Test func `makes nobody guess which conversation is meant`() throws {
        let (bench, mina, eve) = try world()
        try mina.ok("message.send", ["channel": "@Nora, Joon", "text": "first"])
        try callEve("Joon", eve, in: bench)
        let people = try mina.ok("member.list").items
        let ids = people.filter { $0["name"] == "Nora" || $0["name"] == "Joon" }
            .compactMap { $0["id"]?.stringValue }
        let nora = try #require(people.first { $0["name"] == "Nora" }?["id"]?.stringValue)
        let eveID = try #require(
            try eve.ok("identity.show")["members"]?[0]?["member"]?.stringValue)
        try mina.ok(
            "message.send", ["channel": .string("@\(nora),\(eveID)"), "text": "to these"])
        bench.advance(5_000)
        #expect(ids.count == 3)
        let failure = try mina.refused(
            "message.send", ["channel": "@Joon, Nora", "text": "for both"])
        #expect(failure.kind == .ambiguous)
        let candidates = failure.details["candidates"]?.arrayValue ?? []
        #expect(candidates.count == 2)
        for candidate in candidates {
            try mina.ok("message.send", ["channel": candidate["id"] ?? .null, "text": "so"])
        }
    }

    @Test func `is not everybody`() throws {
        let (bench, mina, eve) = try world()
        try callEve("here", eve, in: bench)
        #expect(
            try mina.refused("message.send", ["channel": "@here", "text": "x"]).kind == .unknownUser
        )
        let id = try eve.ok("identity.show")["members"]?[0]?["member"] ?? .null
        try mina.ok("message.send", ["channel": id, "text": "by id"])
        bench.advance(5_000)
        #expect(try hears(eve))
    }
}
