import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Who follows a channel, where an admission loses its effect: Ann lets Joon in while Mina, who
/// cannot know, removes Ann.
@Suite struct `Followers of a channel` {
    private let bench = CoreBench()
    private let mina: BenchNode
    private let bob: BenchNode
    private let joon: BenchNode

    init() throws {
        mina = try bench.node("Mina")
        try mina.ok("policy.set", ["who_may_invite": "members"])
        try mina.ok("channel.create", ["name": "plans"])
        bob = try bench.guest("Bob", of: mina)
        let ann = try bench.guest("Ann", of: mina)
        bench.advance(5_000)
        for other in [bob, ann] { bench.cut(mina, other) }
        joon = try bench.bareNode("Joon")
        bench.cut(mina, joon)
        try joon.join(try ann.link())
        bench.advance(5_000)
        try joon.ok("channel.join", ["channel": "plans"])
        bench.advance(5_000)
        #expect(try followers(bob) == ["Joon", "Mina"])
        try mina.ok("member.remove", ["member": "Ann"])
        ann.kill()
        for other in [bob, joon] { bench.heal(mina, other) }
        bench.advance(60_000)
    }

    private func followers(_ node: BenchNode) throws -> [String] {
        try node.ok("channel.members", ["channel": "plans"]).texts("name").sorted()
    }

    @Test func `are the same whether words came before a removal or after it`() throws {
        #expect(try mina.memberNames() == ["Bob", "Mina"])
        try joon.join(try mina.link())
        bench.advance(5_000)
        #expect(try mina.memberNames() == ["Bob", "Joon", "Mina"])
        for node in [mina, bob, joon] {
            #expect(try followers(node) == ["Mina"], "\(node.name)")
            #expect(try node.ok("node.check")["problem_count"] == 0, "\(node.name)")
        }
    }

    @Test func `follow again by a new word`() throws {
        try joon.join(try mina.link())
        bench.advance(5_000)
        try joon.ok("channel.join", ["channel": "plans"])
        bench.advance(5_000)
        for node in [mina, bob, joon] {
            #expect(try followers(node) == ["Joon", "Mina"], "\(node.name)")
        }
    }
}

/// What somebody said last before a removal that does not know it has no effect, and what was said
/// before that counts again.
@Suite struct `Followers of a channel whose last word is cut off` {
    @Test func `are those of the word before, on every node`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let bob = try bench.guest("Bob", of: mina)
        let joon = try bench.guest("Joon", of: mina)
        try mina.ok("channel.create", ["name": "plans"])
        bench.advance(5_000)
        try joon.ok("channel.join", ["channel": "plans"])
        let root = try joon.send("one", to: "plans").text("id")
        try mina.ok("message.react", ["message": .string(root), "emoji": "👍"])
        bench.advance(5_000)
        func followers(_ node: BenchNode) throws -> [String] {
            try node.ok("channel.members", ["channel": "plans"]).texts("name").sorted()
        }
        for node in [mina, bob, joon] { #expect(try followers(node) == ["Joon", "Mina"]) }
        for other in [bob, joon] { bench.cut(mina, other) }
        try joon.ok("channel.leave", ["channel": "plans"])
        bench.advance(5_000)
        #expect(try followers(bob) == ["Mina"])
        try mina.ok("member.remove", ["member": "Joon"])
        for other in [bob, joon] { bench.heal(mina, other) }
        bench.advance(60_000)
        try joon.comeBack(to: mina, in: bench)
        bench.advance(60_000)
        for node in [mina, bob, joon] {
            #expect(try followers(node) == ["Joon", "Mina"], "\(node.name)")
            #expect(try node.ok("node.check")["problem_count"] == 0, "\(node.name)")
        }
    }
}

extension BenchNode {
    /// The operations of a channel about following that this node can read.
    func wordsAboutFollowing(in channel: String) throws -> [StoredOperation] {
        let core = try #require(host?.core)
        let workspace = try workspace()
        let number = try #require(workspace.channelIndex.all.first { $0.name == channel }).number
        let arrivals = try core.store.connection.statement(
            "SELECT arr FROM log JOIN operation USING(lid) WHERE did = ? ORDER BY arr"
        ).rows(.integer(number)) { $0.integer(0) }
        return try arrivals.compactMap { arrival in
            guard let stored = try core.store.operations.operation(arrival),
                case .membership? = try core.content(of: stored, in: workspace)
            else { return nil }
            return stored
        }
    }

    /// The redactions of a document that this node has.
    func redactions(in document: Int64) throws -> [StoredOperation] {
        let core = try #require(host?.core)
        var found: [StoredOperation] = []
        for grant in try core.store.view.grantsOfRedactions(in: document) {
            for arrival in try core.store.view.redactions(
                in: document, citing: grant, after: 0, limit: 1_000)
            {
                let stored = try #require(try core.store.operations.operation(arrival))
                if case .erase? = stored.redaction { found.append(stored) }
            }
        }
        return found
    }

    /// Signs a redaction of one operation, and of nothing else.
    func forceRedaction(of target: StoredOperation, isOwn: Bool) throws {
        try inTurn { core, workspace in
            _ = try core.redact(
                [target.reference], nil, in: target.log.document, isOwn: isOwn, of: workspace)
        }
    }

    /// Signs an undo of a redaction.
    func forceUndo(of redaction: StoredOperation) throws {
        try inTurn { core, workspace in _ = try core.undo(redaction, in: workspace) }
    }

    func followers(of channel: String) throws -> [String] {
        try ok("channel.members", ["channel": .string(channel)]).texts("name").sorted()
    }
}

/// What is deleted says nothing: whoever read it before counts as whoever never gets it.
@Suite struct `Followers of a channel of whose words some are deleted` {
    private let world: RemovalBench
    private var nodes: [BenchNode] { [world.mina, world.ada, world.wim, world.joon] }

    init() throws {
        world = try RemovalBench()
        try world.mina.ok("channel.create", ["name": "plans"])
        world.bench.advance(5_000)
    }

    /// All of them, somebody who comes in now, and each after its store was built anew.
    private func expect(_ names: [String]?, _ note: String) throws {
        var nodes = nodes
        nodes.append(try world.bench.guest("Nora", of: world.mina))
        world.bench.advance(60_000)
        let lists = try nodes.map { try $0.followers(of: "plans") }
        #expect(Set(lists).count == 1, "\(note): \(lists)")
        if let names { #expect(lists[0] == names, "\(note)") }
        #expect(Set(try nodes.map { try $0.digest() }).count == 1, "\(note)")
        for node in nodes {
            let problems = try node.ok("node.check")["problems"]?.arrayValue ?? []
            // What two have erased before a third took it back is nowhere.
            let wrong = problems.filter { $0["text"]?.text.contains("missing") != true }
            #expect(wrong.isEmpty, "\(note) \(node.name): \(wrong.map(\.text))")
            node.kill()
            try node.rebuildStore()
            try node.boot()
            #expect(try node.followers(of: "plans") == lists[0], "\(note) \(node.name) rebuilt")
        }
    }

    @Test func `are those of the words that are left, everywhere`() throws {
        try world.wim.ok("channel.join", ["channel": "plans"])
        world.bench.advance(5_000)
        try world.wim.ok("channel.leave", ["channel": "plans"])
        try world.joon.ok("channel.join", ["channel": "plans"])
        world.bench.advance(5_000)
        #expect(try world.ada.followers(of: "plans") == ["Joon", "Mina"])
        let words = try world.wim.wordsAboutFollowing(in: "plans")
        try world.wim.forceRedaction(of: try #require(words.dropLast().last), isOwn: true)
        world.bench.advance(5_000)
        #expect(try world.ada.followers(of: "plans") == ["Joon", "Mina", "Wim"])
        // Another's word hides at once, and erases a day later.
        let joined = try #require(try world.ada.wordsAboutFollowing(in: "plans").last)
        try world.ada.forceRedaction(of: joined, isOwn: false)
        world.bench.advance(5_000)
        try expect(["Mina", "Wim"], "deleted")
        world.bench.wall += Limits.redactionUndoMilliseconds
        world.bench.advance(60_000)
        for node in nodes { #expect(try node.followers(of: "plans") == ["Mina", "Wim"]) }
    }

    @Test func `come back with an undo, and with the end of the right to delete`() throws {
        try world.joon.ok("channel.join", ["channel": "plans"])
        world.bench.advance(5_000)
        let joined = try #require(try world.ada.wordsAboutFollowing(in: "plans").last)
        try world.ada.forceRedaction(of: joined, isOwn: false)
        world.bench.advance(5_000)
        for node in nodes { #expect(try node.followers(of: "plans") == ["Mina"], "\(node.name)") }
        let redaction = try #require(
            try world.ada.redactions(in: world.ada.number(of: joined)).first)
        try world.ada.forceUndo(of: redaction)
        world.bench.advance(5_000)
        for node in nodes {
            #expect(try node.followers(of: "plans") == ["Joon", "Mina"], "\(node.name)")
        }
        for other in [world.ada, world.wim, world.joon] { world.bench.cut(world.mina, other) }
        try world.ada.forceRedaction(of: joined, isOwn: false)
        world.bench.advance(5_000)
        #expect(try world.wim.followers(of: "plans") == ["Mina"])
        try world.mina.ok("member.role", ["member": "@Ada", "role": "member"])
        for other in [world.ada, world.wim, world.joon] { world.bench.heal(world.mina, other) }
        world.bench.advance(60_000)
        try expect(["Joon", "Mina"], "without the right")
    }

    @Test func `are the same after a lock in which that came`() throws {
        let bench = world.bench
        let sealed = try bench.sealedNode("Pia", workspace: nil)
        try sealed.join(try world.mina.link())
        try world.wim.ok("channel.join", ["channel": "plans"])
        try world.joon.ok("channel.join", ["channel": "plans"])
        bench.advance(5_000)
        let words = try world.ada.wordsAboutFollowing(in: "plans")
        let number = try world.ada.number(of: words[0])
        for word in words.suffix(2) { try world.ada.forceRedaction(of: word, isOwn: false) }
        bench.advance(5_000)
        #expect(try sealed.followers(of: "plans") == ["Mina"])
        try sealed.ok("lock.now")
        // One is deleted for good, the other taken back.
        let own = try #require(
            try world.wim.wordsAboutFollowing(in: "plans").last { stored in
                stored.log.device == world.wim.host?.core.home?.device
            })
        try world.wim.forceRedaction(of: own, isOwn: true)
        for redaction in try world.ada.redactions(in: number) {
            try world.ada.forceUndo(of: redaction)
        }
        bench.advance(60_000)
        try sealed.ok("session.unlock", ["passphrase": .string(goodPassphrase)])
        bench.advance(60_000)
        #expect(try sealed.followers(of: "plans") == ["Joon", "Mina"])
        #expect(try sealed.ok("node.check")["problem_count"] == 0)
        try expect(["Joon", "Mina"], "unlocked")
    }

    @Test func `are read anew in a store that knows none but the latest words`() throws {
        let wim = world.wim
        try wim.ok("channel.join", ["channel": "plans"])
        try wim.ok("channel.leave", ["channel": "plans"])
        world.bench.advance(5_000)
        for table in ["following", "late_basis", "unheard"] {
            try wim.damage("DROP TABLE \(table)")
        }
        try wim.damage("PRAGMA user_version = 9")
        try wim.restart()
        #expect(try wim.ok("node.check")["problem_count"] == 0)
        let left = try #require(try wim.wordsAboutFollowing(in: "plans").last)
        try wim.forceRedaction(of: left, isOwn: true)
        world.bench.advance(5_000)
        try expect(["Mina", "Wim"], "of before")
    }

    /// Words, deletions and undos in any order, of whom some lose the right to it.
    @Test(arguments: Seeds.explore(8))
    func `are alike in the end, in whatever order that came`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let bench = world.bench
        var cuts: Set<[Int]> = []
        for _ in 0..<60 {
            let (a, b) = (random.below(4), random.below(4))
            let node = nodes[a]
            switch random.below(9) {
            case 0 where a < b && !cuts.contains([a, b]):
                bench.cut(nodes[a], nodes[b])
                cuts.insert([a, b])
            case 1 where cuts.contains([a, b]):
                bench.heal(nodes[a], nodes[b])
                cuts.remove([a, b])
            case 2: _ = node.call("channel.join", ["channel": "plans"])
            case 3: _ = node.call("channel.leave", ["channel": "plans"])
            case 4:
                let name = JSONValue.string("@" + nodes[b].name)
                _ = node.call("channel.add", ["channel": "plans", "members": [name]])
            case 5, 6:
                let words = try node.wordsAboutFollowing(in: "plans")
                guard let word = words.randomElement(using: &random) else { continue }
                let isOwn = word.log.device == node.host?.core.home?.device
                if isOwn || a < 2 { try node.forceRedaction(of: word, isOwn: isOwn) }
            case 7 where a < 2:
                guard let word = try node.wordsAboutFollowing(in: "plans").first else { continue }
                let found = try node.redactions(in: node.number(of: word))
                if let one = found.randomElement(using: &random) { try node.forceUndo(of: one) }
            case 8 where a == 0 && random.oneIn(2):
                let role = JSONValue.string(random.oneIn(2) ? "member" : "admin")
                _ = node.call("member.role", ["member": "@Ada", "role": role])
            default:
                if random.oneIn(8) { bench.wall += Limits.redactionUndoMilliseconds }
                bench.advance(UInt64(random.below(40_000)))
            }
        }
        for cut in cuts { bench.heal(nodes[cut[0]], nodes[cut[1]]) }
        bench.advance(300_000)
        try expect(nil, "WSX_SEED=\(seed)")
    }
}

extension BenchNode {
    /// The short number that this node has for the document of an operation of another.
    fileprivate func number(of stored: StoredOperation) throws -> Int64 {
        let core = try #require(host?.core)
        return try #require(
            core.store.operations.document(stored.log.document, in: try workspace().number)
        ).number
    }
}

extension BenchNode {
    /// What this device wrote into the authority document that another node does not have yet.
    fileprivate func authorityRun(after other: BenchNode) throws -> OperationRun {
        let (operations, document) = (try #require(host?.core).store.operations, try workspace().id)
        let branch = try #require(
            operations.branches(in: document, of: try workspace().number).first {
                $0.log.device == host?.core.home?.device
            })
        let known = try #require(other.host?.core).store.operations
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
    func `are none whom nothing admits, until something does`(admitted: String) throws {
        let plans = try mina.workspace().channels.values.first { $0.name == "plans" }
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
        #expect(try rows(of: channel, at: bob) == 1)
        // One row for all of them, of four bytes a name.
        #expect(try bob.count("SELECT count(*) FROM unheard") == 1)
        #expect(try bob.count("SELECT sum(length(names)) FROM unheard") == 2_001 * 4)
        if admitted == "in a store of schema 11" {
            try bob.damage("DROP TABLE unheard")
            try bob.damage("CREATE TABLE unheard(member BLOB, arr INTEGER)")
            try bob.damage("PRAGMA user_version = 11")
        }
        if admitted != "on the way" { try bob.restart() }
        let before = try bob.cursor()
        bench.heal(mina, bob)
        bench.advance(60_000)
        for node in [mina, bob] {
            #expect(try followers(node) == ["Kim", "Mina"], "\(node.name)")
            #expect(try rows(of: channel, at: node) == 2, "\(node.name)")
            #expect(try node.ok("node.check")["problem_count"] == 0, "\(node.name)")
        }
        let told = try bob.events(since: before, types: ["channel.member_added"])
        #expect(told.count == 1)
    }

    /// A word stands for one thing, however often it names somebody.
    @Test func `are told of once by a word that names one of them a thousand times`() throws {
        let plans = try mina.workspace().channels.values.first { $0.name == "plans" }
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
    func `are not looked for in a word that has nobody left to find`(isTakenBack: Bool) throws {
        let plans = try mina.workspace().channels.values.first { $0.name == "plans" }
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
    func `are heard of in parts where there are very many words`(isBefore: Bool) throws {
        let plans = try mina.workspace().channels.values.first { $0.name == "plans" }
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
        if isBefore { for word in words { try bob.take([word.run(in: channel)]) } }
        let workspace = try bob.workspace()
        core.beginTurn(at: bob.time)
        if isBefore {
            try core.accept(
                mina.authorityRun(after: bob), in: workspace, from: .ourselves)
        } else {
            for word in words {
                try core.accept(word.run(in: channel), in: workspace, from: .ourselves)
            }
        }
        _ = try core.endTurn()
        try core.store.commit()
        core.didCommit()
        let left = try bob.count("SELECT count(*) FROM unheard WHERE due > 0") ?? 0
        #expect(left > 500 && core.hasMoreToDo)
        bench.advance(60_000)
        #expect(try bob.count("SELECT count(*) FROM unheard") == 0)
        #expect(try rows(of: channel, at: bob) == 6_001)
        #expect(try followers(bob) == (isBefore ? ["Bob", "Kim", "Mina"] : ["Bob", "Mina"]))
        let told = try bob.events(since: before, types: ["channel.member_added"])
        #expect(told.count == (isBefore ? 2 : 1))
        #expect(try bob.ok("node.check")["problem_count"] == 0)
    }

    /// Somebody is admitted while nothing can be opened, of whom a word came before that.
    @Test(arguments: [false, true])
    func `are told of after a lock in which they were admitted`(restarts: Bool) throws {
        let plans = try mina.workspace().channels.values.first { $0.name == "plans" }
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
        let row = try #require(core.store.operations.document(channel, in: workspace.number))
        return try node.count("SELECT count(*) FROM following WHERE did = \(row.number)")
    }
}
