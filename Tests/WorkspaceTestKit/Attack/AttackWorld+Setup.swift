import CRDTStore
import WorkspaceModel

/// The start of the world: everybody joins, and some are removed.
extension AttackWorld {
    var owner: AttackPerson? { record.people["owner"] }

    func settle() {
        let (recovery, day) = (device(), device())
        let ownerMember = AttackSignatures.member(of: recovery, salt: 0)
        record.people["owner"] = AttackPerson(
            name: "owner", member: ownerMember, devices: [recovery, day], isHonest: true)
        let words = AttackWords(
            type: 1, workspace: 0, context: .zero, answerer: .zero, member: ownerMember,
            list: [recovery, day].map(pair))
        guard
            let root = write(
                Draft(
                    author: "owner", device: day, grant: nil, past: [],
                    action: .create(member: ownerMember, devices: [recovery, day]),
                    entries: signed([recovery, day], words)))
        else { return }
        ruler = day
        let door = open(InviteTerms(role: .member, uses: 20), root)
        links.insert(door)
        let guests = open(InviteTerms(role: .guest, uses: 3), root)
        let asking = open(InviteTerms(role: .member, uses: 3, needsApproval: true), root)
        let closing = open(InviteTerms(role: .member, uses: 9), root)
        _ = open(InviteTerms(role: .member, uses: 9, expires: clock + 40), root)
        _ = open(
            InviteTerms(role: .member, uses: 9, expires: clock + 40, needsApproval: true), root)
        let single = open(InviteTerms(role: .member), root)
        links.formUnion([closing, asking, single])
        for name in ["ann", "hal", "wim", "lou"] { join(name, on: door, root, isHonest: true) }
        for name in ["eve", "yan", "vic", "bob", "xan"] {
            join(name, on: door, root, isHonest: false)
        }
        join("uma", on: guests, root, isHonest: false)
        join("nat", on: single, root, isHonest: true)
        promote("ann", root)
        promote("yan", root)
        if generator.oneIn(2) { promote("bob", root) }
        record.hasAdmin = generator.oneIn(2)
        if record.hasAdmin { promote("xan", root) }
        steal(root, door)
        sayWhoInvites(root)
        offerAhead("yan")
        askFutilely(asking, root)
        _ = byOwner(root, .revokeInvite(closing))
        endMemberships(root)
        signElsewhere()
        for operation in history.operations {
            for node in nodes.indices { deliver(operation.id, to: node) }
        }
    }

    var everything: Set<OperationID> { Set(history.operations.map(\.id)) }

    private func byOwner(_ root: AuthOperation, _ action: AuthAction) -> OperationID {
        write(
            Draft(
                author: "owner", device: ruler, grant: root.id, past: everything,
                action: action))?.id ?? .zero
    }

    private func open(_ terms: InviteTerms, _ root: AuthOperation) -> OperationID {
        byOwner(root, .invite(terms))
    }

    /// The author of `grant` admits somebody under it.
    func join(
        _ name: String, on invite: OperationID, _ grant: AuthOperation, by author: String = "owner",
        isHonest: Bool, withPhrase: Bool? = nil
    ) {
        let answerer = author == "owner" ? grant.device : record.people[author]?.devices.last
        let hasPhrase = withPhrase ?? generator.oneIn(2)
        let devices = (0..<(hasPhrase ? 2 : 1)).map { _ in device() }
        let member = member(of: devices[0])
        record.people[name] = AttackPerson(
            name: name, member: member, devices: devices, isHonest: isHonest)
        if !isHonest { record.secrets.formUnion(devices) }
        let words = AttackWords(
            type: 3, workspace: AttackSignatures.workspace, context: invite,
            answerer: answerer ?? grant.device, member: member, list: devices.map(pair))
        let entries = signed(devices, words)
        write(
            Draft(
                author: author, device: answerer ?? grant.device, grant: grant.id, past: everything,
                action: .admit(invite: invite, member: member, devices: devices, request: nil),
                entries: entries,
                proof: AttackProof(invite: invite, member: member, entries: entries)))
    }

    private func promote(_ name: String, _ root: AuthOperation) {
        guard let person = record.people[name] else { return }
        _ = byOwner(
            root, .grant(RoleGrant(member: person.member, devices: person.devices, role: .admin)))
    }

    func firstGrant(of person: AttackPerson) -> AuthOperation? {
        history.operations.first { history.devices(of: $0).contains(person.devices[0]) }
    }

    /// In some worlds members may invite, or might once.
    private func sayWhoInvites(_ root: AuthOperation) {
        let said: [InviteRight?] = [.members, nil, .members, .admins, .owner]
        for _ in 0..<generator.below(3) {
            guard let right = said.randomElement(using: &generator) else { return }
            _ = byOwner(root, .setWorkspace(mayInvite: right))
        }
    }

    /// Invites that an admin makes before being removed.
    private func offerAhead(_ name: String) {
        guard let person = record.people[name],
            let grant = history.operations.last(where: {
                history.devices(of: $0).contains(person.devices[0])
            })
        else { return }
        var draft = Draft(
            author: name, device: person.devices[0], grant: grant.id, past: everything,
            action: .invite(InviteTerms(role: .member, uses: 3)))
        draft.isHonest = false
        write(draft).map { _ = links.insert($0.id) }
    }

    /// Zed asks, answered by Eve, and the owner says no: a removal of who never came in.
    private func askFutilely(_ invite: OperationID, _ root: AuthOperation) {
        guard let eve = record.people["eve"], let grant = firstGrant(of: eve) else { return }
        let device = device()
        let zed = AttackPerson(
            name: "zed", member: member(of: device), devices: [device], isHonest: false)
        record.people["zed"] = zed
        record.secrets.insert(device)
        var draft = Draft(
            author: "eve", device: eve.devices[0], grant: grant.id, past: everything,
            action: .request(
                invite: invite, member: zed.member, devices: [device], answering: nil))
        draft.isHonest = false
        draft.entries = signed(
            [device],
            AttackWords(
                type: 3, workspace: AttackSignatures.workspace, context: invite,
                answerer: eve.devices[0], member: zed.member, list: [pair(device)]))
        draft.proof = AttackProof(invite: invite, member: zed.member, entries: draft.entries)
        write(draft)
        remove("zed", root)
    }

    private func endMemberships(_ root: AuthOperation) {
        let ends: [() -> Void] = [
            { self.remove("yan", root) }, { self.leave("vic") }, { self.leave("wim") },
            { self.demote("bob", root) }, { self.endLou(root) },
        ]
        for end in ends.shuffled(using: &generator) { end() }
    }

    func note(_ kind: AttackEnd.Kind, _ id: OperationID, _ person: String, _ devices: [DeviceID]) {
        record.ends.append(
            AttackEnd(kind: kind, operation: id, person: person, devices: devices))
    }

    private func remove(_ name: String, _ root: AuthOperation) {
        guard let person = record.people[name] else { return }
        note(.removed, byOwner(root, .remove(member: person.member)), name, person.devices)
    }

    private func leave(_ name: String) {
        guard let person = record.people[name],
            let grant = firstGrant(of: person)
        else { return }
        let isByYounger = name == "vic" && person.devices.count > 1 && generator.oneIn(2)
        let end = write(
            Draft(
                author: name, device: person.devices[isByYounger ? 1 : 0], grant: grant.id,
                past: everything, action: .leave))
        end.map { note(isByYounger ? .leftByYounger : .left, $0.id, name, person.devices) }
    }

    /// Lou, who is honest, is removed by mistake, or loses a device to an admin's caution.
    private func endLou(_ root: AuthOperation) {
        guard let lou = record.people["lou"], let ann = record.people["ann"] else { return }
        if generator.oneIn(2) { return remove("lou", root) }
        guard
            let grant = history.operations.last(where: {
                history.devices(of: $0).contains(ann.devices[0])
            })
        else { return }
        write(
            Draft(
                author: "ann", device: ann.devices[0], grant: grant.id, past: everything,
                action: .removeDevice(lou.devices[lou.devices.count - 1])))
    }

    private func demote(_ name: String, _ root: AuthOperation) {
        guard let person = record.people[name] else { return }
        let role: Role = generator.oneIn(2) ? .guest : .member
        let words = RoleGrant(
            member: person.member, devices: person.devices, role: role, replaces: true)
        note(.demoted(role), byOwner(root, .grant(words)), name, person.devices)
    }

    /// Some of the people are in another workspace too, where attackers let them in.
    private func signElsewhere() {
        for name in ["ann", "hal"] {
            guard let person = record.people[name] else { continue }
            let member = AttackSignatures.member(of: person.devices[0], salt: 2)
            let answerer = record.secrets.min() ?? .zero
            for (type, context) in [(3, OperationID(generator.bytes(32))), (5, OperationID.zero)] {
                let words = AttackWords(
                    type: type, workspace: 2, context: context, answerer: answerer, member: member,
                    list: [pair(person.devices[0])])
                see(signed([person.devices[0]], words))
            }
        }
    }
}
