import CRDTStore
import WorkspaceModel

/// Members who replace their phrases, and others who do not know of it.
extension AuthFuzzer {
    /// What belongs to that, if the device can do anything of it.
    mutating func anyReplacement(
        by device: DeviceID, under grant: OperationID, knowing past: Set<OperationID>
    ) -> AuthAction? {
        guard let member = history.subject(of: grant, by: device) else { return nil }
        if hasHandedOn(device, of: member, in: past), !generator.oneIn(4) {
            return .removeDevice(device)
        }
        if isPhrase(device, of: member, in: past), generator.oneIn(2) {
            let new = newDevice(of: member)
            sign(Consent(context: .zero, answerer: device, member: member, devices: [new]))
            return .addDevices([new])
        }
        let ends = history.operations.filter { past.contains($0.id) && isFinalEnd($0) }
        if let end = ends.randomElement(using: &generator), generator.oneIn(3) {
            return .confirm([end.id])
        }
        return anyUnknowingGrant(knowing: past, butTo: member)
    }

    /// A role for all devices that a past knows of somebody who, at some place, has replaced a phrase or
    /// revoked a device.
    private mutating func anyUnknowingGrant(
        knowing past: Set<OperationID>, butTo author: MemberID
    ) -> AuthAction? {
        let people = history.operations.compactMap { operation -> MemberID? in
            if operation.takesPlace { return history.subject(of: operation.id) }
            guard case .removeDevice(let device) = operation.action, device != operation.device
            else { return nil }
            return history.subject(of: operation.grant, by: operation.device)
        }.filter { $0 != author }
        guard let member = people.randomElement(using: &generator) else { return nil }
        let role = Role.allCases.randomElement(using: &generator) ?? .member
        var words = RoleGrant(
            member: member, devices: history.devices(of: member, in: past), role: role,
            replaces: generator.oneIn(2))
        if role == .owner, generator.oneIn(2) {
            words.drops = history.devices(of: author, in: past)
        }
        return .grant(words)
    }

    private func isPhrase(
        _ device: DeviceID, of member: MemberID, in past: Set<OperationID>
    ) -> Bool {
        history.devices(of: member, in: past).first == device
            || history.operations.contains {
                $0.takesPlace && past.contains($0.id) && history.devices(of: $0) == [device]
            }
    }

    private func hasHandedOn(
        _ device: DeviceID, of member: MemberID, in past: Set<OperationID>
    ) -> Bool {
        history.operations.contains {
            $0.takesPlace && $0.device == device && past.contains($0.id)
                && history.subject(of: $0.id) == member
        }
    }

    /// Whether a device ends itself, and knows that another one took its place.
    private func isFinalEnd(_ operation: AuthOperation) -> Bool {
        guard case .removeDevice(operation.device) = operation.action,
            let member = history.subject(of: operation.grant, by: operation.device)
        else { return false }
        return hasHandedOn(operation.device, of: member, in: history.pasts[operation.id] ?? [])
    }
}
