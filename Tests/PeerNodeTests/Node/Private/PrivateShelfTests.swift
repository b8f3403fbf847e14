import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Verdicts on most private documents are not in memory, and nobody can tell the difference.
struct `Who may do what in a conversation` {
    private typealias Table = `Private channels`.Table

    private static func shelf(_ node: BenchNode) throws -> PrivateShelf {
        try #require(node.host?.core.privates.privateShelf)
    }

    /// Bob is in several channels and conversations, and keeps one of them in memory.
    private func table() throws -> Table {
        let table = try Table()
        table.bob.privateJudgementsMax = 1
        for name in ["board", "vault", "attic"] {
            try table.bob.ok("channel.create", ["name": .string(name), "private": true])
            try table.bob.ok("channel.add", ["channel": .string(name), "members": ["Cleo"]])
            try table.bob.send("words", to: name)
        }
        try table.bob.ok("dm.open", ["members": ["Ada"]])
        try table.bob.ok("dm.open", ["members": ["Cleo", "Ada"]])
        table.bench.advance(5_000)
        try table.bob.restart()
        table.bench.advance(5_000)
        return table
    }

    @Test func `is in memory of as many as were asked about last`() {
        let shelf = PrivateShelf(most: 2)
        let names = (0..<3).map { _ in shelf.makeName() }
        let judged = names.map { _ in PrivateJudgement(PrivateAuthority(of: .zero, [])) }
        for place in 0..<2 { shelf.keep(judged[place], as: names[place]) }
        #expect(shelf.judgement(names[0]) === judged[0])
        shelf.keep(judged[2], as: names[2])
        #expect(shelf.count == 2)
        #expect(shelf.judgement(names[1]) == nil)
        #expect(shelf.judgement(names[0]) === judged[0])
        shelf.drop(names[0])
        #expect(shelf.count == 1 && shelf.judgement(names[0]) == nil)
    }

    @Test func `is in memory of no more than the bound`() throws {
        let table = try table()
        defer { withExtendedLifetime(table.bench) {} }
        let shelf = try Self.shelf(table.bob)
        #expect(shelf.count == 1)
        for name in ["board", "vault", "attic"] {
            try table.bob.send("more", to: name)
            #expect(shelf.count == 1)
        }
        #expect(shelf.remakes > 0)
    }

    /// A document that goes takes its place with it.
    @Test func `goes with its document`() throws {
        let shelf = PrivateShelf(most: 4)
        do {
            let document = PrivateDocument(
                id: .zero, number: 1, vault: KeyVault(nil), shelf: shelf)
            #expect(document.authority.root == nil)
            #expect(shelf.count == 1)
        }
        #expect(shelf.count == 0 && shelf.remakes == 0)
    }

    @Test func `is worked out again in no turn that does not ask`() throws {
        let table = try table()
        defer { withExtendedLifetime(table.bench) {} }
        let shelf = try Self.shelf(table.bob)
        // What is kept of each is worked out once.
        let calls = [
            "node.version", "node.status", "home.get", "channel.list", "dm.list", "unread.get",
            "read.status", "member.list", "node.doctor",
        ]
        for call in calls { try table.bob.ok(call) }
        let before = shelf.remakes
        for call in calls {
            try table.bob.ok(call)
            #expect(shelf.remakes == before, "\(call)")
        }
        try table.ada.ok("channel.edit", ["channel": "general", "topic": "tea"])
        try table.ada.send("hello")
        table.bench.advance(2_000)
        #expect(shelf.remakes == before)
    }

    /// As it was judged last, also while something has come that was not judged yet.
    @Test func `is the same when it is worked out again`() throws {
        let table = try table()
        defer { withExtendedLifetime(table.bench) {} }
        try table.bob.ok(
            "channel.role", ["channel": "board", "member": "Cleo", "role": "admin"])
        try table.bob.ok("channel.remove", ["channel": "vault", "members": ["Cleo"]])
        for document in try table.bob.workspace().sealed.documents.values {
            let first = document.authority
            try Self.shelf(table.bob).dropAll()
            let second = document.authority
            #expect(first.members == second.members && first.epochs == second.epochs)
            #expect(first.heads == second.heads && first.fields == second.fields)
            #expect(first.root == second.root && document.root == first.root)
            #expect(document.order.allSatisfy { first.verdict(on: $0) == second.verdict(on: $0) })
            for member in document.everIn {
                let seat = first.standing(of: member)
                #expect(document.isIn(member) == (seat != nil))
                let leads = seat.map { $0.role <= .admin } ?? false
                #expect(document.leaders.contains(member) == leads)
                #expect(first.keys(for: member) == second.keys(for: member))
                guard first.root?.subtype == .channel else { continue }
                #expect(document.lastingSeats(of: member) == first.lasting(seatsOf: member))
            }
        }
    }

    /// Everything that nodes do, down to the bytes on the wire, whichever judgements they keep.
    @Test(arguments: Seeds.explore(4))
    func `changes nothing that nodes do, whatever is in memory`(seed: UInt64) {
        func run(keeping judgements: Int) -> TraceHash? {
            let life = RandomLife(seed: seed, keeping: judgements)
            life.world.beginTrace()
            defer { life.world.end() }
            life.work(steps: 40)
            _ = life.heal()
            return life.world.trace
        }
        let trace = run(keeping: 1)
        #expect(trace != nil && trace == run(keeping: 10_000), "WSX_SEED=\(seed)")
    }
}
