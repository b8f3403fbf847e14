import PeerNode
import WorkspaceModel

/// People and misfortune by chance: several nodes that found, invite, join and talk while links
/// break, nodes crash and clocks jump. Then everything heals.
///
/// Which sorts of misfortune there are is drawn for each seed, since some bugs need the absence of
/// others ("swarm testing", Groce et al., ISSTA 2012).
public final class RandomLife {
    /// What may go wrong.
    public enum Fault: CaseIterable, Sendable {
        case crash, crashAtCommit, cut, partition, oneWay, suspend, clockStep, clockYears, stall
        case slow, smallPieces
    }

    /// A message that somebody wanted to send.
    public struct Sent {
        /// Who wrote it, the place in `world.nodes`.
        public let author: Int
        /// `w_…`.
        public let workspace: String
        /// A name.
        public let channel: String
        /// Occurs in no other message.
        public let text: String
        fileprivate var call: UInt64?
        /// Whether the author was told that it is on disk.
        public fileprivate(set) var isAcknowledged = false
        fileprivate var isRefused = false
    }

    /// Where it happens.
    public let world: SimulatedWorld
    /// What may go wrong in this run.
    public let faults: [Fault]
    /// Everything that anybody tried to send, in the order of trying.
    public private(set) var sent: [Sent] = []
    /// The workspaces, `w_…`, and who should be in them in the end.
    public internal(set) var members: [(workspace: String, nodes: [Int])] = []

    /// Who was removed from each workspace, by its place in `members`: nodes that stay outside.
    public internal(set) var removed: [Int: Set<Int>] = [:]
    /// Who was in and is not, because whoever let him in was removed; likewise.
    public internal(set) var voided: [Int: Set<Int>] = [:]
    /// Whether the founders remove people in this run.
    public let hasRemovals: Bool

    var generator: SeededGenerator
    var removals: [(workspace: Int, node: Int, call: UInt64)] = []
    private var channels: [String: [String]] = [:]
    private var links: [(workspace: Int, link: String, from: Int)] = []
    private var joins: [(workspace: Int, node: Int, call: UInt64?)] = []
    private var invites: [(workspace: Int, node: Int, call: UInt64)] = []
    private var restarts: [Int: UInt64] = [:]
    private var isHealing = false

    /// A world of 2 to 5 nodes, and its faults.
    public init(seed: UInt64) {
        var generator = SeededGenerator(seed: seed &+ 0x5eed)
        faults = Fault.allCases.filter { _ in Bool.random(using: &generator) }
        hasRemovals = generator.oneIn(2)
        var options = SimulatedWorld.Options()
        options.announces = generator.oneIn(4)
        if faults.contains(.slow) { options.latency = 50...2_000 }
        if faults.contains(.smallPieces) { options.pieceByteCountMax = 64 }
        world = SimulatedWorld(seed: seed, options: options)
        for _ in 0..<2 + generator.below(4) {
            let skew = faults.contains(.clockStep) ? Int64(generator.below(240_000)) - 120_000 : 0
            world.addNode(clockSkew: skew)
        }
        self.generator = generator
    }

    // MARK: Work

    /// Does `steps` things by chance. After `heal` everybody is in, and quarrels have more to
    /// bite on.
    public func work(steps: Int) {
        isHealing = false
        if members.isEmpty {
            found(by: 0, named: "acme")
            if world.nodes.count > 2, generator.oneIn(2) { found(by: 1, named: "beta") }
        }
        for _ in 0..<steps {
            step()
            world.run(for: UInt64(generator.below(generator.oneIn(6) ? 20_000 : 800)))
            follow()
        }
    }

    private func found(by index: Int, named name: String) {
        let node = world.nodes[index]
        if node.ask("identity.show") == nil {
            _ = node.ask("identity.create", ["name": .string("Person \(index)")])
        }
        guard let made = node.ask("workspace.create", ["name": .string(name)]),
            let id = made["id"]?.stringValue
        else { return world.fail("node \(index) could not found a workspace") }
        members.append((id, [index]))
        channels[id] = ["general"]
        if hasRemovals {
            node.call(
                "policy.set", ["workspace": .string(id), "who_may_invite": "members"])
        }
        invite(members.count - 1, by: index)
    }

    private func invite(_ workspace: Int, by index: Int) {
        let call = world.nodes[index].call(
            "invite.create",
            [
                "workspace": .string(members[workspace].workspace), "uses": 20,
                "expires_ms": 31_536_000_000,
            ])
        if let call { invites.append((workspace, index, call)) }
    }

    private func step() {
        switch generator.below(24) {
        case 0..<11: sendSomething()
        case 21..<24: saySomethingAboutAMessage()
        case 11: createChannel()
        case 12, 13: joinSomething()
        case 14: changeChannel()
        case 15 where hasRemovals: removeSomebody()
        case 16 where hasRemovals:
            if let (workspace, index) = pickMember() { invite(workspace, by: index) }
        default: if let fault = faults.randomElement(using: &generator) { strike(fault) }
        }
    }

    private func pickMember() -> (workspace: Int, node: Int)? {
        guard let workspace = members.indices.randomElement(using: &generator),
            let node = members[workspace].nodes.randomElement(using: &generator)
        else { return nil }
        return (workspace, node)
    }

    private func sendSomething() {
        guard let (workspace, index) = pickMember() else { return }
        let id = members[workspace].workspace
        for _ in 0..<(generator.oneIn(5) ? 1 + generator.below(8) : 1) {
            let channel = channels[id]?.randomElement(using: &generator) ?? "general"
            var message = Sent(
                author: index, workspace: id, channel: channel, text: "n\(index)-\(sent.count)")
            message.call = call(for: message)
            sent.append(message)
        }
    }

    private func call(for message: Sent) -> UInt64? {
        world.nodes[message.author].call(
            "message.send",
            [
                "workspace": .string(message.workspace), "channel": .string(message.channel),
                "text": .string(message.text), "key": .string("k" + message.text),
            ])
    }

    /// Somebody edits, pins or reacts to what was sent, or takes that back.
    private func saySomethingAboutAMessage() {
        guard let (workspace, index) = pickMember() else { return }
        let id = members[workspace].workspace
        let known = sent.filter { $0.workspace == id && $0.isAcknowledged }
        guard let message = known.suffix(8).randomElement(using: &generator),
            let name = world.nodes[message.author].value(message.call)?["id"]
        else { return }
        var parameters: JSONObject = ["workspace": .string(id), "message": name]
        switch generator.below(6) {
        case 0: world.nodes[index].call("message.pin", .object(parameters))
        case 1: world.nodes[index].call("message.unpin", .object(parameters))
        case 2:
            parameters.append("text", .string("\(message.text)~\(generator.below(1_000))"))
            world.nodes[message.author].call("message.edit", .object(parameters))
        default:
            parameters.append("emoji", .string(["👍", "🎉", "👀"][generator.below(3)]))
            parameters.append("remove", .bool(generator.oneIn(3)))
            world.nodes[index].call("message.react", .object(parameters))
        }
    }

    private func createChannel() {
        guard let (workspace, index) = pickMember() else { return }
        let id = members[workspace].workspace
        let name = "topic-\(index)-\(sent.count)-\(channels[id]?.count ?? 0)"
        let call = world.nodes[index].call(
            "channel.create", ["workspace": .string(id), "name": .string(name)])
        if call != nil { channels[id, default: []].append(name) }
    }

    /// Somebody tries to change a channel, who may or may not.
    private func changeChannel() {
        guard let (workspace, index) = pickMember() else { return }
        let id = members[workspace].workspace
        guard let channel = channels[id]?.randomElement(using: &generator) else { return }
        var parameters: JSONObject = ["workspace": .string(id), "channel": .string(channel)]
        let other = members[workspace].nodes.randomElement(using: &generator) ?? index
        let method = ["edit", "transfer", "role", "archive", "unarchive"][generator.below(5)]
        switch method {
        case "edit": parameters.append("topic", .string("topic \(generator.below(1_000))"))
        case "transfer": parameters.append("member", .string("Person \(other)"))
        case "role":
            parameters.append("member", .string("Person \(other)"))
            parameters.append("role", generator.oneIn(2) ? "admin" : "member")
        default: break
        }
        world.nodes[index].call("channel." + method, .object(parameters))
    }

    private func joinSomething() {
        guard let (workspace, link, _) = links.randomElement(using: &generator) else { return }
        let outside = world.nodes.indices.filter { index in
            !members[workspace].nodes.contains(index) && !isRemoved(index, from: workspace)
                && !joins.contains { $0.node == index && $0.workspace == workspace }
        }
        guard let index = outside.randomElement(using: &generator) else { return }
        // Somebody else than who made the invite may open.
        let host = members[workspace].nodes.randomElement(using: &generator) ?? 0
        let isLed = hasRemovals && generator.oneIn(2)
        let led = InviteLink(link, leadingTo: world.nodes[host].address)
        join(workspace, isLed ? led?.text.link ?? link : link, by: index)
    }

    private func join(_ workspace: Int, _ link: String, by index: Int) {
        let call = world.nodes[index].call(
            "workspace.join",
            ["link": .string(link), "name": .string("Person \(index)"), "timeout_ms": 60_000])
        joins.append((workspace, index, call))
    }

    // MARK: Faults

    private func strike(_ fault: Fault) {
        guard let node = world.nodes.randomElement(using: &generator),
            let other = world.nodes.filter({ $0 !== node }).randomElement(using: &generator)
        else { return }
        let network = world.network
        switch fault {
        case .crash:
            node.crash(isSilent: generator.oneIn(3), losesGuard: generator.oneIn(2))
        case .crashAtCommit: node.commitsUntilCrash = 1 + generator.below(6)
        case .cut: network.open.randomElement(using: &generator)?.cut()
        case .partition: network.part(node, other, generator.oneIn(2))
        case .oneWay: network.block(node, other, generator.oneIn(2))
        case .suspend: node.call(generator.oneIn(2) ? "net.suspend" : "net.resume")
        case .clockStep: node.clockSkew += Int64(generator.below(1_200_000)) - 600_000
        case .clockYears:
            let years: Int64 = 10 * 365 * 86_400_000
            node.clockSkew = [years, 0, -years][generator.below(3)]
        case .stall: network.stall(node, generator.oneIn(2))
        case .slow, .smallPieces: break
        }
    }

    // MARK: Following up

    /// Starts what crashed, repeats what was not answered, takes answers in.
    private func follow() {
        for node in world.nodes where !node.isRunning {
            if restarts[node.index] == nil {
                restarts[node.index] = world.now + UInt64(generator.below(30_000))
            }
            guard isHealing || restarts[node.index] ?? 0 <= world.now else { continue }
            restarts[node.index] = nil
            node.start()
        }
        followSends()
        followRemovals()
        followInvites()
        followJoins()
    }

    private func followSends() {
        for index in sent.indices where !sent[index].isAcknowledged && !sent[index].isRefused {
            let node = world.nodes[sent[index].author]
            guard let call = sent[index].call, !isLost(call, on: node) else {
                sent[index].call = self.call(for: sent[index])
                continue
            }
            switch node.answers[call] {
            case .success?: sent[index].isAcknowledged = true
            case .failure(let error)? where error.kind == .busy: sent[index].call = nil
            case .failure?: sent[index].isRefused = true
            case nil: break
            }
        }
    }

    func isLost(_ call: UInt64, on node: SimulatedNode) -> Bool {
        node.answers[call] == nil && !node.openCalls.contains(call)
    }

    private func followInvites() {
        for (workspace, index, call) in invites {
            let node = world.nodes[index]
            if let link = node.value(call)?["link"]?.stringValue {
                links.append((workspace, link, index))
            } else if isLost(call, on: node), node.isRunning {
                invite(workspace, by: index)
            } else if node.answers[call] == nil {
                continue
            }
            invites.removeAll { $0.call == call && $0.node == index }
        }
    }

    private func followJoins() {
        for (workspace, index, call) in joins {
            let node = world.nodes[index]
            if node.value(call) != nil {
                members[workspace].nodes.append(index)
            } else if let call, !isLost(call, on: node), node.answers[call] == nil {
                continue
            }
            joins.removeAll { $0.workspace == workspace && $0.node == index }
        }
    }

    // MARK: Healing

    /// Mends everything, lets everybody in who is not, and waits until all agree.
    ///
    /// - Returns: whether they do, within `limit` virtual milliseconds.
    public func heal(within limit: UInt64 = 40 * 60_000) -> Bool {
        isHealing = true
        let end = world.now + limit
        world.network.heal()
        world.options.latency = 1...20
        for node in world.nodes {
            node.commitsUntilCrash = nil
            if faults.contains(.clockYears) { node.clockSkew = 0 }
        }
        follow()
        // Invites that were made ten years ago by the clock have ended.
        links = []
        for node in world.nodes { node.call("net.resume") }
        while world.now < end {
            world.run(for: 5_000)
            follow()
            if hasRemovals { followVoided() }
            for workspace in members.indices { letEverybodyIn(workspace) }
            if isSettled, world.run(within: 1_000, until: { false }) || isSettled { return true }
        }
        return false
    }

    private func letEverybodyIn(_ workspace: Int) {
        // Those of others may be worth nothing: their makers may have been removed.
        let founder = members[workspace].nodes[0]
        let link = links.first { $0.workspace == workspace && $0.from == founder }?.link
        guard let link else {
            if !invites.contains(where: { $0.workspace == workspace && $0.node == founder }) {
                invite(workspace, by: founder)
            }
            return
        }
        for index in world.nodes.indices
        where !members[workspace].nodes.contains(index) && !isRemoved(index, from: workspace)
            && !joins.contains(where: { $0.workspace == workspace && $0.node == index })
        {
            join(workspace, link, by: index)
        }
    }

    private var isSettled: Bool {
        guard joins.isEmpty, removals.isEmpty,
            sent.allSatisfy({ $0.isAcknowledged || $0.isRefused })
        else {
            return false
        }
        for (place, (workspace, nodes)) in members.enumerated() {
            let outside = removed[place]?.count ?? 0
            guard nodes.count + outside == world.nodes.count else { return false }
            let digests = nodes.map { digest(of: workspace, on: world.nodes[$0]) }
            guard digests.allSatisfy({ $0 != nil && $0 == digests[0] }) else { return false }
        }
        return true
    }

    /// The digest that a node shows for a workspace.
    public func digest(of workspace: String, on node: SimulatedNode) -> String? {
        node.ask("workspace.list")?["items"]?.arrayValue?
            .first { $0["id"]?.stringValue == workspace }?["digest"]?.stringValue
    }
}
