import CRDTStore
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// Implements the commands about members' devices.
final class DeviceHandler: CorePart, DeviceCommands {
    // MARK: List

    func devices(
        of member: MemberReference?, _ request: PageRequest, _ scope: CallScope
    ) throws(NodeError) -> Page<DeviceObject> {
        let workspace: Workspace = try core.queries.workspace(scope)
        let owner = try member.map { (reference) throws(NodeError) in
            try core.queries.person(reference, in: workspace, orRemoved: true, orFormerly: true)
        }
        let all = knownDevices(of: owner ?? workspace.member, in: workspace)
        let (items, next) = try core.queries.page(all, request)
        let found = items.compactMap {
            core.queries.object(ofDevice: $0, of: owner ?? workspace.member, in: workspace)
        }
        return Page(found, next: next)
    }

    /// Every device that was ever bound to a member, or is in by a grant although its binding is no
    /// longer valid; the earliest first.
    private func knownDevices(of member: MemberID, in workspace: Workspace) -> [DeviceID] {
        var devices: [DeviceID] = []
        for id in workspace.authorityOrder {
            for entry in workspace.authority[id]?.payload.listedDevices ?? []
            where
                (workspace.judged.isBound(entry.device, to: member)
                || workspace.judged.isIn(entry.device, as: member))
                && !devices.contains(entry.device)
            {
                devices.append(entry.device)
            }
        }
        return devices
    }

    /// The device that a call names: by its id, a prefix of it, or the name of one of the caller's.
    func device(
        _ reference: String, in workspace: Workspace
    ) throws(NodeError) -> DeviceID {
        // Whatever is in can be named, by whichever grant.
        let devices = Set(workspace.judged.boundDevices)
            .union(workspace.members.flatMap(\.devices)).sorted()
        let isLong = isIdentifier(reference, prefix: "d_")
        var found = devices.filter { device in
            if isLong { return PublicID.device(device).utf8.starts(with: reference.utf8) }
            guard workspace.owner(of: device) == workspace.member,
                let name = workspace.deviceName(device)
            else { return false }
            return NameFolding.matches(name, reference)
        }
        // A new device may have the name of one that is out.
        let present =
            isLong ? [] : found.filter { workspace.judged.isIn($0) }
        if !present.isEmpty { found = present }
        if found.count > 1 {
            throw .ambiguous(
                reference,
                candidates: found.compactMap {
                    core.queries.object(ofDevice: $0, in: workspace)?.json
                },
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
            guard workspace.deviceName(device) != name else { return }
            try core.profiles.sayOfOneself(.device(device, name: name), in: workspace)
        }
    }

    /// Applies an action to a device in the workspace that the call names; without one in every
    /// workspace where the device belongs to this person. The answer lists the workspaces in which
    /// it fails.
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
                if error.isBecause(of: .olderDevice) { told?.hint = "\(again) --phrase -" }
            }
            if told == nil { first = workspace }
            outcomes.append(
                DeviceOutcome(
                    id: PublicID.workspace(workspace.id), name: workspace.displayName,
                    failure: told))
        }
        if let failure, outcomes.allSatisfy({ $0.failure != nil }) { throw failure }
        guard var object = core.queries.object(ofDevice: device, in: first) else {
            throw .internalFailure(reason: "device")
        }
        object.workspaces = outcomes
        return object
    }

    /// Whether a device is this person's in a workspace that they are in.
    private func isOwn(_ device: DeviceID, in workspace: Workspace) -> Bool {
        workspace.standing == .member && workspace.fields.deletion == nil
            && workspace.owner(of: device) == workspace.member
            && core.membership.ownEnd(in: workspace) == nil
    }

    /// The device that a call names: looked up in its workspace, and then, where it names none,
    /// among this person's devices in the others.
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
                        core.queries.object(ofDevice: $0.device, in: $0.workspace)?.json
                    }, field: "device")
            }
            return first
        }
    }

    // MARK: Events

    func revokeDevice(
        _ reference: String, phrase: String?, isForced: Bool, _ scope: CallScope
    ) throws(NodeError) -> DeviceObject {
        var revoked: DeviceID?
        let object = try inEach(reference, scope, "device revoke") {
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
            guard workspace.judged.isIn(device, as: owner) else { return }
            try core.membership.revoke(
                device, of: owner, phrase: phrase, isForced: isForced, in: workspace)
        }
        return revoked.map { telling(object, where: $0) } ?? object
    }

    /// Adds to the answer about a revoked device where else it has to be revoked.
    ///
    /// A phrase's certificate names the device, but no workspace. The device's thief can show it
    /// wherever the phrase counts, even in a workspace that this home does not know.
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
            return workspace.judged.isIn(device, as: owner)
        }.map { (PublicID.workspace($0.id), $0.displayName) }
        return object
    }

    func issueDeviceLink(_ scope: CallScope) throws(NodeError) -> Made<DeviceLinkObject> {
        try core.enrolment.linking.issueDeviceLink(scope)
    }

    func linkDevice(_ draft: JoinDraft, _ scope: CallScope) throws(NodeError) -> CommandOutcome {
        try core.enrolment.linking.linkDevice(draft, scope)
    }
}
