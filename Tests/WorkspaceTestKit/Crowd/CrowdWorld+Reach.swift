import SyncProtocol
import WorkspaceModel

/// The reach of nodes, announced (96) and handled as `NodeCore` does (`Reaching.swift`), since the
/// sessions take it only as an input: without it all would announce each message to all.
extension CrowdWorld {
    // MARK: Telling

    /// Says whom a node reaches, before it pushes something; only what has changed.
    func tellReach(of index: Int) {
        let reached = reached(by: index)
        for number in nodes[index].links {
            guard let end = ends[number], end.session.isReached else { continue }
            let others = reached.subtracting([nodes[end.peer].name])
            tell(come: others.subtracting(end.told), gone: [], by: end, number)
        }
        takeReachBack(of: index, reached)
    }

    /// Takes back whom nodes do not reach any more.
    func takeReachBack() {
        for index in lostReach.sorted() { takeReachBack(of: index, reached(by: index)) }
        lostReach = []
    }

    private func takeReachBack(of index: Int, _ reached: Set<DeviceName>) {
        for number in nodes[index].links {
            guard let end = ends[number], !end.told.isSubset(of: reached) else { continue }
            tell(come: [], gone: end.told.subtracting(reached), by: end, number)
        }
    }

    private func tell(
        come: Set<DeviceName>, gone: Set<DeviceName>, by end: End, _ number: Int
    ) {
        let come = Set(come.sorted().prefix(Limits.reachNamesMax - end.told.count))
        guard !come.isEmpty || !gone.isEmpty else { return }
        end.told = end.told.union(come).subtracting(gone)
        let word = ReachUpdate(come: come.sorted(), gone: gone.sorted())
        send(.reach(Self.workspace, word), .live, isUnasked: false, from: number)
    }

    /// Nobody where they are few, as in the program.
    private func reached(by index: Int) -> Set<DeviceName> {
        var names: Set<DeviceName> = []
        for number in nodes[index].links {
            guard let end = ends[number], end.session.isReached else { continue }
            names.insert(nodes[end.peer].name)
        }
        return names.count > Limits.receiptsToAllMax ? names : []
    }

    // MARK: Hearing

    /// An author says whom it reaches: that counts on the links to all others.
    func hear(_ word: ReachUpdate, at number: Int) {
        guard let end = ends[number] else { return }
        end.heard.subtract(word.gone)
        for name in word.come where end.heard.count < Limits.reachNamesMax {
            end.heard.insert(name)
        }
        for other in nodes[end.node].links where other != number { applyReach(of: end, to: other) }
    }

    /// A link opens: others may have said that they reach its other end.
    func applyReach(on number: Int) {
        guard let end = ends[number] else { return }
        for other in nodes[end.node].links where other != number {
            guard let author = ends[other], !author.heard.isEmpty else { continue }
            applyReach(of: author, to: number)
        }
    }

    private func applyReach(of author: End, to number: Int) {
        guard let end = ends[number] else { return }
        let device = nodes[author.peer].device
        let isReached = author.heard.contains(nodes[end.peer].name)
        guard end.session.isReached(by: device) != isReached else { return }
        give(.reached(by: device, isReached), to: number)
    }

    /// A link has ended: what its other end said counts no more, and it is not reached itself.
    func forgetReach(of end: End) {
        lostReach.insert(end.node)
        let device = nodes[end.peer].device
        for number in nodes[end.node].links {
            guard ends[number]?.session.isReached(by: device) == true else { continue }
            give(.reached(by: device, false), to: number)
        }
    }
}
