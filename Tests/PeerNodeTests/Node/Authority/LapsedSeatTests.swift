import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Members who return to the workspace, and their former private channels.
struct `A member who comes back` {
    private typealias Table = `Private channels`.Table

    /// How somebody's membership ended.
    enum End: CaseIterable { case removed, left }

    /// Ada's private channel with Bob in it, who was out while something was said, and is back.
    private func table(_ end: End, history: String = "all") throws -> Table {
        let table = try Table()
        try table.ada.ok(
            "channel.create",
            ["name": "board", "private": true, "history": .string(history)])
        try table.ada.ok("channel.add", ["channel": "board", "members": ["@Bob", "@Cleo"]])
        try table.ada.send("before", to: "board")
        #expect(try table.bob.log(of: "board") == ["before"])
        switch end {
        case .removed: try table.ada.ok("member.remove", ["member": "@Bob", "force": true])
        case .left: try table.bob.ok("workspace.leave")
        }
        table.bench.advance(2_000)
        try table.ada.send("meanwhile", to: "board")
        try table.bob.comeBack(to: table.ada, in: table.bench)
        table.bench.advance(60_000)
        try table.ada.send("after", to: "board")
        table.bench.advance(60_000)
        return table
    }

    private static func people(_ node: BenchNode) throws -> [String] {
        try node.ok("channel.members", ["channel": "board"]).texts("name").sorted()
    }

    /// Everything that a home holds, opened with every key that it has.
    private static func reads(_ word: String, _ node: BenchNode) throws -> Bool {
        let core = try #require(node.host).core
        let workspace = try node.workspace()
        for document in workspace.sealed.documents.values {
            var isRead = false
            try core.turn.store.operations.forEachOperation(in: document.id, of: workspace.number) {
                stored throws(StorageError) in
                guard
                    case .message(let message)? = try core.keys.content(
                        of: stored, in: workspace)
                else { return }
                isRead = isRead || message.text == word
            }
            if isRead { return true }
        }
        return false
    }

    @Test(arguments: End.allCases)
    func `is in no private channel by an earlier seat`(_ end: End) throws {
        let table = try table(end)
        #expect(try Self.people(table.ada) == ["Ada", "Cleo"])
        #expect(try Self.people(table.cleo) == ["Ada", "Cleo"])
        #expect(try table.bob.log() == [])
        #expect(try !Self.reads("meanwhile", table.bob))
        #expect(try !Self.reads("after", table.bob))
        #expect(try Self.reads("before", table.bob))
        #expect(
            try table.bob.refused("message.send", ["channel": "board", "text": "me"]).kind
                == .forbidden)
        #expect(try table.ada.log(of: "board") == ["before", "meanwhile", "after"])
        for node in [table.ada, table.bob, table.cleo] {
            #expect(try node.ok("node.check")["problem_count"] == 0)
            try node.restart()
        }
        table.bench.advance(60_000)
        #expect(try Self.people(table.ada) == ["Ada", "Cleo"])
        #expect(try !Self.reads("meanwhile", table.bob))
        #expect(try table.ada.digest() == table.bob.digest())
    }

    @Test(arguments: End.allCases, ["all", "from-join"])
    func `is in again once somebody adds them`(_ end: End, _ history: String) throws {
        let table = try table(end, history: history)
        try table.ada.ok("channel.add", ["channel": "board", "members": ["@Bob"]])
        table.bench.advance(5_000)
        try table.ada.send("welcome", to: "board")
        try table.bob.send("thanks", to: "board")
        table.bench.advance(5_000)
        #expect(try Self.people(table.bob) == ["Ada", "Bob", "Cleo"])
        let seen = try table.bob.log(of: "board")
        #expect(
            seen
                == (history == "all"
                    ? ["before", "meanwhile", "after", "welcome", "thanks"]
                    : ["before", "welcome", "thanks"]))
        #expect(try table.cleo.log(of: "board").suffix(2) == ["welcome", "thanks"])
        for node in [table.ada, table.bob, table.cleo] { try node.restart() }
        table.bench.advance(5_000)
        #expect(try Self.people(table.cleo) == ["Ada", "Bob", "Cleo"])
        #expect(try table.bob.log(of: "board") == seen)
        // And out again by another removal.
        try table.ada.ok("member.remove", ["member": "@Bob", "force": true])
        table.bench.advance(2_000)
        try table.bob.comeBack(to: table.ada, in: table.bench)
        table.bench.advance(60_000)
        #expect(try Self.people(table.ada) == ["Ada", "Cleo"])
    }

    @Test(arguments: ["all", "from-join"])
    func `may be added to a channel for the first time, and make their own`(
        _ history: String
    ) throws {
        let table = try Table()
        try table.ada.ok("member.remove", ["member": "@Bob", "force": true])
        table.bench.advance(2_000)
        try table.ada.ok(
            "channel.create",
            ["name": "board", "private": true, "history": .string(history)])
        try table.ada.send("before", to: "board")
        try table.bob.comeBack(to: table.ada, in: table.bench)
        table.bench.advance(5_000)
        try table.ada.ok("channel.add", ["channel": "board", "members": ["@Bob"]])
        table.bench.advance(5_000)
        try table.bob.send("here", to: "board")
        table.bench.advance(5_000)
        #expect(try table.ada.log(of: "board") == ["before", "here"])
        try table.bob.ok("channel.create", ["name": "own", "private": true])
        try table.bob.ok("channel.add", ["channel": "own", "members": ["@Cleo"]])
        try table.bob.send("mine", to: "own")
        table.bench.advance(5_000)
        #expect(try table.cleo.log(of: "own") == ["mine"])
        for node in [table.ada, table.bob, table.cleo] { try node.restart() }
        table.bench.advance(5_000)
        #expect(try Self.people(table.ada) == ["Ada", "Bob"])
        #expect(try table.bob.log(of: "own") == ["mine"])
    }

    @Test func `stays in conversations, which always belong to the same people`() throws {
        let table = try Table()
        let direct = try table.ada.ok("dm.open", ["members": ["@Bob"]]).text("id")
        try table.ada.send("before", to: direct)
        try table.ada.ok("member.remove", ["member": "@Bob", "force": true])
        table.bench.advance(2_000)
        try table.bob.comeBack(to: table.ada, in: table.bench)
        table.bench.advance(60_000)
        try table.ada.send("after", to: direct)
        try table.bob.send("yes", to: direct)
        table.bench.advance(5_000)
        #expect(try table.ada.log(of: direct) == ["before", "after", "yes"])
        #expect(try table.bob.log(of: direct) == ["before", "after", "yes"])
    }

    /// A program that does not keep to it, with the keys and the seat of before.
    @Test func `leads nothing under an earlier seat`() throws {
        let table = try Table()
        try table.ada.ok(
            "channel.create", ["name": "board", "private": true, "history": "all"])
        try table.ada.ok("channel.add", ["channel": "board", "members": ["@Bob"]])
        try table.ada.ok(
            "channel.role", ["channel": "board", "member": "@Bob", "role": "admin"])
        table.bench.advance(5_000)
        let bob = try table.bob.workspace()
        let cleo = try table.cleo.workspace().member
        let seat = try #require(
            bob.sealed.documents.values.first { $0.root?.subtype == .channel }?.authority
                .standing(of: bob.member)?.seat)
        func mayAdd() throws -> Bool {
            let core = try #require(table.bob.host).core
            let workspace = try table.bob.workspace()
            let document = try #require(
                workspace.sealed.documents.values.first { $0.root?.subtype == .channel })
            let device = try #require(core.session.ownDevice)
            let grant = try #require(
                workspace.judged.evaluator.contentGrant(
                    of: device, leastRole: .guest, as: workspace.member))
            let ends = core.privates.ends(in: document, of: workspace)
            let id = OperationID([UInt8](repeating: 7, count: 32))
            let key = try #require(document.newestKey)
            let trial = PrivateAuthority(
                of: document.id,
                try core.privates.operations(of: document, ends: ends, in: workspace) + [
                    PrivateOperation(
                        id: id, author: workspace.member, previous: nil,
                        dependencies: document.authority.heads, keyID: key.keyID,
                        change: PrivateChange(
                            .add(PrivateAddition(seats: [PrivateSeat(cleo, .member)])),
                            seat: seat),
                        isAllowed: true,
                        knownEnds: core.privates.known(ends, by: grant, in: workspace))
                ], ends: ends)
            return trial.isValid(id)
        }
        #expect(try mayAdd())
        try table.ada.ok("member.remove", ["member": "@Bob", "force": true])
        table.bench.advance(2_000)
        try table.bob.comeBack(to: table.ada, in: table.bench)
        table.bench.advance(60_000)
        #expect(try !mayAdd())
    }
}
