import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// Joins that continue in the background until an admin has decided.
extension Enrolment {
    private static let pendingName = "joins"

    /// Takes up the joins of the last run.
    func openPendingJoins() throws(StorageError) {
        guard let bytes = try sealedValue(Self.pendingName),
            let joins = try? PendingJoin.list(decoding: bytes)
        else { return }
        network.joining.pendingJoins = joins.filter {
            time.wall < $0.since &+ Limits.pendingJoinMilliseconds
        }
        for join in network.joining.pendingJoins where !join.isRefused {
            guard let link = try? InviteLink(join.link) else { continue }
            network.joining.joins.append(
                JoinAttempt(scope: nil, link: link, addresses: link.hints, deadline: nil))
        }
    }

    private func writePendingJoins() throws(StorageError) {
        guard home != nil else { return }
        let joins = network.joining.pendingJoins
        try setSealedValue(joins.isEmpty ? nil : PendingJoin.encoded(joins), of: Self.pendingName)
    }

    private func place(of link: InviteLink) -> Int? {
        // Not the text: the address of a workspace is shown with other hints by every member.
        let key = link.secret.publicKey
        return network.joining.pendingJoins.firstIndex {
            (try? InviteLink($0.link))?.secret.publicKey == key
        }
    }

    /// Whether an admin was asked by this link, and has not decided as far as we know.
    func isRemembered(_ link: InviteLink) -> Bool {
        place(of: link).map { !network.joining.pendingJoins[$0].isRefused } ?? false
    }

    // MARK: Waiting

    /// `join_result` pending: the caller gets an answer now, and the join continues without them.
    func joinWaits(_ index: Int) throws(StorageError) {
        let link = network.joining.joins[index].link
        if let known = place(of: link) {
            network.joining.pendingJoins[known].isRefused = false
            network.joining.pendingJoins[known].isEnded = false
        } else {
            // The oldest is dropped: a person with so many pending joins has forgotten the first.
            if network.joining.pendingJoins.count >= Limits.pendingJoinsMax {
                network.joining.pendingJoins.removeFirst()
            }
            network.joining.pendingJoins.append(
                PendingJoin(link: link.text.link, since: time.wall, isRefused: false))
        }
        try writePendingJoins()
        answerWaiting(index)
        network.joining.joins[index].wait(now: time.monotonic)
    }

    /// Tells the caller that the request is undecided; the attempt continues.
    func answerWaiting(_ index: Int) {
        if let scope = network.joining.joins[index].scope {
            let isReturning = network.joining.joins[index].isReturning
            let said = isReturning ? Self.pendingReturn : Self.refusal(.pending)
            turn.emit(.answer(scope.call, .failure(said)))
        }
        network.joining.joins[index].scope = nil
        network.joining.joins[index].deadline = nil
    }

    /// An invite lets a newcomer in by itself; a former member is told why it does not now.
    private static let pendingReturn = NodeError(
        .pending,
        "waiting for an admin to approve, because you were a member here before; "
            + "you will be let in automatically",
        hint: "wsx-node status", reason: "invite.pending")

    /// Asks for the state of a join that continues in the background.
    ///
    /// - Returns: whether there is one.
    func resumeJoin(
        by link: InviteLink, for scope: CallScope, deadline: UInt64
    ) throws(NodeError) -> Bool {
        let key = link.secret.publicKey
        let found = network.joining.joins.firstIndex {
            $0.scope == nil && $0.link.secret.publicKey == key
        }
        guard let found else { return false }
        network.joining.joins[found].resume(for: scope, deadline: deadline, now: time.monotonic)
        let join = network.joining.joins[found]
        if join.stage == .waiting, let number = join.workspace,
            let workspace = core.workspaces[number], let id = join.linkID,
            let peer = network.links[id]
        {
            try stored { () throws(StorageError) in
                // The person may try again because another member is said to know the decision.
                if join.hasOthers {
                    return try core.links.drop(peer, because: LinkEnding("join.over"))
                }
                try askToBeAdmitted(found, workspace, on: peer)
            }
        }
        return true
    }

    // MARK: Ends

    /// A join is over, with success or because it is no longer wanted.
    func forgetJoin(by link: InviteLink) throws(StorageError) {
        guard let known = place(of: link) else { return }
        network.joining.pendingJoins.remove(at: known)
        try writePendingJoins()
    }

    /// Drops the requests to a workspace that is forgotten here: otherwise it would come back by
    /// them.
    func forgetJoins(into workspace: WorkspaceID) throws(StorageError) {
        let name: Identifier16<Named.Document> = .init(prefixOf: workspace)
        network.joining.joins.removeAll { $0.scope == nil && $0.link.workspace == name }
        let links = network.joining.pendingJoins.compactMap { try? InviteLink($0.link) }
        for link in links where link.workspace == name { try forgetJoin(by: link) }
    }

    /// A join that is over is kept until somebody has been told.
    func refusedJoin(
        by link: InviteLink, _ error: NodeError, isTold: Bool
    ) throws(StorageError) {
        guard let known = place(of: link) else { return }
        if isTold { return try forgetJoin(by: link) }
        network.joining.pendingJoins[known].isRefused = true
        network.joining.pendingJoins[known].isEnded = error.reason == Self.endedUndecided.reason
        try writePendingJoins()
        turn.emit(
            .log(.warning, "join.refused reason=\(error.reason ?? error.kind.rawValue)"))
    }

    /// Throws an invite away. Nobody is told: the inviter learns nothing, and a request that was
    /// made stays with those who have it until an admin decides.
    func declineInvite(_ text: String, _ scope: CallScope) throws(NodeError) -> DeclinedObject {
        let link: InviteLink
        do throws(InviteLink.Problem) { link = try InviteLink(text) } catch {
            throw .inviteLink(error)
        }
        let isPending = place(of: link) != nil
        let key = link.secret.publicKey
        try stored { () throws(StorageError) in
            let found = network.joining.joins.firstIndex {
                $0.scope == nil && $0.link.secret.publicKey == key
            }
            if let found, network.joining.joins[found].stage != .syncing {
                try endJoin(found, .failure(Self.refusal(.invalid)))
            }
            try forgetJoin(by: link)
        }
        return DeclinedObject(
            workspace: "w_" + Base32.encode(link.workspace.bytes), wasPending: isPending)
    }

    /// The warnings of `status` about undecided joins.
    var pendingJoinWarnings: [StatusObject.Warning] {
        network.joining.pendingJoins.compactMap { join in
            guard let link = try? InviteLink(join.link) else { return nil }
            let id = "w_" + Base32.encode(link.workspace.bytes)
            // A former member knows the workspace's name.
            let known = workspaces.values.first {
                $0.standing == .member && PublicID.workspace($0.id) == id
            }
            // An id tells nobody anything.
            let place = known.map { " \($0.displayName)" } ?? ""
            let forget = "to forget it: wsx-node invite decline LINK"
            guard join.isRefused else {
                return .init(
                    kind: .joinPending,
                    message: "your request to join\(place) waits for an approval",
                    hint: "to ask again: wsx-node join LINK; \(forget)")
            }
            return join.isEnded
                ? .init(
                    kind: .joinRefused,
                    message: "the invite of your request to join\(place) has ended",
                    hint: "ask for a new one: wsx-node join LINK; \(forget)")
                : .init(
                    kind: .joinRefused, message: "your request to join\(place) was declined",
                    hint: forget)
        }
    }
}
