import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Who introduces the group key: every member may end their own devices, and such an
/// operation can name one.
struct `A group key` {
    /// The revocation of an own device that names a key, with boxes for all who may hold one.
    private func ending(
        _ device: DeviceID, naming key: SymmetricKey, as name: KeyID? = nil, by node: BenchNode
    ) throws -> AuthorityPayload {
        let core = try #require(node.host?.core)
        let workspace = try GuestTable.workspace(of: node)
        let discovery = try #require(workspace.discovery.last)
        let wraps = workspace.keyHolders(excluding: [device]).compactMap {
            core.keys.wrap(key, discovery, for: $0.device, to: $0.agreementKey)
        }
        return .removeDevice(
            device, cuts: [],
            rekey: Rekey(keyID: name ?? key.keyID, wraps: wraps, olderKeys: []))
    }

    private func linked(to node: BenchNode, _ bench: CoreBench, _ name: String) throws -> BenchNode
    {
        let other = try bench.bareNode(name)
        _ = try node.link(other)
        bench.advance(5_000)
        return other
    }

    private func device(_ node: BenchNode) throws -> DeviceID {
        try #require(node.host?.core.session.ownDevice)
    }

    /// Under which key a node writes, and whether the discovery secret that it gives is a members'
    /// one.
    private func expectNobody(
        knowing key: SymmetricKey, at nodes: [BenchNode], _ note: String
    ) throws {
        let psk = key.derived(Array("link".utf8)).exposedCopy()
        for node in nodes {
            let workspace = try GuestTable.workspace(of: node)
            #expect(
                workspace.secrets.keys.holds(key.keyID), "\(note), \(node.name): it opened its box")
            #expect(workspace.sealingKey?.id != key.keyID, "\(note), \(node.name)")
            let newest = try #require(node.host?.core).links.pskCandidates()
                .filter { $0.rank == .newest }.map { $0.psk.exposedCopy() }
            #expect(!newest.contains(psk), "\(note), \(node.name)")
        }
    }

    @Test func `is made by no guest`() throws {
        let table = try GuestTable()
        let phone = try linked(to: table.gita, table.bench, "Gita phone")
        let key = SymmetricKey(using: SeededRandom(seed: 3))
        try table.gita.author(ending(device(phone), naming: key, by: table.gita))
        table.bench.advance(2_000)
        let members = [table.ada, table.bob, table.cleo]
        try expectNobody(knowing: key, at: members, "as it comes")
        // No device of a guest holds one, so nothing has to be changed.
        for node in members { #expect(try GuestTable.workspace(of: node).keyEnds().isEmpty) }
        table.bench.advance(60_000)
        try expectNobody(knowing: key, at: members, "later")
        for node in members {
            #expect(try GuestTable.workspace(of: node).sealingKey?.answersAll == true)
        }
        try table.ada.send("not for guests")
        #expect(try table.bob.log().last == "not for guests")
    }

    /// If nobody is in who introduced a key, the newest key by a member seals until an admin has
    /// changed it.
    @Test func `is made by no guest, though all are out who made one`() throws {
        let table = try GuestTable()
        let (ada, bob, cleo, gita) = (table.ada, table.bob, table.cleo, table.gita)
        let phone = try linked(to: gita, table.bench, "Gita phone")
        try ada.ok("channel.transfer", ["channel": "board", "member": "@Bob"])
        try ada.ok("workspace.transfer", ["member": "Bob"])
        table.bench.advance(5_000)
        for near in [ada, cleo, gita, phone] { table.bench.cut(bob, near) }
        let key = SymmetricKey(using: SeededRandom(seed: 3))
        try gita.author(ending(device(phone), naming: key, by: gita))
        table.bench.advance(2_000)
        try ada.ok("workspace.leave")
        table.bench.advance(2_000)
        let workspace = try GuestTable.workspace(of: cleo)
        let given = workspace.secrets.index.newestFirst.filter {
            workspace.secrets.keys.holds($0.key)
        }
        #expect(given.allSatisfy { !workspace.isGiverIn($0.operation) })
        try expectNobody(knowing: key, at: [cleo], "all are out")
        #expect(workspace.sealingKey != nil)
    }

    /// Wim was away while an admin removed Joon, and revokes a device with a deeper operation.
    @Test func `is the one that knows the admins' operations, if none knows everything`() throws {
        let world = try RemovalBench()
        let (mina, ada, wim, joon, bench) =
            (world.mina, world.ada, world.wim, world.joon, world.bench)
        let phone = try linked(to: wim, bench, "Wim phone")
        let nora = try bench.guest("Nora", of: mina)
        bench.advance(20_000)
        for near in [mina, ada, joon, nora, phone] { bench.cut(wim, near) }
        try mina.ok("member.remove", ["member": "Joon"])
        bench.advance(5_000)
        let answer = try #require(try nora.workspace().sealingKey)
        for name in ["one", "two", "three"] {
            try wim.ok("channel.create", ["name": .string(name)])
        }
        let id = JSONValue.string(PublicID.device(try device(phone)))
        try wim.ok("device.revoke", ["device": id])
        // No admin is there who could change the key.
        for far in [mina, ada] {
            for near in [nora, wim, phone, joon] { bench.cut(far, near) }
        }
        bench.heal(wim, nora)
        bench.advance(60_000)
        for node in [wim, nora] {
            let workspace = try node.workspace()
            #expect(workspace.keyEnds().count == 2)
            let sealing = try #require(workspace.sealingKey)
            #expect(sealing.id == answer.id && !sealing.answersAll && sealing.answersAdmins)
        }
        // An admin answers both.
        bench.heal(mina, nora)
        bench.advance(60_000)
        #expect(try nora.workspace().sealingKey?.answersAll == true)
    }

    @Test func `is not in a guest's revocation of their own device`() throws {
        let table = try GuestTable()
        let phone = try linked(to: table.gita, table.bench, "Gita phone")
        let id = JSONValue.string(PublicID.device(try device(phone)))
        try table.gita.ok("device.revoke", ["device": id])
        table.bench.advance(5_000)
        let said = try GuestTable.workspace(of: table.ada).authority.values.compactMap { record in
            if case .removeDevice(_, _, let rekey) = record.payload { rekey?.keyID } else { nil }
        }
        #expect(said.isEmpty)
    }

    /// A member who leaves by a younger device still has authority by an older one.
    @Test func `is made by nobody who has left`() throws {
        let world = try RemovalBench()
        let (joon, bench) = (world.joon, world.bench)
        let phone = try linked(to: joon, bench, "Joon phone")
        let tablet = try linked(to: joon, bench, "Joon tablet")
        let key = SymmetricKey(using: SeededRandom(seed: 4))
        let mina = world.mina
        try phone.ok("workspace.leave")
        bench.advance(20_000)
        #expect(try mina.memberNames() == ["Ada", "Mina", "Wim"])
        let after = try #require(try mina.workspace().sealingKey)
        #expect(after.answersAll)
        // Under the older one, with all of that in its past; another peer would bring it.
        var log = try ForgedLog(joon, incarnation: 90)
        let said = log.write(
            try ending(device(tablet), naming: key, by: mina),
            knowing: try ForgedLog.heads(of: mina))
        try mina.take([said.run(in: try mina.workspace().id)])
        #expect(try mina.workspace().judged.evaluator.isValid(said.id))
        try expectNobody(knowing: key, at: [mina], "a leaver's")
        bench.advance(60_000)
        try expectNobody(knowing: key, at: [mina], "a leaver's, later")
    }

    /// A plain member cannot end what a member who left may still do with an older device; an
    /// admin's removal can.
    @Test func `ends nothing for a member who left by a younger device; a removal does`() throws {
        let world = try RemovalBench()
        let (mina, joon, bench) = (world.mina, world.joon, world.bench)
        let phone = try linked(to: joon, bench, "Joon phone")
        try joon.send("before")
        bench.advance(2_000)
        try phone.ok("workspace.leave")
        bench.advance(20_000)
        var log = try ForgedLog(joon, incarnation: 90)
        let document = try mina.workspace().id
        func says(_ number: UInt8) throws -> Bool {
            let nonce = [UInt8](repeating: number, count: 16)
            let said = log.write(
                .createDocument(type: 1, nonce: nonce), knowing: try ForgedLog.heads(of: mina))
            // An operation without effect by a member who is out is not even kept.
            do { try mina.take([said.run(in: document)]) } catch is RefusedRun { return false }
            return try mina.workspace().judged.evaluator.isValid(said.id)
        }
        #expect(try says(1))
        let member = JSONValue.string(PublicID.member(try joon.workspace().member))
        #expect(try world.wim.refused("member.remove", ["member": member]).kind == .forbidden)
        try mina.ok("member.remove", ["member": member])
        #expect(try !says(2))
        #expect(try mina.refused("member.remove", ["member": member]).reason == "member.removed")
        #expect(try mina.log() == ["before"])
    }

    @Test(arguments: [false, true])
    func `is never one that was there before`(byGuest: Bool) throws {
        let table = try GuestTable()
        let author = byGuest ? table.gita : table.bob
        let phone = try linked(to: author, table.bench, "phone")
        let old = try #require(GuestTable.workspace(of: table.ada).sealingKey).id
        try table.ada.ok("member.remove", ["member": "@Cleo"])
        table.bench.advance(5_000)
        let new = try #require(GuestTable.workspace(of: table.ada).sealingKey).id
        #expect(new != old)
        // The name of the old one, and boxes with arbitrary content.
        let chance = SymmetricKey(using: SeededRandom(seed: 5))
        try author.author(ending(device(phone), naming: chance, as: old, by: author))
        table.bench.advance(5_000)
        for node in [table.ada, table.bob] {
            let sealing = try #require(GuestTable.workspace(of: node).sealingKey)
            #expect(sealing.id != old, "\(node.name)")
        }
        table.bench.advance(60_000)
        let sealing = try #require(GuestTable.workspace(of: table.ada).sealingKey)
        // A guest has ended nothing that held a key.
        #expect(sealing.answersAll && sealing.id != old && (sealing.id == new) == byGuest)
    }

    /// A guest names keys that nobody holds, and of small value.
    @Test func `is requested before and without keys that a guest names`() throws {
        let table = try GuestTable()
        let phone = try linked(to: table.gita, table.bench, "Gita phone")
        let key = SymmetricKey(using: SeededRandom(seed: 7))
        let small = KeyID([UInt8](repeating: 0, count: 16))
        try table.gita.author(ending(device(phone), naming: key, as: small, by: table.gita))
        table.bench.advance(2_000)
        let core = try #require(table.bob.host?.core)
        let workspace = try GuestTable.workspace(of: table.bob)
        #expect(
            workspace.secrets.index.introduces(small)
                && core.keys.lackedGroupKeys(of: workspace).isEmpty
        )
        // The key that seals a member's content precedes those that members name.
        let (low, high) = (
            KeyID([UInt8](repeating: 1, count: 16)), KeyID([UInt8](repeating: 250, count: 16))
        )
        let document = try #require(workspace.book.defaultChannel)
        workspace.secrets.lacked.note(
            .init(key: high, document: document, device: try device(table.ada)),
            by: workspace.member)
        let cleo = try linked(to: table.cleo, table.bench, "Cleo phone")
        try table.cleo.author(ending(device(cleo), naming: key, as: low, by: table.cleo))
        table.bench.advance(100)
        #expect(core.keys.lackedGroupKeys(of: workspace).filter { $0 != low } == [high])
        #expect(core.keys.lackedGroupKeys(of: workspace).first == high)
    }

    /// They are concurrent, so none of them repeats another.
    @Test func `that very many name at once takes no more room of links than a few`() throws {
        let world = try RemovalBench()
        let (mina, wim) = (world.mina, world.wim)
        let phone = try linked(to: wim, world.bench, "Wim phone")
        let key = SymmetricKey(using: SeededRandom(seed: 8))
        let document = try mina.workspace().id
        let (payload, heads) = (
            try ending(device(phone), naming: key, by: wim), try ForgedLog.heads(of: mina)
        )
        let count = Limits.linkEpochIntroductionsMax + 3
        for number in 0..<UInt32(count) {
            var log = try ForgedLog(wim, incarnation: 90 + number)
            try mina.take([log.write(payload, knowing: heads).run(in: document)])
        }
        let workspace = try mina.workspace()
        #expect(workspace.secrets.index.newestFirst.count { $0.key == key.keyID } == count)
        let links = workspace.linkEpochs().count { $0.key == key.keyID }
        #expect(links == Limits.linkEpochIntroductionsMax)
        // Nor is it a secret more than once.
        let psk = key.derived(Array("link".utf8)).exposedCopy()
        let candidates = try #require(mina.host?.core).links.pskCandidates()
        #expect(candidates.count { $0.psk.exposedCopy() == psk } == 1)
    }

    /// Naming a key that somebody is just introducing does not take its effect.
    @Test func `counts though somebody who does not know of it names it, too`() throws {
        let world = try RemovalBench()
        let (mina, wim, bench) = (world.mina, world.wim, world.bench)
        let phone = try linked(to: wim, bench, "Wim phone")
        for near in [mina, world.ada, world.joon] { bench.cut(wim, near) }
        let made = try #require(try mina.ok("workspace.rekey")["id"]?.stringValue)
        bench.advance(1_000)
        let new = try #require(try mina.workspace().sealingKey)
        #expect(made.isEmpty == false)
        let chance = SymmetricKey(using: SeededRandom(seed: 6))
        try wim.author(ending(device(phone), naming: chance, as: new.id, by: wim))
        for near in [mina, world.ada, world.joon] { bench.heal(wim, near) }
        bench.advance(1_000)
        let workspace = try mina.workspace()
        let given = workspace.secrets.index.newestFirst.filter { $0.key == new.id }
        #expect(given.count == 2)
        #expect(given.contains { $0.operation == new.operation && workspace.gives($0) })
    }
}
