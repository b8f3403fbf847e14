import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Requests for missing payloads: those that nobody has must not delay those that somebody has.
struct `Missing payloads` {
    /// Ada has said twelve things, of which Bob has lost all, and Ada herself the first ten.
    private struct Scene {
        let bench = CoreBench()
        let ada: BenchNode
        let bob: BenchNode
        let perLink: Int

        init(perLink: Int = 4) throws {
            self.perLink = perLink
            ada = try bench.node("Ada")
            bob = try bench.guest("Bob", of: ada)
            for number in 1...12 { try ada.send("m\(number)") }
            bench.advance(10_000)
            bench.cut(ada, bob)
            try Self.lose(12, of: bob, isMissing: true)
            try Self.lose(10, of: ada, isMissing: false)
        }

        /// Erases the payloads of the oldest messages.
        private static func lose(_ count: Int, of node: BenchNode, isMissing: Bool) throws {
            let core = try #require(node.host).core
            let workspace = try node.workspace()
            let general = try #require(workspace.book.channels.values.first { $0.isDefault })
            var places: [StoredPlace] = []
            try core.turn.store.operations.forEachOperation(
                in: general.id, of: workspace.number
            ) { stored in places.append(stored.place) }
            let arrivals = try places.filter { place in
                try core.turn.store.view.message(
                    arrival: place.arrival, sort: place.sort, document: general.number) != nil
            }.map(\.arrival)
            try #require(arrivals.count == 12)
            try core.turn.write()
            for arrival in arrivals.prefix(count) {
                try core.turn.store.operations.erasePayload(of: arrival)
                try core.turn.store.operations.setMissing(isMissing, arrival)
            }
            try core.turn.store.commit()
        }

        /// How many are still missing.
        func missing() throws -> Int64 {
            try #require(bob.host).core.turn.store.operations.missingPayloadCount()
        }

        /// Says that payloads are missing which belong to nothing that Bob has, behind all others.
        func pretend(_ count: Int) throws -> [Int64] {
            let core = try #require(bob.host).core
            let first = core.turn.store.operations.arrival + 1_000
            try core.turn.write()
            let insert = try core.turn.store.connection.statement(
                "INSERT INTO absent VALUES(?, 1, x'00', 1)")
            let arrivals = (0..<Int64(count)).map { first + $0 }
            for arrival in arrivals { try insert.run(.integer(arrival)) }
            try core.turn.store.commit()
            return arrivals
        }

        /// Up to which row Bob has looked for what to ask Ada for.
        func reached() throws -> Int64 {
            let network = try #require(bob.host).core.links.network
            return try #require(network.exchange.payloadRounds.values.first).last
        }

        /// A new link.
        func meet() throws {
            bench.cut(ada, bob)
            try #require(bob.host).core.links.network.exchange.payloadsPerLink = perLink
            bench.heal(ada, bob)
            bench.advance(1_000)
        }

        /// The link that stands.
        func link() throws -> PeerLink {
            let network = try #require(bob.host).core.links.network
            return try #require(network.ordered.first)
        }

        /// Rounds in which Bob asked Ada for all that is missing since she had some of it.
        func rounds() throws -> Int {
            let network = try #require(bob.host).core.links.network
            return try #require(network.exchange.payloadRounds.values.first).count
        }
    }

    @Test func `are asked for on one link after the other, until all were`() throws {
        let scene = try Scene()
        #expect(try scene.missing() == 12)
        try scene.meet()
        // The oldest are not there, and are all that this link asks for.
        #expect(try scene.missing() == 12)
        #expect(try scene.link().payloads.askedPayloads.count <= 4)
        for _ in 0..<3 { try scene.meet() }
        #expect(try scene.missing() == 10)
        #expect(try scene.bob.log().suffix(2) == ["m11", "m12"])
    }

    @Test func `that a peer does not have are asked of it less and less`() throws {
        let scene = try Scene(perLink: 100)
        // Once more than once, for an answer may be lost with its link.
        for _ in 0..<5 { try scene.meet() }
        #expect(try scene.missing() == 10)
        #expect(try scene.rounds() == 2)
        #expect(try scene.link().payloads.askedPayloads.isEmpty)
        // A peer may have got them meanwhile.
        scene.bench.advance(2 * Limits.payloadRoundMilliseconds)
        #expect(try scene.rounds() == 2)
        try scene.meet()
        #expect(try scene.rounds() == 3)
        try scene.meet()
        #expect(try scene.rounds() == 3)
    }

    @Test func `are asked for at once when they go missing, wherever they stand`() throws {
        let scene = try Scene(perLink: 100)
        for _ in 0..<5 { try scene.meet() }
        let link = try scene.link()
        #expect(link.payloads.askedPayloads.isEmpty)
        try #require(scene.bob.host).core.messages.asksForPayloads = true
        scene.bench.give(.tick, to: scene.bob)
        scene.bench.settle()
        #expect(link.payloads.askedPayloads.count == 10)
    }

    // Somebody who is in many workspaces has rows of all of them, and a link is of one.
    @Test func `are looked through piece by piece, each from where the last stopped`() throws {
        let scene = try Scene(perLink: 1_000)
        let rows = try scene.pretend(3 * Limits.missingLookedAtMax)
        try #require(try scene.missing() == 12 + Int64(rows.count))
        let core = try #require(scene.bob.host).core
        core.links.network.exchange.payloadsPerLink = scene.perLink
        scene.bench.heal(scene.ada, scene.bob)
        let link = try scene.link()
        let sync = try #require(link.syncs.values.first)
        core.links.network.exchange.payloadRounds = [:]
        var reached: Int64 = 0
        var looks = 0
        while try core.turn.store.operations.missingPayloads(after: reached, limit: 1).isEmpty
            == false,
            looks < 10
        {
            try core.integrity.askForPayloads(of: try scene.bob.workspace(), on: link, sync)
            let next = try scene.reached()
            let count = try core.turn.store.connection.statement(
                "SELECT count(*) FROM absent WHERE missing = 1 AND arr > ? AND arr <= ?"
            ).integer(.integer(reached), .integer(next))
            #expect(try #require(count) <= Int64(Limits.missingLookedAtMax))
            try #require(next > reached)
            (reached, looks) = (next, looks + 1)
        }
        #expect(reached == rows.last)
        #expect(looks == 4)
    }

    // MARK: Rounds

    @Test func `are asked for in rounds, which come later and later`() {
        var round = PayloadRound()
        var now: UInt64 = 1_000
        var pauses: [UInt64] = []
        for number in 1...20 {
            let link = LinkID(UInt64(number))
            round.beginIfDue(on: link, now: now)
            #expect(round.last == 0)
            round.last = 7
            round.hasAsked = true
            round.end(on: link, now: now)
            // The link on which it ended does not begin another one.
            round.beginIfDue(on: link, now: .max)
            #expect(round.last == 7)
            let began = now
            let next = LinkID(UInt64(number + 1))
            while true {
                var copy = round
                copy.beginIfDue(on: next, now: now)
                if copy.last == 0 { break }
                now += 60_000
            }
            pauses.append((now - began) / 60_000)
        }
        #expect(pauses.prefix(6) == [0, 1, 2, 4, 8, 16])
        #expect(pauses.last == Limits.payloadRoundMillisecondsMax / 60_000)
        #expect(pauses == pauses.sorted())
    }
}
