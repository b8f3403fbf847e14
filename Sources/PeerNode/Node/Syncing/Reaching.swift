import CRDTStore
import SyncProtocol
import WorkspaceModel

/// The peers that a device sends its new operations to directly. It announces them before it
/// writes, and withdraws one that does not confirm; peers that know the set do not relay to its
/// members. So a message in a fully linked team costs as many transmissions as there are people,
/// and not the square (PROTOCOL.md, 5.4).
extension Syncing {
    /// Starts over with the peers of these workspaces: their agreements are no longer valid.
    func beginAnew(in numbers: [Int64]) throws(StorageError) {
        for number in numbers {
            guard let workspace = core.workspaces[number] else { continue }
            try store.peers.forgetAgreements(in: number)
            for link in network.ordered {
                guard let sync = link.syncs[number], sync.standing != .joining else { continue }
                try feed(.closed, to: sync, on: link)
                link.syncs[number] = nil
                try forgetReach(in: number, of: link)
                try openSync(workspace, on: link)
            }
        }
    }

    // MARK: Telling

    /// Tells whom this device reaches, before it pushes something; only what has changed.
    func tellReach(of workspace: Int64) {
        let reached = reached(in: workspace)
        for link in network.ordered {
            guard let sync = link.syncs[workspace], sync.session.isReached,
                let own = link.peer.map({ DeviceName(of: $0.device) })
            else { continue }
            let names = reached.subtracting([own])
            tell(come: names.subtracting(sync.toldReach), sync, on: link)
        }
        takeReachBack(of: workspace, reached)
    }

    /// Takes back whom this device does not reach any more.
    func takeReachBack() {
        for workspace in network.exchange.lostReach.sorted() {
            takeReachBack(of: workspace, reached(in: workspace))
        }
        network.exchange.lostReach = []
    }

    private func takeReachBack(of workspace: Int64, _ reached: Set<DeviceName>) {
        for link in network.ordered {
            guard let sync = link.syncs[workspace], !sync.toldReach.isSubset(of: reached) else {
                continue
            }
            tell(gone: sync.toldReach.subtracting(reached), sync, on: link)
        }
    }

    private func tell(
        come: Set<DeviceName> = [], gone: Set<DeviceName> = [], _ sync: WorkspaceLink,
        on link: PeerLink
    ) {
        let come = Set(come.sorted().prefix(Limits.reachNamesMax - sync.toldReach.count))
        guard !come.isEmpty || !gone.isEmpty, !link.isClosing else { return }
        sync.toldReach = sync.toldReach.union(come).subtracting(gone)
        let word = ReachUpdate(come: come.sorted(), gone: gone.sorted())
        link.session.send(.reach(sync.number, word), in: .live, isUnasked: false)
    }

    /// Nobody where they are few: then everybody tells everybody, and knows who has what.
    private func reached(in workspace: Int64) -> Set<DeviceName> {
        let links = network.links.values.filter {
            $0.syncs[workspace]?.session.isReached == true && !$0.isClosing
        }
        let names = Set(links.compactMap { $0.peer.map { DeviceName(of: $0.device) } })
        return names.count > Limits.receiptsToAllMax ? names : []
    }

    // MARK: Hearing

    /// An author says whom it reaches.
    func reachHeard(
        _ word: ReachUpdate, in workspace: Workspace, on link: PeerLink
    ) throws(StorageError) {
        guard let sync = link.syncs[workspace.number], sync.standing == .full else { return }
        core.presence.changePresence(
            of: core.presence.departed(word.come + word.gone, in: workspace)
        ) {
            sync.reach.subtract(word.gone)
            for name in word.come where sync.reach.count < Limits.reachNamesMax {
                sync.reach.insert(name)
            }
        }
        try applyReach(in: workspace.number, of: link)
    }

    /// A link to somebody opens: others may have said that they reach that one.
    func applyReach(in workspace: Int64, to link: PeerLink) throws(StorageError) {
        for author in network.ordered where author.syncs[workspace]?.reach.isEmpty == false {
            try applyReach(in: workspace, of: author, to: [link])
        }
    }

    /// What an author announced applies to the links to all others, and ends with the author's
    /// link.
    func applyReach(in workspace: Int64, of author: PeerLink) throws(StorageError) {
        try applyReach(in: workspace, of: author, to: network.ordered)
    }

    /// - Cost: linear in the links, whatever the author says.
    private func applyReach(
        in workspace: Int64, of author: PeerLink, to links: [PeerLink]
    ) throws(StorageError) {
        guard let speaker = author.peer?.device else { return }
        // One device may have two links for a moment.
        let voices = network.links(to: speaker).compactMap { $0.syncs[workspace]?.reach }
        for link in links where link !== author {
            guard let sync = link.syncs[workspace], let device = link.peer?.device else { continue }
            let name = DeviceName(of: device)
            let isReached = voices.contains { $0.contains(name) }
            guard sync.session.isReached(by: speaker) != isReached else { continue }
            try feed(.reached(by: speaker, isReached), to: sync, on: link)
        }
    }

    /// A session has ended: the peer's announcement no longer applies, and the peer is no longer
    /// reached directly.
    func forgetReach(in workspace: Int64, of link: PeerLink) throws(StorageError) {
        network.exchange.lostReach.insert(workspace)
        try applyReach(in: workspace, of: link)
    }
}
