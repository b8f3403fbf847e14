import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode
@testable import SyncProtocol

/// Ada and Bob with public channels and two private ones, and Mallory, who was admitted to one of
/// those as a guest, and whose keys the test holds since.
struct HostileGuestScene {
    let world: SimulatedWorld
    let ada: SimulatedNode
    let bob: SimulatedNode
    let home: SimulatedNode
    let mallory: HostileMember
    /// Where Mallory is a guest, where she is not and Ada is alone, and what is public.
    let board: DocumentID
    let vault: DocumentID
    let general: DocumentID

    init(seed: UInt64) throws {
        world = SimulatedWorld(seed: seed)
        (ada, bob) = try `Nodes that were away`.pair(in: world)
        for name in ["xylographboard", "xylographvault"] {
            _ = ada.ask(
                "channel.create", ["name": .string(name), "private": true, "history": "all"])
            _ = ada.ask("message.send", ["channel": .string(name), "text": .string("in \(name)")])
        }
        _ = ada.ask("channel.create", ["name": "xylographpublic", "topic": "xylographtopic"])
        _ = ada.ask("message.send", ["channel": "general", "text": "xylographmessage"])
        let people = try #require(ada.ask("member.list")?["items"]?.arrayValue)
        let other = try #require(people.first { $0["self"] != true }?["id"])
        _ = ada.ask("channel.add", ["channel": "xylographboard", "members": .array([other])])
        world.run(for: 5_000)
        let link = try #require(
            ada.ask(
                "invite.create", ["role": "guest", "channels": ["xylographboard"]])?["link"])
        home = world.addNode()
        try #require(Scenes.join(link.stringValue ?? "", by: home, named: "Mallory"))
        world.run(for: 5_000)
        let workspace = try HostileScene.workspace(of: ada)
        let named = workspace.channelIndex.all.filter(\.isPrivate)
        board = try #require(named.first { $0.name == "xylographboard" }?.id)
        vault = try #require(named.first { $0.name == "xylographvault" }?.id)
        general = try #require(workspace.book.defaultChannel)
        mallory = try HostileMember(guestKeysOf: home, in: board)
    }

    /// A peer with Mallory's keys that has opened the workspace, naming what it likes.
    ///
    /// - Parameter number: another one for each peer of a test.
    func link(
        to node: SimulatedNode, naming documents: [DocumentID]?, from number: Int = 3
    ) -> HostileLink {
        let link = HostilePeer(world, as: mallory, number: number).connect(to: node)
        name(documents, on: link)
        return link
    }

    func name(
        _ documents: [DocumentID]?, on link: HostileLink,
        root: SetDigest = SetDigest([UInt8](repeating: 7, count: 32))
    ) {
        guard let hash = link.identity?.handshakeHash else { return }
        link.send(
            .workspaceOpen(
                WorkspaceOpening(
                    workspace: 1, tag: mallory.tag(handshakeHash: hash),
                    root: root, agreedRoot: nil,
                    mine: .zero, documents: documents?.sorted())))
        world.run(for: 300)
    }

    /// Says the root that the node said, as somebody does who has all that it was told of.
    func agree(_ documents: [DocumentID], on link: HostileLink) throws {
        let roots = link.messages.compactMap { message in
            if case .workspaceOpen(let opening) = message { opening.root } else { nil }
        }
        name(documents, on: link, root: try #require(roots.last))
    }

    /// Asks for everything that a node holds, whatever may be known of it, and for digests.
    func askForAll(of node: SimulatedNode, on link: HostileLink) throws {
        let core = try #require(node.host?.core)
        let workspace = try HostileScene.workspace(of: node)
        let replica = CoreReplica(for: core.syncing, workspace: workspace)
        link.send(.workspaceDigest(1, buckets: [UInt8](repeating: 0, count: 4_096)), in: .bulk)
        link.send(
            .documentDigests(1, (0...255).map { BucketDigests(bucket: $0, documents: []) }),
            in: .bulk)
        var request: RequestNumber = 100
        for document in core.turn.store.operations.documents(ofWorkspace: workspace.number) {
            for tip in replica.tips(of: document) {
                request += 1
                link.send(
                    .pull(
                        1,
                        PullRequest(
                            request: request, items: [PullItem(target: tip, have: [])],
                            maxBytes: 100_000)))
                link.send(.forkProbe(1, tip))
            }
            link.send(.keyWant(KeyWant(workspace: 1, document: document, keys: [])))
            world.run(for: 200)
        }
        world.run(for: 2_000)
    }

    /// The documents of which anything was said on a link.
    static func told(on link: HostileLink) -> Set<DocumentID> {
        var documents: Set<DocumentID> = []
        for message in link.messages {
            switch message {
            case .tips(_, let tips, _): documents.formUnion(tips.map(\.log.document))
            case .documentDigests(_, let buckets):
                documents.formUnion(buckets.flatMap(\.documents).map(\.document))
            case .operations(_, _, let runs, _):
                documents.formUnion(
                    runs.filter { !$0.entries.isEmpty }.map(\.log.document))
            case .forkProbe(_, let tip): documents.insert(tip.log.document)
            case .keyWant(let want): documents.insert(want.document)
            case .payloadWant(let want): documents.insert(want.document)
            case .pull(_, let pull): documents.formUnion(pull.items.map(\.target.log.document))
            default: break
            }
        }
        return documents
    }

    /// The documents of which keys were given on a link.
    static func keyed(on link: HostileLink) -> Set<DocumentID> {
        Set(
            link.messages.compactMap { message in
                if case .keyHave(let have) = message { have.document } else { nil }
            })
    }

    /// What every guest is served.
    var common: Set<DocumentID> {
        let workspace = try? HostileScene.workspace(of: ada)
        return Set([workspace?.id, workspace?.mailboxDocument].compactMap { $0 })
    }
}

extension HostileMember {
    /// What a guest that came in the ordinary way holds.
    init(guestKeysOf node: SimulatedNode, in document: DocumentID) throws {
        let core = try #require(node.host?.core)
        let workspace = try #require(try core.membership.selectedWorkspace())
        let home = try #require(core.session.home)
        let known = try #require(workspace.sealed.documents[document])
        let id = try #require(known.keys.names.min())
        let key = try #require(known.keys[id])
        self.init(
            signing: home.signing, identity: try #require(core.links.localIdentity),
            psk: try #require(workspace.discovery.last).derived(Array("psk".utf8)),
            workspace: workspace.id,
            grant: try #require(
                workspace.judged.evaluator.contentGrant(
                    of: home.device, leastRole: .guest, as: workspace.member)),
            keyID: id, epochKey: key, channel: document)
        node.crash()
    }
}

struct `A hostile guest` {
    @Test func `pulls nothing but what it may, whatever it asks for`() throws {
        let scene = try HostileGuestScene(seed: 71)
        defer { scene.world.end() }
        var number = 3
        for node in [scene.ada, scene.bob] {
            for named in [nil, [], [scene.board]] as [[DocumentID]?] {
                number += 1
                let link = scene.link(to: node, naming: named, from: number)
                try scene.askForAll(of: node, on: link)
                let told = HostileGuestScene.told(on: link)
                #expect(told.isSubset(of: scene.common.union(named ?? [])))
                #expect(told.isSuperset(of: scene.common))
                #expect(told.contains(scene.board) == (named?.contains(scene.board) == true))
                // Keys go by who is in, and Mallory is in the one.
                #expect(HostileGuestScene.keyed(on: link) == [scene.board])
                link.close()
                scene.world.run(for: 500)
            }
        }
        #expect(scene.world.failures == [])
    }

    @Test func `cannot name public documents and other people's`() throws {
        let scene = try HostileGuestScene(seed: 72)
        defer { scene.world.end() }
        let workspace = try HostileScene.workspace(of: scene.ada)
        let named = [scene.board, scene.vault, scene.general, workspace.profileDocument]
        let link = scene.link(to: scene.ada, naming: named)
        try scene.askForAll(of: scene.ada, on: link)
        // Ada is in the vault and knows who was ever let in.
        #expect(HostileGuestScene.told(on: link) == scene.common.union([scene.board]))
        // Bob is not. Knowing the name is the right to what he passes on, sealed as it is; still
        // nothing of it is public.
        let other = scene.link(to: scene.bob, naming: named, from: 4)
        try scene.askForAll(of: scene.bob, on: other)
        #expect(
            HostileGuestScene.told(on: other)
                == scene.common.union([scene.board, scene.vault]))
        #expect(HostileGuestScene.keyed(on: other).isSubset(of: [scene.board]))
        #expect(link.isOpen && other.isOpen)
    }

    /// Bob came a moment ago, so he asks everybody for keys of what he knows nothing of.
    @Test func `is asked for no key of what it did not name or is not in`() throws {
        let scene = try HostileGuestScene(seed: 77)
        defer { scene.world.end() }
        for (number, named) in [[scene.board], [scene.board, scene.general]].enumerated() {
            let link = scene.link(to: scene.bob, naming: named, from: 3 + number)
            try scene.agree(named, on: link)
            scene.world.run(for: 10_000)
            let told = HostileGuestScene.told(on: link)
            #expect(told.isSubset(of: scene.common.union([scene.board])))
            #expect(link.isOpen)
            link.close()
            scene.world.run(for: 500)
        }
        // Whom she is a guest of asks another member, as before.
        let workspace = try HostileScene.workspace(of: scene.bob)
        #expect(workspace.sealed.documents[scene.vault] == nil)
        #expect(scene.world.failures == [])
    }

    @Test func `is told nothing while others write`() throws {
        let scene = try HostileGuestScene(seed: 73)
        defer { scene.world.end() }
        let links = [(scene.ada, 3), (scene.bob, 4)].map {
            scene.link(to: $0.0, naming: [scene.board], from: $0.1)
        }
        let before = links.map(\.messages.count)
        for channel in ["general", "xylographvault", "xylographpublic"] {
            _ = scene.ada.ask(
                "message.send", ["channel": .string(channel), "text": "xylographlive"])
        }
        scene.world.run(for: 120_000)
        for (link, count) in zip(links, before) {
            #expect(
                HostileGuestScene.told(on: link).isSubset(of: scene.common.union([scene.board])))
            #expect(link.messages.count >= count)
        }
        _ = scene.ada.ask(
            "message.send", ["channel": "xylographboard", "text": "for the guest"])
        scene.world.run(for: 2_000)
        #expect(HostileGuestScene.told(on: links[0]).contains(scene.board))
    }

    @Test func `writes where it is a guest, and nowhere else`() throws {
        let scene = try HostileGuestScene(seed: 74)
        defer { scene.world.end() }
        let link = scene.link(to: scene.bob, naming: [scene.board, scene.general])
        let wall = SimulatedWorld.epoch + scene.world.now
        var outside = HostileLog(scene.mallory, incarnation: 91, document: scene.general)
        outside.write("from outside", at: wall)
        link.push(outside.run())
        link.announce([outside.tip])
        scene.world.run(for: 10_000)
        let core = try #require(scene.bob.host?.core)
        let workspace = try HostileScene.workspace(of: scene.bob)
        #expect(core.turn.store.operations.branches(of: outside.name, in: workspace.number).isEmpty)
        var inside = HostileLog(scene.mallory, incarnation: 92)
        inside.write("from inside", at: wall + 1)
        link.push(inside.run())
        scene.world.run(for: 10_000)
        #expect(Scenes.texts(of: "xylographboard", on: scene.ada).contains("from inside"))
        #expect(!Scenes.texts(of: "general", on: scene.ada).contains("from outside"))
        #expect(link.isOpen)
    }

    /// What a member is made to store in spite of it counts for nobody.
    @Test func `is not heard in a public channel through somebody who passes it on`() throws {
        let scene = try HostileGuestScene(seed: 75)
        defer { scene.world.end() }
        let cleo = scene.world.addNode()
        let invite = try #require(Scenes.invite(by: scene.ada))
        try #require(Scenes.join(invite, by: cleo, named: "Cleo"))
        scene.world.run(for: 3_000)
        let accomplice = try HostileMember(keysOf: cleo)
        cleo.crash()
        var outside = HostileLog(scene.mallory, incarnation: 93, document: scene.general)
        outside.write("smuggled", at: SimulatedWorld.epoch + scene.world.now)
        let peer = HostilePeer(scene.world, as: accomplice, number: 5)
        _ = peer.connect(to: scene.bob)
        peer.offer([outside])
        scene.world.run(for: 60_000)
        for node in [scene.ada, scene.bob] {
            #expect(!Scenes.texts(of: "general", on: node).contains("smuggled"))
        }
        #expect(HostileScene.root(of: scene.ada) == HostileScene.root(of: scene.bob))
    }
}

struct `A word in a workspace` {
    private static let words = [
        "xylographvault", "xylographpublic", "xylographtopic", "xylographmessage",
    ]

    /// An honest guest's node, asked for everything that it can say, and its store and keys.
    @Test func `is nowhere in the home of a guest who was not let in there`() throws {
        let scene = try HostileGuestScene(seed: 76)
        defer { scene.world.end() }
        let home = scene.home
        home.start()
        scene.world.run(for: 300_000)
        #expect(Scenes.texts(of: "xylographboard", on: home) == ["in xylographboard"])
        let asked: [(String, JSONValue)] = [
            ("channel.list", ["scope": "all"]), ("dm.list", [:]),
            ("channel.find", ["text": "xylograph"]), ("member.list", [:]),
            ("events.wait", ["since": "all", "limit": 1_000]), ("node.status", [:]),
            ("node.doctor", [:]), ("sync.status", [:]), ("workspace.get", [:]),
            ("invite.list", [:]), ("read.status", [:]),
        ]
        var said = try #require(home.store).connection.serialized()
        for (method, arguments) in asked { said += home.ask(method, arguments)?.bytes ?? [] }
        let text = String(decoding: said, as: UTF8.self)
        for word in Self.words { #expect(!text.contains(word), "\(word)") }
        #expect(text.contains("xylographboard"), "the search finds what is there")
        let workspace = try HostileScene.workspace(of: home)
        #expect(workspace.secrets.keys.isEmpty)
        #expect(workspace.sealed.documents[scene.vault] == nil)
        let core = try #require(home.host?.core)
        for document in [scene.vault, scene.general, workspace.profileDocument] {
            let branches = core.turn.store.operations.branches(in: document, of: workspace.number)
            #expect(branches.isEmpty, "not even sealed")
        }
        let audit = try PrivateAudit(node: home).readable(from: scene.ada)
        #expect(audit == ["in xylographboard"])
        #expect(scene.world.failures == [])
    }
}
