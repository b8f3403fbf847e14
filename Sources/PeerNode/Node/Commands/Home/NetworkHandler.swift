import CRDTStore
import SyncProtocol
import WorkspaceModel

/// Implements the commands about peers, the network and the sync state.
final class NetworkHandler: CorePart, NetworkCommands {
    // MARK: Peers

    func peers(_ request: PageRequest, _ scope: CallScope) throws(NodeError) -> Page<PeerObject> {
        let peers = network.registry.peers.filter { !isFormer($0) }
        let (items, next) = try core.queries.page(
            peers.map { core.queries.object(of: $0) }, request)
        return Page(Array(items), next: next)
    }

    /// Whether a peer is a device of somebody who is out everywhere, and not there now: it is
    /// looked for only to be told so.
    private func isFormer(_ peer: PeerRegistry.Peer) -> Bool {
        guard case .device(let device) = peer.name, peer.state != .connected else { return false }
        let known = workspaces.values.filter { $0.owner(of: device) != nil }
        return !known.isEmpty
            && known.allSatisfy { core.membership.standing(of: device, in: $0) == .removed }
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
        return core.queries.object(of: peer)
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
        let object = core.queries.object(of: found)
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
            for (number, distance) in core.queries.distances(to: device).sorted(by: {
                $0.key < $1.key
            }) {
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
        object.listen = network.addresses.listening.map(\.text)
        object.announces = network.addresses.announces
        object.peers = peerCounts
        return object
    }

    var peerCounts: PeerCounts {
        var counts = PeerCounts()
        for peer in network.registry.peers {
            switch core.queries.word(of: peer.state) {
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
        network.addresses.listening = []
        turn.emit(.setNetwork(isOn: false))
        // The answer is an effect behind the closings, so it leaves after the last link closed.
        return .reply(networkObject.json)
    }

    /// Answered by `answerResumes`, when the listener is open again or has failed to open.
    func resumeNetwork(_ scope: CallScope) throws(NodeError) -> CommandOutcome {
        let isOff = network.registry.isSuspended || network.addresses.listening.isEmpty
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
