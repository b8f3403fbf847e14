import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// Coming in by an invite: the joiner's side (PROTOCOL.md, 5.6).
struct JoinAttempt {
    /// How far it has come.
    enum Stage: Equatable {
        /// Looking for somebody who answers.
        case searching
        /// The authority document is being pulled; then `join2` goes out.
        case reading
        /// `join2` was sent.
        case asked
        /// Somebody admitted us; the admission is being pulled.
        case admitted(OperationID)
        /// We are a member; the first sync runs.
        case syncing
    }

    /// Whose answer it is, and under which key.
    let scope: CallScope
    let link: InviteLink
    /// Where to dial, in turn.
    private(set) var addresses: [PeerAddress]
    /// On the monotonic clock.
    let deadline: UInt64
    var stage = Stage.searching
    /// The number of the dial under way.
    var dial: UInt64?
    var connection: LinkID?
    var workspace: Int64?
    /// What `join_result` said of the authority document.
    var tips: [LogTip] = []
    /// Of somebody who comes back instead of joining.
    var phrase: RecoveryPhrase?
    private var next = 0
    private(set) var nextDial: UInt64 = 0
    private(set) var lastError = "no address answered"

    /// The link it goes on over, once a dial has succeeded.
    var linkID: LinkID? { connection }

    init(scope: CallScope, link: InviteLink, addresses: [PeerAddress], deadline: UInt64) {
        self.scope = scope
        self.link = link
        self.addresses = addresses
        self.deadline = deadline
    }

    /// The secret under which it dials.
    var candidate: PSKCandidate { PSKCandidate(.joining, psk: link.secret.psk) }

    /// A beacon of somebody who knows the invite.
    mutating func heard(_ address: PeerAddress) {
        guard !addresses.contains(address), addresses.count < 16 else { return }
        addresses.append(address)
        nextDial = 0
    }

    /// The address to dial now, if it is time.
    mutating func addressDue(now: UInt64) -> PeerAddress? {
        guard stage == .searching, dial == nil, connection == nil, nextDial <= now,
            !addresses.isEmpty
        else { return nil }
        defer { next += 1 }
        return addresses[next % addresses.count]
    }

    /// The next address is tried at once, a second round after a pause.
    mutating func dialFailed(now: UInt64, because reason: String = "unreachable") {
        dial = nil
        connection = nil
        lastError = reason
        nextDial = next % max(addresses.count, 1) == 0 ? now + 500 : now
    }
}

extension NodeCore {
    func joinWorkspace(_ draft: JoinDraft, _ scope: CallScope) throws(NodeError) -> CommandOutcome {
        if let made = try replay(scope) {
            guard let id = WorkspaceID(untrusted: made),
                let known = workspaces.values.first(where: { $0.id == id })
            else { throw .internalFailure(reason: "replay") }
            let shown = try stored { () throws(StorageError) in try object(of: known) }
            return .reply(Made(shown, isReplayed: true))
        }
        let link: InviteLink
        do throws(InviteLink.Problem) { link = try InviteLink(draft.link) } catch {
            throw .inviteLink(error)
        }
        if let known = workspaces.values.first(where: {
            $0.standing == .member && Identifier16(prefixOf: $0.id) == link.workspace
        }), known.ownRole != nil {
            let shown = try stored { () throws(StorageError) in
                try select(known)
                return try object(of: known)
            }
            try remember(scope, made: known.id.bytes)
            return .reply(shown.json)
        }
        guard !network.registry.isSuspended else {
            throw NodeError(
                .unreachable, "the network is suspended", hint: "wsx-node net resume",
                reason: "net.suspended")
        }
        // Last, since it writes, and after that nothing may be refused any more.
        if home == nil {
            guard let name = draft.name else {
                throw NodeError(
                    .badRequest, "joining for the first time needs a name",
                    hint: "wsx-node join LINK --name NAME", reason: "missing_parameter",
                    fields: [.init(name: "name", reason: "missing")])
            }
            try makeIdentity(
                name: try checked(name, field: "name"),
                recovery: draft.hasRecovery ? .drawn : .none)
        }
        network.joins.append(
            JoinAttempt(
                scope: scope, link: link, addresses: link.hints,
                deadline: time.monotonic &+ UInt64(max(draft.timeoutMilliseconds, 0))))
        return .later
    }

    // MARK: The conversation

    func joinEstablished(_ link: PeerLink, _ peer: PeerIdentity) throws(StorageError) {
        guard let index = joinIndex(of: link) else {
            return try drop(link, because: LinkEnding("join.over"))
        }
        let secret = network.joins[index].link.secret
        link.session.send(
            .joinHello(
                invite: secret.publicKeyName,
                proof: secret.joinProof(handshakeHash: peer.handshakeHash)),
            in: .control, isUnasked: false)
    }

    func joinResult(_ result: JoinResult, on link: PeerLink) throws(StorageError) {
        guard let index = joinIndex(of: link) else { return }
        switch result.code {
        case .open: try joinOpened(result, index, on: link)
        case .admitted:
            guard network.joins[index].stage == .asked, let admission = result.admission,
                let number = network.joins[index].workspace,
                let sync = link.syncs[number]
            else { return try drop(link, because: LinkEnding("join.protocol")) }
            network.joins[index].stage = .admitted(admission)
            network.joins[index].tips = result.tips ?? []
            try feed(.announced(result.tips ?? []), to: sync, on: link)
            try joinsMayGoOn()
        case .pending, .invalid, .expired, .used, .busy:
            try endJoin(index, .failure(Self.refusal(result.code)))
        }
    }

    private static func refusal(_ code: JoinResult.Code) -> NodeError {
        switch code {
        case .expired:
            NodeError(
                .inviteExpired, "the invite has expired", hint: "ask for a new one",
                reason: "invite.expired")
        case .used:
            NodeError(
                .inviteUsed, "the invite was used up", hint: "ask for a new one",
                reason: "invite.used")
        case .pending:
            NodeError(
                .pending, "an admin has to approve first", hint: "try again later",
                reason: "invite.pending")
        case .busy:
            NodeError(
                .unreachable, "the node that answered may not admit anybody now",
                hint: "try again when another member is there", reason: "join.busy")
        case .invalid, .open, .admitted:
            NodeError(
                .inviteInvalid, "the invite is not valid, or was revoked",
                hint: "ask for a new one", reason: "invite.invalid")
        }
    }

    private func joinOpened(
        _ result: JoinResult, _ index: Int, on link: PeerLink
    ) throws(StorageError) {
        let join = network.joins[index]
        guard join.stage == .searching, let id = result.workspace, let home else {
            return try drop(link, because: LinkEnding("join.protocol"))
        }
        // Whoever answered knows the secret, so it is the link that is wrong.
        guard Identifier16(prefixOf: id) == join.link.workspace else {
            return try endJoin(index, .failure(Self.refusal(.invalid)))
        }
        // Somebody who comes back learns who they are from the authority document.
        let member = home.member(salt: id.bytes)
        let workspace: Workspace
        if let known = workspaces.values.first(where: { $0.id == id }) {
            workspace = known
        } else {
            workspace = try enter(id, member: member, standing: .joining)
        }
        network.joins[index].workspace = workspace.number
        network.joins[index].stage = .reading
        network.joins[index].tips = result.tips ?? []
        guard let sync = try openSync(workspace, on: link, as: .authorityOnly) else { return }
        try feed(.announced(result.tips ?? []), to: sync, on: link)
        // A second attempt may hold all of it already; then nothing is stored that would go on.
        try joinsMayGoOn()
    }

    /// Goes on with every join whose next step has become possible by what was stored.
    func joinsMayGoOn() throws(StorageError) {
        for index in network.joins.indices.reversed() where index < network.joins.count {
            let join = network.joins[index]
            guard let number = join.workspace, let workspace = workspaces[number],
                let id = join.linkID, let link = network.links[id],
                let sync = link.syncs[number]
            else { continue }
            let replica = CoreReplica(core: self, workspace: workspace)
            guard join.tips.allSatisfy({ replica.holds($0) }) else { continue }
            switch join.stage {
            case .reading:
                if let phrase = join.phrase {
                    try comeBack(index, phrase, workspace, on: link)
                } else {
                    try askToBeAdmitted(index, workspace, on: link)
                }
            case .admitted(let admission):
                try becomeMember(index, by: admission, workspace, sync, on: link)
            case .searching, .asked, .syncing: break
            }
        }
    }

    private func askToBeAdmitted(
        _ index: Int, _ workspace: Workspace, on link: PeerLink
    ) throws(StorageError) {
        guard let home else { return }
        let secret = network.joins[index].link.secret
        let invite = workspace.authorityOrder.first { id in
            guard case .invite(let invite)? = workspace.authority[id]?.payload else {
                return false
            }
            return invite.publicKey == secret.publicKey.bytes && workspace.evaluator.isValid(id)
        }
        guard let invite else {
            return try endJoin(index, .failure(Self.refusal(.invalid)))
        }
        let devices = DeviceEntry.encoded(
            home.deviceEntries(member: workspace.member, salt: workspace.id.bytes))
        network.joins[index].stage = .asked
        link.session.send(
            .joinRequest(
                JoinRequest(
                    invite: invite, member: workspace.member, devices: devices,
                    proof: secret.admissionProof(
                        workspace: workspace.id, invite: invite, member: workspace.member,
                        encodedDevices: devices),
                    name: home.name)),
            in: .control, isUnasked: false)
    }

    private func becomeMember(
        _ index: Int, by admission: OperationID, _ workspace: Workspace, _ sync: WorkspaceLink,
        on link: PeerLink
    ) throws(StorageError) {
        guard let home, case .admit(let joiner, _, _, _)? = workspace.authority[admission]?.payload,
            workspace.evaluator.isValid(admission), joiner.member == workspace.member,
            joiner.devices.last?.device == home.device, workspace.currentKey != nil
        else {
            return try endJoin(index, .failure(Self.refusal(.invalid)))
        }
        try settleIn(workspace)
        network.joins[index].stage = .syncing
        if let peer = link.peer {
            network.registry.connected(
                peer.device, attempt: nil, wallMilliseconds: time.wall)
            if let address = PeerAddress(link.address, defaultPort: 0), link.session.isInitiator {
                network.registry.add(
                    peer.device,
                    addresses: [KnownAddress(address, source: .remembered, freshness: time.wall)])
            }
            network.isRegistryDirty = true
            try record(.peerConnected, workspace: nil, extra: peer.device.bytes)
        }
        workspaceListChanged()
        try setStanding(.full, of: sync, workspace, on: link)
        try openWhereShared(workspace)
    }

    /// From now on the workspace is one of ours.
    func settleIn(_ workspace: Workspace) throws(StorageError) {
        try write()
        workspace.standing = .member
        workspace.joined = time.wall
        try store.registry.setWorkspace(
            .init(
                number: workspace.number, standing: .member, member: workspace.member,
                joined: Int64(time.wall)))
        try select(workspace)
        try store.operations.enter(
            workspace.profileDocument, workspace: workspace.number, kind: .profile)
        try refreshChannels(of: workspace)
        network.candidates = nil
    }

    /// The first sync of a workspace is over.
    func caughtUp(_ workspace: Workspace, on link: PeerLink) throws(StorageError) {
        if let device = link.peer?.device {
            try record(.syncCaughtUp, workspace: workspace, extra: device.bytes)
        }
        try linkCaughtUp(workspace)
        // The link may be another one than that over which we were admitted.
        let waiting = network.joins.firstIndex {
            $0.workspace == workspace.number && $0.stage == .syncing
        }
        guard let index = waiting else { return }
        try record(.workspaceJoined, workspace: workspace)
        try endJoin(index, .success(try object(of: workspace).json))
    }

    // MARK: Ends

    func joinIndex(of link: PeerLink) -> Int? {
        network.joins.firstIndex { $0.linkID == link.id }
    }

    func isJoining(_ workspace: Workspace) -> Bool {
        network.joins.contains { $0.workspace == workspace.number }
            || network.linking?.workspaces[workspace.number] != nil
    }

    func joinRefused(on link: PeerLink) {
        guard let index = joinIndex(of: link) else { return }
        network.joins[index].dialFailed(now: time.monotonic, because: "refused")
    }

    /// A link that a join needed is gone: look for another.
    func joinLinkClosed(_ link: PeerLink) {
        guard let index = joinIndex(of: link) else { return }
        network.joins[index].dialFailed(now: time.monotonic, because: "link.closed")
        if network.joins[index].stage != .syncing { network.joins[index].stage = .searching }
    }

    func expireJoins() throws(StorageError) {
        for index in network.joins.indices.reversed()
        where network.joins[index].deadline <= time.monotonic {
            let join = network.joins[index]
            if join.stage == .syncing, let number = join.workspace,
                let workspace = workspaces[number]
            {
                // Admitted in time: the rest of the first sync goes on in the background.
                try endJoin(index, .success(try object(of: workspace).json))
                continue
            }
            try endJoin(
                index,
                .failure(
                    NodeError(
                        .unreachable, "nobody who may admit was reached (\(join.lastError))",
                        hint: "is the inviter's node running? try again", reason: "join.timeout")))
        }
    }

    func endJoin(
        _ index: Int, _ result: Result<JSONValue, NodeError>
    ) throws(StorageError) {
        let join = network.joins.remove(at: index)
        effects.append(.answer(join.scope.call, result))
        guard case .failure = result else {
            guard let id = join.workspace.flatMap({ workspaces[$0]?.id }) else { return }
            do throws(NodeError) { try remember(join.scope, made: id.bytes) } catch {
                if let failure { throw failure }
            }
            return
        }
        if let id = join.linkID, let link = network.links[id] {
            try drop(link, because: LinkEnding("join.over"))
        }
        if let number = join.workspace, workspaces[number]?.standing == .joining {
            try abandon(number)
        }
    }

    /// Removes what a join that failed has left, so that no half-joined workspace stays.
    func abandon(_ number: Int64) throws(StorageError) {
        guard workspaces[number]?.standing == .joining else { return }
        try write()
        try store.operations.remove(workspace: number)
        try store.registry.removeWorkspace(number)
        workspaces[number] = nil
        network.planners[number] = nil
    }

}
