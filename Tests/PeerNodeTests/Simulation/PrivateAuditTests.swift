import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Who could read what at the end, checked with every key that a node ever held.
struct PrivateAudit {
    let node: SimulatedNode

    private var workspace: Workspace? { node.host?.core.workspaces.values.first }

    /// Every secret that the node has ever stored or could derive: its store forgets none.
    private var everyKey: [SymmetricKey] {
        guard let workspace else { return [] }
        var keys = workspace.secrets.keys.opened + workspace.discovery
        for document in workspace.sealed.documents.values {
            keys += document.keys.opened
            keys += document.authorityKeys.names.flatMap { name in
                document.authorityKeys.keys(of: name).map(\.key)
            }
        }
        return keys
    }

    /// The texts of all messages in private documents that open under any of the keys, whatever
    /// their headers name. Messages come from a node that holds all operations.
    func readable(from other: SimulatedNode) throws -> Set<String> {
        guard let core = other.host?.core, let theirs = core.workspaces.values.first else {
            return []
        }
        var found: Set<String> = []
        for id in core.turn.store.operations.documents(ofWorkspace: theirs.number)
        where core.turn.store.operations.document(id, in: theirs.number)?.kind == .privateDocument {
            let keys = everyKey.flatMap { [$0, $0.documentKey(for: id)] }
            try core.turn.store.operations.forEachOperation(in: id, of: theirs.number) {
                (stored) throws(StorageError) in
                guard stored.entry.kind == OperationKind.content.rawValue else { return }
                let header = try core.keys.header(of: stored)
                for key in keys {
                    guard
                        let plain = SealedPayload.open(
                            stored.entry.payload, under: key,
                            associatedData: header.associatedData),
                        case .message(let message)? = try? ContentPayload(decoding: plain)
                    else { continue }
                    found.insert(message.text)
                }
            }
        }
        return found
    }
}

struct `Nobody else reads a private document` {
    /// People come, go and are removed, on all sides of a partitioned network, and nobody who was
    /// out comes back. People whom a message's author knew to be out, and people who were never in,
    /// cannot read it with any key that they ever held; all who are in read the same. (E02)
    @Test(arguments: Seeds.explore(3))
    func `no matter who is added, leaves and is removed, and when`(seed: UInt64) throws {
        let world = SimulatedWorld(seed: seed)
        defer { world.end() }
        let random = SeededRandom(seed: seed &+ 77)
        let nodes = try `Private documents in a network`.people(6, in: world)
        let history = seed.isMultiple(of: 2) ? "all" : "from-join"
        _ = try #require(
            nodes[1].ask(
                "channel.create",
                ["name": "board", "private": true, "history": .string(history)]))
        _ = try #require(
            nodes[1].ask("channel.add", ["channel": "board", "members": ["N2", "N3"]]))
        world.run(for: 30_000)
        _ = nodes[1].ask("channel.role", ["channel": "board", "member": "N2", "role": "admin"])
        world.run(for: 30_000)
        var gone: Set<Int> = []
        var everIn: Set<String> = ["N1", "N2", "N3"]
        var outsiders: [String: Set<String>] = [:]
        for step in 0..<40 {
            let number = Int(random.number(below: 6))
            let node = nodes[number]
            switch random.number(below: 10) {
            case 0: world.network.part(node, nodes[Int(random.number(below: 6))])
            case 1: world.network.heal()
            case 2:
                node.crash()
                node.start()
            case 3:
                let target = 2 + Int(random.number(below: 4))
                guard !gone.contains(target) else { continue }
                let added = node.ask(
                    "channel.add", ["channel": "board", "members": [.string("N\(target)")]])
                if added != nil { everIn.insert("N\(target)") }
            case 4 where random.number(below: 2) == 0:
                let target = 2 + Int(random.number(below: 4))
                let removed = node.ask(
                    "channel.remove", ["channel": "board", "members": [.string("N\(target)")]])
                if removed != nil { gone.insert(target) }
            case 5 where random.number(below: 3) == 0 && number > 1:
                if node.ask("channel.leave", ["channel": "board"])?["joined"] == false {
                    gone.insert(number)
                }
            default:
                let text = "m\(step)"
                guard node.ask("message.send", ["channel": "board", "text": .string(text)]) != nil
                else { continue }
                outsiders[text] = Self.knownOut(on: node)
            }
            world.run(for: random.number(below: 20_000))
        }
        world.network.heal()
        world.run(for: 1_200_000)
        try audit(nodes, outsiders, everIn, isAll: history == "all", "seed \(seed)")
        #expect(world.failures == [])
    }

    /// Who was in and is out, as far as one node knows.
    private static func knownOut(on node: SimulatedNode) -> Set<String> {
        guard let workspace = node.host?.core.workspaces.values.first else { return [] }
        var names: Set<String> = []
        for document in workspace.sealed.documents.values {
            let out = workspace.members.map(\.member).filter {
                !document.authority.ends(of: $0).isEmpty
            }
            names.formUnion(out.map(workspace.displayName))
        }
        return names
    }

    private func audit(
        _ nodes: [SimulatedNode], _ outsiders: [String: Set<String>], _ everIn: Set<String>,
        isAll: Bool, _ note: Comment
    ) throws {
        #expect(!outsiders.isEmpty, note)
        let owner = nodes[1]
        let inside = Set(
            (owner.ask("channel.members", ["channel": "board"])?["items"]?.arrayValue ?? [])
                .compactMap { $0["name"]?.stringValue })
        var seen: [Set<String>] = []
        for (number, node) in nodes.enumerated() {
            let name = number == 0 ? "Founder 0" : "N\(number)"
            let readable = try PrivateAudit(node: node).readable(from: owner)
            for (text, out) in outsiders.sorted(by: { $0.key < $1.key })
            where out.contains(name) || !everIn.contains(name) {
                #expect(!readable.contains(text), "\(note): \(name) reads \(text)")
            }
            guard inside.contains(name) else { continue }
            let shown = Set(
                Scenes.messages(of: "board", on: node).filter { $0["state"] != "refused" }
                    .compactMap { $0["text"]?.stringValue })
            #expect(shown.isSubset(of: readable), note)
            seen.append(shown)
        }
        if isAll { #expect(Set(seen).count == 1, note) }
        #expect(Set(nodes.compactMap { Scenes.digest(of: $0) }).count == 1, note)
    }
}
