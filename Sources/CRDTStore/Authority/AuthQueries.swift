public import WorkspaceModel

/// A member who may act in the workspace now.
public struct MemberStanding: Hashable, Sendable {
    /// The member.
    public let member: MemberID
    /// The strongest role the member has now.
    public let role: Role
    /// The grant that gives it.
    public let grant: OperationID
    /// The rank of that grant.
    public let rank: GrantRank
    /// The devices with some grant in force, ascending.
    public let devices: [DeviceID]
}

/// Questions about single operations and grants.
extension AuthEvaluator {
    /// Whether the operation was added, valid or not.
    public func contains(_ id: OperationID) -> Bool { indices[id] != nil }

    /// Whether the operation has effect. An unknown one has none.
    public func isValid(_ id: OperationID) -> Bool {
        indices[id].map { records[$0].hasEffect } ?? false
    }

    /// Whether a valid operation activates a feature that this version does not know: operations
    /// with it in their past are left to later versions to judge (PROTOCOL.md, 4.0.5).
    public var awaitsLaterVersion: Bool { placed.unknownFeatures.contains { records[$0].isValid } }

    /// How many valid operations activate features that this version does not know.
    public var laterFeatureCount: Int { placed.unknownFeatures.count { records[$0].isValid } }

    /// Whether the operation has a feature in its past that this version does not know.
    public func isOpaque(_ id: OperationID) -> Bool {
        indices[id].map { records[$0].isOpaque } ?? false
    }

    /// All operations that have a feature in their past that this version does not know.
    ///
    /// - Cost: linear in the size of the document if there is such a feature, else constant.
    public var opaqueOperations: [OperationID] {
        guard !placed.unknownFeatures.isEmpty else { return [] }
        return records.filter { $0.isOpaque && !$0.isFurther }.map(\.operation.id)
    }

    /// The verdict on an operation; `nil` when it was never added.
    public func verdict(on id: OperationID) -> AuthVerdict? {
        guard let index = indices[id] else { return nil }
        let record = records[index]
        if let fault = record.fault { return .faulty(fault) }
        if record.hasEffect { return .valid }
        if record.isOpaque { return .opaque }
        if let support = record.supports.first(where: { !records[$0].isValid })
            ?? verdicts.lapsedInvite(of: index)
        {
            return .unsupported(by: records[support].operation.id)
        }
        if let revocation = verdicts.revocation(voiding: index) {
            return .revoked(by: records[revocation].operation.id)
        }
        return verdicts.policy(forbidding: index).map { .unsupported(by: records[$0].operation.id) }
    }

    /// 1 + the greatest lamport depth among what the operation cites; 1 for the root.
    public func lamport(of id: OperationID) -> UInt64? { indices[id].map { records[$0].lamport } }

    /// The strongest of some operations; `nil` if none is known.
    public func strongest(of ids: [OperationID]) -> OperationID? {
        ids.compactMap { indices[$0] }.min { placed.isStronger($0, than: $1) }
            .map { records[$0].operation.id }
    }

    /// The operation as it was added.
    public func operation(_ id: OperationID) -> AuthOperation? {
        indices[id].map { records[$0].operation }
    }

    /// Whether `ancestor` is in the past of `descendant`. No operation is its own ancestor.
    public func isAncestor(_ ancestor: OperationID, of descendant: OperationID) -> Bool {
        guard let first = indices[ancestor], let last = indices[descendant] else { return false }
        return records[last].knows(records[first].place)
    }

    /// The member as whom an operation acts: the subject of the grant that it cites, for its
    /// device.
    public func author(of id: OperationID) -> MemberID? {
        indices[id].flatMap { records[$0].author }
    }

    /// The role in which an operation acts: what the grant that it cites gives to its device.
    public func actingRole(of id: OperationID) -> Role? {
        indices[id].flatMap { records[$0].actingRole }
    }

    /// The member to whom a grant gives a role on this device; `nil` when it does not list the
    /// device. For a transfer that is the heir, or the author for the devices that its author
    /// keeps.
    public func subject(ofGrant id: OperationID, device: DeviceID) -> MemberID? {
        placed.grant(id, of: device).flatMap { records[$0].gives.subject }
    }

    /// The role that a grant gives to this device, whether it is in force or not.
    public func role(ofGrant id: OperationID, device: DeviceID) -> Role? {
        placed.grant(id, of: device).flatMap { records[$0].gives.role }
    }

    /// The role that a grant gives, whether it is in force or not; `nil` when it is not a grant.
    public func role(ofGrant id: OperationID) -> Role? {
        indices[id].flatMap { records[$0].gives.role }
    }

    /// The rank of a grant, whether it is in force or not; `nil` when it is not a grant.
    public func rank(ofGrant id: OperationID) -> GrantRank? {
        indices[id].flatMap { placed.rank(ofGrant: $0) }
    }

    /// The rank of an operation that the device would write now under a grant: its subject may have
    /// given up the role since. `nil` when the grant does not list the device.
    public func standing(ofGrant id: OperationID, device: DeviceID) -> GrantRank? {
        placed.grant(id, of: device).flatMap { verdicts.standing(ofGrant: $0, for: device) }
    }

    /// The rank of an operation's author when it was written, from the grant that it cites and
    /// earlier transfers; `nil` when the operation is not known.
    public func authorRank(of id: OperationID) -> GrantRank? {
        indices[id].map { records[$0].rank.author.grant }
    }

    /// The subject of a grant; `nil` when it is not a grant.
    public func subject(ofGrant id: OperationID) -> MemberID? {
        indices[id].flatMap { records[$0].gives.subject }
    }

    /// The devices that a grant lists, in its order; empty when it is not a grant.
    public func devices(ofGrant id: OperationID) -> [DeviceID] {
        indices[id].flatMap { records[$0].operation.action.grantedDevices } ?? []
    }
}

/// Questions about the state that results from all operations.
extension AuthEvaluator {
    /// What a new operation should cite: the valid operations that are in the past of no other
    /// valid one. Citing an invalid one would keep it permanently. Ascending.
    ///
    /// - Cost: linear in the number of logs, or in the number of operations if most logs are short.
    public var heads: [OperationID] { tips { $0.hasEffect } }

    /// The heads, the strongest first: if there are more than fit, no weaker one displaces a
    /// stronger one (S-7).
    ///
    /// - Parameter knowsFeatures: `false` for the citations of an operation that takes back a
    ///   feature which only a later version knows.
    public func headsByStrength(knowingFeatures knowsFeatures: Bool = true) -> [OperationID] {
        let heads = knowsFeatures ? heads : tips(amongKnown: true) { $0.hasEffect }
        return heads.compactMap { indices[$0] }.sorted { records[$0].rank < records[$1].rank }
            .map { records[$0].operation.id }
    }

    /// What an operation cites that names others: the maximal valid operations. If there are more
    /// than fit, those come first that are, or know, one of the named operations, then the
    /// strongest (S-7).
    ///
    /// - Parameters:
    ///   - named: what has to be in its past, the most important first.
    ///   - knowsFeatures: as for `headsByStrength`.
    public func citations(
        naming named: [OperationID], knowingFeatures knowsFeatures: Bool = true
    ) -> [OperationID] {
        let heads = headsByStrength(knowingFeatures: knowsFeatures)
        guard heads.count > Limits.authDependenciesMax, !named.isEmpty else { return heads }
        var chosen: [OperationID] = []
        for id in named where !isKnown(id, by: chosen) {
            guard chosen.count < Limits.authDependenciesMax else { break }
            if let head = heads.first(where: { isKnown(id, by: [$0]) }) { chosen.append(head) }
        }
        let first = Set(chosen)
        return chosen + heads.filter { !first.contains($0) }
    }

    /// Those of the named operations that one operation cannot have in its past if it cites as
    /// `citations(naming:)` says and leaves four places for its grant, its key and its own log.
    public func beyondCitations(naming named: [OperationID]) -> [OperationID] {
        let cited = citations(naming: named)
        guard cited.count > Limits.authDependenciesMax - 4 else { return [] }
        let first = Array(cited.prefix(Limits.authDependenciesMax - 4))
        return named.filter { !isKnown($0, by: first) }
    }

    /// The valid operations that list one of the devices: an operation that names the devices also
    /// names these. One for each device comes first, since one is enough to bind it.
    public func bindings(of devices: some Sequence<DeviceID>) -> [OperationID] {
        let ofEach = devices.map(validBindings)
        return ofEach.compactMap(\.first) + ofEach.flatMap { $0.dropFirst() }
    }

    /// One valid operation for each device that binds it: the least that has to be known.
    public func binding(ofEach devices: some Sequence<DeviceID>) -> [OperationID] {
        devices.compactMap { validBindings(of: $0).first }
    }

    private func validBindings(of device: DeviceID) -> [OperationID] {
        (placed.people.grantsOfDevice[device] ?? []).filter { records[$0].isValid }
            .map { records[$0].operation.id }
    }

    /// Whether an operation is one of the others, or in the past of one of them.
    public func isKnown(_ id: OperationID, by others: [OperationID]) -> Bool {
        others.contains { $0 == id || isAncestor(id, of: $0) }
    }

    /// The operations that no other one cites, valid or not. Ascending.
    public var frontier: [OperationID] { tips { _ in true } }

    /// The operations that satisfy `counts` and are in the past of no other one that does.
    /// Ascending.
    ///
    /// - Parameter isKnownOnly: leaves out features that this version does not know, and all that
    ///   have one in their past.
    private func tips(
        amongKnown isKnownOnly: Bool = false, where counts: (AuthRecord) -> Bool
    ) -> [OperationID] {
        let isOne = { (record: AuthRecord) in
            !(isKnownOnly && (record.isOpaque || record.operation.action.isUnknownFeature))
                && counts(record)
        }
        // If most branches are short, few operations are skipped per branch.
        return placed.branchTips.count * 8 <= records.count
            ? tipsOfBranches(where: isOne) : tipsOfAll(where: isOne)
    }

    /// The tips, by a walk through all operations from the last to the first.
    func tipsOfAll(where counts: (AuthRecord) -> Bool) -> [OperationID] {
        var isCovered = [Bool](repeating: false, count: records.count)
        var tips: [OperationID] = []
        for index in records.indices.reversed() where !records[index].isFurther {
            guard isCovered[index] || counts(records[index]) else { continue }
            if !isCovered[index] { tips.append(records[index].operation.id) }
            for id in records[index].operation.dependencies {
                indices[id].map { isCovered[$0] = true }
            }
            records[index].operation.previous.flatMap { indices[$0] }.map { isCovered[$0] = true }
        }
        return tips.sorted()
    }

    /// The tips, from the last operation of each branch, which has the rest of the branch in its
    /// past. An operation that has one of another branch in its past has a greater depth.
    func tipsOfBranches(where counts: (AuthRecord) -> Bool) -> [OperationID] {
        var last: [Int] = []
        for tip in placed.branchTips {
            var index: Int? = tip
            while let found = index, !counts(records[found]) {
                index =
                    records[found].place.position == 0
                    ? nil : records[found].operation.previous.flatMap { indices[$0] }
            }
            if let index { last.append(index) }
        }
        var covered = CausalPast()
        var tips: [OperationID] = []
        for index in last.sorted(by: { records[$0].lamport > records[$1].lamport }) {
            let place = records[index].place
            guard !covered.contains(branch: place.branch, position: place.position) else {
                continue
            }
            tips.append(records[index].operation.id)
            covered.formUnion(records[index].past)
            covered.insert(place)
        }
        return tips.sorted()
    }

    /// The valid operations in order of arrival.
    public var validOperations: [OperationID] {
        records.filter { $0.hasEffect && !$0.isFurther }.map(\.operation.id)
    }

    /// The grants under which an operation that the device writes now would be valid, the
    /// strongest first.
    public func grants(of device: DeviceID) -> [OperationID] {
        inForce(device).map { records[$0].operation.id }
    }

    /// The strongest grant of a device that is in force; `nil` when there is none.
    ///
    /// - Parameter member: only grants to this member. A device asks for its own member: anybody
    ///   may list it in a grant to somebody else, and what it wrote under that would be that
    ///   person's.
    public func bestGrant(of device: DeviceID, as member: MemberID? = nil) -> OperationID? {
        inForce(device).first { member == nil || records[$0].gives.subject == member }
            .map { records[$0].operation.id }
    }

    /// Every member who may act now with at least one device, by id.
    public var members: [MemberStanding] {
        var best: [MemberID: (grant: Int, rank: DeviceRank)] = [:]
        var devices: [MemberID: [DeviceID]] = [:]
        for device in placed.people.grantsOfDevice.keys.sorted() {
            var seen: Set<MemberID> = []
            for grant in inForce(device) {
                guard let member = records[grant].gives.subject,
                    let rank = verdicts.deviceStanding(ofGrant: grant, for: device)
                else { continue }
                if seen.insert(member).inserted { devices[member, default: []].append(device) }
                if let known = best[member], known.rank < rank { continue }
                best[member] = (grant, rank)
            }
        }
        return best.keys.sorted().compactMap { member in
            guard let (grant, rank) = best[member],
                let role = Role(rawValue: UInt64(max(rank.grant.level, 0)))
            else { return nil }
            return MemberStanding(
                member: member, role: role, grant: records[grant].operation.id, rank: rank.grant,
                devices: devices[member] ?? [])
        }
    }

    /// The entry of `members` for a member; `nil` for one who may not act.
    ///
    /// - Cost: linear in the grants that the member ever got.
    public func standing(of member: MemberID) -> MemberStanding? {
        var best: (grant: Int, rank: DeviceRank)?
        var devices: [DeviceID] = []
        for device in Set(placed.grants(everTo: member).flatMap { records[$0].gives.devices })
            .sorted()
        {
            for grant in inForce(device) where records[grant].gives.subject == member {
                guard let rank = verdicts.deviceStanding(ofGrant: grant, for: device) else {
                    continue
                }
                if devices.last != device { devices.append(device) }
                if let best, best.rank < rank { continue }
                best = (grant, rank)
            }
        }
        guard let (grant, rank) = best, let role = Role(rawValue: UInt64(max(rank.grant.level, 0)))
        else { return nil }
        return MemberStanding(
            member: member, role: role, grant: records[grant].operation.id, rank: rank.grant,
            devices: devices)
    }

    /// The valid revocations by which `device` lost `grant`, the strongest first; empty while it
    /// may act under the grant, and if it never could.
    public func revocations(hittingGrant grant: OperationID, device: DeviceID) -> [OperationID] {
        guard let index = placed.grant(grant, of: device),
            let exposure = verdicts.contentExposure(index, device)
        else { return [] }
        return placed.ids(of: verdicts.revocations(hitting: exposure))
    }

    func inForce(_ device: DeviceID) -> [Int] {
        (placed.people.grantsOfDevice[device] ?? [])
            .filter { records[$0].isValid && verdicts.isInForce($0, on: device) }
            .compactMap { grant in
                verdicts.deviceStanding(ofGrant: grant, for: device).map { (grant, $0) }
            }
            .sorted { isStronger($0, than: $1, for: device) }.map(\.0)
    }

    /// Of two grants with equal rank, because one transfer has taken both, the one that was
    /// stronger.
    private func isStronger(
        _ grant: (index: Int, now: DeviceRank), than other: (index: Int, now: DeviceRank),
        for device: DeviceID
    ) -> Bool {
        if grant.now != other.now { return grant.now < other.now }
        guard let first = placed.deviceRank(ofGrant: grant.index, device),
            let second = placed.deviceRank(ofGrant: other.index, device)
        else { return grant.index < other.index }
        return first < second
    }

    // MARK: Devices

    /// The members to whom a device belongs: those for whom it is in, the strongest first. If it is
    /// in for nobody, those to whom valid operations bound it. There may be several if somebody has
    /// stolen the device and bound it to themselves.
    public func members(of device: DeviceID) -> [MemberID] {
        let bound = (placed.people.bindings[device] ?? [:]).compactMap { member, bindings in
            bindings.filter { records[$0].isValid }.map { records[$0].rank }.min()
                .map { (rank: $0, member: member) }
        }
        guard bound.count > 1 else { return bound.map(\.member) }
        var members: [MemberID] = []
        for grant in inForce(device) {
            if let member = records[grant].gives.subject, !members.contains(member) {
                members.append(member)
            }
        }
        return members.isEmpty ? bound.sorted { $0.rank < $1.rank }.map(\.member) : members
    }

    /// The first of `members(of:)`; `nil` if nothing valid binds the device.
    public func owner(of device: DeviceID) -> MemberID? { members(of: device).first }

    /// Whether a valid operation binds a device to a member, even if others bind it to somebody
    /// else.
    public func isBound(_ device: DeviceID, to member: MemberID) -> Bool {
        (placed.people.bindings[device]?[member] ?? []).contains { records[$0].isValid }
    }

    /// Every device that a valid operation binds.
    public var boundDevices: [DeviceID] {
        placed.people.bindings.filter {
            $0.value.values.contains { $0.contains { records[$0].isValid } }
        }
        .keys.sorted()
    }

    /// The first valid operation that binds a device to a member.
    public func binding(of device: DeviceID, to member: MemberID) -> OperationID? {
        (placed.people.bindings[device]?[member] ?? []).filter { records[$0].isValid }
            .min {
                (records[$0].lamport, records[$0].operation.id)
                    < (records[$1].lamport, records[$1].operation.id)
            }
            .map { records[$0].operation.id }
    }

    /// Whether a grant written now may not list the device because an older device of its member
    /// has revoked it.
    public func isBarred(_ device: DeviceID) -> Bool {
        var known = KnownRolls(before: placed.everything)
        return placed.isBarred(device, &known)
    }

    /// Those of the devices that a grant written now may list as a member's: their binding counts,
    /// and they are not barred.
    public func listable(_ devices: [DeviceID], of member: MemberID) -> [DeviceID] {
        var known = KnownRolls(before: placed.everything)
        return devices.filter { placed.listingFault([$0], of: member, &known) == nil }
    }

    /// Whether no operation here has bound the member or one of the devices yet.
    public func isNewcomer(_ member: MemberID, _ devices: [DeviceID]) -> Bool {
        placed.newcomerFault(placed.everything, member, devices) == nil
    }

    /// Whether an admission written now would exceed the invite's maximum. Admissions in the past
    /// count, valid or not.
    public func isUsedUp(_ invite: OperationID) -> Bool {
        guard let index = indices[invite], let terms = records[index].operation.action.terms
        else { return false }
        return placed.isUsedUp(index, terms, before: placed.everything)
    }

    /// `devices` in the order in which a grant lists them, which is their rank there: recovery
    /// devices first, then by their rank now. If a person came back with one device and then linked
    /// an older one again, the older one stands behind. Devices of equal rank, and those that are
    /// out, are ordered by their age.
    public func byStrength(_ devices: [DeviceID], of member: MemberID) -> [DeviceID] {
        let roll = placed.roll(of: member, before: placed.everything)
        let ranked = devices.map { device in
            (
                device, isPhrase: verdicts.isRecovery(device, of: member),
                now: strongestNow(device, of: member),
                age: roll.ages[device]
            )
        }
        return ranked.sorted { left, right in
            if left.isPhrase != right.isPhrase { return left.isPhrase }
            if let one = left.now, let other = right.now, one.author != other.author {
                return one.author < other.author
            }
            if (left.now == nil) != (right.now == nil) { return left.now != nil }
            guard let first = left.age else { return right.age == nil && left.0 < right.0 }
            return right.age.map { first < $0 } ?? true
        }.map(\.0)
    }
}

extension AuthAction {
    fileprivate var isUnknownFeature: Bool {
        if case .feature(isKnown: false) = self { true } else { false }
    }
}
