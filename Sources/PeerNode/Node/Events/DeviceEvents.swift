import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// Events about devices.
extension Events {
    /// A new device of your own, or a changed key of somebody else. Both are logged.
    func recordAdded(
        _ devices: [DeviceID], by id: OperationID, _ arrival: Int64, _ workspace: Workspace,
        _ source: OperationSource
    ) throws(StorageError) {
        guard let owner = workspace.judged.subject(ofGrant: id) else { return }
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

    /// The author of an operation that takes over another member's device has its key: nobody else
    /// could have signed that.
    private func warnOfTaken(
        _ device: DeviceID, by member: MemberID, in workspace: Workspace
    ) throws(StorageError) {
        guard workspace.judged.isBound(device, to: workspace.member) else { return }
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
            let object = core.queries.object(ofDevice: device, of: owner, in: workspace)
        else { return .null }
        guard var fields = object.json.objectValue else { return object.json }
        let member = core.membership.person(owner, in: workspace).json
        // An event is the same whenever it is read: it describes that time.
        fields["last_seen"] = .null
        // The name of a revoked device can still change.
        if type != .deviceRenamed { fields["revoked"] = .bool(type == .deviceRevoked) }
        if type == .memberKeyChanged { return ["member": member, "device": .object(fields)] }
        fields.append("member", member)
        return .object(fields)
    }
}
