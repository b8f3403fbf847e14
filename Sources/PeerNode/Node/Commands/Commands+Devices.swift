import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// The devices of members, as commands ask for them.
extension CommandDesk {
    // MARK: List

    func devices(
        of member: MemberReference?, _ request: PageRequest, _ scope: CallScope
    ) throws(NodeError) -> Page<DeviceObject> {
        let workspace: Workspace = try core.queries.workspace(scope)
        let owner = try member.map { (reference) throws(NodeError) in
            try person(reference, in: workspace, orRemoved: true, orFormerly: true)
        }
        let all = knownDevices(of: owner ?? workspace.member, in: workspace)
        let (items, next) = try core.queries.page(all, request)
        let found = items.compactMap {
            object(ofDevice: $0, of: owner ?? workspace.member, in: workspace)
        }
        return Page(found, next: next)
    }

    /// Every device that was ever bound to a member, the earliest first.
    private func knownDevices(of member: MemberID, in workspace: Workspace) -> [DeviceID] {
        var devices: [DeviceID] = []
        for id in workspace.authorityOrder {
            for entry in workspace.authority[id]?.payload.listedDevices ?? []
            where workspace.evaluator.isBound(entry.device, to: member)
                && !devices.contains(entry.device)
            {
                devices.append(entry.device)
            }
        }
        return devices
    }

    /// A device as one of a member's; without one as that of whose it is.
    func object(
        ofDevice device: DeviceID, of member: MemberID? = nil, in workspace: Workspace
    ) -> DeviceObject? {
        guard let owner = member ?? workspace.owner(of: device),
            let binding = workspace.evaluator.binding(of: device, to: owner),
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
        object.addedBy = author.map { core.queries.person($0, in: workspace) }
        object.isSelf = device == home?.device
        object.isRecovery = isRecovery
        object.isRevoked = workspace.evaluator.bestGrant(of: device, as: owner) == nil
        object.lastSeen = lastSeen(device)
        return object
    }

    /// How a device came in, and who let it: what `device list` and `member show` say, so that
    /// nobody's device is there without anybody's noticing.
    private func origin(
        of device: DeviceID, _ owner: MemberID, _ binding: OperationID, in workspace: Workspace
    ) -> (word: String, by: MemberID?) {
        let evaluator = workspace.evaluator
        let ends = workspace.memberEnds[owner] ?? []
        if let grant = evaluator.bestGrant(of: device, as: owner),
            case .grant? = workspace.authority[grant]?.payload,
            ends.contains(where: { evaluator.isAncestor($0, of: grant) })
        {
            return ("returned", evaluator.author(of: grant))
        }
        let author = evaluator.author(of: binding)
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

    /// When a device was heard last, milliseconds since 1970; of this one, and of one that a link
    /// stands to, it is now.
    func lastSeen(_ device: DeviceID) -> Int64? {
        let peer = network.registry.peer(.device(device))
        let isHere = device == home?.device || peer?.state == .connected
        return (isHere ? time.wall : peer?.lastSeen).map { Int64(clamping: $0) }
    }

    /// The device that a call names: by its id, the start of that, or the name of an own one.
    func device(
        _ reference: String, in workspace: Workspace
    ) throws(NodeError) -> DeviceID {
        let devices = workspace.evaluator.boundDevices
        let isLong = isIdentifier(reference, prefix: "d_")
        let found = devices.filter { device in
            if isLong { return PublicID.device(device).utf8.starts(with: reference.utf8) }
            guard workspace.owner(of: device) == workspace.member,
                let name = workspace.deviceName(device)
            else { return false }
            return NameFolding.matches(name, reference)
        }
        if found.count > 1 {
            throw .ambiguous(
                reference,
                candidates: found.compactMap { object(ofDevice: $0, in: workspace)?.json },
                field: "device")
        }
        guard let only = found.first else {
            throw .notFound("device", reference, field: "device", hint: "wsx-node device list")
        }
        return only
    }

    // MARK: Names

    func renameDevice(
        _ reference: String, name: String, _ scope: CallScope
    ) throws(NodeError) -> DeviceObject {
        let name = try NewNames.plain(name, field: "name")
        return try inEach(reference, scope, "device rename") {
            (workspace, device) throws(NodeError) in
            guard workspace.owner(of: device) == workspace.member else {
                throw .forbidden(
                    "that device belongs to someone else", reason: "device.foreign",
                    hint: "wsx-node device list")
            }
            try core.profiles.sayOfOneself(.device(device, name: name), in: workspace)
        }
    }

    /// Tells a workspace that this home has just come into what its device is called, where
    /// somebody has said so, or the machine has a name.
    func nameDevice(_ chosen: String? = nil, in workspace: Workspace) throws(StorageError) {
        guard let home, let name = chosen ?? environment.deviceName else { return }
        _ = try core.profiles.authorProfile(.device(home.device, name: name), in: workspace)
    }

    /// Does something about a device in the workspace that the call names; without one in every
    /// workspace in which it is one's own. What fails in some of them is listed in the answer.
    func inEach(
        _ reference: String, _ scope: CallScope, _ words: String,
        _ act: (Workspace, DeviceID) throws(NodeError) -> Void
    ) throws(NodeError) -> DeviceObject {
        var (first, device) = try deviceAnywhere(reference, scope)
        var all = [first]
        if scope.workspace == nil, first.owner(of: device) == first.member {
            all += workspaces.values.sorted { $0.number < $1.number }.filter { other in
                other !== first && isOwn(device, in: other)
            }
        }
        var outcomes: [DeviceOutcome] = []
        var failure: NodeError?
        for workspace in all {
            var told: (message: String, hint: String?)?
            do throws(NodeError) { try act(workspace, device) } catch {
                if self.turn.failure != nil { throw error }
                failure = failure ?? error
                let id = PublicID.device(device).prefix(14)
                let name = workspace.displayName
                let again = "wsx-node -w \(NodeError.shellWord(name)) \(words) \(id)"
                told = (error.message, "\(error.hint ?? again)")
                if error.reason == "device.older" { told?.hint = "\(again) --phrase -" }
            }
            if told == nil { first = workspace }
            outcomes.append(
                DeviceOutcome(
                    id: PublicID.workspace(workspace.id), name: workspace.displayName,
                    failure: told))
        }
        if let failure, outcomes.allSatisfy({ $0.failure != nil }) { throw failure }
        guard var object = object(ofDevice: device, in: first) else {
            throw .internalFailure(reason: "device")
        }
        object.workspaces = outcomes
        return object
    }

    /// Whether a device is the own person's in a workspace in which that person is.
    private func isOwn(_ device: DeviceID, in workspace: Workspace) -> Bool {
        workspace.standing == .member && workspace.fields.deletion == nil
            && workspace.owner(of: device) == workspace.member
            && core.membership.ownEnd(in: workspace) == nil
    }

    /// The device that a call means: looked for in its workspace, and then, where it names none,
    /// among one's own devices in the others.
    private func deviceAnywhere(
        _ reference: String, _ scope: CallScope
    ) throws(NodeError) -> (Workspace, DeviceID) {
        let chosen: Workspace = try core.queries.workspace(scope)
        do throws(NodeError) { return (chosen, try device(reference, in: chosen)) } catch {
            guard scope.workspace == nil, error.kind == .notFound else { throw error }
            var found: [(workspace: Workspace, device: DeviceID)] = []
            for other in workspaces.values.sorted(by: { $0.number < $1.number })
            where other !== chosen {
                do throws(NodeError) {
                    let device = try device(reference, in: other)
                    if isOwn(device, in: other) { found.append((other, device)) }
                } catch {
                    guard error.kind == .notFound else { throw error }
                }
            }
            guard let first = found.first else { throw error }
            let others = found.filter { $0.device != first.device }
            guard others.isEmpty else {
                throw .ambiguous(
                    reference,
                    candidates: ([first] + others).compactMap {
                        object(ofDevice: $0.device, in: $0.workspace)?.json
                    }, field: "device")
            }
            return first
        }
    }

    // MARK: Events

    /// One's own new device, or a changed key of somebody else, which is said aloud.
    func recordAdded(
        _ devices: [DeviceID], by id: OperationID, _ arrival: Int64, _ workspace: Workspace,
        _ source: OperationSource
    ) throws(StorageError) {
        guard let owner = workspace.evaluator.subject(ofGrant: id) else { return }
        let isOwn = owner == workspace.member
        for device in devices {
            try turn.record(
                isOwn ? .deviceAdded : .memberKeyChanged, workspace: workspace.number,
                arrival: arrival,
                extra: device.bytes + owner.bytes, isBackfill: source.isBackfill)
            let names = "member=\(PublicID.member(owner)) device=\(PublicID.device(device))"
            turn.emit(.log(isOwn ? .info : .warning, "member.key_changed \(names)"))
            if !isOwn { try warnOfTaken(device, by: owner, in: workspace) }
        }
    }

    /// Who makes somebody's device an own one has its key: nobody else could have signed that.
    private func warnOfTaken(
        _ device: DeviceID, by member: MemberID, in workspace: Workspace
    ) throws(StorageError) {
        guard workspace.evaluator.isBound(device, to: workspace.member) else { return }
        let name = NodeError.quoted(workspace.displayName(of: member))
        let id = PublicID.device(device)
        let own = workspace.deviceName(device).map(NodeError.quoted) ?? id
        try core.warn([
            "kind": "device.taken",
            "message": .string(
                "\(name) also uses your device \(own), so someone else has its key: "
                    + "wsx-node device revoke \(id.prefix(14))"),
            "workspace": .string(PublicID.workspace(workspace.id)),
        ])
        turn.emit(.log(.warning, "device.taken"))
    }

    func deviceData(
        _ event: EventStore.StoredEvent, _ type: EventType, _ workspace: Workspace
    ) -> JSONValue {
        guard let extra = event.extra, let device = DeviceID(untrusted: Array(extra.prefix(32))),
            let owner = MemberID(untrusted: Array(extra.dropFirst(32)))
                ?? workspace.owner(of: device),
            let object = object(ofDevice: device, of: owner, in: workspace)
        else { return .null }
        guard var fields = object.json.objectValue else { return object.json }
        let member = core.queries.person(owner, in: workspace).json
        // An event is the same whenever it is read: it tells of that time.
        fields["last_seen"] = .null
        // One that was revoked keeps a name that can change.
        if type != .deviceRenamed { fields["revoked"] = .bool(type == .deviceRevoked) }
        if type == .memberKeyChanged { return ["member": member, "device": .object(fields)] }
        fields.append("member", member)
        return .object(fields)
    }
}
