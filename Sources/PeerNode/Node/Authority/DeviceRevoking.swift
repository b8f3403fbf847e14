import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Ending what a device may do (PROTOCOL.md, 4).
extension Memberships {
    func revokeDevice(
        _ reference: String, phrase: String?, isForced: Bool, _ scope: CallScope
    ) throws(NodeError) -> DeviceObject {
        var revoked: DeviceID?
        let object = try core.commands.inEach(reference, scope, "device revoke") {
            (workspace, device) throws(NodeError) in
            revoked = device
            guard device != home?.device else {
                throw .forbidden(
                    "a device cannot revoke itself", reason: "device.self",
                    hint: "do it on another device of yours, or wsx-node workspace leave")
            }
            guard let owner = workspace.owner(of: device) else {
                throw .notFound("device", reference, field: "device", hint: "wsx-node device list")
            }
            guard workspace.evaluator.bestGrant(of: device, as: owner) != nil else { return }
            try revoke(device, of: owner, phrase: phrase, isForced: isForced, in: workspace)
        }
        return revoked.map { telling(object, where: $0) } ?? object
    }

    /// Adds to what is told of a device that was revoked where else it has to be.
    ///
    /// A phrase's certificate names the device and no workspace. Whoever stole the device can show
    /// it wherever the phrase counts, also in a workspace that this home knows nothing of.
    private func telling(_ object: DeviceObject, where device: DeviceID) -> DeviceObject {
        var object = object
        let others = workspaces.values.sorted { $0.number < $1.number }
        object.isCertified = others.contains { workspace in
            workspace.authorityOrder.contains { id in
                let listed = workspace.authority[id]?.payload.listedDevices ?? []
                return Binding.recoveryDevice(of: listed) != nil
                    && listed.dropFirst().contains { $0.device == device }
            }
        }
        object.stillIn = others.filter { workspace in
            guard workspace.standing == .member, workspace.fields.deletion == nil,
                let owner = workspace.owner(of: device)
            else { return false }
            return workspace.evaluator.bestGrant(of: device, as: owner) != nil
        }.map { (PublicID.workspace($0.id), $0.displayName) }
        return object
    }

    private func revoke(
        _ device: DeviceID, of owner: MemberID, phrase: String?, isForced: Bool,
        in workspace: Workspace
    ) throws(NodeError) {
        var signer: SigningKey?
        if let phrase {
            let key = try core.enrolment.recoveryPhrase(phrase).signingKey
            guard workspace.owner(of: key.device) == workspace.member else {
                throw NodeError(
                    .wrongSecret, "this recovery phrase is not yours in this workspace",
                    hint: "wsx-node device list", reason: "recovery.unknown",
                    fields: [.init(name: "phrase", reason: "wrong")])
            }
            signer = key
        }
        let isOwn = owner == workspace.member
        guard let role = workspace.ownRole, isOwn || role <= .admin else {
            throw notAllowed(in: workspace)
        }
        let cuts = Array(
            cuts(ofDevices: [device], in: workspace).suffix(Limits.cutsPerOperationMax))
        let rekey = core.keys.rekey(excluding: [device], in: workspace)
        let made = try stored { () throws(StorageError) -> OperationID? in
            let made = try core.log.authorAuthority(
                in: workspace, signedBy: signer, undoingFeatures: isForced,
                naming: workspace.evaluator.bindings(of: [device]),
                isEffective: { $0.bestGrant(of: device, as: owner) == nil },
                { _ in .removeDevice(device, cuts: cuts, rekey: rekey) })
            if made != nil { try endInvites(of: workspace, signedBy: signer) { $0 == device } }
            return made
        }
        guard made == nil else { return }
        if workspace.judged.awaitsLaterVersion {
            let isWeaker = isForced && isOwn && signer == nil
            let flags = isForced ? (isWeaker ? "--force --phrase -" : nil) : "--force"
            throw .laterVersion(workspace, unlessRevoking: device, with: flags)
        }
        if isOwn, signer == nil, workspace.ownRole != nil {
            throw .forbidden(
                "only an older device, or your recovery phrase, can revoke that one",
                reason: "device.older",
                hint: "give the recovery phrase: wsx-node device revoke ID --phrase -")
        }
        throw notAllowed(in: workspace)
    }

    /// What this device is told when it was revoked, `nil` while it was not.
    func revokedHere(in workspace: Workspace) -> NodeError? {
        guard ownRevocation(in: workspace) != nil, let end = ownEnd(in: workspace) else {
            return nil
        }
        return NodeError(
            .deviceRevoked, end.message, hint: end.hint, reason: "device.revoked")
    }
}
