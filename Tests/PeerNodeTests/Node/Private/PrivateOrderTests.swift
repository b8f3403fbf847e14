import CRDTStore
import SyncProtocol
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// The parts of a private document may reach a node in any order: roots, keys, membership and
/// content. What it shows in the end is the same.
struct `Private documents that arrive in pieces` {
    /// Everything that a node shows of its private documents.
    private func shown(on node: BenchNode) throws -> [String] {
        var lines: [String] = []
        for list in [
            try node.ok("channel.list", ["scope": "all"]).items, try node.ok("dm.list").items,
        ] {
            for channel in list where channel["private"] == true {
                lines.append(
                    ["name", "id", "topic", "members", "joined", "archived", "owner"]
                        .map { channel[$0]?.text ?? "" }.joined(separator: " "))
                let id = channel["id"] ?? .null
                let page = try node.ok("message.history", ["channel": id, "limit": 100])
                // Two logs may interleave otherwise where the clock is no guide.
                lines += page.items.map { "\($0["text"] ?? "") \($0["state"] == "refused")" }
                    .sorted()
            }
        }
        return lines
    }

    /// A life of the workspace from which Cleo is away, and that concerns her in every way.
    private func life() throws -> (`Private channels`.Table, before: [UInt8]) {
        let table = try `Private channels`.Table()
        table.cleo.kill()
        let before = try table.cleo.image
        let (bob, ada) = (table.bob, table.ada)
        try bob.send("psst", to: "@Cleo")
        try bob.ok(
            "channel.create", ["name": "board", "private": true, "history": "all", "topic": "one"])
        try bob.send("first", to: "board")
        try bob.ok("channel.add", ["channel": "board", "members": ["Ada"]])
        try ada.send("second", to: "board")
        try bob.ok("channel.add", ["channel": "board", "members": ["Cleo"]])
        try bob.ok("channel.role", ["channel": "board", "member": "Cleo", "role": "admin"])
        try ada.send("third", to: "board")
        try bob.ok("channel.remove", ["channel": "board", "members": ["Ada"]])
        try bob.send("fourth", to: "board")
        try bob.ok("channel.edit", ["channel": "board", "topic": "two"])
        try bob.ok(
            "channel.create", ["name": "late", "private": true, "history": "from-join"])
        try bob.send("unseen", to: "late")
        try bob.ok("channel.add", ["channel": "late", "members": ["Ada"]])
        try bob.ok("channel.add", ["channel": "late", "members": ["Cleo"]])
        try ada.send("seen", to: "late")
        try ada.send("hi Cleo", to: "@Cleo")
        table.bench.advance(5_000)
        return (table, before)
    }

    @Test(arguments: Seeds.explore(6))
    func `show the same in any order of arrival`(seed: UInt64) throws {
        let (table, before) = try life()
        let all = try table.ada.storedRuns()
        let device = try #require(table.ada.host?.core.session.home?.device)
        table.ada.kill()
        table.bob.kill()
        var results: [[String]] = []
        for round in 0..<2 {
            try table.cleo.replaceStore(before)
            try table.cleo.boot()
            let core = try #require(table.cleo.host?.core)
            let workspace = try #require(core.workspaces.values.first)
            var generator = SeededGenerator(seed: seed &* 2 &+ UInt64(round))
            core.beginTurn(at: table.cleo.time)
            for run in all.shuffled(using: &generator) {
                let outcome = try core.acceptAtOnce(
                    run, in: workspace, from: .peer(device, source: 1, isBackfill: false))
                if case .rejected(let rejection) = outcome { Issue.record("\(rejection)") }
            }
            _ = try core.endTurn()
            try core.turn.store.commit()
            #expect(core.log.waiting.operationCount == 0)
            let now = try shown(on: table.cleo)
            results.append(now)
            let check = try table.cleo.ok("node.check")
            #expect(check["ok"] == true, "\(check.text)")
            // And the same again from the disk.
            try table.cleo.restart()
            #expect(try shown(on: table.cleo) == now)
            table.cleo.kill()
        }
        #expect(results[0] == results[1])
        let texts = results[0].joined(separator: "\n")
        for word in ["psst", "first", "second", "third", "fourth", "seen", "hi Cleo", "two"] {
            #expect(texts.contains(word), "\(word)")
        }
        #expect(!texts.contains("unseen"))
    }

    @Test func `tell of each message once`() throws {
        let (table, before) = try life()
        try table.cleo.replaceStore(before)
        try table.cleo.boot()
        table.bench.advance(30_000)
        let events = try table.cleo.events(types: ["message.created"])
        let texts = events.compactMap { $0["data"]?["text"]?.stringValue }.sorted()
        #expect(
            texts == ["first", "fourth", "hi Cleo", "psst", "second", "seen", "third"].sorted())
    }
    /// What comes in turns of its own is shown as soon as it can be: what comes before its channel is
    /// told of with it.
    @Test(arguments: Seeds.explore(6))
    func `report each message once in any order of arrival`(seed: UInt64) throws {
        let (table, before) = try life()
        let all = try table.ada.storedRuns()
        let device = try #require(table.ada.host?.core.session.home?.device)
        table.ada.kill()
        table.bob.kill()
        try table.cleo.replaceStore(before)
        try table.cleo.boot()
        let core = try #require(table.cleo.host?.core)
        let workspace = try #require(core.workspaces.values.first)
        var generator = SeededGenerator(seed: seed)
        for run in all.shuffled(using: &generator) {
            core.beginTurn(at: table.cleo.time)
            _ = try core.acceptAtOnce(
                run, in: workspace, from: .peer(device, source: 1, isBackfill: false))
            _ = try core.endTurn()
            try core.turn.store.commit()
        }
        let events = try table.cleo.events(types: ["message.created"])
        let texts = events.compactMap { $0["data"]?["text"]?.stringValue }.sorted()
        #expect(
            texts == ["first", "fourth", "hi Cleo", "psst", "second", "seen", "third"].sorted(),
            "WSX_SEED=\(seed)")
    }
}
