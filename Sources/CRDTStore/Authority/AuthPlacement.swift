import WorkspaceModel

extension AuthEvaluator {
    /// Places an operation in the document: its past, its rank and whether it has a fault. The
    /// verdict is left open.
    mutating func link(_ operation: AuthOperation) throws(AuthError) -> Int {
        var record = try place(operation)
        resolveCitations(of: &record)
        record.fault = fault(of: record)
        let index = records.count
        record.admission = index
        if case .addDevices = record.operation.action {
            record.admission = record.grant.flatMap { records[$0].admission }
        }
        if record.position == 0 {
            branchTips.append(index)
        } else {
            branchTips[record.branch] = index
        }
        records.append(record)
        indices[operation.id] = index
        register(index)
        return index
    }

    private func place(_ operation: AuthOperation) throws(AuthError) -> AuthRecord {
        if case .create = operation.action, !records.isEmpty { throw .secondRoot }
        var past = CausalPast()
        var lamport: UInt64 = 0
        for id in operation.dependencies + (operation.previous.map { [$0] } ?? []) {
            guard let index = indices[id] else { throw .unknownReference(id) }
            let cited = records[index]
            if lamport == 0 { past = cited.past } else { past.formUnion(cited.past) }
            past.insert(branch: cited.branch, position: cited.position)
            lamport = max(lamport, cited.lamport)
        }
        let (branch, position) = try branch(of: operation)
        return AuthRecord(
            operation, lamport: operation.isContinuation ? lamport : lamport + 1, branch: branch,
            position: position, past: past)
    }

    /// The branch that the operation extends, or the number of the one it opens.
    private func branch(
        of operation: AuthOperation
    ) throws(AuthError) -> (branch: Int, position: UInt32) {
        guard let id = operation.previous else {
            guard operation.sequence == 0 else { throw .brokenChain }
            return (branchTips.count, 0)
        }
        guard let index = indices[id] else { throw .unknownReference(id) }
        let previous = records[index]
        guard operation.sequence > 0, previous.operation.sequence == operation.sequence - 1,
            previous.operation.device == operation.device,
            previous.operation.incarnation == operation.incarnation
        else { throw .brokenChain }
        guard branchTips[previous.branch] == index else { return (branchTips.count, 0) }
        return (previous.branch, previous.position + 1)
    }

    /// Fills in what follows from the cited grant and from the operation that the action names.
    private func resolveCitations(of record: inout AuthRecord) {
        record.reference = record.operation.action.reference.flatMap { indices[$0] }
            .flatMap { record.knows(records[$0]) ? $0 : nil }
        resolveGrant(of: &record)
        switch record.operation.action {
        case .create(let member, _):
            record.subject = member
            record.role = .owner
        case .grant(let grant):
            record.subject = grant.member
            record.role = grant.role
        case .admit(_, let member, _, _):
            record.subject = member
            record.role = record.reference.flatMap { records[$0].operation.action.terms?.role }
        case .addDevices:
            record.subject = record.author
            record.role = record.actingRole
        default:
            break
        }
    }

    private func resolveGrant(of record: inout AuthRecord) {
        let operation = record.operation
        guard let index = operation.grant.flatMap({ indices[$0] }), record.knows(records[index]),
            let place = records[index].operation.action.grantedDevices?
                .firstIndex(of: operation.device),
            let given = records[index].role, let subject = records[index].subject
        else { return }
        record.grant = index
        record.author = subject
        record.supports = [index]
        let hasDropped = drops[subject]?.contains { drop in
            record.knows(records[drop]) && !records[index].knows(records[drop])
        }
        let role = hasDropped == true ? given.dropped : given
        record.actingRole = role
        let rank = GrantRank(
            role: role, lamport: records[index].lamport, id: records[index].operation.id)
        let author = DeviceRank(grant: rank, index: place)
        record.rank = AuthRank(author: author, lamport: record.lamport, id: operation.id)
        guard let reference = record.reference else { return }
        switch operation.action {
        case .admit:
            // An admission is no stronger than the invite, whoever writes it. Its own id keeps two
            // on one invite apart: they may bind one device to two members.
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

    /// How strong a grant is, or `nil` when the operation gives nothing.
    func rank(ofGrant index: Int) -> GrantRank? {
        let record = records[index]
        guard let role = record.role else { return nil }
        return GrantRank(role: role, lamport: record.lamport, id: record.operation.id)
    }

    /// Makes the operation findable by all that bears on it and that it bears on.
    private mutating func register(_ index: Int) {
        let record = records[index]
        switch record.operation.action {
        case .admit:
            if let invite = record.reference { admissions[invite, default: []].append(index) }
        case .remove(let member):
            removals[.member(member), default: []].append(index)
        case .removeDevice(let device):
            removals[.device(device), default: []].append(index)
        default:
            break
        }
        guard record.fault == nil else { return }
        for support in record.supports { records[support].dependants.append(index) }
        for target in exposure(of: index)?.targets ?? [] {
            exposed[target, default: []].append(index)
        }
        for target in targets(ofRevocation: index) {
            revocations[target, default: []].append(index)
        }
        for device in Set(record.operation.action.grantedDevices ?? []) {
            grantsOfDevice[device, default: []].append(index)
        }
        if let devices = record.operation.action.boundDevices, let member = record.subject {
            for device in Set(devices) {
                bindings[device, default: [:]][member, default: []].append(index)
            }
        }
        registerContentRules(index)
    }

    private mutating func registerContentRules(_ index: Int) {
        let record = records[index]
        switch record.operation.action {
        case .request:
            if let invite = record.reference { requests[invite, default: []].append(index) }
        case .setWorkspace(.some):
            invitePolicies.append(index)
        case .invite:
            // A changed verdict on a policy may change who was allowed to write this.
            for policy in invitePolicies where record.knows(records[policy]) {
                records[policy].dependants.append(index)
            }
        case .grant(let grant):
            if grant.dropsOwn, let author = record.author {
                drops[author, default: []].append(index)
            }
        case .recut:
            if let widened = record.reference { recuts[widened, default: []].append(index) }
        default:
            break
        }
        guard !record.operation.cuts.isEmpty else { return }
        cuts[index] = Dictionary(grouping: record.operation.cuts, by: \.log)
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

    /// The conditions, when it is an invite.
    var terms: InviteTerms? {
        if case .invite(let terms) = self { terms } else { nil }
    }
}
