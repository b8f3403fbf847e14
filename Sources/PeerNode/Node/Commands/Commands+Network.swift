import CRDTStore
import SyncProtocol
import WorkspaceModel

/// Peers, the network and the state of synchronising, as commands ask for them.
extension CommandDesk {
    // MARK: Peers

    func peers(_ request: PageRequest, _ scope: CallScope) throws(NodeError) -> Page<PeerObject> {
        let peers = network.registry.peers.filter { !isFormer($0) }
        let (items, next) = try core.queries.page(peers.map(object), request)
        return Page(Array(items), next: next)
    }

    /// Whether a peer is a device of somebody who is out everywhere, and not there now: it is
    /// looked for only to be told so.
    private func isFormer(_ peer: PeerRegistry.Peer) -> Bool {
        guard case .device(let device) = peer.name, peer.state != .connected else { return false }
        let known = workspaces.values.filter { $0.owner(of: device) != nil }
        return !known.isEmpty
            && known.allSatisfy { core.links.standing(of: device, in: $0) == .removed }
    }

    func peerData(of peer: PeerRegistry.Peer) -> PeerObject { object(of: peer) }

    private func object(of peer: PeerRegistry.Peer) -> PeerObject {
        var object = PeerObject(state: word(of: peer.state))
        if peer.state != .connected { (object.behind, object.ahead) = (0, 0) }
        if case .device(let device) = peer.name { describe(device, &object) }
        if case .dialing(let address) = peer.state {
            object.address = address.text
        } else {
            object.address = peer.addresses.first?.address.text
        }
        object.lastSeen = (peer.state == .connected ? time.wall : peer.lastSeen)
            .map { Int64(clamping: $0) }
        object.lastError = peer.lastError
        return object
    }

    private func describe(_ device: DeviceID, _ object: inout PeerObject) {
        object.id = PublicID.device(device)
        for workspace in workspaces.values.sorted(by: { $0.number < $1.number }) {
            if let standing = workspace.members.first(where: {
                $0.devices.contains(device)
            }) {
                object.member = core.queries.person(standing.member, in: workspace)
                object.name = workspace.displayName(of: standing.member)
                break
            }
        }
        for link in network.links(to: device) {
            object.address = link.address
        }
        let distances = distances(to: device)
        let known = distances.values.compactMap { $0 }
        guard known.count == distances.count, !known.isEmpty else { return }
        object.behind = known.reduce(0) { $0 + $1.behind }
        object.ahead = known.reduce(0) { $0 + $1.ahead }
    }

    /// How far this device and another one are apart, by workspace; `nil` while they compare. Two
    /// that have dialled each other have two links for a while; of those the one counts that is
    /// further.
    private func distances(to device: DeviceID) -> [Int64: (behind: Int64, ahead: Int64)?] {
        var found: [Int64: (behind: Int64, ahead: Int64)?] = [:]
        for link in network.links(to: device) {
            for sync in link.syncs.values {
                guard sync.session.knowsDistance else {
                    if found[sync.workspace] == nil { found[sync.workspace] = .some(nil) }
                    continue
                }
                let distance = (
                    behind: Int64(clamping: sync.session.behind),
                    ahead: Int64(clamping: sync.session.ahead)
                )
                let known = (found[sync.workspace] ?? nil) ?? distance
                found[sync.workspace] = (
                    min(known.behind, distance.behind), min(known.ahead, distance.ahead)
                )
            }
        }
        return found
    }

    private func word(of state: PeerRegistry.DialState) -> String {
        switch state {
        case .connected: "connected"
        case .dialing: "dialing"
        case .blocked: "blocked"
        case .idle, .waiting, .suspended: "waiting"
        }
    }

    /// The data of an event about a device.
    func peerData(_ device: DeviceID) -> JSONValue {
        if let peer = network.registry.peer(.device(device)) { return object(of: peer).json }
        var object = PeerObject(state: "waiting")
        describe(device, &object)
        return object.json
    }

    func addPeer(address: String, _ scope: CallScope) throws(NodeError) -> PeerObject {
        guard let address = PeerAddress(address, defaultPort: 29_790) else {
            throw NodeError(
                .badRequest, "\(NodeError.quoted(address)) is not an address",
                hint: "wsx-node peer add HOST[:PORT]", reason: "bad_address",
                fields: [.init(name: "address", reason: "form")])
        }
        network.registry.addManual(address, wallMilliseconds: time.wall)
        network.isRegistryDirty = true
        guard let peer = network.registry.peer(.address(address)) else {
            throw .internalFailure(reason: "peer")
        }
        return object(of: peer)
    }

    func removePeer(_ text: String, _ scope: CallScope) throws(NodeError) -> PeerObject {
        let found = network.registry.peers.first { peer in
            if case .device(let device) = peer.name, PublicID.device(device) == text {
                return true
            }
            guard let address = PeerAddress(text, defaultPort: 29_790) else { return false }
            return peer.addresses.contains { $0.address == address }
        }
        guard let found else {
            throw .notFound("peer", text, field: "peer", hint: "wsx-node peer list")
        }
        let object = object(of: found)
        if case .device(let device) = found.name {
            for link in network.links(to: device) {
                try stored { () throws(StorageError) in
                    try core.links.drop(link, because: LinkEnding("peer.removed"))
                }
            }
        }
        try stored { () throws(StorageError) in try core.links.forgetPeer(found.name) }
        return object
    }

    // MARK: Sync

    func syncStatus(
        _ request: SyncStatusRequest, _ scope: CallScope
    ) throws(NodeError) -> Page<SyncObject> {
        var only: Workspace?
        if let channel = request.channel {
            let workspace: Workspace = try core.queries.workspace(scope)
            _ = try self.core.queries.channel(channel, in: workspace)
            only = workspace
        } else if scope.workspace != nil {
            only = try core.queries.shownWorkspace(scope)
        }
        var objects: [SyncObject] = []
        var seen: Set<DeviceID> = []
        for link in network.ordered {
            guard let device = link.peer?.device, seen.insert(device).inserted else { continue }
            let id = PublicID.device(device)
            if let wanted = request.peer, wanted != id { continue }
            for (number, distance) in distances(to: device).sorted(by: { $0.key < $1.key }) {
                guard let workspace = core.workspaces[number], only == nil || only === workspace
                else {
                    continue
                }
                var object = SyncObject(peer: id, workspace: PublicID.workspace(workspace.id))
                (object.behind, object.ahead) = (distance?.behind, distance?.ahead)
                objects.append(object)
            }
        }
        let (items, next) = try core.queries.page(objects, request.page)
        return Page(Array(items), next: next)
    }

    // MARK: The network

    func network(_ scope: CallScope) throws(NodeError) -> NetworkObject { networkObject }

    private var networkObject: NetworkObject {
        var object = NetworkObject()
        object.isSuspended = network.registry.isSuspended
        object.failure = turn.writingStop?.message
        object.listen = network.listening.map(\.text)
        object.announces = network.announces
        object.peers = peerCounts
        return object
    }

    var peerCounts: PeerCounts {
        var counts = PeerCounts()
        for peer in network.registry.peers {
            switch word(of: peer.state) {
            case "connected": counts.connected += 1
            case "dialing": counts.dialing += 1
            case "blocked": counts.blocked += 1
            default: counts.waiting += 1
            }
        }
        return counts
    }

    func suspendNetwork(_ scope: CallScope) throws(NodeError) -> CommandOutcome {
        network.registry.suspend()
        core.links.endAllAnonymous()
        for link in network.ordered {
            try stored { () throws(StorageError) in
                try core.links.drop(link, because: LinkEnding("net.suspended"))
            }
        }
        network.listening = []
        turn.emit(.setNetwork(isOn: false))
        // The answer is an effect behind the closings, so it leaves after the last link closed.
        return .reply(networkObject.json)
    }

    /// Answered by `answerResumes`, when the listener is back or has failed to come back.
    func resumeNetwork(_ scope: CallScope) throws(NodeError) -> CommandOutcome {
        let isOff = network.registry.isSuspended || network.listening.isEmpty
        network.registry.resume(now: time.monotonic)
        guard isOff else { return .reply(networkObject.json) }
        turn.emit(.setNetwork(isOn: true))
        network.resumes.append(scope.call)
        return .later
    }

    /// The loop said where it listens now.
    func answerResumes() {
        for call in network.resumes {
            turn.emit(.answer(call, .success(networkObject.json)))
        }
        network.resumes = []
    }
}
