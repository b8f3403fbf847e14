import CRDTStore
import WorkspaceModel

/// How honest people admit others, newcomers and returning members.
extension AttackWorld {
    /// Invites of honest people that nobody ended, with uses left for real people.
    func doors(_ worker: Worker) -> [(AuthOperation, InviteTerms)] {
        let judge = nodes[worker.node].judge
        let isClosed = Set(
            history.operations.compactMap { operation -> OperationID? in
                guard case .revokeInvite(let id) = operation.action, judge.isValid(operation.id)
                else { return nil }
                return id
            })
        return history.operations.compactMap { operation in
            guard case .invite(let terms) = operation.action, judge.isValid(operation.id),
                isByHonest(operation), terms.role == .member, !isClosed.contains(operation.id),
                // A program asks for the time too; one that is wrong about it is refused.
                terms.expires.map({ clock < $0 || generator.oneIn(4) }) ?? true,
                joiners(operation.id, in: worker.past).count < Int(terms.uses)
            else { return nil }
            return (operation, terms)
        }
    }

    private func isByHonest(_ operation: AuthOperation) -> Bool {
        record.written.contains { $0.operation.id == operation.id && $0.isHonest }
    }

    /// The members who really joined by an invite: their own devices have signed that.
    private func joiners(_ invite: OperationID, in past: Set<OperationID>) -> Set<MemberID> {
        var joiners: Set<MemberID> = []
        for written in record.written where past.contains(written.operation.id) {
            guard case .admit(invite, let member, _, _) = written.operation.action,
                let words = written.words,
                AttackSignatures(rules: .current).areSigned(written.entries, words)
            else { continue }
            joiners.insert(member)
        }
        return joiners
    }

    /// A newcomer comes to a node, or to an attacker who answers and keeps what is said.
    func joinSomebody(_ worker: Worker) -> Bool {
        guard worker.role <= .member,
            let (invite, terms) = doors(worker).randomElement(using: &generator)
        else { return true }
        let devices = (0..<1 + generator.below(2)).map { _ in device() }
        let member = member(of: devices[0])
        let name = "new\(record.people.count)"
        record.people[name] = AttackPerson(
            name: name, member: member, devices: devices, isHonest: true)
        let isDeceived = generator.oneIn(3)
        let answerer =
            isDeceived ? record.secrets.sorted().randomElement(using: &generator) : worker.device
        let entries = signed(
            devices,
            AttackWords(
                type: 3, workspace: AttackSignatures.workspace, context: invite.id,
                answerer: answerer ?? worker.device, member: member, list: devices.map(pair)))
        let proof = AttackProof(invite: invite.id, member: member, entries: entries)
        guard !isDeceived else {
            see(entries, proof)
            return true
        }
        let asked = history.operations.filter {
            if case .request(invite.id, _, _, _) = $0.action { true } else { false }
        }
        guard !terms.needsApproval || asked.count < 16 else { return true }
        var draft = draft(
            worker,
            terms.needsApproval
                ? .request(invite: invite.id, member: member, devices: devices, answering: nil)
                : .admit(invite: invite.id, member: member, devices: devices, request: nil), "G8")
        (draft.entries, draft.proof) = (entries, proof)
        if isWeak(invite.id, worker) { draft.promise = nil }
        guard terms.expires.map({ clock < $0 }) ?? true else { return beLate(draft, worker) }
        return !isBroken(write(draft), at: worker.node)
    }

    /// Whether something may be stronger than the invite, and so than what comes by it, that is not
    /// stronger than who answers.
    private func isWeak(_ invite: OperationID, _ worker: Worker) -> Bool {
        isBehindTransfer(invite, worker) || record.hasAdmin && !isByStrong(invite)
    }

    /// Whether no admin among the attackers is stronger than the member who opened the invite.
    private func isByStrong(_ invite: OperationID) -> Bool {
        guard let written = record.written.first(where: { $0.operation.id == invite }),
            let grant = written.operation.grant
        else { return false }
        if written.author == "owner" { return true }
        guard written.author == "ann", case .grant? = history[grant]?.action else { return false }
        return true
    }

    /// Whether a younger device of the same member opened the invite, under a transfer that took
    /// nothing from this one, or has written such a transfer and a weaker member the invite. The
    /// transfer is stronger than what comes by that invite, so a node refuses before it writes.
    private func isBehindTransfer(_ invite: OperationID, _ worker: Worker) -> Bool {
        let member = record.people[worker.name]?.member
        let isOthers = author(of: invite) != member
        return worker.past.contains { id in
            guard case .grant(let words)? = history[id]?.action, words.drops != nil,
                author(of: id) == member, isOthers || history[invite]?.grant == id
            else { return false }
            return id != worker.grant && history.pasts[worker.grant]?.contains(id) != true
        }
    }

    private func author(of operation: OperationID) -> MemberID? {
        record.written.first { $0.operation.id == operation }
            .flatMap { record.people[$0.author]?.member }
    }

    private func beLate(_ draft: Draft, _ worker: Worker) -> Bool {
        var late = draft
        late.promise = nil
        if let written = write(late) {
            deliver(written.id, to: worker.node)
        } else {
            record.written.removeLast()
        }
        return true
    }

    /// An admin lets in who asked an honest node.
    func answerRequest(_ worker: Worker) -> Bool {
        guard worker.role <= .admin else { return true }
        let judge = nodes[worker.node].judge
        let open = doors(worker).map { $0.0.id }
        let inside = Set(judge.valid.compactMap { history[$0].flatMap { admitted($0) } })
        let asked = record.written.filter { written in
            guard judge.isValid(written.operation.id),
                worker.past.contains(written.operation.id),
                case .request(let invite, let member, let devices, nil) = written.operation.action,
                isNew(member, devices, written.operation, in: worker.past)
            else { return false }
            return open.contains(invite) && !inside.contains(member)
        }
        guard let request = asked.randomElement(using: &generator),
            case .request(let invite, let member, let devices, _) = request.operation.action,
            terms(invite)?.needsApproval == true
        else { return true }
        var draft = draft(
            worker,
            .admit(
                invite: invite, member: member, devices: devices, request: request.operation.id),
            "G8")
        (draft.entries, draft.proof) = (request.entries, request.proof)
        if isWeak(invite, worker) { draft.promise = nil }
        let expires = terms(invite)?.expires
        guard expires.map({ request.operation.timestamp <= $0 }) ?? true else {
            return beLate(draft, worker)
        }
        return !isBroken(write(draft), at: worker.node)
    }

    func terms(_ invite: OperationID) -> InviteTerms? {
        if case .invite(let terms)? = history[invite]?.action { terms } else { nil }
    }

    /// Whether nobody said no, and nothing has bound what asks since it asked.
    private func isNew(
        _ member: MemberID, _ devices: [DeviceID], _ request: AuthOperation,
        in past: Set<OperationID>
    ) -> Bool {
        let isEnded = record.ends.contains { record.people[$0.person]?.member == member }
        let earlier = history.pasts[request.id] ?? []
        let since = history.operations.filter {
            past.contains($0.id) && !earlier.contains($0.id)
        }
        let bound = since.flatMap { history.devices(of: $0) }
        return !isEnded && devices.allSatisfy { !bound.contains($0) }
    }

    private func admitted(_ operation: AuthOperation) -> MemberID? {
        if case .admit(_, let member, _, _) = operation.action { member } else { nil }
    }

    // MARK: Devices and returns

    func addDevice(_ worker: Worker) -> Bool {
        guard let person = record.people[worker.name] else { return true }
        let new = device()
        var draft = draft(worker, .addDevices([new]))
        // What an older stolen device has linked takes room until that is revoked.
        let elder = person.devices.prefix { !record.secrets.contains($0) }
        if !elder.contains(worker.device) { draft.promise = nil }
        draft.entries = signed(
            [new],
            AttackWords(
                type: 5, workspace: AttackSignatures.workspace, context: .zero,
                answerer: worker.device, member: person.member, list: [pair(new)]))
        record.people[worker.name]?.devices.append(new)
        return !isBroken(write(draft), at: worker.node)
    }

    /// Wim has left, and asks an honest member to be let in again.
    func askBack(_ worker: Worker) -> Bool {
        guard worker.role <= .member, let wim = record.people["wim"],
            let end = record.ends.first(where: {
                guard case .left = $0.kind else { return false }
                return $0.person == "wim" && worker.past.contains($0.operation)
            }),
            let (invite, _) = doors(worker).first
        else { return true }
        let asked = history.operations.filter {
            if case .request(invite.id, _, _, _) = $0.action { true } else { false }
        }
        guard asked.count < 16 else { return true }
        let devices = wim.devices.filter { !record.secrets.contains($0) }
        let deceiver =
            generator.oneIn(3) ? record.secrets.sorted().randomElement(using: &generator) : nil
        let entries = signed(
            devices,
            AttackWords(
                type: 4, workspace: AttackSignatures.workspace, context: end.operation,
                answerer: deceiver ?? worker.device, member: wim.member, list: devices.map(pair)))
        let proof = AttackProof(invite: invite.id, member: wim.member, entries: entries)
        guard deceiver == nil else {
            see(entries, proof)
            return true
        }
        var draft = draft(
            worker,
            .request(
                invite: invite.id, member: wim.member, devices: devices,
                answering: end.operation))
        (draft.entries, draft.proof) = (entries, proof)
        return !isBroken(write(draft), at: worker.node)
    }

    /// Somebody is let in again, with the devices that were asked for or that everybody knows, and
    /// goes on.
    func bringBack(_ worker: Worker) -> Bool {
        let name = generator.oneIn(2) ? "wim" : "lou"
        guard worker.role <= .admin, let person = record.people[name] else { return true }
        let known = person.devices.filter { !record.secrets.contains($0) }
        let words = RoleGrant(
            member: person.member, devices: asked(worker, person) ?? known, role: .member)
        let written = write(draft(worker, .grant(words)))
        guard !isBroken(written, at: worker.node), let written else { return false }
        guard let device = words.devices.last(where: known.contains) else { return true }
        var next = draft(worker, .createDocument)
        (next.author, next.device, next.grant) = (name, device, written.id)
        next.past = history.closure(of: [written.id])
        return !isBroken(write(next), at: worker.node)
    }

    /// The devices of a request to come back: a reader sees nothing wrong with it.
    private func asked(_ worker: Worker, _ person: AttackPerson) -> [DeviceID]? {
        let judge = nodes[worker.node].judge
        let lists = history.operations.compactMap { operation -> [DeviceID]? in
            guard case .request(_, person.member, let devices, _?) = operation.action,
                worker.past.contains(operation.id), judge.isValid(operation.id)
            else { return nil }
            return devices
        }
        return lists.randomElement(using: &generator)
    }
}
