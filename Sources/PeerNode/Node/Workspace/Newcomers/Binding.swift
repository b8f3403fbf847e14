import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// The checks of an authority operation that need keys: which names are allowed, and which devices
/// have consented (PROTOCOL.md, A-1 to A-4). A function of the operation and its past.
enum Binding {
    /// Whether member ids, signatures of devices and proofs in `payload` are good.
    ///
    /// - Parameters:
    ///   - author: the device that signed the operation.
    ///   - grant: the grant that the operation cites.
    static func isGood(
        _ payload: AuthorityPayload, by author: DeviceID, under grant: OperationID,
        in workspace: Workspace, isRoot: Bool
    ) -> Bool {
        switch payload {
        case .create(let create):
            return isRoot && isNamedAfterFirst(create.member, create.devices, salt: create.nonce)
                && DeviceConsent.founding(nonce: create.nonce, member: create.member)
                    .isSigned(by: create.devices, mayRecover: true)
        case .request(let joiner):
            return isGood(joiner, before: author, in: workspace)
        case .admit(let joiner, _, _, let request):
            guard joiner.answering == nil else { return false }
            guard let request else { return isGood(joiner, before: author, in: workspace) }
            guard let record = workspace.authority[request],
                case .request(let asked) = record.payload,
                DeviceEntry.encodedKeys(asked.devices) == DeviceEntry.encodedKeys(joiner.devices)
            else { return false }
            return isGood(joiner, before: record.log.device, in: workspace)
        case .addDevices(let devices, _, _, _):
            // Nobody can add another member's device to themselves.
            guard devices.count == 1,
                let member = workspace.judged.evaluator.subject(ofGrant: grant, device: author)
            else { return false }
            return DeviceConsent.adding(to: workspace.id, before: author, member: member)
                .isSigned(by: devices, mayRecover: false)
        default:
            return true
        }
    }

    /// Whether the person who asks to join or rejoin has consented to that before this answerer,
    /// and holds the invite.
    static func isGood(
        _ joiner: AuthorityPayload.Joiner, before answerer: DeviceID, in workspace: Workspace
    ) -> Bool {
        guard isProven(joiner, in: workspace) else { return false }
        guard let end = joiner.answering else {
            return isNamedAfterFirst(joiner.member, joiner.devices, salt: workspace.id.bytes)
                && DeviceConsent.joining(
                    workspace.id, by: joiner.invite, before: answerer, member: joiner.member
                ).isSigned(by: joiner.devices, mayRecover: true)
        }
        return isReturn(joiner.devices)
            && DeviceConsent.returning(
                to: workspace.id, after: end, before: answerer, member: joiner.member
            ).isSigned(by: joiner.devices, mayRecover: false)
    }

    /// The bytes that a recovery key signs once, when it is made: whose it is. Its secret is gone
    /// after that, so it cannot sign for each workspace; the device that it names does.
    static func recoveryCertificate(
        agreementKey: [UInt8], of device: DeviceID
    ) -> [UInt8] {
        Array("wsx-rec1".utf8) + agreementKey + device.bytes
    }

    /// The recovery device in a list of `create` or `admit`: the first of two.
    static func recoveryDevice(of devices: [DeviceEntry]) -> DeviceID? {
        devices.count > 1 ? devices.first?.device : nil
    }

    /// one device, or a recovery device and a daily one.
    private static func isNamedAfterFirst(
        _ member: MemberID, _ devices: [DeviceEntry], salt: [UInt8]
    ) -> Bool {
        guard let first = devices.first, devices.count <= 2,
            Set(devices.map(\.device)).count == devices.count
        else { return false }
        return member == HomeIdentity.member(of: first.device, salt: salt)
    }

    private static func isReturn(_ devices: [DeviceEntry]) -> Bool {
        !devices.isEmpty && devices.count <= Limits.returningDevicesMax
            && Set(devices.map(\.device)).count == devices.count
    }

    private static func isProven(
        _ joiner: AuthorityPayload.Joiner, in workspace: Workspace
    ) -> Bool {
        guard case .invite(let invite)? = workspace.authority[joiner.invite]?.payload,
            let key = DeviceID(untrusted: invite.publicKey)
        else { return false }
        return InviteSecret.verifies(
            admissionProof: joiner.proof, by: key, workspace: workspace.id,
            invite: joiner.invite, member: joiner.member,
            encodedDevices: DeviceEntry.encoded(joiner.devices))
    }
}

extension AuthorityPayload {
    /// The evaluator's input for the payload.
    var action: AuthAction {
        switch self {
        case .create(let create):
            .create(member: create.member, devices: create.devices.map(\.device))
        case .invite(let invite):
            .invite(
                InviteTerms(
                    role: invite.role, uses: invite.maximum,
                    expires: HybridTimestamp(
                        milliseconds: invite.expires, counter: .max
                    ).rawValue,
                    needsApproval: invite.approve, policy: invite.policy))
        case .request(let joiner):
            .request(
                invite: joiner.invite, member: joiner.member,
                devices: joiner.devices.map(\.device), answering: joiner.answering)
        case .admit(let joiner, _, _, let request):
            .admit(
                invite: joiner.invite, member: joiner.member,
                devices: joiner.devices.map(\.device), request: request)
        case .addDevices(let devices, _, _, _): .addDevices(devices.map(\.device))
        case .grant(let grant):
            .grant(
                RoleGrant(
                    member: grant.member, devices: grant.devices, role: grant.role,
                    replaces: grant.replaces, drops: grant.drops))
        case .remove(let remove): .remove(member: remove.member)
        case .removeDevice(let device, _, _): .removeDevice(device)
        case .revokeInvite(let invite): .revokeInvite(invite)
        case .leave: .leave
        case .recut(let revocation, _): .recut(revocation: revocation)
        case .cutPart: .cutPart
        case .createDocument: .createDocument
        case .setDocument: .setDocument
        case .deleteDocument: .deleteDocument
        case .setWorkspace(let settings):
            .setWorkspace(mayInvite: settings.whoMayInvite.flatMap(InviteRight.init))
        case .deleteWorkspace: .deleteWorkspace
        case .rekey: .rekey
        case .feature: .feature(isKnown: false)
        case .confirm(let operations): .confirm(operations)
        case .unknown: .unknown
        }
    }

    /// The epoch key that admit and adddev hand to devices.
    var namedKey: KeyID? {
        switch self {
        case .admit(_, let key, _, _), .addDevices(_, let key, _, _): key
        default: nil
        }
    }

    /// Whether it adds a new recovery phrase, right behind its author.
    var takesPlace: Bool {
        if case .addDevices(_, _, _, let takesPlace) = self { takesPlace } else { false }
    }

    /// How far the payload keeps the content it revokes.
    var cuts: [CutEntry] {
        switch self {
        case .grant(let grant): grant.cuts
        case .remove(let remove): remove.cuts
        case .removeDevice(_, let cuts, _), .leave(let cuts), .recut(_, let cuts),
            .cutPart(let cuts):
            cuts
        default: []
        }
    }
}
