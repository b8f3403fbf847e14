import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode
@testable import WorkspaceCrypto

extension EpochKeyring {
    /// All keys that are held, opened.
    var opened: [SymmetricKey] { names.sorted().compactMap { self[$0] } }
}

struct `A home with very many keys` {
    private let bench = CoreBench()
    private let mina: BenchNode

    init() throws { mina = try bench.node("Mina") }

    /// Keys that the node stores as it stores those of boxes.
    @discardableResult
    private func take(_ count: Int, on node: BenchNode, seed: UInt64 = 5) throws -> [SymmetricKey] {
        let random = SeededRandom(seed: seed)
        let keys = (0..<count).map { _ in SymmetricKey(using: random) }
        try node.inTurn { core, workspace in
            try core.turn.write()
            for key in keys { try core.keys.take(key, discovery: nil, in: workspace) }
        }
        return keys
    }

    /// A15: memory is bounded, and the home starts.
    @Test func `holds 20,000, of which few are in memory, and starts again`() throws {
        try mina.send("before")
        let keys = try take(20_000, on: mina)
        let core = try #require(mina.host?.core)
        #expect(core.session.vault.count == Limits.keysInMemoryMax)
        #expect(try mina.workspace().secrets.keys.count == 20_001)
        try mina.restart()
        let again = try #require(mina.host?.core)
        #expect(again.session.vault.count < 10)
        let workspace = try mina.workspace()
        #expect(workspace.secrets.keys.count == 20_001)
        for key in keys {
            #expect(workspace.secrets.keys[key.keyID]?.exposedCopy() == key.exposedCopy())
        }
        #expect(again.session.vault.count == Limits.keysInMemoryMax)
        try mina.send("after")
        #expect(try mina.log() == ["before", "after"])
        #expect(try mina.ok("node.check")["ok"] == true)
    }

    @Test func `has none in memory while it is locked, and all when it is open`() throws {
        let bench = CoreBench()
        let mina = try bench.sealedNode("Mina")
        let joon = try bench.guest("Joon", of: mina)
        try mina.ok("message.send", ["channel": "general", "text": "one"])
        let keys = try take(500, on: mina)
        let core = try #require(mina.host?.core)
        #expect(core.session.vault.count > 500)
        try mina.ok("lock.now")
        #expect(core.session.vault.count == 0)
        let workspace = try #require(core.workspaces.values.first)
        #expect(workspace.secrets.keys.isEmpty)
        #expect(
            core.session.vault.key(.stored(.epochKey, owner: workspace.number, keys[0].keyID))
                == nil)
        try mina.ok("session.unlock", ["passphrase": .string(goodPassphrase)])
        #expect(try mina.workspace().secrets.keys.count == 501)
        #expect(try mina.texts() == ["one"])
        #expect(try joon.texts() == ["one"])
    }

    /// What could not be read must not look as if it were not there.
    @Test func `commits nothing in a turn in which one could not be read`() throws {
        try mina.send("one")
        let name = try #require(try mina.workspace().sealingKey).id
        try mina.inTurn { core, workspace in
            core.session.vault.forgetAll()
            try mina.damage("ALTER TABLE epoch_key RENAME TO away")
            #expect(workspace.secrets.keys[name] == nil)
            try mina.damage("ALTER TABLE away RENAME TO epoch_key")
            #expect(throws: StorageError.self) { try core.endTurn() }
            #expect(workspace.secrets.keys[name] != nil)
        }
        try mina.send("two")
        #expect(try mina.log() == ["one", "two"])
    }

    @Test func `does not take for held what does not open any more`() throws {
        let keys = try take(3, on: mina)
        try mina.damage(
            "UPDATE epoch_key SET secret = x'00' WHERE id = x'\(hex(keys[1].keyID.bytes))'")
        try mina.restart()
        let workspace = try mina.workspace()
        #expect(keys.map { workspace.secrets.keys.holds($0.keyID) } == [true, false, true])
    }

    /// A disk has changed some, or they belong to another home: then none opens,
    /// and none is dropped.
    @Test(arguments: [false, true])
    func `are counted by a check if they do not open, and forgotten unless none does`(
        areAllSo: Bool
    ) throws {
        _ = try take(3, on: mina)
        let held = try #require(try heldCount(mina))
        try mina.damage(
            "UPDATE epoch_key SET secret = x'00' WHERE secret IS NOT NULL"
                + (areAllSo ? "" : " AND kid > (SELECT max(kid) - 2 FROM epoch_key)"))
        let found = try mina.ok("node.check")
        let text = areAllSo ? "\(held) keys cannot be opened" : "2 keys cannot be opened"
        #expect(try found["problems"]?.arrayValue?.map { try $0.text("text") } == [text])
        let mended = try mina.ok("node.check", ["repair": true])
        #expect(mended["repaired"] == .integer(areAllSo ? 0 : 1))
        #expect(try heldCount(mina) == (areAllSo ? held : held - 2))
        #expect(try mina.ok("node.check")["problem_count"] == .integer(areAllSo ? 1 : 0))
    }

    private func heldCount(_ node: BenchNode) throws -> Int64? {
        try node.connection?.statement(
            "SELECT count(*) FROM epoch_key WHERE secret IS NOT NULL"
        ).integer()
    }

    @Test func `answers links under the newest discovery secrets, and forgets none`() throws {
        let given = try mina.workspace().discovery.map(DiscoveryName.id)
        let random = SeededRandom(seed: 3)
        try mina.inTurn { core, workspace in
            try core.turn.write()
            for _ in 0..<300 {
                try core.keys.take(discovery: SymmetricKey(using: random), in: workspace)
            }
        }
        for _ in 0..<2 {
            let secrets = try mina.workspace().secrets.discovery
            #expect(secrets.names.count == 301)
            #expect(secrets.newest.count == Limits.discoverySecretsMax)
            // What the workspace gives is newer than what nothing names.
            #expect(secrets.newest.last?.name == given.last)
            try mina.restart()
        }
    }

    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}

/// Counts work instead of time: ten times as many keys may cost ten times as much, and no more.
struct `What very many keys cost` {
    /// The work of a node that hears of `count` new keys, each leading to the one before.
    private func workspaceLooks(_ count: Int) throws -> (looks: Int, openings: Int) {
        let world = try RemovalBench()
        let (mina, wim, bench) = (world.mina, world.wim, world.bench)
        for near in [mina, world.ada, world.joon] { bench.cut(wim, near) }
        try mina.inTurn { core, workspace in
            for _ in 0..<count { try core.keys.changeKey(of: workspace, withDiscovery: false) }
        }
        bench.advance(1_000)
        let before = try wim.workspace().secrets.index.looks
        let openings = try #require(wim.host?.core).session.vault.openings
        bench.heal(mina, wim)
        bench.advance(60_000)
        #expect(try wim.workspace().secrets.keys.count == count + 1)
        #expect(try wim.workspace().sealingKey?.id == mina.workspace().sealingKey?.id)
        let core = try #require(wim.host?.core)
        return (
            try wim.workspace().secrets.index.looks - before, core.session.vault.openings - openings
        )
    }

    @Test func `is linear in a workspace, no matter who gets them late`() throws {
        let (few, many) = (try workspaceLooks(20), try workspaceLooks(200))
        #expect(many.looks <= 12 * few.looks + 200, "\(few) \(many)")
        #expect(many.openings <= 12 * few.openings + 200, "\(few) \(many)")
    }

    /// A newcomer is given the newest key, which leads to the one before, and so on.
    @Test func `is linear for a newcomer who gets a chain of them`() throws {
        var looks: [Int] = []
        for count in [20, 200] {
            let bench = CoreBench()
            let mina = try bench.node("Mina")
            try mina.inTurn { core, workspace in
                for _ in 0..<count { try core.keys.changeKey(of: workspace) }
            }
            let late = try bench.guest("Late", of: mina)
            bench.advance(20_000)
            #expect(try late.workspace().secrets.keys.count == count + 1)
            looks.append(try late.workspace().secrets.index.looks)
        }
        #expect(looks[1] <= 12 * looks[0] + 200, "\(looks)")
    }

    /// The work of a member who is away while a channel gets `count` new keys.
    private func privateLooks(_ count: Int) throws -> Int {
        let table = try `Private channels`.Table()
        try table.bob.ok("channel.create", ["name": "board", "private": true, "history": "all"])
        try table.bob.ok("channel.add", ["channel": "board", "members": ["Cleo"]])
        table.bench.advance(5_000)
        let board = try table.bob.document("board").id
        for near in [table.ada, table.bob] { table.bench.cut(table.cleo, near) }
        try table.bob.inTurn { core, workspace in
            let document = try #require(workspace.sealed.documents[board])
            for _ in 0..<count {
                _ = try core.privates.authoring.changeKey(of: document, in: workspace)
            }
        }
        let before = try table.cleo.document("board").looks
        table.bench.heal(table.cleo, table.bob)
        table.bench.advance(60_000)
        let document = try table.cleo.document("board")
        #expect(document.closed.isEmpty)
        #expect(document.keys.count == count + 1)
        return document.looks - before
    }

    @Test func `is linear in a private channel`() throws {
        let (few, many) = (try privateLooks(10), try privateLooks(100))
        #expect(many <= 12 * few + 100, "\(few) \(many)")
    }
}

struct `The index of keys` {
    private static func id(_ number: UInt64) -> OperationID {
        OperationID(words: (number, 0, 0, 0))
    }

    private static func rekey(
        _ key: UInt8, older: [UInt8] = [], discovery: UInt8? = nil, handing: [UInt8] = []
    ) -> AuthorityPayload {
        .rekey(
            .init(
                rekey: Rekey(
                    keyID: name(key), wraps: [],
                    olderKeys: older.map {
                        SealedSecret(id: name($0).bytes, sealed: [UInt8](repeating: $0, count: 72))
                    }),
                discoveryID: discovery.map { [UInt8](repeating: $0, count: 16) },
                olderDiscovery: handing.map {
                    SealedSecret(
                        id: [UInt8](repeating: $0, count: 16),
                        sealed: [UInt8](repeating: $0, count: 72))
                }, answers: nil))
    }

    private static func name(_ number: UInt8) -> KeyID {
        KeyID([UInt8](repeating: number, count: KeyID.byteCount))
    }

    /// In whatever order they come: the newest first, and of each key the first introduction.
    @Test(arguments: Seeds.explore(10))
    func `gives introductions by rank`(seed: UInt64) {
        let random = SeededRandom(seed: seed)
        var index = KeyIndex()
        var all: [(UInt64, OperationID, KeyID)] = []
        for number in 0..<200 {
            let (lamport, key) = (random.number(below: 12), UInt8(random.number(below: 40)))
            let id = Self.id(random.number(below: 1 << 40) << 16 | UInt64(number))
            index.note(Self.rekey(key), id, lamport: lamport)
            all.append((lamport, id, Self.name(key)))
        }
        all.sort { ($0.0, $0.1) < ($1.0, $1.1) }
        #expect(Array(index.newestFirst.map(\.operation)) == all.reversed().map(\.1))
        for key in Set(all.map(\.2)) {
            #expect(index.firstIntroduction(of: key)?.operation == all.first { $0.2 == key }?.1)
            #expect(index.carriers[key]?.count == all.filter { $0.2 == key }.count)
        }
        #expect(index.firstIntroductions.count == Set(all.map(\.2)).count, "WSX_SEED=\(seed)")
        #expect(!index.introduces(Self.name(200)))
    }

    @Test func `keeps what was handed on before it was introduced for one look`() {
        var index = KeyIndex()
        index.note(Self.rekey(1), Self.id(1), lamport: 1)
        index.note(Self.rekey(3, older: [1, 2]), Self.id(3), lamport: 3)
        #expect(index.takeAwaited(Self.name(1)).isEmpty)
        index.note(Self.rekey(2), Self.id(2), lamport: 2)
        let awaited = index.takeAwaited(Self.name(2))
        #expect(awaited.map(\.newer) == [Self.name(3)])
        #expect(awaited.first?.sealed == [UInt8](repeating: 2, count: 72))
        #expect(index.takeAwaited(Self.name(2)).isEmpty)
    }

    @Test func `keeps what hands on discovery secrets by key and by name`() {
        var index = KeyIndex()
        let name = [UInt8](repeating: 9, count: 16)
        index.note(Self.rekey(1, handing: [9]), Self.id(7), lamport: 1)
        index.note(Self.rekey(2, discovery: 9), Self.id(5), lamport: 4)
        index.note(Self.rekey(3, discovery: 9), Self.id(6), lamport: 2)
        #expect(index.discoveryNames(name).map(\.operation) == [Self.id(6), Self.id(5)])
        #expect(index.givers(besides: []) == [Self.id(5), Self.id(6)])
        #expect(index.givers(besides: [name]).isEmpty)
        #expect(index.takeDiscoveryCarriers(of: Self.name(1)) == [Self.id(7)])
        #expect(index.takeDiscoveryCarriers(of: Self.name(1)).isEmpty)
        #expect(index.takeCarriers(ofDiscovery: name) == [Self.id(7)])
        #expect(index.takeCarriers(ofDiscovery: name).isEmpty)
        index.putBack(Self.id(7), handingOnDiscovery: name)
        #expect(index.takeCarriers(ofDiscovery: name) == [Self.id(7)])
    }
}
