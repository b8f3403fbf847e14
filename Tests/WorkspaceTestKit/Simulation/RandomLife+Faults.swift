import CRDTStore
import PeerNode
import WorkspaceModel

/// The faults.
extension RandomLife {
    func strike(_ fault: Fault) {
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
        case .disk: breakDisk(of: node)
        case .putBack where lost[node.index] == nil: putBack(node)
        case .putBack: break
        }
    }

    /// One write fails, and somebody starts the node again within two minutes.
    private func breakDisk(of node: SimulatedNode) {
        let kind: StorageError.Kind = [.full, .ioFailure, .corrupt, .busy][generator.below(4)]
        let number = generator.below(generator.oneIn(2) ? 4 : 40)
        let place: CRDTStore.Fault.Place = [
            .write(number), .commitBefore(number / 4), .commitAfter(number / 4),
        ][generator.below(3)]
        node.plant(place, kind, losesTransaction: generator.oneIn(2))
        sick[node.index] = world.now + UInt64(generator.below(120_000))
    }

    // MARK: Machines that are put back

    /// Who is in and out as far as a node knows: a machine that forgets that is another story.
    struct Standing: Equatable {
        let members: [[Int]]
        let removed: [Int: Set<Int>]
        let privates: [Set<Int>]
    }

    private var standing: Standing {
        Standing(
            members: members.map(\.nodes), removed: removed,
            privates: privateChannels.map(\.nodes))
    }

    func isSettling(_ node: SimulatedNode) -> Bool {
        joins.contains { $0.node == node.index }
            || removals.contains { members[$0.workspace].nodes.first == node.index }
            || linkings.contains { $0.owner == node.index || $0.node == node.index }
            || revocations.contains { $0.revoker == node.index }
    }

    /// Puts a machine back to where it was when this struck it last, or remembers how it is.
    private func putBack(_ node: SimulatedNode) {
        guard !isSettling(node) else { return }
        guard let kept = snapshots.removeValue(forKey: node.index), kept.standing == standing else {
            snapshots[node.index] = (standing, node.snapshot())
            return
        }
        node.putBack(to: kept.machine)
        for place in sent.indices where sent[place].author == node.index {
            sent[place].isPutBack = true
        }
    }
}
