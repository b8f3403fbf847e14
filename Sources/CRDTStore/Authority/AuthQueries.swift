public import WorkspaceModel

/// Somebody who may act in the workspace now.
public struct MemberStanding: Hashable, Sendable {
    /// Who.
    public let member: MemberID
    /// The strongest role the member has now.
    public let role: Role
    /// The grant that gives it.
    public let grant: OperationID
    /// The devices with some grant in force, ascending.
    public let devices: [DeviceID]
}

/// Questions about single operations and grants.
extension AuthEvaluator {
    /// Whether the operation was added, valid or not.
    public func contains(_ id: OperationID) -> Bool { indices[id] != nil }

    /// Whether the operation has effect. An unknown one has none.
    public func isValid(_ id: OperationID) -> Bool {
        indices[id].map { records[$0].isValid } ?? false
    }

    /// What became of an operation and why; `nil` when it was never added.
    public func verdict(on id: OperationID) -> AuthVerdict? {
        guard let index = indices[id] else { return nil }
        let record = records[index]
        if let fault = record.fault { return .faulty(fault) }
        if record.isValid { return .valid }
        if let support = record.supports.first(where: { !records[$0].isValid }) {
            return .unsupported(by: records[support].operation.id)
        }
        if let revocation = revocation(voiding: index) {
            return .revoked(by: records[revocation].operation.id)
        }
        return policy(forbidding: index).map { .unsupported(by: records[$0].operation.id) }
    }

    /// 1 + the greatest depth among what the operation cites; 1 for the root.
    public func lamport(of id: OperationID) -> UInt64? { indices[id].map { records[$0].lamport } }

    /// The operation as it was added.
    public func operation(_ id: OperationID) -> AuthOperation? {
        indices[id].map { records[$0].operation }
    }

    /// Whether `ancestor` is in the past of `descendant`. No operation is its own ancestor.
    public func isAncestor(_ ancestor: OperationID, of descendant: OperationID) -> Bool {
        guard let first = indices[ancestor], let last = indices[descendant] else { return false }
        return records[last].knows(records[first])
    }

    /// What a grant gives, whether it is in force or not; `nil` when it is no grant.
    public func role(ofGrant id: OperationID) -> Role? {
        indices[id].flatMap { records[$0].role }
    }

    /// How strong a grant is, whether it is in force or not; `nil` when it is no grant.
    public func rank(ofGrant id: OperationID) -> GrantRank? {
        indices[id].flatMap { rank(ofGrant: $0) }
    }

    /// How strong whatever is written now under a grant is: its subject may have given up the
    /// role since. `nil` when it is no grant.
    public func standing(ofGrant id: OperationID) -> GrantRank? {
        indices[id].flatMap { standing(ofGrant: $0) }
    }

    /// How strong the author of an operation was when it was written, by the grant that it cites
    /// and what had been given up by then; `nil` when it is not known.
    public func authorRank(of id: OperationID) -> GrantRank? {
        indices[id].map { records[$0].rank.author.grant }
    }

    /// Who got a grant; `nil` when it is no grant.
    public func subject(ofGrant id: OperationID) -> MemberID? {
        indices[id].flatMap { records[$0].subject }
    }

    /// The devices a grant lists, in its order; empty when it is no grant.
    public func devices(ofGrant id: OperationID) -> [DeviceID] {
        indices[id].flatMap { records[$0].operation.action.grantedDevices } ?? []
    }
}

extension AuthEvaluator {
    /// Takes back the operation added last, if it is void.
    public mutating func withdraw(_ id: OperationID) -> Bool { false }

    /// Whom a grant serves by a device.
    public func subject(ofGrant id: OperationID, device: DeviceID) -> MemberID? {
        subject(ofGrant: id)
    }

    /// What a grant gives to a device.
    public func role(ofGrant id: OperationID, device: DeviceID) -> Role? { role(ofGrant: id) }

    /// Whose device it is, by the strongest valid binding.
    public func owner(of device: DeviceID) -> MemberID? {
        bindings[device]?.keys.sorted().first
    }
}

/// Questions about the state that all operations together make.
extension AuthEvaluator {
    /// What a new operation should cite: the valid operations that no other kept one has in its
    /// past. Citing an invalid one would keep it for ever. Ascending.
    ///
    /// - Cost: linear in the size of the document.
    public var heads: [OperationID] { tips { $0.isValid } }

    /// The operations that nothing cites, valid or not. Ascending.
    public var frontier: [OperationID] { tips { _ in true } }

    private func tips(where counts: (AuthRecord) -> Bool) -> [OperationID] {
        var isCovered = [Bool](repeating: false, count: records.count)
        var tips: [OperationID] = []
        for index in records.indices.reversed() {
            let operation = records[index].operation
            guard isCovered[index] || counts(records[index]) else { continue }
            if !isCovered[index] { tips.append(operation.id) }
            for id in operation.dependencies { indices[id].map { isCovered[$0] = true } }
            operation.previous.flatMap { indices[$0] }.map { isCovered[$0] = true }
        }
        return tips.sorted()
    }

    /// The valid operations in the order of arrival.
    public var validOperations: [OperationID] {
        records.filter(\.isValid).map(\.operation.id)
    }

    /// The grants under which an operation that the device writes now would be valid, the
    /// strongest first.
    public func grants(of device: DeviceID) -> [OperationID] {
        inForce(device).map { records[$0].operation.id }
    }

    /// The strongest grant of a device that is in force; `nil` when it may do nothing.
    ///
    /// - Parameter member: only grants to this member. A device asks so for its own, for anybody
    ///   may list it in a grant of somebody else's, and what it wrote under that would be theirs.
    public func bestGrant(of device: DeviceID, as member: MemberID? = nil) -> OperationID? {
        inForce(device).first { member == nil || records[$0].subject == member }
            .map { records[$0].operation.id }
    }

    /// Everybody who may act now with at least one device, in the order of their ids.
    public var members: [MemberStanding] {
        var best: [MemberID: Int] = [:]
        var devices: [MemberID: [DeviceID]] = [:]
        for device in grantsOfDevice.keys.sorted() {
            var seen: Set<MemberID> = []
            for grant in inForce(device) {
                guard let member = records[grant].subject else { continue }
                if seen.insert(member).inserted { devices[member, default: []].append(device) }
                if let known = best[member], isStronger(known, grant) { continue }
                best[member] = grant
            }
        }
        return best.keys.sorted().compactMap { member in
            guard let grant = best[member], let rank = standing(ofGrant: grant),
                let role = Role(rawValue: UInt64(max(rank.level, 0)))
            else { return nil }
            return MemberStanding(
                member: member, role: role, grant: records[grant].operation.id,
                devices: devices[member] ?? [])
        }
    }

    /// The valid removals, departures and replacements by which `device` lost `grant`, the
    /// strongest first; empty while it may act under it or never could.
    public func revocations(hittingGrant grant: OperationID, device: DeviceID) -> [OperationID] {
        guard let index = indices[grant], let exposure = contentExposure(index, device) else {
            return []
        }
        return revocations(hitting: exposure).map { records[$0].operation.id }
    }

    func inForce(_ device: DeviceID) -> [Int] {
        (grantsOfDevice[device] ?? [])
            .filter { grant in
                guard records[grant].isValid, !lapsed.contains(grant),
                    let exposure = contentExposure(grant, device)
                else { return false }
                return revocations(hitting: exposure).isEmpty
            }
            .sorted { isStronger($0, $1) }
    }

    private func isStronger(_ left: Int, _ right: Int) -> Bool {
        guard let left = standing(ofGrant: left), let right = standing(ofGrant: right) else {
            return false
        }
        return left < right
    }

    /// How strong a grant is now: its subject may have given up the role since.
    func standing(ofGrant index: Int) -> GrantRank? {
        let record = records[index]
        guard let role = record.role, let subject = record.subject else { return nil }
        let hasDropped = drops[subject]?.contains { drop in
            records[drop].isValid && !record.knows(records[drop])
        }
        return GrantRank(
            role: hasDropped == true ? role.dropped : role, lamport: record.lamport,
            id: record.operation.id)
    }
}
