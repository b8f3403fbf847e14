import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Honest nodes that talk, admit, promote and remove at random, and members who lie at random: they
/// fork their logs, backdate, write under grants that are not theirs or that ended, claim
/// authority, sign garbage in the middle of a segment, announce what they do not serve, and relay
/// each other's lies.
final class WorldOfLiars {
    let world: SimulatedWorld
    /// Ada, who founded; Bob and Cleo.
    let honest: [SimulatedNode]
    /// How often each kind of lie was told, for a test that they are told at all.
    private(set) var told: [String: Int] = [:]
    private(set) var removed = 0

    private var liars: [Liar] = []
    private var generator: SeededGenerator
    private var texts = 0
    /// Heads of the authority document that somebody knew at some time.
    private var memories: [[OperationReference]] = []

    private struct Liar {
        let name: String
        let member: HostileMember
        let identity: MemberID
        let peer: HostilePeer
        var links: [HostileLink] = []
        var logs: [HostileLog] = []
        var incarnation: UInt32
    }

    init(seed: UInt64) throws {
        let world = SimulatedWorld(seed: seed)
        let nodes = (0..<3).map { _ in world.addNode() }
        self.world = world
        generator = SeededGenerator(seed: seed &+ 0x11a5)
        honest = nodes
        guard let link = Scenes.found(world, by: nodes[0], uses: 10),
            Scenes.join(link, by: nodes[1], named: "Bob"),
            Scenes.join(link, by: nodes[2], named: "Cleo")
        else { throw Unfounded() }
        _ = nodes[0].ask("member.role", ["member": "Bob", "role": "admin"])
        for number in 0..<1 + generator.below(3) { try addLiar(number, by: link) }
        world.run(for: 2_000)
        remember()
    }

    private struct Unfounded: Error {}

    private func addLiar(_ number: Int, by link: String) throws {
        let home = world.addNode()
        let name = "Mallory \(number)"
        guard Scenes.join(link, by: home, named: name) else { throw Unfounded() }
        world.run(for: 500)
        if generator.oneIn(3) {
            _ = honest[0].ask("member.role", ["member": .string(name), "role": "admin"])
        }
        world.run(for: 1_000)
        let member = try HostileMember(keysOf: home)
        guard let identity = try home.host?.core.membership.selectedWorkspace()?.member else {
            throw Unfounded()
        }
        home.crash()
        let peer = HostilePeer(world, as: member, number: number)
        liars.append(
            Liar(
                name: name, member: member, identity: identity, peer: peer,
                incarnation: UInt32(1_000 * (number + 1))))
    }

    // MARK: Chance

    /// Does `steps` things by chance.
    func work(steps: Int) {
        for _ in 0..<steps {
            switch generator.below(10) {
            case 0, 1: say(by: honest.randomElement(using: &generator))
            case 2: govern()
            case 3: disturb()
            default: lie()
            }
            world.run(for: UInt64(generator.below(generator.oneIn(5) ? 8_000 : 400)))
            remember()
        }
    }

    /// Mends the network and waits until the honest nodes hold the same.
    func heal() -> Bool {
        for node in honest {
            for other in honest where other !== node { world.network.part(node, other, false) }
        }
        say(by: honest[0])
        return world.run(within: 900_000, every: 100) {
            let roots = Set(honest.map { HostileScene.root(of: $0) })
            return roots.count == 1 && !roots.contains(nil)
        }
    }

    private func nextText(_ word: String) -> String {
        texts += 1
        return "\(word) \(texts)"
    }

    private func say(by node: SimulatedNode?) {
        _ = node?.ask(
            "message.send", ["channel": "general", "text": .string(nextText("honest"))])
    }

    private func govern() {
        guard let liar = liars.randomElement(using: &generator) else { return }
        let admin = honest[generator.below(2)]
        switch generator.below(5) {
        case 0:
            let answer = admin.ask("member.remove", ["member": .string(liar.name), "force": true])
            if answer != nil { removed += 1 }
        case 1:
            let role = generator.oneIn(2) ? "admin" : "member"
            _ = admin.ask("member.role", ["member": .string(liar.name), "role": .string(role)])
        case 2:
            _ = honest[2].ask("channel.create", ["name": .string("topic-\(texts)")])
        default:
            say(by: honest[2])
        }
    }

    private func disturb() {
        let pair = honest.shuffled(using: &generator)
        world.network.part(pair[0], pair[1], generator.oneIn(2))
    }

    /// What some honest node knows now, for lies that date back to it.
    private func remember() {
        guard let node = honest.randomElement(using: &generator),
            let workspace = try? HostileScene.workspace(of: node)
        else { return }
        memories.append(
            workspace.judged.evaluator.heads.compactMap { id in
                workspace.authority[id].map { record in
                    OperationReference(
                        device: record.log.device, incarnation: record.log.incarnation,
                        sequence: record.sequence, id: id)
                }
            })
    }

    // MARK: Lies

    private func lie() {
        guard let index = liars.indices.randomElement(using: &generator) else { return }
        dial(index)
        switch generator.below(8) {
        case 0, 1: write(index, "plain", back: 0)
        case 2: write(index, "back-dated", back: 40_000_000)
        case 3: fork(index)
        case 4: writeUnderForeignGrant(index)
        case 5: signGarbage(index)
        case 6: withhold(index)
        default: claimAuthority(index)
        }
    }

    private func note(_ kind: String) { told[kind, default: 0] += 1 }

    private func dial(_ index: Int) {
        liars[index].links.removeAll { !$0.isOpen }
        guard liars[index].links.count < 2, let node = honest.randomElement(using: &generator)
        else { return }
        liars[index].links.append(liars[index].peer.connect(to: node))
    }

    private func newLog(_ index: Int, document: DocumentID? = nil) -> HostileLog {
        liars[index].incarnation += 1
        return HostileLog(
            liars[index].member, incarnation: liars[index].incarnation, document: document)
    }

    private func moment(back: UInt64) -> UInt64 { SimulatedWorld.epoch + world.now - back }

    /// Pushes a log over one link, or offers it on all links of somebody, who may be another liar.
    private func spread(_ log: HostileLog, by index: Int) {
        let bringer = generator.oneIn(3) ? generator.below(liars.count) : index
        if bringer == index, generator.oneIn(2),
            let link = liars[index].links.randomElement(using: &generator)
        {
            link.push(log.run())
        } else {
            liars[bringer].peer.offer([log])
        }
    }

    private func write(_ index: Int, _ kind: String, back: UInt64) {
        note(kind)
        var log = newLog(index)
        if back == 0, generator.oneIn(2), let known = liars[index].logs.last { log = known }
        let start = log.operations.last?.header.timestamp.milliseconds ?? 0
        for step in 0..<1 + UInt64(generator.below(3)) {
            log.write(nextText(kind), at: max(moment(back: back), start + 1) + step)
        }
        liars[index].logs.append(log)
        spread(log, by: index)
    }

    private func fork(_ index: Int) {
        guard let log = liars[index].logs.randomElement(using: &generator) else {
            return write(index, "plain", back: 0)
        }
        note("forked")
        var branch = log.cut(to: generator.below(log.operations.count))
        let start = branch.operations.last?.header.timestamp.milliseconds ?? 0
        branch.write(nextText("forked"), at: max(moment(back: 0), start + 1))
        liars[index].logs.append(branch)
        spread(branch, by: index)
    }

    private func writeUnderForeignGrant(_ index: Int) {
        note("foreign grant")
        guard let node = honest.randomElement(using: &generator),
            let workspace = try? HostileScene.workspace(of: node),
            let grant = workspace.judged.evaluator.members.map(\.grant).sorted()
                .randomElement(using: &generator)
        else { return }
        var log = newLog(index)
        log.write(nextText("foreign grant"), at: moment(back: 0)) { $0.grant = grant }
        spread(log, by: index)
    }

    /// Operations that a later one of the same segment vouches for need no good signature of
    /// their own; the last one does.
    private func signGarbage(_ index: Int) {
        note("garbage")
        var log = newLog(index)
        for step in 0..<UInt64(4) { log.write(nextText("garbage"), at: moment(back: 0) + step) }
        var entries = log.run().entries
        let bad = generator.below(entries.count)
        let old = entries[bad]
        entries[bad] = OperationRun.Entry(
            kind: old.kind, timestamp: old.timestamp, grant: old.grant, keyID: old.keyID,
            dependencies: old.dependencies, payload: old.payload,
            signature: Signature(generator.bytes(64)))
        let run = OperationRun(log: log.name, firstSequence: 0, previous: nil, entries: entries)
        liars[index].links.randomElement(using: &generator)?.push(run)
    }

    private func withhold(_ index: Int) {
        note("withheld")
        var log = newLog(index)
        log.write(nextText("withheld"), at: moment(back: 0))
        liars[index].links.randomElement(using: &generator)?.announce([log.tip])
    }

    /// Says something about who may do what, as of now or as of some earlier knowledge.
    private func claimAuthority(_ index: Int) {
        note("authority")
        let liar = liars[index]
        guard let known = memories.randomElement(using: &generator),
            let workspace = try? HostileScene.workspace(of: honest[0])
        else { return }
        let people = workspace.judged.evaluator.members.map(\.member).sorted()
        let others = liars.map(\.identity).filter { $0 != liar.identity }
        guard let anybody = people.randomElement(using: &generator) else { return }
        let payload: AuthorityPayload =
            switch generator.below(6) {
            case 0: .grant(grant(to: liar.identity, of: liar.member.device, .admin))
            case 1: .grant(grant(to: liar.identity, of: liar.member.device, .owner))
            case 2:
                // An admin among liars may remove, and does; honest people are left alone so that
                // somebody is there to compare.
                .remove(removal(of: others.randomElement(using: &generator) ?? liar.identity))
            case 3: .leave(cuts: [])
            case 4: .createDocument(type: 1, nonce: generator.bytes(16))
            default: .grant(grant(to: anybody, of: liar.member.device, .member))
            }
        var log = newLog(index, document: liar.member.workspace)
        log.write(payload, knowing: known, under: liar.member.grant, at: moment(back: 0))
        spread(log, by: index)
    }

    private func grant(
        to member: MemberID, of device: DeviceID, _ role: Role
    ) -> AuthorityPayload.Grant {
        .init(
            member: member, devices: [device], role: role, replaces: generator.oneIn(2),
            drops: nil, cuts: [])
    }

    private func removal(of member: MemberID) -> AuthorityPayload.Remove {
        .init(
            member: member, cuts: [], rekey: nil, revokedInvites: [], cutPartCount: 0,
            cutPartHash: [])
    }
}
