import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Copied and restored homes seal under their earlier keys, in the same logs.
struct `A key and its nonces` {
    /// What was sealed at one place of the store: under which key, with which nonce, by whom.
    private struct Use: Hashable {
        let document: DocumentID
        let key: [UInt8]
        let nonce: [UInt8]
    }

    /// Every use that a node has stored, by the operation.
    private func uses(on node: SimulatedNode) throws -> [OperationID: Use] {
        let core = try #require(node.host?.core)
        let operations = core.turn.store.operations
        var found: [OperationID: Use] = [:]
        for number in core.workspaces.keys {
            for document in operations.documents(ofWorkspace: number) {
                try operations.forEachOperation(in: document, of: number) {
                    (stored) throws(StorageError) in
                    let (entry, id) = (stored.entry, stored.place.link.id)
                    switch OperationKind(rawValue: entry.kind) {
                    case .content:
                        found[id] = Use(
                            document: document, key: entry.keyID?.bytes ?? [],
                            nonce: Array(entry.payload.prefix(24)))
                    case .privateAuthority:
                        guard let payload = try? PrivatePayload(decoding: entry.payload) else {
                            return
                        }
                        found[id] = Use(
                            document: document, key: entry.keyID?.bytes ?? [],
                            nonce: Array(payload.sealed.prefix(24)))
                    case .mailbox:
                        // The keys of boxes come from two devices and the operation's nonce.
                        guard let payload = try? MailboxPayload(decoding: entry.payload) else {
                            return
                        }
                        found[id] = Use(document: document, key: [], nonce: payload.nonce)
                    case .authority, .redact, nil: break
                    }
                }
            }
        }
        return found
    }

    @Test(arguments: Seeds.explore(2))
    func `meet once, whatever is copied, forked or put back`(seed: UInt64) throws {
        let world = SimulatedWorld(seed: seed)
        defer { world.end() }
        let nodes = try `Private documents in a network`.people(4, in: world)
        let author = nodes[1]
        func say(_ node: SimulatedNode, _ text: String) {
            _ = node.ask("message.send", ["channel": "board", "text": .string(text)])
            _ = node.ask("message.send", ["channel": "@N2", "text": .string(text)])
        }
        _ = author.ask("channel.create", ["name": "board", "private": true, "history": "all"])
        _ = author.ask("channel.add", ["channel": "board", "members": ["N2"]])
        say(author, "one")
        world.run(for: 20_000)
        let snapshot = author.snapshot()
        say(author, "two")
        _ = author.ask("channel.add", ["channel": "board", "members": ["N3"]])
        _ = author.ask("channel.remove", ["channel": "board", "members": ["N3"]])
        say(author, "three")
        world.run(for: 20_000)
        // A copy of the machine, and the machine as it was before: neither hears of the others.
        let copy = world.addCopy(of: author)
        for node in nodes where node !== copy { world.network.part(copy, node) }
        say(copy, "from the copy")
        _ = copy.ask("channel.add", ["channel": "board", "members": ["N3"]])
        for node in nodes where node !== author { world.network.part(author, node) }
        author.putBack(to: snapshot)
        author.start()
        // With nobody to ask it writes on after a while.
        world.run(for: 10_000)
        say(author, "two again")
        _ = author.ask("channel.add", ["channel": "board", "members": ["N3"]])
        _ = author.ask("channel.remove", ["channel": "board", "members": ["N3"]])
        say(author, "three again")
        world.network.heal()
        world.run(for: 400_000)
        for node in [author, copy, nodes[2]] { say(node, "in the end") }
        world.run(for: 100_000)
        var all: [OperationID: Use] = [:]
        for node in nodes + [copy] {
            all.merge(try uses(on: node)) { one, other in
                #expect(one == other)
                return one
            }
        }
        #expect(all.count > 20)
        #expect(Set(all.values).count == all.count)
        let texts = Scenes.texts(of: "board", on: nodes[2])
        for text in ["three", "three again"] {
            #expect(texts.contains(text), "\(text): not forked at all")
        }
    }
}
