import PeerNode
import WorkspaceModel

/// People who make backups, and go on from one: because their home is lost, or by mistake beside
/// it.
extension RandomLife {
    /// What has become of the home of which the backup was made.
    public enum Restoring: CaseIterable, Sendable {
        /// It is gone for good, with all that it had said since and nobody else has heard.
        case instead
        /// It runs on, and the restored one beside it.
        case beside
    }

    /// A backup, or the attempt to make one.
    struct Backup {
        let node: Int
        let call: UInt64
        let path: String
        let standing: HomeStanding
        /// The places in `sent` of what its node had been told is on disk, and is deleted.
        let said: Set<Int>
        let deleted: Set<Int>
        var isComplete = false
    }

    /// What a home must not forget: others have been told of it, and would wait for it endlessly.
    struct HomeStanding: Equatable {
        /// Those that it is in, by their places in `members`.
        let workspaces: [Int]
        /// Those into which it came a second time, since who had let it in counted no more.
        let voided: [Int]
        /// Whom it has removed, where it is a founder's.
        let removed: [Int: Set<Int>]
        /// Who is there and with which devices, where these change.
        let members: [[Int]]
        let owners: [Int: Int]
        /// The words are in no backup that was made before they were shown.
        let hasShownPhrase: Bool
    }

    /// Somebody makes a backup now and then, and a home is restored more rarely.
    func changeBackups() {
        switch backupGenerator.below(16) {
        case 0...2: makeBackup()
        case 3: restoreHome()
        default: break
        }
    }

    private func standing(of index: Int) -> HomeStanding {
        let isFounder = members.contains { $0.nodes.first == index }
        return HomeStanding(
            workspaces: members.indices.filter { members[$0].nodes.contains(index) },
            voided: members.indices.filter { voided[$0]?.contains(index) == true },
            removed: isFounder ? removed : [:], members: hasDevices ? members.map(\.nodes) : [],
            owners: owners, hasShownPhrase: phrases[index] != nil)
    }

    private func isAble(_ index: Int) -> Bool {
        lost[index] == nil && !isSettling(world.nodes[index])
            && !revocations.contains { $0.node == index }
            && !removals.contains { $0.node == index }
            && members.contains { $0.nodes.contains(index) }
    }

    // MARK: Making

    private func makeBackup() {
        let able = world.nodes.indices.filter(isAble)
        guard let index = able.randomElement(using: &backupGenerator) else { return }
        let folder = backupFolder ?? BackupFolder()
        backupFolder = folder
        let path = folder.newPath()
        let node = world.nodes[index]
        guard let call = node.call("backup.create", ["path": .string(path)]) else { return }
        let own = sent.indices.filter { sent[$0].author == index && sent[$0].isAcknowledged }
        backups.append(
            Backup(
                node: index, call: call, path: path, standing: standing(of: index),
                said: Set(own), deleted: Set(own.filter { node.value(sent[$0].deletion) != nil })))
    }

    /// Takes note of those that are complete, and forgets what came to nothing.
    func followBackups() {
        for place in backups.indices.reversed() where !backups[place].isComplete {
            let backup = backups[place]
            let node = world.nodes[backup.node]
            if node.value(backup.call) != nil {
                backups[place].isComplete = true
            } else if node.answers[backup.call] != nil || isLost(backup.call, on: node) {
                backups.remove(at: place)
            }
        }
    }

    // MARK: Restoring

    private func restoreHome() {
        let usable = backups.filter {
            $0.isComplete && isAble($0.node) && $0.standing == standing(of: $0.node)
        }
        guard let backup = usable.randomElement(using: &backupGenerator), let folder = backupFolder
        else { return }
        do {
            let home = try folder.restore(backup.path)
            if restoring == .beside {
                run(home, besideThatOf: backup)
            } else {
                goOn(on: home, of: backup)
            }
        } catch {
            world.fail("the backup of node \(backup.node) cannot be restored: \(error)")
        }
    }

    /// The old home is never seen again.
    private func goOn(on home: SimulatedNode.Snapshot, of backup: Backup) {
        let index = backup.node
        noteLoss(since: backup)
        world.nodes[index].crash(isSilent: backupGenerator.oneIn(2))
        world.nodes[index].putBack(to: home)
        restored.insert(index)
        sick[index] = nil
        // Of invites that were made since the backup it knows nothing.
        links.removeAll { $0.from == index }
    }

    /// Two homes of one device, on two machines.
    private func run(_ home: SimulatedNode.Snapshot, besideThatOf backup: Backup) {
        guard copies.count < 2, backup.standing.workspaces.count == members.count else { return }
        let original = world.nodes[backup.node]
        let copy = world.addNode(restoring: home, clockSkew: original.clockSkew).index
        // A backup from before others came in knows no address, and nobody knows that of the new machine.
        if let other = world.nodes.first(where: { $0.index != copy && $0.index != backup.node }) {
            world.nodes[copy].call("peer.add", ["address": .string(other.address)])
        }
        copies[copy] = person(of: backup.node)
        restored.insert(copy)
        for place in members.indices { members[place].nodes.append(copy) }
    }

    // MARK: What is lost

    /// What the home has said and deleted since the backup comes back if somebody shows it now.
    private func noteLoss(since backup: Backup) {
        let index = backup.node
        for place in sent.indices where sent[place].author != index {
            sent[place].keepers?.remove(index)
            sent[place].deletionKeepers?.remove(index)
        }
        for place in sent.indices where sent[place].author == index {
            guard sent[place].isAcknowledged else {
                // Nobody says it again: whether the old home did, its person does not know.
                sent[place].isRefused = true
                continue
            }
            if !backup.said.contains(place) {
                sent[place].keepers = keepers(of: sent[place], isDeletion: false)
                // Its time may be behind that of what was said since.
                sent[place].isRepeated = true
            }
            if sent[place].deletion != nil, !backup.deleted.contains(place) {
                sent[place].deletionKeepers = keepers(of: sent[place], isDeletion: true)
            }
        }
    }

    /// Other nodes that show a message, or show it as deleted.
    private func keepers(of message: Sent, isDeletion: Bool) -> Set<Int> {
        guard let id = world.nodes[message.author].value(message.call)?["id"] else { return [] }
        let question: JSONValue = ["workspace": .string(message.workspace), "ids": [id]]
        let others = world.nodes.filter { $0.index != message.author && $0.isRunning }
        let keepers = others.filter { node in
            guard let shown = node.ask("message.get", question, within: 5_000)?["items"]?[0]
            else { return false }
            guard isDeletion else { return shown["text"]?.stringValue != nil }
            return shown["deleted"]?.objectValue != nil
        }
        return Set(keepers.map(\.index))
    }

    /// Whether somebody still has what a lost home said, as far as that is sure.
    func isKept(by keepers: Set<Int>?) -> Bool {
        keepers?.contains { !hasBeenOut($0) && lost[$0] == nil } ?? true
    }

    /// Restored homes that do not say that they go on as new stores, and nodes that accuse a device
    /// of a fork, in words.
    public func misjudgedRestorations() -> [String] {
        func told(_ type: JSONValue, by node: SimulatedNode) -> [JSONValue] {
            let page = node.ask(
                "events.wait", ["since": "all", "types": .array([type]), "limit": 100])
            return page?["items"]?.arrayValue ?? []
        }
        var problems: [String] = []
        for node in world.nodes where lost[node.index] == nil {
            if !told("fork.found", by: node).isEmpty {
                problems.append("node \(node.index) accuses a device of a fork")
            }
            let reasons = told("store.restored", by: node).map { $0["data"]?["reason"] }
            if restored.contains(node.index), !reasons.contains("missing") {
                problems.append("node \(node.index) does not say that it was restored")
            }
        }
        return problems
    }

    /// How many homes go on from a backup.
    public var restoredCount: Int { restored.count }
}
