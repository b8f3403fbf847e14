import PeerNode
import WorkspaceModel

/// People and faults at random: several nodes that found, invite, join and talk while links break,
/// nodes crash and clocks step. Then everything is repaired.
///
/// The kinds of faults are drawn for each seed, since some bugs need the absence of others ("swarm
/// testing", Groce et al., ISSTA 2012).
public final class RandomLife {
    /// What may go wrong.
    public enum Fault: CaseIterable, Sendable {
        case crash, crashAtCommit, cut, partition, oneWay, suspend, clockStep, clockYears, stall
        case slow, smallPieces, disk, putBack
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
        var call: UInt64?
        /// Whether the author was told that it is on disk.
        public internal(set) var isAcknowledged = false
        var isRefused = false
        /// Whether it was tried again after a failure, and so may stand behind what came later.
        var isRepeated = false
        /// The author's attempt to delete it, if there was one.
        var deletion: UInt64?
        /// Whether the author's machine was put back to an earlier moment since.
        var isPutBack = false
        /// Who showed it when its author's home was lost, and the backup did not have it; `nil` where the
        /// author has had it all the time.
        var keepers: Set<Int>?
        /// Who showed it as deleted then; likewise.
        var deletionKeepers: Set<Int>?

        func isDeleted(on node: SimulatedNode) -> Bool {
            node.value(deletion) != nil && !isPutBack
        }
    }

    /// A private channel that a founder has made, and whom the founder added: their first nodes.
    struct PrivateChannel {
        let workspace: Int
        let name: String
        var nodes: Set<Int>
    }

    /// Where it happens.
    public let world: SimulatedWorld
    /// What may go wrong in this run.
    public let faults: [Fault]
    /// Everything that anybody tried to send, in the order of trying.
    public internal(set) var sent: [Sent] = []
    /// The workspaces, `w_…`, and who should be in them in the end.
    public internal(set) var members: [(workspace: String, nodes: [Int])] = []

    /// Who was removed from each workspace, by its place in `members`: nodes that stay outside.
    public internal(set) var removed: [Int: Set<Int>] = [:]
    /// People who were in and are not, because their admitter was removed; likewise.
    public internal(set) var voided: [Int: Set<Int>] = [:]
    /// Whether the founders remove people in this run.
    public let hasRemovals: Bool
    /// Whether people link further devices and revoke them, in lives in which nobody is removed.
    public let hasDevices: Bool
    /// Whether homes are restored from backups, and what has become of the old ones then.
    public let restoring: Restoring?
    /// Whether words may be cut off here that their author was told are on disk.
    var cutsWords: Bool { hasRemovals || hasDevices }

    var generator: SeededGenerator
    /// Of their own: what other lives draw stays as it was.
    var deviceGenerator: SeededGenerator
    /// Further devices that are linked, and the first node of whose they are.
    var owners: [Int: Int] = [:]
    var linkings: [Linking] = []
    var revocations: [Revocation] = []
    /// People's words, by their first nodes.
    var phrases: [Int: JSONValue] = [:]
    /// Further nodes in which somebody came back by the words.
    var recovered: Set<Int> = []
    /// The ids of first nodes that never run again, whose people have come back elsewhere.
    var lost: [Int: JSONValue] = [:]
    var removals: [(workspace: Int, node: Int, call: UInt64)] = []
    var channels: [String: [String]] = [:]
    var links: [(workspace: Int, link: String, from: Int)] = []
    var joins: [(workspace: Int, node: Int, call: UInt64?)] = []
    var invites: [(workspace: Int, node: Int, call: UInt64)] = []
    var restarts: [Int: UInt64] = [:]
    var isHealing = false
    var privateChannels: [PrivateChannel] = []
    var snapshots: [Int: (standing: Standing, machine: SimulatedNode.Snapshot)] = [:]
    /// Nodes whose disk has failed, and when somebody starts them again.
    var sick: [Int: UInt64] = [:]
    /// Of their own too.
    var backupGenerator: SeededGenerator
    var backupFolder: BackupFolder?
    var backups: [Backup] = []
    /// Homes that were restored beside the one of the backup, and the first node of whose they are.
    var copies: [Int: Int] = [:]
    /// Nodes that go on from a backup.
    var restored: Set<Int> = []

    /// A world of 2 to 5 nodes, and its faults.
    ///
    /// - Parameters:
    ///   - allowed: what may be drawn of them, to find the smallest case.
    ///   - judgements: private documents of which a node keeps in memory who may do what; `nil` for as
    ///     many as nodes outside of tests do.
    ///   - restoring: which homes are restored from backups; no machine is put back then, since only
    ///     that makes forks, and nobody removed or linked where copies run beside the old homes.
    public init(
        seed: UInt64, of allowed: [Fault] = Fault.allCases,
        keeping judgements: Int? = nil, restoring: Restoring? = nil
    ) {
        var generator = SeededGenerator(seed: seed &+ 0x5eed)
        let drawn = Fault.allCases.filter { _ in Bool.random(using: &generator) }
        faults = drawn.filter { allowed.contains($0) && (restoring == nil || $0 != .putBack) }
        hasRemovals = generator.oneIn(2) && restoring != .beside
        var devices = SeededGenerator(seed: seed &+ 0xde51ce)
        let linksDevices = devices.oneIn(2)
        hasDevices = linksDevices && !hasRemovals && restoring != .beside
        deviceGenerator = devices
        self.restoring = restoring
        backupGenerator = SeededGenerator(seed: seed &+ 0xbac0)
        var options = SimulatedWorld.Options()
        options.announces = generator.oneIn(4)
        options.expectsErrors = faults.contains(.disk)
        if let judgements { options.privateJudgementsMax = judgements }
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
            if hasDevices { changeDevices() }
            if restoring != nil { changeBackups() }
            world.run(for: UInt64(generator.below(generator.oneIn(6) ? 20_000 : 800)))
            follow()
        }
    }

    private func step() {
        switch generator.below(28) {
        case 0..<11: sendSomething()
        case 21..<24: saySomethingAboutAMessage()
        case 11: createChannel()
        case 12, 13: joinSomething()
        case 14: changeChannel()
        case 15 where hasRemovals: removeSomebody()
        case 16 where hasRemovals:
            if let (workspace, index) = pickMember() { invite(workspace, by: index) }
        case 24: deleteSomething()
        case 25: changePrivateChannel()
        case 26, 27: sendPrivately()
        default: if let fault = faults.randomElement(using: &generator) { strike(fault) }
        }
    }

    func pickMember() -> (workspace: Int, node: Int)? {
        guard let workspace = members.indices.randomElement(using: &generator),
            let node = members[workspace].nodes.randomElement(using: &generator)
        else { return nil }
        return (workspace, node)
    }

    /// Starts what crashed, repeats what was not answered, takes answers in.
    func follow() {
        for (index, due) in sick.sorted(by: { $0.key < $1.key }) where isHealing || due <= world.now
        {
            sick[index] = nil
            world.nodes[index].crash()
        }
        for node in world.nodes where !node.isRunning && lost[node.index] == nil {
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
        followDevices()
        followBackups()
    }

    func isLost(_ call: UInt64, on node: SimulatedNode) -> Bool {
        node.answers[call] == nil && !node.openCalls.contains(call)
    }
}
