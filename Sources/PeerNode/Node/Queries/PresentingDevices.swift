import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// What people see of devices and peers.
extension Queries {
    /// The devices that members have recently added to themselves, the newest first. A thief with
    /// somebody's key does that, too.
    func newDevices(of workspace: Workspace) -> [(PersonObject, DeviceObject)] {
        // A device that was there before this one is not a change.
        let joined = home.flatMap {
            object(ofDevice: $0.device, in: workspace)?.addedAt
        }
        let recent = time.wall &- min(Limits.newDeviceMilliseconds, time.wall)
        let since = max(recent, UInt64(clamping: joined ?? 0))
        var found: [(PersonObject, DeviceObject)] = []
        for id in workspace.authorityOrder.suffix(Limits.newDeviceOperationsMax).reversed() {
            guard found.count < Limits.newDevicesShownMax else { break }
            guard let record = workspace.authority[id], record.timestamp.milliseconds >= since,
                case .addDevices(let devices, _, _, _) = record.payload,
                let owner = workspace.judged.subject(ofGrant: id),
                owner != workspace.member,
                workspace.saidName(of: owner) != nil
            else { continue }
            for device in devices.map(\.device) where !workspace.recoveryDevices.contains(device) {
                guard let object = self.object(ofDevice: device, of: owner, in: workspace),
                    !object.isRevoked
                else { continue }
                found.append((core.membership.person(owner, in: workspace), object))
            }
        }
        return found
    }

    /// A device as one of a member's; without one as that of whose it is.
    func object(
        ofDevice device: DeviceID, of member: MemberID? = nil, in workspace: Workspace
    ) -> DeviceObject? {
        guard let owner = member ?? workspace.owner(of: device),
            let binding = workspace.judged.binding(of: device, to: owner)
                ?? workspace.judged.bestGrant(of: device, as: owner),
            let record = workspace.authority[binding]
        else { return nil }
        let isRecovery = workspace.recoveryDevices.contains(device)
        let id = PublicID.device(device)
        var object = DeviceObject(
            id: id,
            name: workspace.deviceName(device)
                ?? (isRecovery ? "recovery phrase" : String(id.prefix(10))),
            addedAt: Int64(clamping: record.timestamp.milliseconds))
        let (origin, author) = origin(of: device, owner, binding, in: workspace)
        object.origin = origin
        object.addedBy = author.map { core.membership.person($0, in: workspace) }
        object.isSelf = device == home?.device
        object.isRecovery = isRecovery
        object.isRevoked = !workspace.judged.isIn(device, as: owner)
        object.lastSeen = core.links.lastSeen(device)
        return object
    }

    /// How a device came in, and who let it: what `device list` and `member show` say, so that
    /// nobody's device is there without anybody's noticing.
    private func origin(
        of device: DeviceID, _ owner: MemberID, _ binding: OperationID, in workspace: Workspace
    ) -> (word: String, by: MemberID?) {
        let judged = workspace.judged
        let ends = workspace.memberEnds[owner] ?? []
        if let grant = judged.bestGrant(of: device, as: owner),
            case .grant? = workspace.authority[grant]?.payload,
            ends.contains(where: { judged.isAncestor($0, of: grant) })
        {
            return ("returned", judged.author(of: grant))
        }
        let author = judged.author(of: binding)
        switch workspace.authority[binding]?.payload {
        case .create(let create)?: return ("founded", create.member)
        case .addDevices(_, _, _, let takesPlace)?:
            let linker = workspace.authority[binding]?.log.device
            let isPhrase =
                !takesPlace && (linker.map(workspace.recoveryDevices.contains) ?? false)
            return (isPhrase ? "recovered" : "linked", author)
        default: return ("invited", author)
        }
    }

    func peerData(of peer: PeerRegistry.Peer) -> PeerObject { object(of: peer) }

    func object(of peer: PeerRegistry.Peer) -> PeerObject {
        var object = PeerObject(state: word(of: peer.state))
        if case .dialing(let address) = peer.state {
            object.address = address.text
        } else {
            object.address = peer.addresses.first?.address.text
        }
        // The address of a link is the one that the peer really has.
        if case .device(let device) = peer.name { describe(device, &object) }
        object.lastTried = peer.lastTried.map { tried in
            Int64(clamping: time.wall)
                - Int64(clamping: time.monotonic - min(tried, time.monotonic))
        }
        object.lastSeen = (peer.state == .connected ? time.wall : peer.lastSeen)
            .map { Int64(clamping: $0) }
        object.lastError = peer.lastError
        return object
    }

    private func describe(_ device: DeviceID, _ object: inout PeerObject) {
        object.id = PublicID.device(device)
        // Where this home is no member it reads nobody's name.
        let known = workspaces.values.sorted {
            ($0.standing == .member ? 0 : 1, $0.number) < (
                $1.standing == .member ? 0 : 1, $1.number
            )
        }
        for workspace in known {
            if let standing = workspace.members.first(where: {
                $0.devices.contains(device)
            }) {
                object.member = core.membership.person(standing.member, in: workspace)
                object.name = workspace.displayName(of: standing.member)
                break
            }
        }
        for case let address? in network.links(to: device).map(\.address) {
            object.address = address
        }
        let distances = distances(to: device)
        let told = distances.values.compactMap { $0 }
        guard told.count == distances.count, !told.isEmpty else { return }
        object.behind = told.reduce(0) { $0 + $1.behind }
        object.ahead = told.reduce(0) { $0 + $1.ahead }
    }

    /// How much this device and another one differ, by workspace; `nil` while they compare. Two
    /// devices that have dialled each other have two links for a while; the one that is further
    /// ahead counts.
    func distances(to device: DeviceID) -> [Int64: (behind: Int64, ahead: Int64)?] {
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

    func word(of state: PeerRegistry.DialState) -> String {
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
}
