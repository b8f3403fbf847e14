import WorkspaceModel

/// What a revocation is aimed at. Operations are indexed by the same keys, so that either side
/// finds the other without a search.
enum AuthTarget: Hashable {
    /// Operations under grants of a member, and admissions on the member's invites.
    case member(MemberID)
    /// Operations of a device.
    case device(DeviceID)
    /// Admissions on an invite.
    case invite(Int)
    /// Own ends of a member's devices.
    case ownEnd(MemberID)
}

/// What a revocation takes effect from. It is a plain value: every question about a member reads
/// it, and copies nothing else of the operation.
enum AuthRevocationScope: Hashable, Sendable {
    /// It is not a revocation.
    case nothing
    case member(MemberID)
    case device(DeviceID)
    /// The record of an invite.
    case invite(Int)
    /// Its own author.
    case departure
    /// A grant: what the member had before, what its author had, or both.
    case role(replaced: MemberID?, drops: Bool)
}

/// The side of an operation that revocations examine. Content has one too: it is weaker than every
/// authority operation of its device, and in no revocation's past.
struct AuthExposure {
    let rank: AuthRank
    let grant: Int
    let author: MemberID
    let device: DeviceID
    /// The operation itself; `nil` for content, and for what a device would write now.
    var index: Int?
    /// For an admission: its invite, and the author of that.
    var invite: Int?
    var inviter: MemberID?

    var targets: [AuthTarget] {
        var targets: [AuthTarget] = [.member(author), .device(device)]
        if let invite { targets.append(.invite(invite)) }
        if let inviter, inviter != author { targets.append(.member(inviter)) }
        if rank.isOwnEnd { targets.append(.ownEnd(author)) }
        return targets
    }
}

/// Which operations may affect which: the keys by which either side finds the other.
extension PlacedOperations {
    /// What may be aimed at the operation; `nil` for the root, which nothing hits.
    func exposure(of index: Int) -> AuthExposure? {
        guard let grant = records[index].grant, let author = records[index].author else {
            return nil
        }
        var exposure = AuthExposure(
            rank: records[index].rank, grant: grant, author: author,
            device: records[index].operation.device, index: index)
        if records[index].operation.action.isAdmission {
            exposure.invite = records[index].cited.reference
            exposure.inviter = exposure.invite.flatMap { records[$0].author }
        }
        return exposure
    }

    /// The target of an operation, once its citations are resolved.
    func aim(of record: AuthRecord) -> AuthRevocationScope {
        switch record.operation.action {
        case .remove(let member): .member(member)
        case .removeDevice(let device): .device(device)
        case .revokeInvite: record.cited.reference.map { .invite($0) } ?? .nothing
        case .leave: .departure
        case .grant(let grant) where grant.replaces || grant.drops != nil:
            .role(replaced: grant.replaces ? grant.member : nil, drops: grant.drops != nil)
        default: .nothing
        }
    }

    /// The keys of what a revocation may take effect from; empty for other operations.
    func targets(ofRevocation index: Int) -> [AuthTarget] {
        records[index].cited.answeredEnds.isEmpty
            ? aimedTargets(of: index) : aimedTargets(of: index) + answeredTargets(of: index)
    }

    private func aimedTargets(of index: Int) -> [AuthTarget] {
        switch records[index].aim {
        case .nothing: return []
        case .member(let member): return [.member(member)]
        case .device(let device):
            guard let along = records[index].again.undoing?.devices else {
                return [.device(device)]
            }
            return [.device(device)] + along.filter { $0 != device }.map(AuthTarget.device)
        case .invite(let invite): return [.invite(invite)]
        case .departure: return records[index].author.map { [.member($0)] } ?? []
        case .role(let replaced, let drops):
            let own = drops ? records[index].author.map(AuthTarget.member) : nil
            return [replaced.map(AuthTarget.member), own].compactMap { $0 }
        }
    }

    /// The revocations that may take effect from what is exposed: all that are aimed at it; for
    /// each end that counts under several grants also its strongest valid record, which hits all
    /// that the others hit; then the end that leaves no chain to the device under its grant.
    func revocations(aimedAt exposure: AuthExposure) -> [Int] {
        let targets = exposure.targets
        guard !further.endsAgain.isEmpty else {
            return targets.flatMap { reach.revocations[$0] ?? [] }
        }
        var found: [Int] = []
        for target in targets {
            for index in reach.revocations[target] ?? [] {
                found.append(index)
                if case .device = target, let strongest = further.strongest[index] {
                    found.append(strongest)
                }
            }
        }
        if let index = further.cutOff[exposure.grant]?[exposure.device] { found.append(index) }
        return found
    }

    /// The keys of the ends that conflict with those that it answers.
    func answeredTargets(of index: Int) -> [AuthTarget] {
        let members = Set(records[index].cited.answeredEnds.compactMap { records[$0].author })
        return members.map { .ownEnd($0) }
    }

    /// What is indexed under a target, with each of its records.
    func exposed(at target: AuthTarget) -> [Int] {
        let all = reach.exposed[target] ?? []
        return further.endsAgain.isEmpty ? all : all.flatMap(everyRecord)
    }

    /// Whether more than a number of records may be indexed under the targets.
    func hasExposed(at targets: [AuthTarget], moreThan most: Int) -> Bool {
        var left = most
        for target in targets {
            for index in reach.exposed[target] ?? [] {
                left -= 1 + (further.endsAgain[index]?.count ?? 0)
                if left < 0 { return true }
            }
        }
        return false
    }

    /// Whether one record is stronger than the other.
    func isStronger(_ index: Int, than other: Int) -> Bool {
        records[index].rank < records[other].rank
    }

    /// Whether the record at `other` is in the past of that at `index`.
    func knows(_ index: Int, _ other: Int) -> Bool {
        records[index].knows(records[other].place)
    }

    /// An operation's record, and those of an end under other grants.
    func everyRecord(of index: Int) -> [Int] {
        further.endsAgain[index].map { [index] + $0 } ?? [index]
    }

    /// The first record of an operation.
    func original(_ index: Int) -> Int { records[index].again.original ?? index }

    /// The ids of the records, each once, in their order.
    func ids(of found: [Int]) -> [OperationID] {
        var seen: Set<OperationID> = []
        return found.map { records[$0].operation.id }.filter { seen.insert($0).inserted }
    }

    func grants(everTo member: MemberID) -> [Int] { people.given[member] ?? [] }
}
