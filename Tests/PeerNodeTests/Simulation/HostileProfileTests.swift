import CRDTStore
import SyncProtocol
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Members who write into others' profiles, or delete parts of them.
struct `Somebody else's profile` {
    private static func field(
        _ name: String, of person: String, on node: SimulatedNode
    ) -> JSONValue? {
        node.ask("profile.of", ["member": .string("@" + person)])?[name]
    }

    @Test(arguments: Seeds.explore(2))
    func `cannot be written by anybody else`(seed: UInt64) throws {
        let scene = try HostileScene(seed: seed)
        defer { scene.world.end() }
        #expect(
            scene.bob.ask("profile.set", ["description": "Bob's own", "name": "Bob"]) != nil)
        scene.world.run(for: 3_000)
        let bob = try HostileMember(keysOf: scene.bob)
        let workspace = try HostileScene.workspace(of: scene.bob)
        let document = workspace.profileDocument
        var log = HostileLog(scene.mallory, incarnation: 77, document: document)
        // As Bob, over Bob's words; then as the attacker, over Bob's words; then nonsense.
        let place = ProfileRegisters.Place(
            member: workspace.member, subject: .field(.description))
        let core = try #require(scene.bob.host?.core)
        let word = try #require(workspace.people.registers.current(place))
        let reference = try #require(try core.turn.store.operations.operation(word.arrival))
            .reference
        let lie = ContentPayload.profileField(.init(.description, "a lie")).encoded
        log.write(plaintext: lie, at: scene.wall) {
            $0.grant = bob.grant
            $0.dependencies = [reference]
        }
        let peer = scene.peer()
        let link = peer.connect(to: scene.ada)
        link.push(log.run())
        scene.world.run(for: 3_000)
        var own = HostileLog(scene.mallory, incarnation: 78, document: document)
        own.write(plaintext: lie, at: scene.wall) { $0.dependencies = [reference] }
        own.write(plaintext: [0x82, 0x0c, 0xa1, 0x01, 0x18, 0x63], at: scene.wall + 1)
        own.write(
            plaintext: ContentPayload.profile(name: String(repeating: "\u{1b}", count: 9)).encoded,
            at: scene.wall + 2)
        link.push(own.run())
        scene.world.run(for: 10_000)
        #expect(link.isOpen)
        #expect(Self.field("description", of: "Mallory 0", on: scene.ada) == "a lie")
        for node in scene.honest {
            #expect(Self.field("description", of: "Bob", on: node) == "Bob's own")
        }
        try scene.expectHonestPeace()
        for node in scene.honest {
            #expect(Self.field("description", of: "Mallory 0", on: node) == "a lie")
            #expect(Self.field("description", of: "Bob", on: node) == "Bob's own")
        }
    }

    @Test func `cannot be deleted by anybody, not even the workspace's owner`() throws {
        let table = try `Private channels`.Table()
        try table.bob.ok("profile.set", ["description": "Bob's own"])
        table.bench.advance(2_000)
        let core = try #require(table.ada.host?.core)
        let workspace = try #require(try core.membership.selectedWorkspace())
        let bob = try #require(workspace.members.first { $0.member != workspace.member })
        let place = try #require(
            workspace.people.registers.places.first { $0.subject == .field(.description) })
        let word = try #require(workspace.people.registers.current(place))
        let target = try #require(try core.turn.store.operations.operation(word.arrival)).reference
        let isWritten = try core.messages.redact(
            [target], nil, in: workspace.profileDocument, isOwn: false, of: workspace)
        #expect(isWritten)
        table.bench.give(.tick, to: table.ada)
        table.bench.settle()
        table.bench.letPass(25 * 3_600 * 1_000)
        table.bench.advance(300_000)
        for node in [table.ada, table.bob, table.cleo] {
            let seen = try `A profile`.profile(of: "Bob", on: node)
            #expect(seen["description"] == "Bob's own")
        }
        #expect(bob.role == .member)
        #expect(try table.cleo.digest() == table.ada.digest())
    }

    @Test func `is read once, however much of it its owner takes back`() throws {
        let scene = try HostileScene(seed: 87)
        defer { scene.world.end() }
        let document = try HostileScene.workspace(of: scene.bob).profileDocument
        var log = HostileLog(scene.mallory, incarnation: 77, document: document)
        let count = 120
        for number in 0..<count {
            log.write(
                plaintext: ContentPayload.profileField(.init(.description, "\(number)")).encoded,
                at: scene.wall + UInt64(number))
        }
        let link = scene.peer().connect(to: scene.ada)
        link.push(log.run())
        scene.world.run(for: 3_000)
        let last = JSONValue.string("\(count - 1)")
        #expect(Self.field("description", of: "Mallory 0", on: scene.ada) == last)
        let core = try #require(scene.ada.host?.core)
        let before = core.turn.tally.profileReads
        let targets = log.operations[20...].map {
            OperationReference(
                device: log.name.device, incarnation: log.name.incarnation,
                sequence: $0.header.sequence, id: $0.id)
        }.sorted { $0.id < $1.id }
        link.push(
            `A member who deletes what he may not`.redaction(
                of: targets, by: scene, incarnation: 78, in: document
            ).run)
        scene.world.run(for: 3_000)
        #expect(link.isOpen)
        // Whatever is read for other reasons, it is not each word.
        #expect(core.turn.tally.profileReads - before <= 5)
        for node in scene.honest {
            #expect(Self.field("description", of: "Mallory 0", on: node) == "19")
        }
        try scene.expectHonestPeace()
    }
}
