import CRDTStore
public import WorkspaceModel

/// The present standing of members, and content: V-2 to V-5 of PROTOCOL.md.
extension AuthDefinition {
    /// Who somebody is now.
    public struct Standing: Hashable, Sendable {
        /// Whose device it is.
        public let member: MemberID
        /// In which role.
        public let role: Role
        /// Under which grant.
        public let grant: OperationID
    }

    /// V-2: what the grants give under which the device would write now, the strongest first.
    public func standings(of device: DeviceID, among valid: PlainSet) -> [Standing] {
        // Of two that rank alike, because one transfer has taken both, the one that was stronger.
        var found: [(rank: (now: Rank, asGiven: Rank), given: Given)] = []
        for grant in valid {
            guard let given = given(by: grant, to: device) else { continue }
            let now = asked(given, among: valid)
            if isReplaced(given, among: valid) { continue }
            let rank = lastRank(now)
            if valid.contains(where: { hitsNow($0, now, rank, among: valid) }) { continue }
            found.append(((rank, lastRank(given)), now))
        }
        return found.sorted { $0.rank < $1.rank }.compactMap { _, given in
            Role(rawValue: UInt64(given.role)).map {
                Standing(
                    member: given.member, role: $0, grant: facts[given.grant].operation.id)
            }
        }
    }

    /// V-3: one role less, and the rank of what was kept, where a transfer takes the grant.
    private func asked(_ given: Given, among valid: PlainSet) -> Given {
        guard rules.has(.v3), given.role < 2 else { return given }
        let latest = transfers(taking: given, among: valid)
            .max {
                (facts[$0].lam, facts[$0].operation.id) < (facts[$1].lam, facts[$1].operation.id)
            }
        guard let latest else { return given }
        return Given(
            grant: given.grant, member: given.member, role: dropped(given.role),
            device: given.device, place: self.given(by: latest, to: given.device)?.place ?? .max,
            standIn: latest)
    }

    /// Whether a transfer has given the device something else instead.
    private func isReplaced(_ given: Given, among valid: PlainSet) -> Bool {
        guard rules.has(.v3) else { return false }
        let transfers =
            rules.has(.v3Strength)
            ? transfers(taking: given, among: valid) : transfers(by: given, among: valid)
        return transfers.contains { place in
            guard case .grant(let words) = facts[place].operation.action else { return false }
            return words.drops?.contains(given.device) == true
                && !words.devices.contains(given.device)
        }
    }

    /// V-3: the transfers that take a grant from a device.
    private func transfers(taking given: Given, among valid: PlainSet) -> [Int] {
        transfers(by: given, among: valid).filter { transfer in
            if facts[transfer].rank < lastRank(given) { return true }
            guard rules.has(.v3Recovery), isRecovery(given.device, of: given.member, valid) else {
                return false
            }
            return !valid.contains { grant in
                otherDevices(of: given.member, listedBy: grant, valid).contains {
                    withstands($0, transfer, among: valid)
                }
            }
        }
    }

    /// What a grant gives the member's devices that are no recovery devices.
    private func otherDevices(
        of member: MemberID, listedBy grant: Int, _ valid: PlainSet
    ) -> [Given] {
        (devices(facts[grant].operation.action) ?? []).compactMap { given(by: grant, to: $0) }
            .filter { $0.member == member && !isRecovery($0.device, of: member, valid) }
    }

    private func withstands(_ given: Given, _ transfer: Int, among valid: PlainSet) -> Bool {
        let rank = lastRank(given)
        guard transfers(by: given, among: valid).contains(transfer), rank < facts[transfer].rank
        else { return false }
        return !valid.contains { place in
            if case .leave = facts[place].operation.action { return false }
            return hitsNow(place, given, rank, among: valid)
        }
    }

    /// The first of two devices by a valid create or admit, or what took its place by what is valid.
    private func isRecovery(_ device: DeviceID, of member: MemberID, _ valid: PlainSet) -> Bool {
        isRecovery(device, of: member, in: valid)
    }

    /// The valid transfers by a member that a grant neither knows nor is.
    private func transfers(by given: Given, among valid: PlainSet) -> [Int] {
        valid.filter { place in
            guard case .grant(let words) = facts[place].operation.action, words.drops != nil else {
                return false
            }
            return facts[place].author?.member == given.member && place != given.grant
                && !knows(facts[given.grant], place)
        }
    }

    /// Weaker than everything else of its device under its grant.
    private func lastRank(_ given: Given) -> Rank {
        var rank = rank(of: given)
        rank.own = .max
        rank.id = OperationID([UInt8](repeating: 0xff, count: 32))
        return rank
    }

    /// Whether the device is in for its member in a stronger role, by whatever grant.
    private func holdsMore(_ given: Given, than role: Int, among valid: PlainSet) -> Bool {
        valid.contains { grant in
            guard let other = self.given(by: grant, to: given.device),
                other.member == given.member, !isReplaced(other, among: valid)
            else { return false }
            let now = asked(other, among: valid)
            guard now.role < role else { return false }
            let rank = lastRank(now)
            return !valid.contains { hitsNow($0, now, rank, among: valid) }
        }
    }

    private func hitsNow(
        _ r: Int, _ given: Given, _ rank: Rank, among valid: PlainSet
    ) -> Bool {
        guard let other = facts[r].author,
            reaches(r, given) || cutsOff(r, given, among: valid)
        else { return false }
        // V-2: a transfer takes a role here, and nobody out.
        if case .grant(let words) = facts[r].operation.action, words.drops != nil,
            other.member == given.member
        {
            return false
        }
        // V-4
        if case .leave = facts[r].operation.action, rules.has(.v4) {
            return given.role >= other.role
                && !(rules.has(.v4Device) && holdsMore(given, than: other.role, among: valid))
        }
        return facts[r].rank < rank
    }

    /// V-5: the valid revocations that reach what a device writes under a grant in public
    /// documents; `nil` where nothing of it is valid anyway.
    public func revocationsOfContent(
        under id: OperationID, by device: DeviceID
    ) -> [OperationID]? {
        let valid = validPlaces()
        guard let grant = places[id], valid.contains(grant),
            let given = given(by: grant, to: device)
        else { return nil }
        // V-3: a transfer carries the content of its heir alone.
        if case .grant(let words) = facts[grant].operation.action, !words.devices.contains(device) {
            return nil
        }
        let now = asked(given, among: valid)
        guard now.role <= 2 else { return nil }
        var reached = Set(ends(of: now, among: valid))
        for place in valid {
            guard case .grant(let words) = facts[place].operation.action, words.replaces,
                words.member == given.member, knows(facts[place], grant),
                !rules.has(.v5Stronger) || facts[place].rank < lastRank(now)
            else { continue }
            // What hits the content of a grant that has replaced its own hits it too, by which
            // only a remove, rmdev or leave is meant.
            let later = Given(
                grant: place, member: words.member, role: Int(words.role.rawValue), device: device,
                place: words.devices.firstIndex(of: device) ?? .max)
            reached.formUnion(
                ends(of: asked(later, among: valid), among: valid).filter { endsMembership($0) })
        }
        return Set(reached.map { facts[$0].operation.id }).sorted()
    }

    private func ends(of given: Given, among valid: PlainSet) -> [Int] {
        let rank = lastRank(given)
        return valid.filter { endsMembership($0) || makesGuest($0) }
            .filter { hitsNow($0, given, rank, among: valid) }
    }

    private func endsMembership(_ place: Int) -> Bool {
        switch facts[place].operation.action {
        case .remove, .removeDevice, .leave: true
        default: false
        }
    }

    /// Replaces, and gives less than public documents need.
    private func makesGuest(_ place: Int) -> Bool {
        guard case .grant(let words) = facts[place].operation.action else { return false }
        return words.replaces && words.role == .guest
    }
}

/// Queries from the definitions of other documents.
extension AuthDefinition {
    /// The operation of that id; `nil` where it was refused.
    func operation(_ id: OperationID) -> AuthOperation? {
        places[id].map { facts[$0].operation }
    }

    func knows(_ id: OperationID, _ other: OperationID) -> Bool {
        guard let one = places[id], let other = places[other] else { return false }
        return facts[one].past.contains(other)
    }

    func fact(_ id: OperationID) -> Fact? { places[id].map { facts[$0] } }
}

/// The same by ids.
extension AuthDefinition {
    /// The valid ones of a causally closed set; what was refused is left out.
    public func validOperations(among known: Set<OperationID>) -> Set<OperationID> {
        var places = PlainSet()
        for id in known { self.places[id].map { places.insert($0) } }
        return Set(valid(among: places).map { facts[$0].operation.id })
    }

    /// V-2.
    public func standing(of device: DeviceID, among valid: Set<OperationID>) -> Standing? {
        standings(of: device, among: places(ofValid: valid)).first
    }
}
