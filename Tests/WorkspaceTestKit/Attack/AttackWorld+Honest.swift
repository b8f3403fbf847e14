import CRDTStore
import WorkspaceModel

/// The operations of honest people: they cite what is valid at their node (S-7), under what their
/// device holds there (V-2), and do only what anybody would expect to work. Each says which goal
/// the attackers have reached if it does not.
extension AttackWorld {
    /// Somebody honest, at work on a node.
    struct Worker {
        let name: String
        let node: Int
        let device: DeviceID
        let role: Role
        let grant: OperationID
        let past: Set<OperationID>
    }

    /// Whether something that was due had no effect, so that the rest need not be written.
    func isBroken(_ written: AuthOperation?, at node: Int) -> Bool {
        guard let written else { return true }
        deliver(written.id, to: node)
        return !nodes[node].judge.isValid(written.id)
    }

    func worker(at node: Int) -> Worker? {
        let name = ["owner", "ann", "hal"][node]
        guard let person = record.people[name] else { return nil }
        let judge = nodes[node].judge
        let honest = person.devices.filter { !record.secrets.contains($0) }
        let candidates = honest.compactMap { device in
            judge.standing(of: device).map { (device, $0) }
        }
        guard let (device, standing) = candidates.randomElement(using: &generator),
            standing.member == person.member
        else { return nil }
        let cited = rules.has(.s7) ? judge.valid : nodes[node].stored
        return Worker(
            name: name, node: node, device: device, role: standing.role, grant: standing.grant,
            past: history.closure(of: cited))
    }

    /// One honest act.
    ///
    /// - Returns: whether the world goes on.
    func actHonestly(at node: Int) -> Bool {
        guard let worker = worker(at: node) else { return true }
        switch generator.below(worker.role <= .admin ? 12 : 8) {
        case 0..<3: return joinSomebody(worker)
        case 3: return goOn(worker, .createDocument)
        case 4: return addDevice(worker)
        case 5: return answerRequest(worker)
        case 6: return askBack(worker)
        case 7: return worker.role <= .admin ? confirm(worker) : goOn(worker, .cutPart)
        case 8:
            guard mayInvite(worker) else { return true }
            return goOn(worker, .invite(InviteTerms(role: .member, uses: 2)))
        case 9: return generator.oneIn(3) ? endSomebody(worker) : goOn(worker, .rekey)
        case 10: return bringBack(worker)
        default: return worker.role == .owner ? rule(worker) : goOn(worker, .rekey)
        }
    }

    /// What an admin's device confirms by itself: what it finds valid.
    private func confirm(_ worker: Worker) -> Bool {
        let found = nodes[worker.node].judge.valid.filter { id in
            switch history[id]?.action {
            case .create, .request, .addDevices, .cutPart, .deleteWorkspace, .feature, .unknown,
                nil:
                false
            case .grant(let grant): grant.drops == nil
            default: true
            }
        }
        return goOn(worker, found.isEmpty ? .cutPart : .confirm(found.sorted().suffix(8)))
    }

    /// Where an admin is among the attackers, that one is stronger than members, than who became an
    /// admin later, and than what was linked later: all but Ann as she was promoted.
    func promise(_ worker: Worker, _ goal: String = "G7") -> String? {
        guard !record.hasOwner else { return nil }
        if worker.role == .owner || !record.hasAdmin { return goal }
        guard worker.name == "ann", case .grant? = history[worker.grant]?.action else {
            return nil
        }
        return goal
    }

    func draft(_ worker: Worker, _ action: AuthAction, _ goal: String = "G7") -> Draft {
        var draft = Draft(
            author: worker.name, device: worker.device, grant: worker.grant, past: worker.past,
            action: action)
        draft.promise = promise(worker, goal)
        draft.known = nodes[worker.node].stored
        return draft
    }

    func goOn(_ worker: Worker, _ action: AuthAction) -> Bool {
        !isBroken(write(draft(worker, action)), at: worker.node)
    }

    /// What a program asks before it offers that.
    private func mayInvite(_ worker: Worker) -> Bool {
        worker.role == .owner
            || !history.operations.contains {
                guard case .setWorkspace(.owner) = $0.action else { return false }
                return worker.past.contains($0.id)
            }
    }

    // MARK: Power

    private func endSomebody(_ worker: Worker) -> Bool {
        guard let name = ["eve", "uma", "bob"].randomElement(using: &generator),
            let person = record.people[name]
        else { return true }
        let written = write(draft(worker, .remove(member: person.member)))
        guard !isBroken(written, at: worker.node), let written else { return false }
        note(.removed, written.id, name, person.devices)
        return true
    }

    /// What owners alone do: they promote, end invites, and hand the workspace over.
    private func rule(_ worker: Worker) -> Bool {
        guard let hal = record.people["hal"], let ann = record.people["ann"], let owner else {
            return true
        }
        switch generator.below(9) {
        case 0:
            let devices = hal.devices.filter {
                nodes[worker.node].judge.standing(of: $0)?.member == hal.member
            }
            return goOn(
                worker, .grant(RoleGrant(member: hal.member, devices: devices, role: .admin)))
        case 1:
            return goOn(
                worker,
                .setWorkspace(mayInvite: InviteRight.allCases.randomElement(using: &generator)))
        case 2:
            let judge = nodes[worker.node].judge
            let own = owner.devices.filter {
                !record.secrets.contains($0) && judge.standing(of: $0) != nil
            }
            let heirs = ann.devices.filter { judge.standing(of: $0)?.member == ann.member }
            guard worker.name == "owner", generator.oneIn(2), !heirs.isEmpty else { return true }
            let words = RoleGrant(
                member: ann.member, devices: heirs, role: .owner, drops: own)
            guard let written = write(draft(worker, .grant(words))) else { return false }
            record.transfers.insert(written.id)
            // A younger device's transfer leaves stronger ones what they are.
            if owner.devices.prefix(2).contains(worker.device) {
                note(.demoted(.admin), written.id, "owner", own)
            }
            return !isBroken(written, at: worker.node)
        case 3: return goOn(worker, .deleteWorkspace)
        case 4..<8: return slip(worker, owner)
        default: return goOn(worker, .setWorkspace(mayInvite: nil))
        }
    }

    private func isPromotion(_ id: OperationID, of member: MemberID) -> Bool {
        switch history[id]?.action {
        case .grant(let words): words.member == member && words.role <= .member
        case .admit(let invite, member, _, _): (terms(invite)?.role ?? .guest) <= .member
        default: false
        }
    }

    /// What would leave a workspace without an owner, or to a stranger: nothing of it is possible,
    /// so that no slip does it.
    private func slip(_ worker: Worker, _ owner: AttackPerson) -> Bool {
        // A guest whom an admin has made a member, or whom a member has let in as one, may become the
        // owner, by a slip or not.
        guard record.transfers.isEmpty, !record.hasOwner,
            let ann = record.people["ann"], let uma = record.people["uma"],
            !worker.past.contains(where: { isPromotion($0, of: uma.member) })
        else { return true }
        func transfer(_ heir: AttackPerson, _ devices: [DeviceID], _ role: Role) -> AuthAction {
            .grant(
                RoleGrant(
                    member: heir.member, devices: devices, role: role, drops: [worker.device]))
        }
        let actions: [AuthAction] = [
            .leave, .remove(member: owner.member), transfer(ann, [], .owner),
            transfer(ann, ann.devices, .admin), transfer(uma, uma.devices, .owner),
            .grant(
                RoleGrant(
                    member: owner.member, devices: [worker.device], role: .member, replaces: true)),
        ]
        guard let action = actions.randomElement(using: &generator) else { return true }
        var draft = draft(worker, action)
        draft.promise = nil
        guard let written = write(draft) else {
            record.written.removeLast()
            return true
        }
        deliver(written.id, to: worker.node)
        return true
    }
}
