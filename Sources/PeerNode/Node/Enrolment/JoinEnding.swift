import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// How joins end.
extension Enrolment {
    func joinIndex(of link: PeerLink) -> Int? {
        network.joining.joins.firstIndex { $0.linkID == link.id }
    }

    func isJoining(_ workspace: Workspace) -> Bool {
        network.joining.joins.contains { $0.workspace == workspace.number }
            || network.joining.linking?.workspaces[workspace.number] != nil
    }

    func joinRefused(on link: PeerLink) {
        guard let index = joinIndex(of: link) else { return }
        network.joining.joins[index].dialFailed(now: time.monotonic, because: "refused")
    }

    /// A link that a join needed is gone: look for another.
    func joinLinkClosed(_ link: PeerLink, because ending: LinkEnding) {
        guard let index = joinIndex(of: link) else { return }
        if network.joining.joins[index].stage != .syncing {
            network.joining.joins[index].stage = .searching
        }
        network.joining.joins[index].dialFailed(now: time.monotonic, because: ending.word)
    }

    /// The peer that answered refused to admit. The join continues: every other address is tried,
    /// and only when all have refused does it fail, with the first peer's error. What the refusing
    /// peer has shown is discarded: it may contain an admission without effect, which would make
    /// this home look like a member to the next peer.
    func turnAway(_ index: Int, _ error: NodeError) throws(StorageError) {
        network.joining.joins[index].refused(error)
        guard let id = network.joining.joins[index].linkID, let link = network.links[id] else {
            return
        }
        try core.links.drop(link, because: LinkEnding("join.over"))
        guard let number = network.joining.joins[index].workspace,
            network.joining.joins.count(where: { $0.workspace == number }) == 1
        else { return }
        network.joining.joins[index].workspace = nil
        try abandon(number)
    }

    /// Ends joins that nobody lets in, and has those ask elsewhere who wait for one who may never say
    /// anything.
    func turnJoins() throws(StorageError) {
        for index in network.joining.joins.indices.reversed() {
            let join = network.joining.joins[index]
            if join.isRefused, let refusal = join.toldRefusal {
                try endJoin(index, .failure(refusal))
            } else if join.hasOthers, join.stage != .syncing,
                join.turnEnds.map({ $0 <= time.monotonic }) == true,
                let id = join.linkID, let link = network.links[id]
            {
                try core.links.drop(link, because: LinkEnding("join.over"))
            }
        }
    }

    func expireJoins() throws(StorageError) {
        for index in network.joining.joins.indices.reversed()
        where network.joining.joins[index].deadline.map({ $0 <= time.monotonic }) == true {
            let join = network.joining.joins[index]
            if join.stage == .syncing, let number = join.workspace,
                let workspace = core.workspaces[number]
            {
                // Admitted in time: the rest of the first sync continues in the background.
                try endJoin(index, .success(try core.queries.object(of: workspace).json))
                continue
            }
            if isRemembered(join.link) {
                answerWaiting(index)
                continue
            }
            try endJoin(
                index,
                .failure(
                    join.toldRefusal
                        ?? NodeError(
                            .unreachable,
                            "could not reach anyone who can let you in: "
                                + LinkWords.text(join.lastError),
                            hint: "is the inviter's node running? Try again when it is: "
                                + "this does not retry by itself",
                            reason: "join.timeout")))
        }
    }

    func endJoin(
        _ index: Int, _ result: Result<JSONValue, NodeError>
    ) throws(StorageError) {
        let join = network.joining.joins.remove(at: index)
        if let scope = join.scope { turn.emit(.answer(scope.call, result)) }
        guard case .failure(let error) = result else {
            try forgetJoin(by: join.link)
            guard let scope = join.scope,
                let id = join.workspace.flatMap({ core.workspaces[$0]?.id })
            else { return }
            do throws(NodeError) { try core.remember(scope, made: id.bytes) } catch {
                if let failure = turn.failure { throw failure }
            }
            return
        }
        try refusedJoin(by: join.link, error, isTold: join.scope != nil)
        if let id = join.linkID, let link = network.links[id] {
            try core.links.drop(link, because: LinkEnding("join.over"))
        }
        if let number = join.workspace, core.workspaces[number]?.standing == .joining {
            try abandon(number)
        }
    }

    /// Who asked by several links, and is in by one, has nothing more to ask by the others.
    func endOtherJoins(into workspace: Workspace) throws(StorageError) {
        let name: Identifier16<Named.Document> = .init(prefixOf: workspace.id)
        let unused = network.joining.joins.filter { join in
            switch join.stage {
            case .admitted, .syncing: false
            case .searching, .reading, .asked, .waiting:
                join.scope == nil && join.link.workspace == name
            }
        }
        try forgetJoins(into: workspace.id)
        for id in unused.compactMap(\.linkID) {
            guard let link = network.links[id] else { continue }
            try core.links.drop(link, because: LinkEnding("join.over"))
        }
    }

    /// Removes what a join that failed has left, so that no half-joined workspace stays.
    func abandon(_ number: Int64) throws(StorageError) {
        guard core.workspaces[number]?.standing == .joining else { return }
        try write()
        try store.operations.remove(workspace: number)
        try store.registry.removeWorkspace(number)
        // Also the keys of its private documents, whose rows were deleted with it.
        turn.session.vault.forgetAll()
        core.workspaces[number] = nil
        network.exchange.planners[number] = nil
    }

}
