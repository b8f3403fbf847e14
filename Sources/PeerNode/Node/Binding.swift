import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// The checks of an authority operation that need keys: who may be called what, and who has
/// shown to hold which key (PROTOCOL.md, 4 "Binding"). A function of the operation and its past.
enum Binding {
    /// Whether member ids, possession signatures and proofs in `payload` are good.
    ///
    /// - Parameter grant: the grant that the operation cites.
    static func isGood(
        _ payload: AuthorityPayload, under grant: OperationID, in workspace: Workspace,
        isRoot: Bool
    ) -> Bool {
        switch payload {
        case .create(let create):
            return isRoot
                && isMember(create.member, of: create.devices, salt: create.nonce)
        case .admit(let joiner, _, _, _), .request(let joiner):
            return isMember(
                joiner.member, of: joiner.devices, salt: salt(of: joiner.member, in: workspace))
                && isProven(
                    joiner.proof, of: joiner.invite, joiner.member, joiner.devices, in: workspace)
        case .addDevices(let devices, _, _):
            // Nobody makes another's device an own one.
            guard let member = workspace.evaluator.subject(ofGrant: grant) else { return false }
            return arePossessed(devices, by: member, salt: salt(of: member, in: workspace))
        default:
            return true
        }
    }

    /// The create nonce for the creator, the workspace's id for everybody else.
    static func salt(of member: MemberID, in workspace: Workspace) -> [UInt8] {
        let root = workspace.authority[OperationID(sameBytesAs: workspace.id)]?.payload
        if case .create(let create)? = root, create.member == member { return create.nonce }
        return workspace.id.bytes
    }

    /// Whether `join2` is good, judged before anything is written because of it.
    static func isGood(
        _ request: JoinRequest, _ devices: [DeviceEntry], in workspace: Workspace
    ) -> Bool {
        isMember(request.member, of: devices, salt: salt(of: request.member, in: workspace))
            && isProven(
                request.proof, of: request.invite, request.member, devices, in: workspace)
    }

    /// The member that `device` is the first device of.
    static func member(of device: DeviceID, salt: [UInt8]) -> MemberID {
        MemberID(prefixOf: Hash.name("wsx-member", device.bytes + salt) as OperationID)
    }

    /// What a device signs to show that it holds its keys.
    static func possession(salt: [UInt8], member: MemberID, agreementKey: [UInt8]) -> [UInt8] {
        Array("wsx-dev1".utf8) + salt + member.bytes + agreementKey
    }

    /// What the invite key signs over who comes in.
    static func proof(
        workspace: WorkspaceID, invite: OperationID, member: MemberID, devices: [DeviceEntry]
    ) -> [UInt8] {
        Array("wsx-inv1".utf8) + workspace.bytes + invite.bytes + member.bytes
            + Hash.personal("wsx-devs1", encoded(devices))
    }

    /// `Enc` of a list of devices.
    static func encoded(_ devices: [DeviceEntry]) -> [UInt8] { DeviceEntry.encoded(devices) }

    /// What a recovery key signs once, when it is made: whose it is. Its secret is gone after that,
    /// so it cannot sign for each workspace; the device that it names does.
    static func recoveryCertificate(
        agreementKey: [UInt8], of device: DeviceID
    ) -> [UInt8] {
        Array("wsx-rec1".utf8) + agreementKey + device.bytes
    }

    /// The recovery device in a list of `create` or `admit`: the first of several.
    static func recoveryDevice(of devices: [DeviceEntry]) -> DeviceID? {
        devices.count > 1 ? devices.first?.device : nil
    }

    private static func isMember(
        _ member: MemberID, of devices: [DeviceEntry], salt: [UInt8]
    ) -> Bool {
        guard let first = devices.first, member == self.member(of: first.device, salt: salt)
        else { return false }
        guard devices.count > 1 else { return arePossessed(devices, by: member, salt: salt) }
        return Set(devices.map(\.device)).count == devices.count
            && first.device.signed(
                recoveryCertificate(
                    agreementKey: first.agreementKey, of: devices[1].device), first.possession)
            && arePossessed(Array(devices.dropFirst()), by: member, salt: salt)
    }

    static func arePossessed(
        _ devices: [DeviceEntry], by member: MemberID, salt: [UInt8]
    ) -> Bool {
        devices.allSatisfy { entry in
            entry.device.signed(
                possession(salt: salt, member: member, agreementKey: entry.agreementKey),
                entry.possession)
        }
    }

    private static func isProven(
        _ signature: Signature, of id: OperationID, _ member: MemberID, _ devices: [DeviceEntry],
        in workspace: Workspace
    ) -> Bool {
        guard case .invite(let invite)? = workspace.authority[id]?.payload,
            let key = DeviceID(untrusted: invite.publicKey)
        else { return false }
        let message = proof(
            workspace: workspace.id, invite: id, member: member, devices: devices)
        return key.signed(message, signature)
    }
}

extension AuthorityPayload {
    /// What the evaluator is told of the payload.
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
                devices: joiner.devices.map(\.device), answering: nil)
        case .admit(let joiner, _, _, let request):
            .admit(
                invite: joiner.invite, member: joiner.member,
                devices: joiner.devices.map(\.device), request: request)
        case .addDevices(let devices, _, _): .addDevices(devices.map(\.device))
        case .grant(let grant):
            .grant(
                RoleGrant(
                    member: grant.member, devices: grant.devices, role: grant.role,
                    replaces: grant.replaces, drops: grant.drops ? [] : nil))
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
        case .unknown: .unknown
        }
    }

    /// What the payload keeps of the content it revokes.
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
