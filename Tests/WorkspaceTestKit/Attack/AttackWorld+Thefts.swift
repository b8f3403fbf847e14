import CRDTStore
import WorkspaceModel

/// Thefts of devices at the start of the world, and who has noticed them.
extension AttackWorld {
    func steal(_ root: AuthOperation, _ door: OperationID) {
        stealDevice(root)
        stealFromWim()
        stealFromTheYoung(root, door)
    }

    /// A further device of the owner's is stolen, or the first one was; there is another besides.
    private func stealDevice(_ root: AuthOperation) {
        guard let owner else { return }
        let (recovery, day) = (owner.devices[0], owner.devices[1])
        let variant = generator.below(3)
        let stolen = variant == 0 ? day : link(to: "owner", by: day, under: root.id)
        let linker = variant == 1 ? stolen : recovery
        let grant = history.operations.last { history.devices(of: $0).contains(linker) }?.id
        _ = link(to: "owner", by: linker, under: grant ?? root.id)
        record.secrets.insert(stolen)
        if variant == 0 { ruler = recovery }
        let judge = variant == 0 || generator.oneIn(3) ? recovery : day
        let end = write(
            Draft(
                author: "owner", device: judge, grant: root.id, past: everything,
                action: .removeDevice(stolen)))
        end.map { note(.revoked, $0.id, "owner", [stolen]) }
        guard variant != 0, generator.oneIn(5) else { return }
        // Another one is in strange hands, and nobody has seen that.
        record.hasOwner = true
        let unseen = link(to: "owner", by: day, under: root.id)
        record.secrets.insert(unseen)
        deceive("owner", by: unseen)
    }

    /// A device that its person believes to be linked, and that a stolen one has answered.
    private func deceive(_ name: String, by stolen: DeviceID) {
        guard let person = record.people[name] else { return }
        let new = device()
        record.people[name]?.devices.append(new)
        see(
            signed(
                [new],
                AttackWords(
                    type: 5, workspace: AttackSignatures.workspace, context: .zero,
                    answerer: stolen, member: person.member, list: [pair(new)])))
    }

    /// A plain member's device is stolen, and revoked.
    private func stealFromWim() {
        guard let wim = record.people["wim"], let grant = firstGrant(of: wim) else { return }
        let stolen = link(to: "wim", by: wim.devices[0], under: grant.id)
        lose(stolen, of: "wim", by: wim.devices[0], under: grant.id)
    }

    /// Kim came after the attackers, and loses a device that she had linked; Leo, whom Kim has let in,
    /// the one that he came with. So attackers are stronger than both.
    private func stealFromTheYoung(_ root: AuthOperation, _ door: OperationID) {
        join("kim", on: door, root, isHonest: true)
        guard let kim = record.people["kim"], let grant = firstGrant(of: kim) else { return }
        let linked = link(to: "kim", by: kim.devices[0], under: grant.id)
        lose(linked, of: "kim", by: kim.devices[0], under: grant.id)
        join("leo", on: door, grant, by: "kim", isHonest: true, withPhrase: true)
        guard let leo = record.people["leo"], let admission = firstGrant(of: leo) else { return }
        lose(leo.devices[1], of: "leo", by: leo.devices[0], under: admission.id)
    }

    private func lose(
        _ stolen: DeviceID, of name: String, by judge: DeviceID, under grant: OperationID
    ) {
        record.secrets.insert(stolen)
        guard !generator.oneIn(3) else { return }
        let end = write(
            Draft(
                author: name, device: judge, grant: grant, past: everything,
                action: .removeDevice(stolen)))
        end.map { note(.revoked, $0.id, name, [stolen]) }
    }

    /// A new device of somebody honest, linked by one of the others.
    @discardableResult
    func link(
        to name: String, by device: DeviceID, under grant: OperationID,
        knowing past: Set<OperationID>? = nil
    ) -> DeviceID {
        guard let person = record.people[name] else { return .zero }
        let new = self.device()
        let words = AttackWords(
            type: 5, workspace: AttackSignatures.workspace, context: .zero, answerer: device,
            member: person.member, list: [pair(new)])
        write(
            Draft(
                author: name, device: device, grant: grant, past: past ?? everything,
                action: .addDevices([new]), entries: signed([new], words)))
        record.people[name]?.devices.append(new)
        return new
    }
}
