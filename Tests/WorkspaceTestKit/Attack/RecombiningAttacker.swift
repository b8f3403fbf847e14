import CRDTStore
import WorkspaceModel

/// Plain members, guests, link holders, answerers, people who were revoked, removed or demoted or
/// who left, and in half of the worlds an admin: they share every key and every byte, and put them
/// into every field of every type, under any grant that lists a device of theirs, in any causally
/// closed past, in old logs and new ones (A18 of the hostile cases).
extension AttackWorld {
    /// Runs a whole attack: attackers, honest people and meetings by turns.
    public func run(steps count: Int) {
        if generator.oneIn(40) { flood() }
        for _ in 0..<count {
            switch generator.below(10) {
            case 0..<5: attack()
            case 5..<8: guard actHonestly(at: generator.below(nodes.count)) else { return }
            default: meet(generator.below(nodes.count), generator.below(nodes.count))
            }
        }
    }

    /// Writes something that the judge does not refuse, and shows it to some nodes.
    func attack() {
        for _ in 0..<8 {
            guard let draft = anyDraft(), let written = write(draft) else { continue }
            if case .invite = written.action { links.insert(written.id) }
            for node in nodes.indices where generator.oneIn(2) { deliver(written.id, to: node) }
            return
        }
    }

    private func anyDraft() -> Draft? {
        let mighty = record.hasOwner && generator.oneIn(4) ? stolenDevices.suffix(3) : []
        guard
            let device = mighty.randomElement(using: &generator)
                ?? record.secrets.sorted().randomElement(using: &generator),
            var draft = draft(by: device)
        else { return nil }
        switch generator.below(28) {
        case 0..<4: fillJoin(&draft, isAdmit: true)
        case 4: fillJoin(&draft, isAdmit: false)
        case 5..<7: fillLink(&draft)
        case 7..<11: draft.action = anyGrant(draft)
        case 11: draft.action = .remove(member: anyMember())
        case 12..<14: draft.action = .removeDevice(anyDevice())
        case 14: draft.action = .leave
        case 15, 26: closeSome(&draft)
        case 16: draft.action = anyOffer()
        case 17, 25: fillReturn(&draft)
        case 18: return deceivedJoin()
        case 19: return stolenLink()
        case 20: draft.action = anyOffer()
        case 22: return memberOffer()
        case 23: return backByFriend()
        case 24: if let transfer = unseenTransfer() { return transfer }
        case 21: nameSomebody(&draft)
        default: draft.action = anySetting()
        }
        return draft
    }

    /// By a device under a grant that lists it, in some past.
    func draft(by device: DeviceID) -> Draft? {
        let grants = history.operations.filter { history.devices(of: $0).contains(device) }
        let some = generator.oneIn(2) ? grants.suffix(2) : grants[...]
        guard let grant = some.randomElement(using: &generator) else { return nil }
        var draft = Draft(
            author: person(device), device: device, grant: grant.id, past: anyPast(grant),
            action: .cutPart)
        draft.isHonest = false
        draft.namesKey = !generator.oneIn(8)
        return draft
    }

    private func person(_ device: DeviceID) -> String {
        let holder = record.people.values.filter { $0.devices.contains(device) }
        return holder.map(\.name).min() ?? "accomplice"
    }

    /// Everything valid, any tips there are, or nothing but what the grant needs.
    private func anyPast(_ grant: AuthOperation) -> Set<OperationID> {
        var tips = [grant.id]
        switch generator.below(4) {
        case 0: tips += Array(probe.valid)
        case 1: break
        default:
            for _ in 0..<1 + generator.below(3) {
                let recent =
                    generator.oneIn(2)
                    ? history.operations.suffix(8)
                    : history.operations[...]
                recent.randomElement(using: &generator).map { tips.append($0.id) }
            }
        }
        return history.closure(of: tips)
    }

    /// What was once written, byte by byte, by somebody else and in another past.
    private func repeatJoin(_ draft: inout Draft) -> Bool {
        let joins = record.written.filter { written in
            switch written.operation.action {
            case .create, .admit, .request: true
            default: false
            }
        }
        guard let old = joins.randomElement(using: &generator) else { return false }
        if generator.oneIn(2) { return growJoin(&draft, old) }
        switch old.operation.action {
        case .admit(let invite, _, _, let request), .request(let invite, _, _, let request):
            draft.past.formUnion(
                history.closure(of: [invite, request].compactMap { $0 }))
        default: return false
        }
        (draft.action, draft.entries, draft.proof) = (old.operation.action, old.entries, old.proof)
        return true
    }

    /// Something signed earlier, with a device of the attacker's appended.
    private func growJoin(_ draft: inout Draft, _ old: AttackWritten) -> Bool {
        guard let invite = links.sorted().randomElement(using: &generator),
            let member = old.words?.member
        else { return false }
        draft.past.formUnion(history.closure(of: [invite]))
        let own = pair(ownDevice())
        draft.entries = old.entries + [AttackEntry(pair: own, seal: nil)]
        draft.action = .admit(
            invite: invite, member: member, devices: draft.entries.map(\.pair.device),
            request: nil)
        guard let words = words(of: draft) else { return false }
        draft.entries = old.entries + [AttackEntry(pair: own, seal: .entry(own.device, words))]
        prove(&draft, invite, member)
        return true
    }

    private func fillJoin(_ draft: inout Draft, isAdmit: Bool) {
        if generator.oneIn(3), repeatJoin(&draft) { return }
        guard let invite = anyInvite() else { return }
        draft.past.formUnion(history.closure(of: [invite.id]))
        var (list, member) = anyList()
        var request: AuthOperation?
        if isAdmit, generator.oneIn(3) {
            request = history.operations.filter {
                if case .request(invite.id, _, _, nil) = $0.action { true } else { false }
            }.randomElement(using: &generator)
        }
        if let request, case .request(_, let asked, _, _) = request.action, !generator.oneIn(4) {
            draft.past.formUnion(history.closure(of: [request.id]))
            member = asked
            list = (entries(of: request.id) ?? []).map(\.pair)
        }
        draft.action =
            isAdmit
            ? .admit(
                invite: invite.id, member: member, devices: list.map(\.device),
                request: request?.id)
            : .request(
                invite: invite.id, member: member, devices: list.map(\.device), answering: nil)
        fillEntries(&draft, list)
        prove(&draft, invite.id, member)
    }

    func fillEntries(_ draft: inout Draft, _ list: [AttackPair]) {
        draft.entries = list.map { AttackEntry(pair: $0, seal: nil) }
        guard let words = words(of: draft) else { return }
        draft.entries = entries(list, words)
    }

    func prove(_ draft: inout Draft, _ invite: OperationID, _ member: MemberID) {
        draft.proof =
            links.contains(invite)
            ? AttackProof(invite: invite, member: member, entries: draft.entries)
            : proofs.filter { $0.invite == invite }.randomElement(using: &generator)
        // Of what is proven nothing can be changed, so it is taken whole.
        guard let proof = draft.proof, !links.contains(invite), generator.oneIn(2) else { return }
        draft.entries = proof.entries
        let devices = proof.entries.map(\.pair.device)
        if case .admit(_, _, _, let request) = draft.action {
            draft.action = .admit(
                invite: invite, member: proof.member, devices: devices, request: request)
        } else if case .request(_, _, _, let end) = draft.action {
            draft.action = .request(
                invite: invite, member: proof.member, devices: devices, answering: end)
        }
    }

    private func fillLink(_ draft: inout Draft) {
        var list = generator.oneIn(3) ? Array(anyList().list.prefix(1)) : [pair(ownDevice())]
        guard !list.isEmpty else { return }
        if generator.oneIn(4), let stolen = stolenDevices.randomElement(using: &generator) {
            list = [pair(stolen)]
        }
        draft.action = .addDevices(list.map(\.device))
        fillEntries(&draft, list)
    }

    private func fillReturn(_ draft: inout Draft) {
        let ofWim = record.ends.filter { $0.person == "wim" }
        let ends = generator.oneIn(2) ? ofWim : record.ends
        guard let end = ends.randomElement(using: &generator),
            let id = generator.oneIn(4)
                ? anyInvite()?.id : links.sorted().randomElement(using: &generator),
            let invite = history[id]
        else { return }
        draft.past.formUnion(history.closure(of: [invite.id, end.operation]))
        let member = record.people[end.person]?.member ?? anyMember()
        let held = record.people[end.person]?.devices ?? []
        var list = held.filter { record.secrets.contains($0) || generator.oneIn(2) }.map(pair)
        if generator.oneIn(3) { list.removeAll() }
        if list.isEmpty || generator.oneIn(4) { list.append(pair(ownDevice())) }
        draft.action = .request(
            invite: invite.id, member: member, devices: list.map(\.device),
            answering: end.operation)
        fillEntries(&draft, list)
        prove(&draft, invite.id, member)
    }

    private func anyGrant(_ draft: Draft) -> AuthAction {
        let isOwn = generator.oneIn(3)
        let member =
            isOwn
            ? record.people[["eve", "yan", "vic", "bob", "uma"][generator.below(5)]]?.member
                ?? anyMember()
            : anyMember()
        var devices = history.devices(of: member, in: draft.past).shuffled(using: &generator)
        if devices.count > 1, generator.oneIn(3) { devices.removeLast() }
        if generator.oneIn(10) { devices.append(ownDevice()) }
        let role = Role(rawValue: UInt64(generator.below(4))) ?? .owner
        var words = RoleGrant(
            member: member, devices: devices, role: role, replaces: generator.oneIn(3))
        if generator.oneIn(3) {
            words.role = generator.oneIn(4) ? role : .owner
            words.drops = generator.oneIn(6) ? [] : [draft.device]
            if generator.oneIn(2) {
                let stolen = record.ends.flatMap(\.devices) + [ownDevice()]
                stolen.randomElement(using: &generator).map { words.drops?.append($0) }
            }
        }
        return .grant(words)
    }

    private func anyOffer() -> AuthAction {
        var terms = InviteTerms(
            role: Role(rawValue: UInt64(generator.below(4))) ?? .member,
            uses: UInt64(1 + generator.below(3)))
        let isPicky = !generator.oneIn(4)
        let policies = history.operations.filter {
            guard case .setWorkspace(let right) = $0.action else { return false }
            return right == .members || !isPicky
        }
        terms.policy = generator.oneIn(2) ? policies.randomElement(using: &generator)?.id : nil
        return .invite(terms)
    }

    private func anySetting() -> AuthAction {
        switch generator.below(9) {
        case 0: return .feature(isKnown: false)
        case 1: return .unknown
        case 2: return .deleteWorkspace
        case 3: return .rekey
        case 4: return .createDocument
        case 5:
            let any = history.operations.randomElement(using: &generator)
            return any.map { .recut(revocation: $0.id) } ?? .cutPart
        case 6:
            let any = history.operations.randomElement(using: &generator)
            return any.map { .confirm([$0.id]) } ?? .cutPart
        default:
            return .setWorkspace(mayInvite: InviteRight.allCases.randomElement(using: &generator))
        }
    }
}
