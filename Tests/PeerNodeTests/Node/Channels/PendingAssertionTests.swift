import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

extension BenchNode {
    /// What this device wrote into the authority document that another node does not have yet.
    fileprivate func authorityRun(after other: BenchNode) throws -> OperationRun {
        let (operations, document) = (
            try #require(host?.core).turn.store.operations, try workspace().id
        )
        let branch = try #require(
            operations.branches(in: document, of: try workspace().number).first {
                $0.log.device == host?.core.session.home?.device
            })
        let known = try #require(other.host?.core).turn.store.operations
            .branches(of: branch.log, in: try other.workspace().number).first
        return try #require(
            try operations.run(
                of: branch.number, from: (known?.tipSequence).map { $0 + 1 } ?? 0,
                through: branch.tipSequence, byteCountMax: .max))
    }

    /// The number that a query of this node's store gives.
    fileprivate func count(_ sql: String) throws -> Int64? {
        try #require(connection).statement(sql).integer()
    }
}

extension `Followers of a channel` {
    /// Anybody can write thousands of names into one word. Of nobody whom nothing admits there is a
    /// row of a follower, or an event; and who is admitted later follows from then on.
    @Test(arguments: ["on the way", "after a restart", "in a store of schema 11"])
    func `do not include people who are not admitted yet`(admitted: String) throws {
        let plans = try mina.workspace().book.channels.values.first { $0.name == "plans" }
        let channel = try #require(plans).id
        bench.cut(mina, bob)
        let kim = try bench.bareNode("Kim")
        for node in [bob, joon] { bench.cut(node, kim) }
        bench.cut(joon, bob)
        try kim.join(try mina.link())
        bench.advance(5_000)
        let madeUp = (0..<2_000).map { number in
            MemberID(words: (UInt64(number) << 32, 7))
        }
        let key = try #require(try mina.workspace().currentKey)
        let word = try mina.signed(
            .membership(.add, members: (madeUp + [kim.workspace().member]).sorted()), in: channel,
            under: key, incarnation: 77)
        for node in [mina, bob] { try node.take([word.run(in: channel)]) }
        #expect(try followers(bob) == ["Mina"])
        // Of Joon's, whose admission does not count, and Mina's.
        #expect(try rows(of: channel, at: bob) == 2)
        // One row for all of them, of four bytes a name.
        #expect(try bob.count("SELECT count(*) FROM unheard") == 1)
        #expect(try bob.count("SELECT sum(length(names)) FROM unheard") == 2_001 * 4)
        if admitted == "in a store of schema 11" {
            try bob.damage("DROP TABLE unheard")
            try bob.damage("CREATE TABLE unheard(member BLOB, arr INTEGER)")
            for table in ["following_past", "setting", "setting_past"] {
                try bob.damage("DROP TABLE \(table)")
            }
            try bob.damage(EarlierStore.schema15)
            try bob.damage(BenchNode.droppingNotes)
            try bob.damage("PRAGMA user_version = 11")
        }
        if admitted != "on the way" { try bob.restart() }
        let before = try bob.cursor()
        bench.heal(mina, bob)
        bench.advance(60_000)
        for node in [mina, bob] {
            #expect(try followers(node) == ["Kim", "Mina"], "\(node.name)")
            let count: Int64 = node === bob ? 3 : 2
            #expect(try rows(of: channel, at: node) == count, "\(node.name)")
            #expect(try node.ok("node.check")["problem_count"] == 0, "\(node.name)")
        }
        let told = try bob.events(since: before, types: ["channel.member_added"])
        #expect(told.count == 1)
    }

    /// A word stands for one thing, however often it names somebody.
    @Test func `are reported once if an operation names one of them a thousand times`() throws {
        let plans = try mina.workspace().book.channels.values.first { $0.name == "plans" }
        let channel = try #require(plans).id
        let key = try #require(try mina.workspace().currentKey)
        let word = try mina.signed(
            .membership(
                .add, members: Array(repeating: bob.workspace().member, count: 1_000)),
            in: channel, under: key, incarnation: 77)
        let before = try bob.cursor()
        try bob.take([word.run(in: channel)])
        #expect(try bob.events(since: before, types: ["channel.member_added"]).count == 1)
        #expect(try followers(bob) == ["Bob", "Mina"])
    }

    /// Nothing is kept of a word of which nobody is missing any more, or which does not count.
    @Test(arguments: [false, true])
    func `are not searched for in an operation with nobody left to find`(isTakenBack: Bool) throws {
        let plans = try mina.workspace().book.channels.values.first { $0.name == "plans" }
        let channel = try #require(plans).id
        bench.cut(mina, bob)
        bench.cut(joon, bob)
        let kim = try bench.bareNode("Kim")
        for node in [bob, joon] { bench.cut(node, kim) }
        try kim.join(try mina.link())
        bench.advance(5_000)
        let key = try #require(try bob.workspace().currentKey)
        let word = try bob.signed(
            .membership(.add, members: [kim.workspace().member]), in: channel, under: key,
            incarnation: 77)
        try bob.take([word.run(in: channel)])
        #expect(try bob.count("SELECT count(*) FROM unheard") == 1)
        if isTakenBack {
            let stored = try #require(try bob.wordsAboutFollowing(in: "plans").last)
            try bob.forceRedaction(of: stored, isOwn: true)
            #expect(try bob.count("SELECT count(*) FROM unheard") == 0)
        }
        bench.heal(mina, bob)
        bench.advance(60_000)
        #expect(try bob.count("SELECT count(*) FROM unheard") == 0)
        #expect(try followers(bob) == (isTakenBack ? ["Mina"] : ["Kim", "Mina"]))
    }

    /// Very many words about very many people: no turn reads more than it has room for, and what is
    /// told is what changes.
    @Test(arguments: [false, true])
    func `are reported in parts if there are very many operations`(isBefore: Bool) throws {
        let plans = try mina.workspace().book.channels.values.first { $0.name == "plans" }
        let channel = try #require(plans).id
        let kim = try bench.bareNode("Kim")
        for node in [bob, joon] { bench.cut(node, kim) }
        bench.cut(mina, bob)
        bench.cut(joon, bob)
        try kim.join(try mina.link())
        bench.advance(5_000)
        let key = try #require(try bob.workspace().currentKey)
        let named = try [isBefore ? kim : mina, bob].map { try $0.workspace().member }
        let words = try (0..<3_000).map { number in
            try bob.signed(
                .membership(.add, members: named), in: channel, under: key,
                incarnation: 1_000 + UInt32(number))
        }
        let before = try bob.cursor()
        let core = try #require(bob.host?.core)
        if isBefore {
            for start in stride(from: 0, to: words.count, by: 250) {
                try bob.take(words[start..<start + 250].map { $0.run(in: channel) })
            }
        }
        let workspace = try bob.workspace()
        core.beginTurn(at: bob.time)
        if isBefore {
            try core.log.accept(
                mina.authorityRun(after: bob), in: workspace, from: .ourselves)
        } else {
            for word in words {
                try core.log.accept(word.run(in: channel), in: workspace, from: .ourselves)
            }
        }
        _ = try core.endTurn()
        try core.turn.store.commit()
        core.didCommit()
        let left = try bob.count("SELECT count(*) FROM unheard WHERE due > 0") ?? 0
        #expect(left > 500 && core.turn.hasMoreToDo)
        bench.advance(60_000)
        #expect(try bob.count("SELECT count(*) FROM unheard") == 0)
        #expect(try rows(of: channel, at: bob) == 6_002)
        #expect(try followers(bob) == (isBefore ? ["Bob", "Kim", "Mina"] : ["Bob", "Mina"]))
        let told = try bob.events(since: before, types: ["channel.member_added"])
        #expect(told.count == (isBefore ? 2 : 1))
        #expect(try bob.ok("node.check")["problem_count"] == 0)
    }

    /// Somebody is admitted while nothing can be opened, of whom a word came before that.
    @Test(arguments: [false, true])
    func `are reported after a lock during which they were admitted`(restarts: Bool) throws {
        let plans = try mina.workspace().book.channels.values.first { $0.name == "plans" }
        let channel = try #require(plans).id
        let pia = try bench.sealedNode("Pia", workspace: nil)
        try pia.join(try mina.link())
        let kim = try bench.bareNode("Kim")
        for node in [bob, joon, pia] { bench.cut(node, kim) }
        for node in [mina, bob, joon] { bench.cut(node, pia) }
        try kim.join(try mina.link())
        bench.advance(5_000)
        let key = try #require(try mina.workspace().currentKey)
        let word = try mina.signed(
            .membership(.add, members: [kim.workspace().member]), in: channel, under: key,
            incarnation: 77)
        try pia.take([word.run(in: channel)])
        let before = try pia.cursor()
        try pia.ok("lock.now")
        bench.heal(mina, pia)
        bench.advance(60_000)
        #expect(try pia.count("SELECT count(*) FROM unheard WHERE due > 0") == 1)
        if restarts { try pia.restart() }
        try pia.ok("session.unlock", ["passphrase": .string(goodPassphrase)])
        bench.advance(60_000)
        #expect(try followers(pia) == ["Kim", "Mina"])
        #expect(try pia.events(since: before, types: ["channel.member_added"]).count == 1)
    }

    private func rows(of channel: DocumentID, at node: BenchNode) throws -> Int64? {
        let core = try #require(node.host?.core)
        let workspace = try node.workspace()
        let row = try #require(core.turn.store.operations.document(channel, in: workspace.number))
        return try node.count("SELECT count(*) FROM following WHERE did = \(row.number)")
    }
}
