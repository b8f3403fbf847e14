import CRDTStore
import SyncProtocol
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// A person withdraws what one of their devices wrote, and restores it, very often: the cost for
/// others, and that the result equals carrying out each step.
struct `A device that is taken back and given again` {
    /// Mina and Ana read what Joon's phone has written. His laptop, which is the stronger one,
    /// reaches nobody when it takes that back.
    private struct World {
        let bench = CoreBench()
        let mina: BenchNode
        let ana: BenchNode
        let laptop: BenchNode
        let phone: BenchNode
        /// Every message of the phone's as a removal may leave it.
        let places: [CutEntry]
        let texts: [String]

        init(messages: Int) throws {
            mina = try bench.node("Mina")
            ana = try bench.guest("Ana", of: mina)
            laptop = try bench.guest("Joon", of: mina)
            phone = try bench.bareNode("Phone")
            try laptop.link(phone)
            bench.advance(5_000)
            texts = (0..<messages).map { "from the phone \($0)" }
            for text in texts { try phone.send(text) }
            bench.advance(5_000)
            places = try phone.ownMessages().map { $0.cut }
            for node in [mina, ana] {
                #expect(try node.log().last == texts.last)
                bench.cut(laptop, node)
                bench.cut(phone, node)
            }
            bench.cut(laptop, phone)
        }

        /// - Parameter count: up to where the phone's messages stay.
        func takeBack(keeping count: Int = 0) throws -> (id: OperationID, run: OperationRun) {
            let device = try #require(phone.host?.core.session.home).device
            let cuts = count > 0 ? [places[count - 1]] : []
            let id = try laptop.author(.removeDevice(device, cuts: cuts, rekey: nil))
            return (id, try laptop.authorityRun(of: id))
        }

        func giveAgain(_ removal: OperationID, upTo count: Int) throws -> OperationRun {
            let id = try laptop.author(
                .recut(revocation: removal, cuts: [places[count - 1]]))
            return try laptop.authorityRun(of: id)
        }

        /// - Returns: how many turns it took Mina's node to take that as one message of Ana's.
        @discardableResult
        func bring(_ runs: [OperationRun]) throws -> Int {
            let core = try #require(mina.host?.core)
            let device = try #require(ana.host?.core.session.home).device
            let link = try #require(core.links.network.ordered.first { $0.peer?.device == device })
            let sync = try #require(link.syncs[try mina.workspace().number])
            core.beginTurn(at: mina.time)
            try core.syncing.ingest(runs, 0, of: sync, on: link)
            var turns = 0
            while true {
                _ = try core.endTurn()
                try core.turn.store.commit()
                core.didCommit()
                turns += 1
                guard !core.links.network.exchange.backlogged.isEmpty else { return turns }
                core.beginTurn(at: mina.time)
            }
        }

        func rewritten() throws -> Int { try #require(mina.host?.core).turn.tally.rejudgedRows }
    }

    @Test func `has its rows rewritten once for a message, and not at all where nothing changed`()
        throws
    {
        let world = try World(messages: 30)
        var runs: [OperationRun] = []
        for _ in 0..<20 {
            let removal = try world.takeBack()
            runs += [removal.run, try world.giveAgain(removal.id, upTo: 30)]
        }
        #expect(try world.bring(runs) == 1)
        #expect(try world.mina.log() == world.texts)
        #expect(try world.rewritten() == 0)
        // What stays of it in the end is what is carried out.
        let last = try world.takeBack(keeping: 10)
        #expect(try world.bring([try world.takeBack().run, last.run]) == 1)
        #expect(try world.mina.log() == [])
        #expect(try world.rewritten() == 30)
        #expect(try world.mina.ok("node.check")["problem_count"] == 0)
    }

    /// Every time is a turn of its own, and to give back 640 rows is 10 units besides the one (S-5).
    @Test func `is charged for each operation that is restored`() throws {
        let world = try World(messages: 640)
        for _ in 0..<70 {
            let removal = try world.takeBack()
            try world.bring([removal.run])
            try world.bring([try world.giveAgain(removal.id, upTo: 640)])
        }
        let shares = Limits.authorityBurstPerMember + Limits.authorityBurstPerDevice
        let times = try world.rewritten() / 640
        #expect(times <= 2 * shares / 12 + 4 && times > 2 * shares / 12 - 6)
    }

    /// A thief may write any number of them.
    @Test func `charges nobody who takes back what it wrote`() throws {
        let world = try World(messages: 1_280)
        try world.bring([try world.takeBack().run])
        let core = try #require(world.mina.host?.core)
        let share = AuthorityBudget.Share(
            .authority, of: try world.laptop.workspace().member.bytes)
        var left = 0
        while core.log.shares.authorityBudget.pay(1, from: [share], now: core.turn.time.monotonic)
            != nil
        {
            left += 1
        }
        #expect(left > Limits.authorityBurstPerMember - 10)
        #expect(try world.rewritten() == 1_280)
    }

    /// What the phone writes meanwhile would have all of it judged each time. It is taken in the next
    /// turn, before which calls are answered.
    @Test func `has nothing more taken of its logs in a turn that has changed them`() throws {
        let world = try World(messages: 10)
        for number in 0..<4 { try world.phone.send("behind \(number)") }
        let behind = try world.phone.ownMessages().suffix(4).map { $0.run }
        var runs: [OperationRun] = []
        for number in 0..<4 {
            let removal = try world.takeBack()
            runs += [removal.run, try world.giveAgain(removal.id, upTo: 10), behind[number]]
        }
        #expect(try world.bring(runs) == 5)
        #expect(try world.rewritten() == 0)
        #expect(try world.mina.log() == world.texts)
        #expect(try world.mina.ok("node.check")["problem_count"] == 0)
    }

    @Test func `is judged before a call of the same turn is answered`() throws {
        let world = try World(messages: 3)
        let core = try #require(world.mina.host?.core)
        let run = try world.takeBack(keeping: 1).run
        core.beginTurn(at: world.mina.time)
        _ = try core.log.accept(
            run, in: try world.mina.workspace(),
            from: .peer(run.log.device, source: 1, isBackfill: false))
        #expect(!core.messages.unsettled.isEmpty)
        let call = CallID(connection: 9, number: 1)
        let effects = try core.handle(
            .call(call, method: "message.history", arguments: ["channel": "general"]))
        _ = try core.endTurn()
        try core.turn.store.commit()
        let texts = effects.compactMap { effect -> [String]? in
            guard case .answer(call, .success(let value)) = effect else { return nil }
            return value.texts()
        }
        #expect(texts == [[world.texts[0]]])
    }

    @Test(arguments: Seeds.explore(6))
    func `is the same however turns part what came`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let world = try World(messages: 8)
        for number in 0..<6 { try world.phone.send("behind \(number)") }
        var behind = try world.phone.ownMessages().suffix(6).map { $0.run }[...]
        var removals: [OperationID] = []
        var runs: [OperationRun] = []
        for _ in 0..<16 {
            if random.oneIn(3), let next = behind.popFirst() {
                runs.append(next)
            } else if removals.isEmpty || random.oneIn(2) {
                let removal = try world.takeBack(keeping: random.below(9))
                removals.append(removal.id)
                runs.append(removal.run)
            } else {
                let removal = removals[random.below(removals.count)]
                runs.append(try world.giveAgain(removal, upTo: 1 + random.below(8)))
            }
        }
        for run in runs { try world.ana.take([run]) }
        let turns = RandomCuts.parts(of: runs, upTo: [2, runs.count], from: 1, using: &random)
        for turn in turns { try world.bring(Array(turn)) }
        #expect(try world.mina.log() == world.ana.log(), "WSX_SEED=\(seed)")
        #expect(try world.mina.digest() == world.ana.digest(), "WSX_SEED=\(seed)")
        for node in [world.mina, world.ana] {
            #expect(try node.ok("node.check")["problem_count"] == 0, "WSX_SEED=\(seed)")
        }
    }
}

extension BenchNode {
    /// What this device has written in the public channel.
    fileprivate func ownMessages() throws -> [(cut: CutEntry, run: OperationRun)] {
        let (core, workspace) = (try #require(host?.core), try workspace())
        let device = try #require(core.session.home).device
        let channel = try #require(workspace.book.channels.keys.first)
        var found: [(cut: CutEntry, run: OperationRun)] = []
        let operations = core.turn.store.operations
        try operations.forEachOperation(in: channel, of: workspace.number) {
            (stored) throws(StorageError) in
            guard stored.log.device == device else { return }
            found.append((stored.cut, try stored.run(of: operations)))
        }
        return found
    }

    func authorityRun(of id: OperationID) throws -> OperationRun {
        let record = try #require(try workspace().authority[id])
        let stored = try #require(try host?.core.turn.store.operations.operation(record.arrival))
        return try stored.run(of: try #require(host).core.turn.store.operations)
    }
}

extension StoredOperation {
    fileprivate var cut: CutEntry {
        CutEntry(
            log: log, sequence: place.sequence, id: Identifier16(prefixOf: place.link.id))
    }

    fileprivate func run(of operations: OperationStore) throws(StorageError) -> OperationRun {
        OperationRun(
            log: log, firstSequence: place.sequence, previous: try operations.previous(of: place),
            entries: [entry])
    }
}
