import WorkspaceModel

/// What a transfer takes from its author's member (V-3).
///
/// A weak device takes nothing from a strong one, or the thief of a phone would take the workspace
/// with it. But a recovery device is the strongest of all and is hardly ever used: it loses the
/// role together with the everyday devices, or nobody could hand over permanently.
extension AuthVerdicts {
    /// Whether any grant makes a device in for a member in a stronger role: a leave then takes
    /// nothing from it (V-4). Each call asks about a stronger role than the one before, so this
    /// ends.
    func holdsMore(_ device: DeviceID, as member: MemberID, than role: Role) -> Bool {
        (placed.people.grantsOfDevice[device] ?? []).contains { grant in
            guard records[grant].gives.subject == member, records[grant].isValid,
                let rank = standing(ofGrant: grant, for: device),
                rank.level < Int8(role.rawValue)
            else { return false }
            return isInForce(grant, on: device)
        }
    }

    /// The rank that a grant gives a device now: if its subject has given up a role since, the rank
    /// of what was kept.
    func standing(ofGrant index: Int, for device: DeviceID) -> GrantRank? {
        deviceStanding(ofGrant: index, for: device)?.grant
    }

    /// The same, with the place of the device: if a role was kept, its place in the transfer. A
    /// device that is not listed there stands behind all that are.
    func deviceStanding(ofGrant index: Int, for device: DeviceID) -> DeviceRank? {
        guard let role = records[index].gives.role else { return nil }
        guard role <= .admin, let drop = drop(reaching: index, device),
            let part = records[drop].ownPart
        else { return placed.deviceRank(ofGrant: index, device) }
        let kept = GrantRank(
            role: role.dropped, lamport: max(records[index].lamport, records[drop].lamport),
            id: records[drop].operation.id)
        return DeviceRank(grant: kept, index: records[part].place(of: device) ?? .max)
    }

    /// The latest transfer that takes a grant from a device; `nil` while the grant gives the role
    /// that it names.
    func drop(reaching index: Int, _ device: DeviceID) -> Int? {
        guard let subject = records[index].gives.subject, let all = placed.people.drops[subject]
        else {
            return nil
        }
        return all.filter { takes($0, index, from: device) }.max {
            (records[$0].lamport, records[$0].operation.id)
                < (records[$1].lamport, records[$1].operation.id)
        }
    }

    /// Whether the device holds what a transfer keeps, instead of a grant that the transfer takes.
    func isReplaced(_ grant: Int, for device: DeviceID) -> Bool {
        guard let subject = records[grant].gives.subject, let all = placed.people.drops[subject]
        else {
            return false
        }
        return all.contains { drop in
            guard let part = records[drop].ownPart else { return false }
            return records[part].gives.devices.contains(device) && takes(drop, grant, from: device)
        }
    }

    private func takes(_ drop: Int, _ grant: Int, from device: DeviceID) -> Bool {
        guard records[drop].isValid, isOpen(grant, to: drop),
            let now = rankNow(ofGrant: grant, device)
        else { return false }
        guard !(records[drop].rank < now) else { return true }
        guard let subject = records[grant].gives.subject, isRecovery(device, of: subject) else {
            return false
        }
        return !isWithstood(drop, by: subject)
    }

    /// Whether a transfer is open to a grant: the grant neither knows it nor is it (V-3).
    private func isOpen(_ grant: Int, to drop: Int) -> Bool {
        records[drop].ownPart != grant && drop != grant
            && !records[grant].knows(records[drop].place)
    }

    /// Whether another device of the member is in by a grant that is too strong for a transfer.
    /// Leaves do not count here: how far they reach follows from what the transfer takes (V-4).
    private func isWithstood(_ drop: Int, by member: MemberID) -> Bool {
        placed.people.grantsOfDevice.contains { device, grants in
            grants.contains { grant in
                guard records[grant].gives.subject == member, records[grant].isValid,
                    !lapsed.contains(grant), isOpen(grant, to: drop),
                    let now = rankNow(ofGrant: grant, device), now < records[drop].rank,
                    !isRecovery(device, of: member)
                else { return false }
                let exposure = AuthExposure(
                    rank: now, grant: grant, author: member, device: device)
                return !isHit(exposure) { !records[$0].operation.action.isDeparture }
            }
        }
    }

    /// The rank of what the device writes now, by the grant alone.
    private func rankNow(ofGrant index: Int, _ device: DeviceID) -> AuthRank? {
        placed.deviceRank(ofGrant: index, device).map {
            AuthRank(author: $0, lamport: AuthRank.infinity, id: .zero)
        }
    }

    /// Whether a device is a recovery device of the member: the first of two that a valid create or
    /// admit lists, or its replacement by a valid adddev with 4 (PROTOCOL.md, A-1 and A-17).
    func isRecovery(_ device: DeviceID, of member: MemberID) -> Bool {
        (placed.people.bindings[device]?[member] ?? []).contains {
            records[$0].isValid && placed.makesRecovery($0, device)
        }
    }
}
