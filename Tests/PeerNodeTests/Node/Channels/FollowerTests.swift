import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// The followers of a channel after an admission is voided: Ann admits Joon while Mina, who cannot
/// know, removes Ann.
struct `Followers of a channel` {
    let bench = CoreBench()
    let mina: BenchNode
    let bob: BenchNode
    let joon: BenchNode

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

    func followers(_ node: BenchNode) throws -> [String] {
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

/// The last follow operation before a removal that does not know it has no effect, and the earlier
/// one counts again.
struct `Followers of a channel whose last word is cut off` {
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

/// Anybody may choose the date of an operation, and repeat it any number of times.
struct `Followers of a channel named by operations dated far ahead` {
    private let bench = CoreBench()
    private let mina: BenchNode
    private let nora: BenchNode
    private let mallory: BenchNode
    private let channel: DocumentID

    init() throws {
        mina = try bench.node("Mina")
        try mina.ok("channel.create", ["name": "plans"])
        nora = try bench.guest("Nora", of: mina)
        mallory = try bench.guest("Mallory", of: mina)
        bench.advance(5_000)
        try nora.ok("channel.join", ["channel": "plans"])
        bench.advance(5_000)
        channel = try #require(
            try mina.workspace().book.channels.values.first { $0.name == "plans" }
        ).id
    }

    /// Words of Mallory about Nora, each dated at the end of time.
    private func say(
        _ action: ContentPayload.MembershipAction, times count: Int = 1,
        citing cited: [OperationReference] = [], incarnation: UInt32 = 77
    ) throws {
        var log = HostileLog(try mallory.hostile(), incarnation: incarnation, document: channel)
        let members = [try nora.workspace().member]
        for number in 0..<count {
            log.write(
                plaintext: ContentPayload.membership(action, members: members).encoded,
                at: HybridTimestamp.millisecondsMax - UInt64(count - number)
            ) { $0.dependencies = cited }
        }
        for node in [mina, nora, mallory] { try node.take([log.run()]) }
        bench.advance(5_000)
    }

    private func expect(_ names: [String]) throws {
        for node in [mina, nora, mallory] {
            #expect(try node.followers(of: "plans") == names, "\(node.name)")
            #expect(try node.ok("node.check")["problem_count"] == 0, "\(node.name)")
        }
    }

    /// How many messages of others Nora has not read.
    private func unread() throws -> Int64 {
        try `What was read`.unread(nora)["plans"] ?? 0
    }

    @Test func `are removed by nobody who does not know that they joined`() throws {
        try say(.remove, times: 40)
        try expect(["Mina", "Nora"])
        try nora.ok("channel.leave", ["channel": "plans"])
        bench.advance(5_000)
        try expect(["Mina"])
        try say(.add, times: 40, incarnation: 78)
        try expect(["Mina"])
    }

    /// One that names several is written for those of whom nothing was said.
    @Test func `are removed by no operation that names several`() throws {
        try nora.ok("channel.leave", ["channel": "plans"])
        bench.advance(5_000)
        let left = try #require(try nora.wordsAboutFollowing(in: "plans").last)
        var log = HostileLog(try mallory.hostile(), incarnation: 79, document: channel)
        let members = try [nora, mallory].map { try $0.workspace().member }.sorted()
        log.write(
            plaintext: ContentPayload.membership(.add, members: members).encoded, at: bench.wall
        ) { $0.dependencies = [left.reference] }
        for node in [mina, nora, mallory] { try node.take([log.run()]) }
        bench.advance(5_000)
        try expect(["Mallory", "Mina"])
    }

    @Test func `may rejoin by their own operation and by others'`() throws {
        let joined = try #require(try nora.wordsAboutFollowing(in: "plans").last)
        try say(.remove, citing: [joined.reference])
        try expect(["Mina"])
        try nora.ok("channel.join", ["channel": "plans"])
        bench.advance(5_000)
        try expect(["Mina", "Nora"])
        let again = try #require(try nora.wordsAboutFollowing(in: "plans").last)
        try say(.remove, times: 100, citing: [again.reference], incarnation: 78)
        try expect(["Mina"])
        // More than one operation can cite.
        try mina.ok("channel.add", ["channel": "plans", "members": ["@Nora"]])
        bench.advance(5_000)
        try expect(["Mina", "Nora"])
        try mina.send("to all", to: "plans")
        bench.advance(5_000)
        #expect(try unread() == 1)
    }

    @Test func `and added again this way still get new messages`() throws {
        try nora.ok("channel.leave", ["channel": "plans"])
        bench.advance(5_000)
        let left = try #require(try nora.wordsAboutFollowing(in: "plans").last)
        try say(.add, citing: [left.reference])
        try expect(["Mina", "Nora"])
        try mina.send("to all", to: "plans")
        bench.advance(5_000)
        #expect(try unread() == 1)
    }

    @Test(arguments: [false, true])
    func `and added again have as much unread as before`(isOwn: Bool) throws {
        if !isOwn {
            try nora.ok("channel.leave", ["channel": "plans"])
            try mina.ok("channel.add", ["channel": "plans", "members": ["@Nora"]])
            bench.advance(5_000)
        }
        try mina.send("one", to: "plans")
        bench.advance(5_000)
        #expect(try unread() == 1)
        let joined = try #require(try nora.wordsAboutFollowing(in: "plans").last)
        try say(.add, citing: [joined.reference])
        #expect(try unread() == 1)
        try mina.send("two", to: "plans")
        bench.advance(5_000)
        #expect(try unread() == 2)
        try expect(["Mina", "Nora"])
    }

    @Test func `are changed by themselves alone when others say too much`() throws {
        let joined = try #require(try nora.wordsAboutFollowing(in: "plans").last)
        try say(.remove, times: Limits.followingHeadsMax + 1, citing: [joined.reference])
        let refused = try mina.refused(
            "channel.add", ["channel": "plans", "members": ["@Nora"]])
        #expect(refused.kind == .conflict && refused.reason == "channel.overruled")
        try expect(["Mina"])
        try nora.ok("channel.join", ["channel": "plans"])
        bench.advance(5_000)
        try expect(["Mina", "Nora"])
    }

    /// As a stolen device of the member would write it.
    @Test func `may rejoin, however often their own device has removed them`()
        throws
    {
        var log = HostileLog(try nora.hostile(), incarnation: 80, document: channel)
        for number in 0..<1_000 {
            log.write(
                plaintext: ContentPayload.membership(.leave, members: []).encoded,
                at: HybridTimestamp.millisecondsMax - UInt64(1_000 - number))
        }
        for node in [mina, nora, mallory] { try node.take([log.run()]) }
        bench.advance(5_000)
        try expect(["Mina"])
        let refused = try mina.refused(
            "channel.add", ["channel": "plans", "members": ["@Nora"]])
        #expect(refused.reason == "channel.overruled")
        try nora.ok("channel.join", ["channel": "plans"])
        bench.advance(60_000)
        try expect(["Mina", "Nora"])
        try nora.ok("channel.leave", ["channel": "plans"])
        bench.advance(60_000)
        try expect(["Mina"])
    }

    /// One operation says it of all of whom nothing was said, and one of each other.
    @Test func `are said to be so in as few words as can be`() throws {
        try mina.ok("channel.create", ["name": "new"])
        let people: JSONValue = ["@Nora", "@Mallory"]
        try mina.ok("channel.add", ["channel": "new", "members": people])
        #expect(try mina.wordsAboutFollowing(in: "new").count == 2)
        try mina.ok("channel.remove", ["channel": "new", "members": people])
        #expect(try mina.wordsAboutFollowing(in: "new").count == 4)
        #expect(try mina.followers(of: "new") == ["Mina"])
    }
}

extension BenchNode {
    /// The operations of a channel about following that this node can read.
    func wordsAboutFollowing(in channel: String) throws -> [StoredOperation] {
        let core = try #require(host?.core)
        let workspace = try workspace()
        let number = try #require(workspace.channelIndex.all.first { $0.name == channel }).number
        let arrivals = try core.turn.store.connection.statement(
            "SELECT arr FROM log JOIN operation USING(lid) WHERE did = ? ORDER BY arr"
        ).rows(.integer(number)) { $0.integer(0) }
        return try arrivals.compactMap { arrival in
            guard let stored = try core.turn.store.operations.operation(arrival),
                case .membership? = try core.keys.content(of: stored, in: workspace)
            else { return nil }
            return stored
        }
    }

    /// The redactions of a document that this node has.
    func redactions(in document: Int64) throws -> [StoredOperation] {
        let core = try #require(host?.core)
        var found: [StoredOperation] = []
        for grant in try core.turn.store.view.redactions.grantsOfRedactions(in: document) {
            for arrival in try core.turn.store.view.redactions.redactions(
                in: document, citing: grant, after: 0, limit: 1_000)
            {
                let stored = try #require(try core.turn.store.operations.operation(arrival))
                if case .erase? = stored.redaction { found.append(stored) }
            }
        }
        return found
    }

    /// Signs a redaction of one operation, and of nothing else.
    func forceRedaction(of target: StoredOperation, isOwn: Bool) throws {
        try inTurn { core, workspace in
            _ = try core.messages.redact(
                [target.reference], nil, in: target.log.document, isOwn: isOwn, of: workspace)
        }
    }

    /// Signs an undo of a redaction.
    func forceUndo(of redaction: StoredOperation) throws {
        try inTurn { _ = try MessageHandler($0).undo(redaction, in: $1) }
    }

    func followers(of channel: String) throws -> [String] {
        try ok("channel.members", ["channel": .string(channel)]).texts("name").sorted()
    }
}

/// Deleted operations say nothing: nodes that read one before agree with those that never get it.
struct `Followers of a channel of whose words some are deleted` {
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
                stored.log.device == world.wim.host?.core.session.home?.device
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

    @Test func `are read again in a store that has only the latest operations`() throws {
        let wim = world.wim
        try wim.ok("channel.join", ["channel": "plans"])
        try wim.ok("channel.leave", ["channel": "plans"])
        world.bench.advance(5_000)
        for table in [
            "following", "following_past", "late_basis", "unheard", "setting", "setting_past",
        ] {
            try wim.damage("DROP TABLE \(table)")
        }
        try wim.damage(EarlierStore.schema15)
        try wim.damage(BenchNode.droppingNotes)
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
    func `reach the same state in every order of arrival`(seed: UInt64) throws {
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
                let isOwn = word.log.device == node.host?.core.session.home?.device
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
            core.turn.store.operations.document(stored.log.document, in: try workspace().number)
        ).number
    }
}
