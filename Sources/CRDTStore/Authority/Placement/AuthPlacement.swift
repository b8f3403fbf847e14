import WorkspaceModel

extension PlacedOperations {
    /// Places an operation in the document: its past and its rank. The verdict is left open.
    ///
    /// In a private document an operation with a fault keeps its place: its citations are not
    /// sealed, and its content may be opened later.
    mutating func link(_ operation: AuthOperation) throws(AuthError) -> Int {
        var record = try place(operation)
        record.isOpaque = unknownFeatures.contains { record.knows(records[$0].place) }
        resolveCitations(of: &record)
        var known = KnownRolls(before: record)
        record.fault = fault(of: record, &known)
        note(looksAtRolls: known.looks)
        if let fault = record.fault, rules == .workspace { throw .faulty(fault) }
        let index = records.count
        record.admission = index
        if case .addDevices = record.operation.action {
            record.admission = record.grant.flatMap { records[$0].admission }
        }
        record.aim = aim(of: record)
        let successions = successions(before: record)
        record.again.isFinalEnd = !successions.isEmpty
        record.canBeKept = operation.canBeKept && !endsOwnPhrase(record)
        if record.place.position == 0 {
            branchTips.append(index)
        } else {
            branchTips[record.place.branch] = index
        }
        records.append(record)
        indices[operation.id] = index
        if record.fault == nil, let subject = record.gives.subject {
            people.given[subject, default: []].append(index)
        }
        register(index)
        if record.again.isFinalEnd, record.fault == nil, !record.isOpaque,
            let author = record.author
        {
            let successor = successor(by: record, of: successions)
            further.note(index, of: author, naming: successor)
        }
        if record.fault == nil, let kept = operation.action.drops {
            appendOwnPart(of: index, keeping: kept)
        }
        placeEndsAgain(after: index)
        return index
    }

    /// What the author of a transfer keeps: a grant of one role less to the author's devices, at
    /// the place of the transfer and valid exactly when that is.
    private mutating func appendOwnPart(of index: Int, keeping kept: [DeviceID]) {
        let transfer = records[index]
        let listed = transfer.gives.devices
        var part = AuthRecord(
            transfer.operation, lamport: transfer.lamport, place: transfer.place,
            past: transfer.past)
        part.isOwnPart = true
        // Nothing of it counts, but A-5 asks which devices a grant lists.
        part.isOpaque = transfer.isOpaque
        part.gives.subject = transfer.author
        part.gives.role = transfer.actingRole?.dropped
        part.gives.devices = kept.filter { !listed.contains($0) }
        part.gives.firstPlace = listed.count
        part.supports = [index]
        part.rank = transfer.rank
        part.rank.part = 1
        let number = records.count
        part.admission = number
        records.append(part)
        records[index].ownPart = number
        records[index].dependants.append(number)
        part.gives.subject.map { people.given[$0, default: []].append(number) }
        guard !part.isOpaque else { return }
        for device in Set(part.gives.devices) {
            people.grantsOfDevice[device, default: []].append(number)
        }
    }

    private func place(_ operation: AuthOperation) throws(AuthError) -> AuthRecord {
        if case .create = operation.action, !records.isEmpty { throw .secondRoot }
        var past = CausalPast()
        var lamport: UInt64 = 0
        for id in operation.dependencies + (operation.previous.map { [$0] } ?? []) {
            guard let index = indices[id] else { throw .unknownReference(id) }
            if lamport == 0 {
                past = records[index].past
            } else {
                past.formUnion(records[index].past)
            }
            past.insert(records[index].place)
            lamport = max(lamport, records[index].lamport)
        }
        return AuthRecord(
            operation, lamport: operation.isContinuation ? lamport : lamport + 1,
            place: try nextPlace(of: operation), past: past)
    }

    /// After the branch that the operation extends, or at the start of the one that it opens.
    private func nextPlace(of operation: AuthOperation) throws(AuthError) -> AuthPlace {
        let new = AuthPlace(branch: branchTips.count, position: 0)
        guard let id = operation.previous else {
            guard operation.sequence == 0 else { throw .brokenChain }
            return new
        }
        guard let index = indices[id] else { throw .unknownReference(id) }
        guard operation.sequence > 0,
            records[index].operation.sequence == operation.sequence - 1,
            records[index].operation.device == operation.device,
            records[index].operation.incarnation == operation.incarnation
        else { throw .brokenChain }
        let place = records[index].place
        guard branchTips[place.branch] == index else { return new }
        return AuthPlace(branch: place.branch, position: place.position + 1)
    }

    /// Resolves what follows from the cited grant and from the operation that the action names.
    private func resolveCitations(of record: inout AuthRecord) {
        record.cited.reference = record.operation.action.reference.flatMap { indices[$0] }
            .flatMap { record.knows(records[$0].place) ? $0 : nil }
        record.cited.request = record.operation.action.request.flatMap { indices[$0] }
            .flatMap { record.knows(records[$0].place) ? $0 : nil }
        record.cited.end = record.operation.action.end.flatMap { indices[$0] }
            .flatMap { record.knows(records[$0].place) ? $0 : nil }
        if case .confirm(let operations) = record.operation.action {
            record.cited.confirmed = confirmable(operations, before: record)
            record.cited.answeredEnds = record.cited.confirmed.filter {
                records[$0].operation.isOwnEnd
            }
        }
        resolveGrant(of: &record)
        record.gives.devices = record.operation.action.grantedDevices ?? []
        switch record.operation.action {
        case .create(let member, _):
            record.gives.subject = member
            record.gives.role = .owner
        case .grant(let grant):
            record.gives.subject = grant.member
            record.gives.role = grant.role
        case .admit(_, let member, _, _):
            record.gives.subject = member
            record.gives.role = record.cited.reference.flatMap {
                records[$0].operation.action.terms?.role
            }
        case .addDevices:
            record.gives.subject = record.author
            record.gives.role = record.actingRole
            resolveSuccession(of: &record)
        default:
            break
        }
    }

    /// The place of a device that takes its author's place. In a chain of those the later one has
    /// the greater depth, so it suffices to store the last.
    private func resolveSuccession(of record: inout AuthRecord) {
        guard record.operation.takesPlace, record.grant != nil, record.author != nil else { return }
        let (id, lamport) = (record.operation.id, record.lamport)
        record.gives.succession = AuthSuccession(
            rank: record.rank.author.succeeded(by: id, at: lamport))
    }

    private func resolveGrant(of record: inout AuthRecord) {
        let operation = record.operation
        guard let index = operation.grant.flatMap({ grant($0, of: operation.device) }),
            record.knows(records[index].place),
            records[index].place(of: operation.device) != nil
        else { return record.isOpaque = false }
        guard let role = records[index].gives.role, let subject = records[index].gives.subject,
            let author = deviceRank(ofGrant: index, operation.device)
        else { return }
        record.grant = index
        record.author = subject
        record.supports = [index]
        record.actingRole = role
        record.rank = AuthRank(
            author: author, isOwnEnd: operation.isOwnEnd, lamport: record.lamport, id: operation.id)
        guard let reference = record.cited.reference else { return }
        switch operation.action {
        case .admit:
            // An admission is never stronger than the invite. Its own id distinguishes two on one
            // invite: they may bind one device to two members.
            let invite = AuthRank(
                author: records[reference].rank.author, lamport: AuthRank.infinity,
                id: operation.id)
            record.rank = max(record.rank, invite)
            record.supports.append(reference)
        case .invite:
            record.supports.append(reference)
        default:
            break
        }
    }

    /// The record of a grant that lists the device: one of two for a transfer.
    func grant(_ id: OperationID, of device: DeviceID) -> Int? {
        guard let index = indices[id] else { return nil }
        if records[index].gives.devices.contains(device) { return index }
        return records[index].ownPart.flatMap {
            records[$0].gives.devices.contains(device) ? $0 : nil
        }
    }

    /// Those of the operations that an author who knows them may confirm, each once.
    func confirmable(_ operations: [OperationID], before record: AuthRecord) -> [Int] {
        let found = operations.prefix(Limits.confirmedMax).compactMap { indices[$0] }.filter {
            record.knows(records[$0].place) && records[$0].operation.canBeConfirmed
        }
        return Array(Set(found)).sorted()
    }

    /// Whether it revokes another recovery phrase of its author's member. No confirmation keeps
    /// that (V-6): a thief with the old phrase would revoke its replacement with it.
    func endsOwnPhrase(_ record: AuthRecord) -> Bool {
        guard case .removeDevice(let device) = record.operation.action,
            device != record.operation.device, let author = record.author
        else { return false }
        return isRecovery(device, of: author, before: record)
    }

    /// The rank that a grant gives a device that it lists, or one after its last place; `nil` when
    /// the operation is not a grant.
    func deviceRank(ofGrant index: Int, _ device: DeviceID) -> DeviceRank? {
        let place = records[index].place(of: device)
        if place != nil, let succession = records[index].gives.succession { return succession.rank }
        return rank(ofGrant: index).map { DeviceRank(grant: $0, index: place ?? .max) }
    }

    /// The rank of a grant; `nil` when the operation is not one. An adddev that takes a place has
    /// the rank of the grant under which its author acted.
    func rank(ofGrant index: Int) -> GrantRank? {
        if let succession = records[index].gives.succession { return succession.rank.grant }
        guard let role = records[index].gives.role else { return nil }
        return GrantRank(
            role: role, lamport: records[index].lamport, id: records[index].operation.id)
    }
}

extension AuthAction {
    /// The operation that the action names besides the grant.
    var reference: OperationID? {
        switch self {
        case .admit(let id, _, _, _), .request(let id, _, _, _), .revokeInvite(let id),
            .recut(let id):
            id
        case .invite(let terms):
            terms.policy
        default:
            nil
        }
    }

    /// The request that an admission answers.
    var request: OperationID? { if case .admit(_, _, _, let id) = self { id } else { nil } }

    /// The end of a membership that a request answers.
    var end: OperationID? { if case .request(_, _, _, let id) = self { id } else { nil } }

    /// The devices for which the author of a transfer keeps one role less.
    var drops: [DeviceID]? { if case .grant(let grant) = self { grant.drops } else { nil } }

    /// The conditions of an invite.
    var terms: InviteTerms? {
        if case .invite(let terms) = self { terms } else { nil }
    }
}
