import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Batches are decrypted while the index writes earlier ones, but only a bounded number.
struct `Feeding the search index` {
    private let bench = CoreBench()

    /// A node that has said `count` things, and whose index is lost and not yet made again.
    private func catchingUp(
        _ count: Int, with more: String = "", on bench: CoreBench
    ) throws -> BenchNode {
        let mina = try bench.node("Mina")
        for number in 0..<count { try mina.send("plan \(number)" + more) }
        mina.kill()
        mina.searchFiles.remove()
        mina.holdsSearchJobs = true
        try mina.boot()
        // The index is opened, and knows nothing.
        #expect(mina.heldSearchJobCount == 1)
        mina.doSearchJob()
        return mina
    }

    @Test func `goes some slices ahead of what it writes, and no more`() throws {
        let slice = Int(Limits.searchedPerTurnMax)
        // Each message takes two arrival numbers: its own, and that of the log's new end.
        let mina = try catchingUp((Limits.searchBatchesMax + 2) * slice / 2, on: bench)
        let core = try #require(mina.host?.core)
        let newest = core.turn.store.operations.arrival
        try #require(newest > Int64((Limits.searchBatchesMax + 1) * slice))
        // What is there at a start looks like a sync in bulk, after which it waits a moment.
        bench.advance(Limits.searchQuietMilliseconds)
        #expect(mina.heldSearchJobCount == Limits.searchBatchesMax)
        #expect(core.queries.search.handed.count == Limits.searchBatchesMax)
        #expect(core.queries.search.through == Int64(Limits.searchBatchesMax * slice))
        // However long the index takes.
        bench.advance(60_000)
        #expect(mina.heldSearchJobCount == Limits.searchBatchesMax)
        // Each one that is written makes room for one.
        mina.doSearchJob()
        #expect(mina.heldSearchJobCount == Limits.searchBatchesMax)
        #expect(core.queries.search.through == Int64((Limits.searchBatchesMax + 1) * slice))
        while mina.doSearchJob() {
            #expect(mina.heldSearchJobCount <= Limits.searchBatchesMax)
        }
        #expect(core.queries.search.handed.isEmpty)
        #expect(core.queries.search.through == newest)
        mina.holdsSearchJobs = false
        #expect(try mina.search("\"plan 0\"")["complete"] == true)
        #expect(try mina.texts(of: "\"plan 0\"") == ["plan 0"])
    }

    @Test func `waits no longer, when somebody searches what it does not have`() throws {
        // More than a question waits for, besides the slice that goes before it.
        let missing = Limits.searchAwaitedMax + Limits.searchedPerTurnMax
        let mina = try catchingUp(Int(missing) / 2 + 1, on: bench)
        let core = try #require(mina.host?.core)
        #expect(mina.heldSearchJobCount == 0)
        #expect(core.queries.search.quietAfter > mina.time.monotonic)
        let call = mina.begin("search", ["query": "\"plan 0\"", "kinds": ["message"]])
        #expect(core.queries.search.quietAfter <= mina.time.monotonic)
        while mina.answer(to: call) == nil { try #require(mina.doSearchJob()) }
        #expect(try #require(mina.answer(to: call)).get()["complete"] == false)
        while mina.doSearchJob() {}
        #expect(core.queries.search.through == core.turn.store.operations.arrival)
        mina.holdsSearchJobs = false
        #expect(try mina.texts(of: "\"plan 0\"") == ["plan 0"])
    }

    @Test func `goes no further ahead than some bytes of text`() throws {
        let slice = Int(Limits.searchedPerTurnMax)
        let more = String(repeating: " and so on", count: 1_500)
        try #require(slice / 3 * more.utf8.count > Limits.searchHandedBytesMax)
        let mina = try catchingUp(slice + slice / 4, with: more, on: bench)
        let core = try #require(mina.host?.core)
        bench.advance(Limits.searchQuietMilliseconds)
        // The first slice alone has more of it.
        #expect(mina.heldSearchJobCount == 1)
        #expect(core.queries.search.through == Int64(slice))
        mina.doSearchJob()
        #expect(mina.heldSearchJobCount == 1)
        #expect(core.queries.search.through == Int64(2 * slice))
        while mina.doSearchJob() {}
        #expect(core.queries.search.handed.isEmpty)
        #expect(core.queries.search.through == core.turn.store.operations.arrival)
        mina.holdsSearchJobs = false
        #expect(try mina.search("\"plan 7\"", ["kinds": ["message"]]).items.count == 1)
    }

    /// A node whose index has everything, and from now on does nothing unasked.
    private func upToDate(on bench: CoreBench) throws -> BenchNode {
        let mina = try bench.node("Mina")
        bench.advance(Limits.searchQuietMilliseconds)
        let core = try #require(mina.host?.core)
        #expect(core.queries.search.through == core.turn.store.operations.arrival)
        mina.holdsSearchJobs = true
        return mina
    }

    @Test func `gathers what is said for a moment, however long more is said`() throws {
        let mina = try upToDate(on: bench)
        let core = try #require(mina.host?.core)
        let step = Limits.searchGatherMilliseconds / 4
        for number in 0..<4 {
            try mina.send("plan \(number)")
            #expect(mina.heldSearchJobCount == 0)
            bench.advance(step)
        }
        #expect(mina.heldSearchJobCount == 1, "the first of them has waited for as long as any may")
        #expect(core.queries.search.through == core.turn.store.operations.arrival)
    }

    @Test func `gathers nothing that somebody asks for`() throws {
        let mina = try upToDate(on: bench)
        try mina.send("the xylograph")
        #expect(mina.heldSearchJobCount == 0)
        mina.holdsSearchJobs = false
        #expect(try mina.texts(of: "xylograph") == ["the xylograph"])
    }
}

struct `Operations that are read ahead for the index` {
    private let bench = CoreBench()

    private func talk(_ count: Int) throws -> (BenchNode, OperationStore) {
        let mina = try bench.node("Mina")
        for number in 0..<count { try mina.send("plan \(number)") }
        return (mina, try #require(mina.host?.core).turn.store.operations)
    }

    @Test func `are those that are read one by one, whatever is passed over`() throws {
        let (_, operations) = try talk(40)
        for step in [1, 2, 7, OperationsAhead.countMax, 40] as [Int64] {
            for end in [operations.arrival, operations.arrival / 2, 1] {
                var ahead = OperationsAhead(through: end)
                for arrival in stride(from: 1, through: end, by: Int(step)) {
                    let found = try ahead.operation(arrival, from: operations)
                    #expect(try found?.place == operations.operation(arrival)?.place)
                }
            }
        }
    }

    @Test func `are opened with the id before them, where it was read last`() throws {
        let (_, operations) = try talk(40)
        let places = try operations.operations(arrived: 1...operations.arrival).map(\.place)
        var last = LastPlaces()
        var known = 0
        for place in places {
            if let previous = last.previous(of: place) {
                #expect(try previous == operations.previous(of: place))
                known += 1
            }
            last.note(place)
            #expect(last.previous(of: place) == nil, "it is not before itself")
        }
        #expect(known >= 39)
        // Neither before the first one, nor where one was passed over.
        #expect(try last.previous(of: #require(places.first)) == nil)
        last = LastPlaces()
        let branch = try #require(places.last).branch
        let messages = places.filter { $0.branch == branch }
        last.note(messages[0])
        #expect(last.previous(of: messages[1]) == messages[0].link.id)
        #expect(last.previous(of: messages[2]) == nil)
    }

    @Test func `are opened also where another operation is taken for the one before`() throws {
        let (mina, operations) = try talk(3)
        let all = try operations.operations(arrived: 1...operations.arrival)
        try mina.inTurn { core, workspace in
            let stored = try #require(
                all.last { operation in
                    let content = try? core.keys.content(of: operation, in: workspace)
                    guard case .message(let message)? = content else { return false }
                    return message.text == "plan 2"
                })
            let right = try operations.previous(of: stored.place)
            for previous in [right, stored.place.link.id, nil] {
                let content = try core.keys.content(of: stored, after: previous, in: workspace)
                guard case .message(let message)? = content else {
                    Issue.record("not opened after \(String(describing: previous))")
                    continue
                }
                #expect(message.text == "plan 2")
            }
        }
    }
}

/// Also where a key comes later than what is sealed under it.
struct `Messages in the search index` {
    private let bench = CoreBench()

    @Test func `that become readable a moment after they came are found`() throws {
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        try mina.ok("channel.create", ["name": "den", "private": true, "history": "all"])
        try mina.send("the xylograph", to: "den")
        bench.advance(10_000)
        try mina.ok("channel.add", ["channel": "den", "members": ["Joon"]])
        bench.advance(60_000)
        #expect(try joon.log(of: "den") == ["the xylograph"])
        #expect(try joon.texts(of: "xylograph") == ["the xylograph"])
    }

    @Test func `are read again where they are put in their places later`() throws {
        let mina = try bench.node("Mina")
        bench.advance(Limits.searchQuietMilliseconds)
        mina.holdsSearchJobs = true
        try mina.send("the xylograph")
        let search = try #require(mina.host?.core).queries
        let made = search.search.prepared
        let arrival = try #require(made.first { $0.value?.text == "the xylograph" }?.key)
        // As where the key was not there when it came.
        search.search.prepared.updateValue(nil, forKey: arrival)
        try mina.inTurn { core, workspace in
            let stored = try #require(try core.turn.store.operations.operation(arrival))
            let (row, _) = try #require(
                try core.turn.store.view.anyMessage(stored.messageKey, in: stored.document))
            core.queries.indexShown(row, isBackfill: true)
        }
        mina.holdsSearchJobs = false
        #expect(try mina.texts(of: "xylograph") == ["the xylograph"])
    }
}

/// How much a search decrypts in one turn, in which nobody else is served.
struct `A search among long messages` {
    /// The index knows that a text has both words, and not that they stand apart.
    private static func longText(_ number: Int) -> String {
        "회의 " + String(repeating: "and so on ", count: 1_500) + "plan \(number)"
    }

    @Test func `opens a bounded part of them in each turn`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        try mina.send("the plan 회의")
        var byteCount = 0
        for number in 0..<40 {
            byteCount += Self.longText(number).utf8.count
            try mina.send(Self.longText(number))
        }
        mina.holdsSearchJobs = true
        let call = mina.begin("search", ["query": "\"plan 회의\"", "kinds": ["message"]])
        let core = try #require(mina.host?.core)
        var turns = 0
        while mina.answer(to: call) == nil, turns < 100 {
            turns = try #require(core.queries.search.calls[call]).turns
            try #require(mina.doSearchJob())
        }
        let inOneTurn = Limits.searchBytesPerTurn + Limits.messageTextBytesMax
        #expect(turns >= (byteCount + inOneTurn - 1) / inOneTurn)
        #expect(turns <= byteCount / Limits.searchBytesPerTurn + 1)
        // None is passed over where a turn ends.
        let answer = try #require(mina.answer(to: call)).get()
        #expect(answer.items.compactMap { $0["message"]?["text"] } == ["the plan 회의"])
        #expect(answer["next"] == .null)
    }

    /// A page, the one more that tells of another page, and few that are not what is looked for.
    @Test(arguments: [Limits.searchSpareCandidates - 1, Limits.searchSpareCandidates])
    func `takes one turn for a page, with room for some that are none`(_ others: Int) throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        for number in 0..<6 { try mina.send("the plan 회의 \(number)") }
        for number in 0..<others { try mina.send("회의 and a plan \(number)") }
        mina.holdsSearchJobs = true
        let call = mina.begin(
            "search", ["query": "\"plan 회의\"", "kinds": ["message"], "limit": 5])
        let core = try #require(mina.host?.core)
        var turns = 0
        while mina.answer(to: call) == nil, turns < 100 {
            turns = try #require(core.queries.search.calls[call]).turns
            try #require(mina.doSearchJob())
        }
        #expect(turns == (others < Limits.searchSpareCandidates ? 1 : 2))
        let answer = try #require(mina.answer(to: call)).get()
        #expect(
            answer.items.compactMap { $0["message"]?["text"]?.stringValue }
                == (1..<6).reversed().map { "the plan 회의 \($0)" })
        #expect(answer["next"] != .null)
    }

    @Test func `finds all of them, however many turns that takes`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        for number in 0..<40 { try mina.send(Self.longText(number)) }
        var (found, cursor) = ([String](), JSONValue.null)
        repeat {
            let page = try mina.search("plan", ["kinds": ["message"], "cursor": cursor])
            found += page.items.compactMap { $0["message"]?["text"]?.stringValue }
            cursor = page["next"] ?? .null
        } while !cursor.isNull && found.count < 100
        #expect(found == (0..<40).reversed().map(Self.longText))
        let best = try mina.texts(of: "plan", ["kinds": ["message"], "order": "best", "limit": 5])
        #expect(best.count == 5)
    }
}
