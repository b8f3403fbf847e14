import CRDTStore
import WorkspaceModel

/// The terms of PROTOCOL.md, 4.
extension AuthDefinition {
    /// What a grant gives to one device.
    struct Given: Hashable {
        let grant: Int
        let member: MemberID
        let role: Int
        let device: DeviceID
        /// Its place in the lists of the grant.
        let place: Int
        /// The transfer as which it ranks, where the member gave a role up since (V-3).
        var standIn: Int?
    }

    /// Compared from the left; smaller is stronger.
    struct Rank: Comparable {
        var role = -1
        var grantLam = 0
        var grant = OperationID.zero
        var place = 0
        /// (lam, id) of the adddev that took the place; 0 and zeros where none did.
        var taken = 0
        var taking = OperationID.zero
        /// 0 for an end of the author's own part; 2 more for each phrase behind the listed one (V-12).
        var kind = 1
        /// The operation's own lam.
        var own: Int
        var id: OperationID

        static func < (left: Rank, right: Rank) -> Bool {
            if left.role != right.role { return left.role < right.role }
            if left.grantLam != right.grantLam { return left.grantLam < right.grantLam }
            if left.grant != right.grant { return left.grant < right.grant }
            if left.place != right.place { return left.place < right.place }
            if left.taken != right.taken { return left.taken < right.taken }
            if left.taking != right.taking { return left.taking < right.taking }
            if left.kind != right.kind { return left.kind < right.kind }
            if left.own != right.own { return left.own < right.own }
            return left.id < right.id
        }
    }

    func knows(_ fact: Fact, _ other: Int) -> Bool { fact.past.contains(original(other)) }

    func place(_ id: OperationID?, in past: PlainSet) -> Int? {
        guard let place = id.flatMap({ places[$0] }), past.contains(place) else { return nil }
        return place
    }

    /// The devices of a grant in the order in which they count; `nil` for what is no grant.
    func devices(_ action: AuthAction) -> [DeviceID]? {
        switch action {
        case .create(_, let devices), .admit(_, _, let devices, _), .addDevices(let devices):
            return devices
        case .grant(let given):
            return rules.isOld ? given.devices : given.devices + (given.drops ?? [])
        default:
            return nil
        }
    }

    /// What a grant gives; a device that stands in both lists counts at its first place.
    func given(by grant: Int, to device: DeviceID) -> Given? {
        let fact = facts[grant]
        guard let index = devices(fact.operation.action)?.firstIndex(of: device) else { return nil }
        func given(_ member: MemberID, _ role: Int) -> Given {
            Given(grant: grant, member: member, role: role, device: device, place: index)
        }
        switch fact.operation.action {
        case .create(let member, _):
            return given(member, 0)
        case .admit(let invite, let member, _, _):
            guard let terms = place(invite, in: fact.past).flatMap({ terms($0) }) else {
                return nil
            }
            return given(member, Int(terms.role.rawValue))
        case .addDevices:
            return fact.author.map { given($0.member, $0.role) }
        case .grant(let words) where index < words.devices.count:
            return given(words.member, Int(words.role.rawValue))
        case .grant:
            return fact.author.map { given($0.member, dropped($0.role)) }
        default:
            return nil
        }
    }

    /// One role less: owner to admin, admin to member.
    func dropped(_ role: Int) -> Int { role < 2 ? role + 1 : role }

    func terms(_ place: Int) -> InviteTerms? {
        if case .invite(let terms) = facts[place].operation.action { terms } else { nil }
    }

    // MARK: Bindings

    /// What create, admit and adddev bind, and to whom.
    func bound(by fact: Fact) -> (devices: [DeviceID], member: MemberID)? {
        switch fact.operation.action {
        case .create(let member, let devices), .admit(_, let member, let devices, _):
            return (devices, member)
        case .addDevices(let devices):
            return fact.author.map { (devices, $0.member) }
        default:
            return nil
        }
    }

    /// The members to whom a device is bound in a past.
    func owners(of device: DeviceID, in past: PlainSet) -> Set<MemberID> {
        var owners: Set<MemberID> = []
        for place in past where !facts[place].isBehind {
            guard let bound = bound(by: facts[place]), bound.devices.contains(device) else {
                continue
            }
            owners.insert(bound.member)
        }
        return owners
    }

    /// Whether a past binds any device to a member.
    func isBound(_ member: MemberID, in past: PlainSet) -> Bool {
        past.contains { !facts[$0].isBehind && bound(by: facts[$0])?.member == member }
    }

    /// Whose place an operation takes: its author's, of an adddev that says so.
    private func succeeded(by place: Int) -> Given? {
        facts[place].operation.takesPlace ? facts[place].author : nil
    }

    /// The rank of a device that takes a place.
    private func behind(_ rank: Rank, _ place: Int) -> Rank {
        var rank = rank
        (rank.taken, rank.taking) = (facts[place].lam, facts[place].operation.id)
        return rank
    }

    /// Whether a past makes a device a recovery device of a member: the first of two that a create or
    /// admit lists, or what takes a place.
    func isRecovery(_ device: DeviceID, of member: MemberID, in past: PlainSet) -> Bool {
        past.contains { place in
            guard let bound = bound(by: facts[place]), bound.member == member else { return false }
            return facts[place].operation.takesPlace
                ? bound.devices.contains(device)
                : bound.devices.count == 2 && bound.devices[0] == device
        }
    }

    // MARK: Ranks

    /// Rank of a grant for a device.
    func rank(of given: Given) -> Rank {
        if given.standIn == nil, let author = succeeded(by: given.grant) {
            return behind(rank(of: author), given.grant)
        }
        let fact = facts[given.standIn ?? given.grant]
        return Rank(
            role: given.role, grantLam: max(fact.lam, facts[given.grant].lam),
            grant: fact.operation.id, place: given.place, own: 0, id: .zero)
    }

    /// Rank of an operation; an admit has the weaker of that and what its invite says.
    func rank(of fact: Fact) -> Rank {
        let rank = ownRank(of: fact)
        guard case .admit(let id, _, _, _) = fact.operation.action,
            let invite = place(id, in: fact.past), let inviter = facts[invite].author
        else { return rank }
        var bound = self.rank(of: inviter)
        (bound.own, bound.id) = (.max, fact.operation.id)
        return max(rank, bound)
    }

    /// The rank of what its author writes, independent of the invite's author.
    func ownRank(of fact: Fact) -> Rank {
        guard let author = fact.author else {
            return Rank(own: fact.lam, id: fact.operation.id)
        }
        var rank = rank(of: author)
        (rank.own, rank.id) = (fact.lam, fact.operation.id)
        if rules.has(.ownEnd), isOwnEnd(fact) { rank.kind = 0 }
        rank.kind += 2 * (fact.behind?.generation ?? 0)
        switch fact.operation.action {
        case .admit(let id, _, _, _):
            guard let invite = place(id, in: fact.past), let inviter = facts[invite].author else {
                break
            }
            var bound = self.rank(of: inviter)
            (bound.own, bound.id) = (rank.own, rank.id)
            if !(bound < rank) { rank.own = .max }
        default: break
        }
        return rank
    }
}
