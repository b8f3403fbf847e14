import WorkspaceCrypto
import WorkspaceModel

/// What a device consents to when it enters a workspace: with which other devices, by which invite,
/// and before whom.
///
/// A signature is valid for one list of devices, in one workspace, for one invite, before one
/// answerer, so that nobody can replay it elsewhere (PROTOCOL.md, 4.0.1).
struct DeviceConsent {
    /// By which kind of operation it enters.
    private let type: UInt8
    /// 32 bytes; zeros while the workspace has no id.
    private let workspace: [UInt8]
    /// 32 bytes: what the entry rests on.
    private let context: [UInt8]
    /// The device that records the entry; zeros in the root.
    private let answerer: DeviceID
    private let member: MemberID

    /// The founding of a workspace; `nonce` has 16 bytes.
    static func founding(nonce: [UInt8], member: MemberID) -> Self {
        let padded = nonce + [UInt8](repeating: 0, count: max(0, 32 - nonce.count))
        return Self(
            type: 1, workspace: [UInt8](repeating: 0, count: 32), context: padded,
            answerer: .zero, member: member)
    }

    /// Coming in by an invite.
    static func joining(
        _ workspace: WorkspaceID, by invite: OperationID, before answerer: DeviceID,
        member: MemberID
    ) -> Self {
        Self(
            type: 3, workspace: workspace.bytes, context: invite.bytes, answerer: answerer,
            member: member)
    }

    /// For a request to be readmitted after a removal or a departure.
    static func returning(
        to workspace: WorkspaceID, after end: OperationID, before answerer: DeviceID,
        member: MemberID
    ) -> Self {
        Self(
            type: 4, workspace: workspace.bytes, context: end.bytes, answerer: answerer,
            member: member)
    }

    /// Becoming another device of a member.
    static func adding(
        to workspace: WorkspaceID, before answerer: DeviceID, member: MemberID
    ) -> Self {
        Self(
            type: 5, workspace: workspace.bytes, context: [UInt8](repeating: 0, count: 32),
            answerer: answerer, member: member)
    }

    /// The bytes that each device of the list signs.
    func message(for devices: [DeviceEntry]) -> [UInt8] {
        Array("wsx-dev2".utf8) + [type] + workspace + context + answerer.bytes + member.bytes
            + Hash.personal("wsx-devs2", DeviceEntry.encodedKeys(devices))
    }

    /// Whether every device of a list has consented. Where it may begin with a recovery device,
    /// that has certified the second instead, once, when it was made.
    func isSigned(by devices: [DeviceEntry], mayRecover: Bool) -> Bool {
        // One point has one key: two devices with one secret could not be told apart.
        guard devices.allSatisfy({ AgreementPublicKey($0.agreementKey).isCanonical }) else {
            return false
        }
        let message = message(for: devices)
        guard mayRecover, devices.count > 1, let first = devices.first else {
            return devices.allSatisfy { $0.device.signed(message, $0.signature) }
        }
        let certificate = Binding.recoveryCertificate(
            agreementKey: first.agreementKey, of: devices[1].device)
        return first.device.signed(certificate, first.signature)
            && devices.dropFirst().allSatisfy { $0.device.signed(message, $0.signature) }
    }
}

extension HomeIdentity {
    /// The devices with which this person comes into a workspace, strongest first: the recovery
    /// device, if there is one, then this one.
    func deviceEntries(entering consent: DeviceConsent) -> [DeviceEntry] {
        let keys = [phrase].compactMap { $0 } + [unsigned]
        return keys.dropLast() + [signed(keys, consent)]
    }

    /// This device alone, when it is linked or returns.
    func deviceEntry(entering consent: DeviceConsent) -> DeviceEntry {
        signed([unsigned], consent)
    }

    private var unsigned: DeviceEntry {
        DeviceEntry(device: device, agreementKey: box.publicKey.bytes, signature: .zero)
    }

    private func signed(_ list: [DeviceEntry], _ consent: DeviceConsent) -> DeviceEntry {
        DeviceEntry(
            device: device, agreementKey: box.publicKey.bytes,
            signature: signing.signature(for: consent.message(for: list)))
    }
}
