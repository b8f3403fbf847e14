import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// Revokes devices (PROTOCOL.md, 4).
extension Memberships {
    func revoke(
        _ device: DeviceID, of owner: MemberID, phrase: String?, isForced: Bool,
        in workspace: Workspace
    ) throws(NodeError) {
        var signer: SigningKey?
        if let phrase {
            let key = try recoveryPhrase(phrase).signingKey
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
                naming: workspace.judged.evaluator.bindings(of: [device]),
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
                reason: KnownReason.olderDevice.rawValue,
                hint: "give the recovery phrase: wsx-node device revoke ID --phrase -")
        }
        throw notAllowed(in: workspace)
    }

    /// The error when this device was revoked, `nil` while it was not.
    func revokedHere(in workspace: Workspace) -> NodeError? {
        guard ownRevocation(in: workspace) != nil, let end = ownEnd(in: workspace) else {
            return nil
        }
        return NodeError(
            .deviceRevoked, end.message, hint: end.hint, reason: "device.revoked")
    }

    /// The phrase that somebody typed.
    func recoveryPhrase(_ text: String) throws(NodeError) -> RecoveryPhrase {
        let message: String
        do throws(RecoveryPhrase.Problem) { return try RecoveryPhrase(text) } catch {
            message =
                switch error {
                case .wrongCount(let count):
                    "a recovery phrase has \(RecoveryPhrase.wordCount) words, not \(count)"
                case .unknownWord(let position):
                    "word \(position) is not in the list for recovery phrases"
                case .badCheck:
                    "the words do not belong together: one is wrong, or two are swapped"
                }
        }
        throw NodeError(
            .badRequest, message, hint: "type all 24 words in order",
            reason: "recovery.phrase", fields: [.init(name: "phrase", reason: "form")])
    }
}
