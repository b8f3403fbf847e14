import WorkspaceModel

/// Who may be admitted, requested for, or given another device: rules of PROTOCOL.md,
/// 4.0.2.
extension PlacedOperations {
    /// a member records a request, within the limits.
    func requestFault(_ record: AuthRecord, _ role: Role) -> AuthFault? {
        guard let invite = record.cited.reference,
            let terms = records[invite].operation.action.terms
        else { return .noReference }
        guard role <= .member else { return .roleTooWeak }
        let limit = max(Limits.requestsPerInviteMin, terms.uses)
        let all = invites.requests[invite] ?? []
        guard UInt64(all.count) >= limit else { return nil }
        // A rejected request does not take up room.
        let waiting = all.lazy.filter { request in
            guard case .request(_, let member, _, _) = records[request].operation.action else {
                return false
            }
            return record.knows(records[request].place) && !wasRemoved(member, before: record)
        }
        return waiting.prefix(Int(clamping: limit)).count < limit ? nil : .tooManyRequests
    }

    /// a member is admitted once, and a device is bound once.
    func newcomerFault(
        _ record: AuthRecord, _ member: MemberID, _ devices: [DeviceID]
    ) -> AuthFault? {
        let isKnown = (people.admitted[member] ?? []).contains { record.knows(records[$0].place) }
        return isKnown || devices.contains { isBound($0, before: record) } ? .memberBound : nil
    }

    /// a member who was removed or left, or whose admission has no effect, asks to come back,
    /// with their own devices alone.
    func returnFault(
        _ record: AuthRecord, _ member: MemberID, _ devices: [DeviceID],
        _ known: inout KnownRolls
    ) -> AuthFault? {
        guard let end = record.cited.end else { return .noReference }
        switch records[end].operation.action {
        case .remove(member), .admit(_, member, _, _): break
        case .leave where records[end].author == member: break
        default: return .noReference
        }
        return listingFault(devices, of: member, &known)
            ?? (devices.contains { isBound($0, toOthersThan: member, before: record) }
                ? .deviceTaken : nil)
    }

    ///
    func admitFault(
        _ record: AuthRecord, _ role: Role, _ member: MemberID, _ devices: [DeviceID]
    ) -> AuthFault? {
        guard let invite = record.cited.reference,
            let terms = records[invite].operation.action.terms
        else { return .noReference }
        guard role <= min(terms.role, .member) else { return .roleTooWeak }
        if role > .admin, wasRemoved(member, before: record) { return .returnNeedsAdmin }
        if isUsedUp(invite, terms, before: record) { return .inviteUsedUp }
        var time = record.operation.timestamp
        if record.operation.action.request != nil {
            guard let request = record.cited.request,
                case .request(records[invite].operation.id, member, devices, nil) =
                    records[request].operation.action
            else { return .notRequested }
            if terms.needsApproval { time = records[request].operation.timestamp }
        } else if terms.needsApproval {
            return .notRequested
        }
        guard !terms.needsApproval || role <= .admin else { return .roleTooWeak }
        return terms.expires.map { time > $0 } == true ? .inviteExpired : nil
    }

    ///
    func addDevicesFault(
        _ record: AuthRecord, _ devices: [DeviceID], _ known: inout KnownRolls
    ) -> AuthFault? {
        guard let author = record.author, devices.count == 1 else { return .notBound }
        for device in devices {
            if isBound(device, toOthersThan: author, before: record) { return .deviceTaken }
            if isBarred(device, &known) { return .deviceBarred }
        }
        if record.operation.takesPlace {
            guard isRecovery(record.operation.device, of: author, before: record) else {
                return .noPlaceToTake
            }
            if devices.contains(where: { isBound($0, before: record) }) { return .deviceTaken }
            // Not counted: otherwise a thief of the phrase could fill up the room for the next
            // phrase.
            return keyFault(record)
        }
        return hasLinkedMost(record, author, &known) ? .tooManyDevices : keyFault(record)
    }

    /// Whether the maximum of a member's devices is linked in this past by the author's device or
    /// by older ones. What younger devices link takes no room from an older one, and neither does
    /// what a revoked device has linked: so the thief of a device cannot prevent the phrase from
    /// bringing its person back.
    private func hasLinkedMost(
        _ record: AuthRecord, _ author: MemberID, _ known: inout KnownRolls
    ) -> Bool {
        let all = people.additions[author] ?? []
        guard all.count >= Limits.devicesLinkedMax else { return false }
        let roll = known.roll(of: author, self)
        known.note(all.count)
        let own = roll.ages[record.operation.device]
        var counted: [DeviceID: Bool] = [:]
        var count = 0
        for index in all where record.knows(records[index].place) {
            let linker = records[index].operation.device
            let counts =
                counted[linker]
                ?? (linker == record.operation.device
                    || isOlder(roll.ages[linker], than: own) && !roll.isBarred(linker)
                        && ((people.bindings[linker]?.count ?? 0) < 2
                            || !isBarred(linker, &known)))
            counted[linker] = counts
            count += counts ? 1 : 0
            if count >= Limits.devicesLinkedMax { return true }
        }
        return false
    }

    private func isOlder(_ age: DeviceRoll.DeviceAge?, than own: DeviceRoll.DeviceAge?) -> Bool {
        guard let age, let own else { return false }
        return age < own
    }

    /// devices get a key that this past knows.
    func keyFault(_ record: AuthRecord) -> AuthFault? {
        guard let key = record.operation.namedKey else { return nil }
        let isIntroduced = (introductions[key] ?? []).contains { record.knows(records[$0].place) }
        return isIntroduced ? nil : .unknownKey
    }

    private func wasRemoved(_ member: MemberID, before record: AuthRecord) -> Bool {
        (people.removals[.member(member)] ?? []).contains { record.knows(records[$0].place) }
    }

    /// Whether as many different members as an invite allows came in by it in this past.
    func isUsedUp(
        _ invite: Int, _ terms: InviteTerms, before record: AuthRecord
    ) -> Bool {
        guard let all = invites.admissions[invite], UInt64(all.count) >= terms.uses else {
            return terms.uses == 0
        }
        var members: Set<MemberID> = []
        for index in all where record.knows(records[index].place) {
            records[index].gives.subject.map { _ = members.insert($0) }
            if UInt64(members.count) >= terms.uses { return true }
        }
        return false
    }
}

/// Bindings of devices to members.
extension PlacedOperations {
    func isBound(_ device: DeviceID, to member: MemberID, before record: AuthRecord) -> Bool {
        (people.bindings[device]?[member] ?? []).contains { record.knows(records[$0].place) }
    }

    func isBound(_ device: DeviceID, before record: AuthRecord) -> Bool {
        (people.bindings[device] ?? [:]).keys.contains { isBound(device, to: $0, before: record) }
    }

    func isBound(
        _ device: DeviceID, toOthersThan member: MemberID, before record: AuthRecord
    ) -> Bool {
        (people.bindings[device] ?? [:]).keys.contains {
            $0 != member && isBound(device, to: $0, before: record)
        }
    }

    /// Whether a past makes a device a recovery device. Validity does not count: a fault is judged
    /// only once.
    func isRecovery(_ device: DeviceID, of member: MemberID, before record: AuthRecord) -> Bool {
        (people.bindings[device]?[member] ?? []).contains {
            record.knows(records[$0].place) && makesRecovery($0, device)
        }
    }

    /// Whether an operation makes a device that it binds a recovery device.
    func makesRecovery(_ index: Int, _ device: DeviceID) -> Bool {
        switch records[index].operation.action {
        case .create(_, let devices), .admit(_, _, let devices, _):
            devices.count == 2 && devices.first == device
        default: records[index].operation.takesPlace
        }
    }

    /// An operation that would have everything here in its past.
    var everything: AuthRecord {
        var past = CausalPast()
        for tip in branchTips {
            past.insert(records[tip].place)
        }
        return AuthRecord(
            AuthOperation(
                id: .zero, device: .zero, incarnation: 0, sequence: 0, previous: nil,
                dependencies: [], grant: nil, action: .cutPart),
            lamport: .max, place: AuthPlace(branch: branchTips.count, position: 0), past: past)
    }
}
