import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// More ledgers than fit in memory at once.
struct `Many ledgers` {
    private let bench = CoreBench()
    private let ada: BenchNode
    private let names = (1...Limits.ledgersOpenMax + 4).map { "L\($0)" }

    init() throws {
        ada = try bench.node("Ada")
        for name in names { try ada.ok("ledger.open", ["name": .string(name)]) }
    }

    private func inMemory() throws -> Set<DocumentID> {
        try #require(ada.host?.core).ledgers.documentsInMemory
    }

    /// Which of them fell out of memory while a name was looked for made no difference.
    @Test func `are each offered in, bought from and spent in by name`() throws {
        for (number, name) in names.enumerated() {
            let coins = Int64(number + 10)
            let item = try ada.ok(
                "store.offer",
                [
                    "item": "small", "label": "Small", "coins": .integer(coins), "price": "1 EUR",
                    "ledger": .string(name),
                ])
            #expect(item["coins"]?.integerValue == coins, "\(name)")
        }
        // Another word for what is offered already is what is answered, not the one before it.
        for name in names {
            let item = try ada.ok(
                "store.offer",
                [
                    "item": "small", "label": "Small", "coins": 100, "price": "1 EUR",
                    "ledger": .string(name),
                ])
            #expect(item["coins"] == 100, "\(name)")
        }
        for name in names {
            let order = try ada.ok("store.buy", ["item": "small", "ledger": .string(name)])
            #expect(order["state"] == "open", "\(name)")
            #expect(
                try ada.ok("store.grant", ["order": order["id"] ?? .null])["state"] == "granted")
        }
        for name in names {
            let spend = try ada.ok(
                "coin.spend", ["coins": 40, "purpose": "x", "ledger": .string(name)])
            #expect(spend["state"] == "spent", "\(name)")
            #expect(try ada.ok("coin.balance", ["ledger": .string(name)])["balance"] == 60)
            #expect(
                try ada.ok("store.refund", ["spend": spend["id"] ?? .null])["state"] == "refunded")
        }
        #expect(try ada.ok("store.price", ["coins": "7", "ledger": "L5"])["value"] == 7)
        #expect(try ada.ok("store.price", ["ledger": "L5"])["value"] == 7)
        let unclear = try ada.refused("coin.balance")
        #expect(unclear.kind == .ambiguous)
        #expect(unclear.message == "there are \(names.count) ledgers in this workspace")
        #expect(unclear.hint?.hasPrefix("add --ledger L") == true, "\(unclear.hint ?? "")")
        #expect(unclear.hint?.hasSuffix("'wsx-node ledger list' shows all") == true)
        #expect(unclear.details["candidates"]?.arrayValue?.count == 10, "no more are named")
        #expect(try ada.refused("coin.balance", ["ledger": "L99"]).kind == .notFound)
    }

    @Test func `are listed all, and never in memory all at once`() throws {
        #expect(try ada.ok("ledger.list").texts("name").sorted() == names.sorted())
        #expect(try inMemory().count == Limits.ledgersOpenMax)
        let first = try ada.ok("ledger.list", ["limit": 3])
        #expect(first.items.count == 3)
        let rest = try ada.ok("ledger.list", ["cursor": first["next"] ?? .null])
        #expect(
            (first.items + rest.items).compactMap { $0["name"]?.stringValue }.sorted()
                == names.sorted())
        for method in ["store.list", "store.orders", "coin.spends"] {
            #expect(try ada.ok(method).items.isEmpty)
            #expect(try inMemory().count == Limits.ledgersOpenMax, "\(method)")
        }
    }

    @Test func `are found by name without being read again`() throws {
        try ada.ok("ledger.list")
        let before = try inMemory()
        let core = try #require(ada.host?.core)
        let headings = try core.ledgers.headings(in: try ada.workspace())
        #expect(headings.map(\.name).sorted() == names.sorted())
        #expect(try inMemory() == before, "nothing was read for their names")
        let near = try #require(headings.first { before.contains($0.document) })
        try ada.ok("coin.balance", ["ledger": .string(near.name)])
        #expect(try inMemory() == before)
        let far = try #require(headings.first { !before.contains($0.document) })
        try ada.ok("coin.balance", ["ledger": .string(far.name)])
        #expect(try inMemory().subtracting(before) == [far.document])
    }

    @Test func `are not read again to tell whether their workspace is paid`() throws {
        try ada.ok("ledger.list")
        let before = try inMemory()
        #expect(try ada.ok("workspace.get")["payment"] == nil)
        #expect(try inMemory() == before)
    }

    @Test func `have no name any more in memory while they are locked`() throws {
        try ada.ok("identity.passphrase.change", ["new": .string(goodPassphrase)])
        try ada.ok("ledger.list")
        let core = try #require(ada.host?.core)
        #expect(core.ledgers.keptHeadings.count == names.count)
        try ada.ok("lock.now")
        #expect(core.ledgers.keptHeadings.isEmpty && core.ledgers.documentsInMemory.isEmpty)
    }

    /// What is known of the name of one that is in memory no longer is what counts now.
    @Test func `have the price of now, also those that are in memory no longer`() throws {
        let bob = try bench.guest("Bob", of: ada)
        bench.advance(60_000)
        #expect(try bob.ok("ledger.list").items.count == names.count)
        let core = try #require(bob.host?.core)
        let far = try #require(
            try core.ledgers.headings(in: try bob.workspace()).first {
                !core.ledgers.documentsInMemory.contains($0.document)
            })
        #expect(far.workspacePrice == nil)
        try ada.ok("store.price", ["coins": "60", "ledger": .string(far.name)])
        bench.advance(5_000)
        let now = try core.ledgers.headings(in: try bob.workspace())
        #expect(now.first { $0.document == far.document }?.workspacePrice == 60)
        #expect(now.map(\.name).sorted() == names.sorted())
    }
}

struct `More ledgers than a list has` {
    private let bench = CoreBench()
    private let ada: BenchNode

    init() throws { ada = try bench.node("Ada") }

    private func open(_ count: Int) throws -> [DocumentID] {
        try ada.inTurn { core, workspace in
            try (0..<count).map { number in
                let document = try #require(try core.ledgers.makeDocument(in: workspace))
                _ = try core.privates.authorContent(
                    .ledger(.opening(name: "L\(number)")), to: document, in: workspace)
                return document
            }
        }
    }

    @Test func `are named by their ids, and the list of those before them has its bound`() throws {
        let most = Limits.ledgersListedMax
        let documents = try open(most + 1)
        let core = try #require(ada.host?.core)
        let listed = try core.ledgers.headings(in: try ada.workspace())
        #expect(listed.count == most && core.ledgers.keptHeadings.count == most)
        #expect(core.ledgers.documentsInMemory.count == Limits.ledgersOpenMax)
        let known = Set(listed.map(\.document))
        let left = try #require(documents.first { !known.contains($0) })
        let balance = try ada.ok("coin.balance", ["ledger": .string(PublicID.ledger(left))])
        #expect(balance["balance"] == 0)
        #expect(core.ledgers.keptHeadings.count == most)
        // Others, with smaller ids, take the places of some.
        _ = try open(8)
        let later = try core.ledgers.headings(in: try ada.workspace())
        #expect(later.count == most && Set(later.map(\.document)) != known)
        #expect(core.ledgers.keptHeadings.count == most)
    }
}
