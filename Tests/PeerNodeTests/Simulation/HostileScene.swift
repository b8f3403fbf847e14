import CRDTStore
import SyncProtocol
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Ada and Bob, who are honest, and Mallory, who joined like everybody else, and whose keys the
/// test holds since.
struct HostileScene {
    let world: SimulatedWorld
    let ada: SimulatedNode
    let bob: SimulatedNode
    /// Mallory first, then others of the same kind.
    let hostile: [HostileMember]
    private let homes: [SimulatedNode]

    init(seed: UInt64, hostileCount: Int = 1) throws {
        world = SimulatedWorld(seed: seed)
        (ada, bob) = try `Nodes that were away`.pair(in: world)
        let invite = try #require(Scenes.invite(by: ada, uses: Int64(hostileCount)))
        var hostile: [HostileMember] = []
        var homes: [SimulatedNode] = []
        for number in 0..<hostileCount {
            let node = world.addNode()
            try #require(Scenes.join(invite, by: node, named: "Mallory \(number)"))
            world.run(for: 500)
            hostile.append(try HostileMember(keysOf: node))
            node.crash()
            homes.append(node)
        }
        self.hostile = hostile
        self.homes = homes
        try #require(ada.ask("message.send", ["channel": "general", "text": "from Ada"]) != nil)
        world.run(for: 200)
        try #require(bob.ask("message.send", ["channel": "general", "text": "from Bob"]) != nil)
        world.run(for: 1_000)
    }

    var mallory: HostileMember { hostile[0] }
    var honest: [SimulatedNode] { [ada, bob] }
    /// The wall clock, in milliseconds.
    var wall: UInt64 { SimulatedWorld.epoch + world.now }

    /// A peer of that number that acts as `member`, or as the hostile member of that number, or
    /// as Mallory when there are fewer.
    func peer(_ number: Int = 0, as member: HostileMember? = nil) -> HostilePeer {
        let own = number < hostile.count ? hostile[number] : mallory
        return HostilePeer(world, as: member ?? own, number: number)
    }

    /// Another honest member, whom both know.
    func addCleo() throws -> SimulatedNode {
        let cleo = world.addNode()
        let link = try #require(Scenes.invite(by: ada))
        try #require(Scenes.join(link, by: cleo, named: "Cleo"))
        world.run(for: 3_000)
        return cleo
    }

    // MARK: What is so in the end

    /// Lets honest nodes talk, and checks that they run, know the same, show the same messages,
    /// and that an honest message still comes through.
    ///
    /// - Parameters:
    ///   - shown: what Mallory's operations may show; everything else must be honest.
    ///   - nodes: who is honest, `nil` for Ada and Bob.
    func expectHonestPeace(
        showing shown: [String] = [], on nodes: [SimulatedNode]? = nil,
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        let nodes = nodes ?? honest
        try #require(
            ada.ask("message.send", ["channel": "general", "text": "still here"]) != nil,
            sourceLocation: location)
        let isEqual = world.run(within: 900_000, every: 100) {
            Set(nodes.map { Self.root(of: $0) }).count == 1
                && nodes.allSatisfy { $0.host?.core.links.network.links.isEmpty == false }
        }
        #expect(isEqual, "\(nodes.map(\.log))", sourceLocation: location)
        world.run(for: 1_000)
        let expected = (["from Ada", "from Bob", "still here"] + shown).sorted()
        for node in nodes {
            #expect(node.isRunning, sourceLocation: location)
            #expect(node.startCount == 1, sourceLocation: location)
            let texts = Scenes.texts(of: "general", on: node)
            #expect(texts.sorted() == expected, "node \(node.index)", sourceLocation: location)
            let own = texts.filter { !shown.contains($0) }
            #expect(own == ["from Ada", "from Bob", "still here"], sourceLocation: location)
        }
        #expect(world.failures == [], sourceLocation: location)
    }

    /// The selected workspace as a node holds it.
    static func workspace(of node: SimulatedNode) throws -> Workspace {
        let core = try #require(node.host?.core)
        return try #require(try core.membership.selectedWorkspace())
    }

    /// The digest of everything that a node keeps of its selected workspace.
    static func root(of node: SimulatedNode) -> SetDigest? {
        guard let core = node.host?.core, let workspace = try? core.membership.selectedWorkspace()
        else {
            return nil
        }
        return CoreReplica(for: core.syncing, workspace: workspace).root
    }

    /// Whether a line of the log begins with a word and says another.
    static func hasLogged(_ node: SimulatedNode, _ start: String, _ word: String = "") -> Bool {
        node.log.contains { $0.hasPrefix(start) && (word.isEmpty || $0.contains(word)) }
    }

    /// How often a fork was found.
    static func forkCount(of node: SimulatedNode) -> Int {
        node.log.filter { $0.hasPrefix("fork.found") }.count
    }
}

extension HostileMember {
    /// What a member that joined in the ordinary way holds.
    init(keysOf node: SimulatedNode) throws {
        let core = try #require(node.host?.core)
        let workspace = try #require(try core.membership.selectedWorkspace())
        let home = try #require(core.session.home)
        let current = try #require(workspace.currentKey)
        let channel = try #require(workspace.book.channels.values.first { $0.name == "general" })
        self.init(
            signing: home.signing, identity: try #require(core.links.localIdentity),
            psk: try #require(workspace.discovery.last).derived(Array("psk".utf8)),
            workspace: workspace.id,
            grant: try #require(
                workspace.judged.evaluator.contentGrant(
                    of: home.device, leastRole: .member, as: workspace.member)),
            keyID: current.id, epochKey: current.key, channel: channel.id)
    }
}
