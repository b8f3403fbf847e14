import CRDTStore
import SyncProtocol
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Payloads travel apart from the operations, under the same visibility rules.
struct `Payloads of what a guest may not see` {
    /// The content that a node stores of a document, as others cite it.
    private static func content(
        of document: DocumentID, on node: SimulatedNode
    ) throws -> [StoredOperation] {
        let core = try #require(node.host?.core)
        let workspace = try HostileScene.workspace(of: node)
        var found: [StoredOperation] = []
        try core.turn.store.operations.forEachOperation(in: document, of: workspace.number) {
            stored in
            if stored.entry.kind == OperationKind.content.rawValue { found.append(stored) }
        }
        return found
    }

    @Test func `are given to none, whatever it asks for`() throws {
        let scene = try HostileGuestScene(seed: 77)
        defer { scene.world.end() }
        for (number, node) in [scene.ada, scene.bob].enumerated() {
            let link = scene.link(to: node, naming: [scene.board], from: 3 + number)
            var asked: Set<DocumentID> = []
            for document in [scene.general, scene.vault, scene.board] {
                let wanted = try Self.content(of: document, on: node).map(\.reference)
                guard !wanted.isEmpty else { continue }
                asked.insert(document)
                link.send(
                    .payloadWant(
                        PayloadWant(
                            workspace: 1, document: document,
                            operations: wanted.sorted { $0.id < $1.id })))
            }
            scene.world.run(for: 2_000)
            #expect(asked.isSuperset(of: [scene.general, scene.board]))
            let given = link.messages.compactMap { message in
                if case .payloadHave(let have) = message { have.document } else { nil }
            }
            #expect(Set(given) == [scene.board])
            #expect(link.isOpen)
        }
    }

    @Test func `are asked of none, and taken from none`() throws {
        let scene = try HostileGuestScene(seed: 78)
        defer { scene.world.end() }
        let (world, bob) = (scene.world, scene.bob)
        world.network.part(scene.ada, bob)
        world.run(for: 200_000)
        let core = try #require(bob.host?.core)
        var missing: [StoredOperation] = []
        try core.turn.store.begin()
        for document in [scene.general, scene.board] {
            let stored = try #require(try Self.content(of: document, on: bob).last)
            try core.turn.store.operations.erasePayload(of: stored.place.arrival)
            try core.turn.store.operations.setMissing(true, stored.place.arrival)
            missing.append(stored)
        }
        try core.turn.store.commit()
        let link = scene.link(to: bob, naming: [scene.board])
        _ = bob.ask("node.check", ["repair": true])
        world.run(for: 5_000)
        let wanted = link.messages.compactMap { message in
            if case .payloadWant(let want) = message { want.document } else { nil }
        }
        #expect(Set(wanted) == [scene.board])
        for stored in missing {
            link.send(
                .payloadHave(
                    PayloadHave(
                        workspace: 1, document: stored.log.document, operation: stored.reference,
                        payload: stored.entry.payload)), in: .bulk)
        }
        world.run(for: 2_000)
        let store = try #require(bob.store)
        let left = try store.operations.missingPayloads(after: 0, limit: 9)
        #expect(left == [missing[0].place.arrival])
        #expect(link.isOpen)
    }
}

/// Deletions where a guest is a member.
struct `A deletion in a guest's channel` {
    @Test func `reaches the guest, and the guest's own reaches everybody`() throws {
        let table = try GuestTable()
        let (ada, bob, cleo, gita, bench) =
            (table.ada, table.bob, table.cleo, table.gita, table.bench)
        let ours = try bob.send("ours", to: "board")
        let theirs = try gita.send("theirs", to: "board")
        let other = try gita.send("other", to: "board")
        bench.advance(5_000)
        let payloads = try [bob.payload(of: ours), gita.payload(of: theirs)]
        try bob.delete(ours)
        try gita.delete(theirs)
        try ada.delete(other)
        bench.advance(5_000)
        #expect(try gita.deletionRefused(other, undo: true).kind == .forbidden)
        for node in [ada, bob, cleo, gita] {
            for payload in payloads { #expect(try !node.holds(payload), "\(node.name)") }
        }
        for node in [ada, bob, gita] {
            #expect(try node.shownTexts(in: "board") == ["first", "-", "-", "-"], "\(node.name)")
        }
        try ada.delete(other, undo: true)
        bench.advance(5_000)
        for node in [ada, bob, gita] {
            let texts = try node.shownTexts(in: "board")
            #expect(texts == ["first", "-", "-", "other"], "\(node.name)")
            #expect(try node.ok("node.check")["problem_count"] == 0, "\(node.name)")
        }
    }

    /// Nothing is ever agreed with a guest for good; what it misses it asks for all the same.
    @Test func `leaves no gap in what a guest may read`() throws {
        let table = try GuestTable()
        let (bob, gita, bench) = (table.bob, table.gita, table.bench)
        let message = try bob.send("to be read", to: "board")
        bench.advance(5_000)
        let payload = try bob.payload(of: message)
        let core = try #require(gita.host?.core)
        let key = try #require(message["id"]?.stringValue.flatMap(PublicID.messageKey))
        let arrival = try #require(try core.turn.store.view.message(key)).position.arrival
        try core.turn.store.begin()
        try core.turn.store.operations.erasePayload(of: arrival)
        try core.turn.store.operations.setMissing(true, arrival)
        try core.turn.store.commit()
        try gita.restart()
        bench.advance(60_000)
        #expect(try gita.payload(of: message) == payload)
        #expect(try table.board(on: gita) == ["first", "to be read"])
    }
}
