import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

extension DeviceLinking {
    func linkDevice(
        _ draft: JoinDraft, _ scope: CallScope
    ) throws(NodeError) -> CommandOutcome {
        try linkDevice(draft, under: nil, scope)
    }

    /// - Parameter seal: what seals a new identity, once its passphrase has become a key.
    func linkDevice(
        _ draft: JoinDraft,
        under seal: (key: SymmetricKey, derivation: PassphraseVault.KeyDerivation)?,
        _ scope: CallScope
    ) throws(NodeError) -> CommandOutcome {
        if try core.replay(scope) != nil, let object = core.queries.identityObject() {
            return .reply(Made(object, isReplayed: true))
        }
        let link: DeviceLink
        do throws(InviteLink.Problem) { link = try DeviceLink(draft.link) } catch {
            throw NodeError(
                .inviteInvalid, "that is not a device link, or part of it is missing or wrong",
                hint: "make one on the other device, with 'device link' there",
                reason: "link.invalid", fields: [.init(name: "code", reason: "form")])
        }
        guard !network.registry.isSuspended else { throw .suspendedNetwork }
        guard network.joining.linking == nil else {
            throw NodeError(
                .busy, "this home is already being linked", hint: "try again in a moment",
                reason: "link.busy")
        }
        let name = try draft.name.map { (name) throws(NodeError) in
            try NewNames.person(name, field: "name")
        }
        // Last, because it writes, and nothing may be refused after a write.
        if home == nil {
            guard let name else {
                throw NodeError(
                    .badRequest, "a new home needs a name",
                    hint: "wsx-node device link LINK --name NAME", reason: "missing_parameter",
                    fields: [.init(name: "name", reason: "missing")])
            }
            if seal == nil,
                try core.sink.sealsFirst(draft, scope)
            {
                return .later
            }
            // The person has a recovery phrase already, or chose to do without.
            try core.enrolment.founding.makeIdentity(name: name, recovery: .none, under: seal)
        }
        var attempt = LinkAttempt(
            scope: scope, link: link,
            deadline: time.monotonic &+ UInt64(max(draft.timeoutMilliseconds, 0)))
        attempt.name = name
        network.joining.linking = attempt
        network.beacons.hurry(for: nil, at: time.monotonic)
        return .later
    }

    // MARK: The conversation

    private func isLinking(_ link: PeerLink) -> Bool {
        network.joining.linking?.connection == link.id && link.peer?.labels == [.linking]
    }

    /// Only the device that made the link may answer: anyone who saw the code knows its secret too,
    /// and could make this a device of another person.
    func linkingEstablished(_ link: PeerLink, _ device: DeviceID) throws(StorageError) {
        guard device.leadingWord != network.joining.linking?.link.issuer else { return }
        try core.links.drop(link, because: LinkEnding("link.other_device"))
    }

    /// Proves to hold this device's keys, for each workspace in which it is not yet.
    func linkOffered(_ offer: LinkOffer, on link: PeerLink) throws(StorageError) {
        guard isLinking(link), let home, let issuer = link.peer?.device else {
            return try core.links.drop(link, because: LinkEnding("link.protocol"))
        }
        let wanted = offer.memberships.filter { membership in
            workspaces.values.first { $0.id == membership.workspace }.map({
                core.membership.isInHere($0)
            }) != true
        }
        guard !wanted.isEmpty else {
            return try endLinking(
                .failure(
                    NodeError(
                        .conflict, "that device has no workspace to share that this one lacks",
                        hint: "wsx-node device list", reason: "link.nothing")))
        }
        for membership in wanted {
            network.joining.linking?.offered[membership.workspace] = membership
        }
        let proofs = wanted.map { membership in
            LinkConsent(
                workspace: membership.workspace, agreementKey: home.box.publicKey.bytes,
                signature: home.deviceEntry(
                    entering: .adding(
                        to: membership.workspace, before: issuer, member: membership.member)
                ).signature)
        }
        link.session.send(.linkRequest(proofs), in: .control, isUnasked: false)
    }

    func linkAnswered(_ result: LinkResult, on link: PeerLink) throws(StorageError) {
        guard isLinking(link) else {
            return try core.links.drop(link, because: LinkEnding("link.protocol"))
        }
        guard result.code == .linked, !result.additions.isEmpty else {
            return try endLinking(.failure(Self.refusal(result.code)))
        }
        for addition in result.additions {
            guard let membership = network.joining.linking?.offered[addition.workspace] else {
                continue
            }
            let known = workspaces.values.first { $0.id == addition.workspace }
            if known.map({ core.membership.isInHere($0) }) == true { continue }
            let workspace: Workspace
            if let known {
                workspace = known
            } else {
                workspace = try core.enrolment.founding.enter(
                    addition.workspace, member: membership.member, standing: .joining)
            }
            network.joining.linking?.workspaces[workspace.number] = .reading(addition.operation)
            try core.syncs.openSync(workspace, on: link, as: .authorityOnly)
        }
        try linkingMayGoOn()
    }

    private static func refusal(_ code: LinkResult.Code) -> NodeError {
        switch code {
        case .expired:
            NodeError(
                .inviteExpired, "the device link was already used, or its ten minutes are over",
                hint: "make a new link on the other device, with 'device link' there",
                reason: "link.expired")
        case .busy:
            NodeError(
                .forbidden, "the other device may not add devices now",
                hint: "see 'device list' on the other device", reason: "link.busy")
        case .invalid, .linked:
            NodeError(
                .inviteInvalid, "the other device did not accept this one's proof",
                hint: "use the same version on both devices", reason: "link.invalid")
        }
    }

    /// Continues in every workspace where this device's `adddev` has arrived.
    func linkingMayGoOn() throws(StorageError) {
        guard let linking = network.joining.linking, let home else { return }
        for (number, stage) in linking.workspaces.sorted(by: { $0.key < $1.key }) {
            guard case .reading(let id) = stage, let workspace = core.workspaces[number],
                case .addDevices(let devices, _, _, _)? = workspace.authority[id]?.payload,
                devices.contains(where: { $0.device == home.device }),
                workspace.judged.evaluator.isValid(id),
                workspace.judged.evaluator.subject(ofGrant: id) == workspace.member,
                workspace.isKeyed
            else { continue }
            try core.enrolment.settleIn(workspace)
            try core.profiles.nameDevice(linking.name, in: workspace)
            network.joining.linking?.workspaces[number] = .syncing
            try nowShared(workspace, over: linking.connection)
        }
    }

    /// The link that this device joined over belongs to the workspace from now on.
    private func nowShared(
        _ workspace: Workspace, over id: LinkID?
    ) throws(StorageError) {
        core.links.workspaceListChanged()
        if let link = id.flatMap({ network.links[$0] }), let peer = link.peer {
            if network.registry.peer(.device(peer.device))?.state != .connected {
                network.registry.connected(
                    peer.device, attempt: nil, now: time.monotonic, wallMilliseconds: time.wall)
                try turn.record(.peerConnected, workspace: nil, extra: peer.device.bytes)
            }
            try core.links.compareClocks(on: link)
            remember(link)
            if let sync = link.syncs[workspace.number] {
                try core.syncs.setStanding(.full, of: sync, workspace, on: link)
            }
        }
        try core.syncs.openWhereShared(workspace)
    }

    /// Remembers the address of the device at the other end of an outgoing link.
    func remember(_ link: PeerLink) {
        guard let peer = link.peer, link.session.isInitiator,
            let address = PeerAddress(link.address, defaultPort: 0)
        else { return }
        network.registry.add(
            peer.device,
            addresses: [KnownAddress(address, source: .remembered, freshness: time.wall)])
        network.isRegistryDirty = true
    }

    /// The first sync of a workspace is over.
    func linkCaughtUp(_ workspace: Workspace) throws(StorageError) {
        guard network.joining.linking?.workspaces[workspace.number] == .syncing else { return }
        network.joining.linking?.workspaces[workspace.number] = .done
        try turn.record(
            .workspaceJoined, workspace: workspace.number,
            extra: EventType.roleByte(workspace.ownRole)
        )
        guard network.joining.linking?.workspaces.values.allSatisfy({ $0 == .done }) == true,
            let object = core.queries.identityObject()
        else { return }
        try endLinking(.success(object.json))
    }

    // MARK: Ends

    /// The link that it needed is gone: look for another.
    func linkingClosed(_ link: PeerLink) {
        guard network.joining.linking?.connection == link.id else { return }
        network.joining.linking?.dialFailed(now: time.monotonic)
    }

    func expireLinking() throws(StorageError) {
        guard let linking = network.joining.linking, linking.deadline <= time.monotonic else {
            return
        }
        let isIn = linking.workspaces.values.contains { $0 == .syncing || $0 == .done }
        if isIn, let object = core.queries.identityObject() {
            // Added in time: the rest of the first sync continues in the background.
            return try endLinking(.success(object.json))
        }
        try endLinking(
            .failure(
                NodeError(
                    .unreachable, "could not reach the other device",
                    hint: "is it on, and is its link less than ten minutes old? "
                        + "Then try again: this does not retry by itself",
                    reason: "link.timeout")))
    }

    /// Two devices that were linked before have a link already, which serves the new workspaces too.
    private func closeDoubled(_ id: LinkID?) throws(StorageError) {
        guard let link = id.flatMap({ network.links[$0] }), let peer = link.peer,
            network.links(to: peer.device).contains(where: { $0 !== link && !$0.isClosing })
        else { return }
        try core.links.drop(link, because: .doubled)
    }

    private func endLinking(_ result: Result<JSONValue, NodeError>) throws(StorageError) {
        guard let linking = network.joining.linking else { return }
        network.joining.linking = nil
        turn.emit(.answer(linking.scope.call, result))
        if case .success = result, let home {
            do throws(NodeError) { try core.remember(linking.scope, made: home.device.bytes) } catch
            {
                if let failure = turn.failure { throw failure }
            }
        } else if let link = linking.connection.flatMap({ network.links[$0] }) {
            try core.links.drop(link, because: LinkEnding("link.over"))
        }
        for (number, stage) in linking.workspaces.sorted(by: { $0.key < $1.key }) {
            if case .reading = stage { try core.enrolment.abandon(number) }
        }
        try closeDoubled(linking.connection)
    }
}

extension NodeError {
    /// A link leads into a workspace that is over.
    static func deleted(_ workspace: Workspace) -> NodeError {
        NodeError(
            .notFound, "the workspace \(quoted(workspace.displayName)) was deleted",
            hint: "ask for an invite to another one", reason: "workspace.deleted",
            fields: [.init(name: "link", reason: "over")])
    }

    /// Somebody came back by one device, and this is another one.
    static func inByAnotherDevice(_ workspace: Workspace) -> NodeError {
        .forbidden(
            "you are in \(quoted(workspace.displayName)) on another device, but not on this one",
            reason: "device.out",
            hint: "wsx-node device link, on the device that is in; then use its link here")
    }
}
