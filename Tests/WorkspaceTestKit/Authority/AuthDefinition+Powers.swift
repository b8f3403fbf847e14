import CRDTStore
import WorkspaceModel

/// The faults of operations that change the rights of others.
extension AuthDefinition {
    ///
    func grantFault(_ fact: Fact, _ author: Given, _ words: RoleGrant) -> String? {
        let (role, given) = (author.role, Int(words.role.rawValue))
        if rules.has(.a19Role), role > 1 { return "A-19" }
        if rules.has(.a19Own), words.member == author.member { return "A-19" }
        let isWeaker = given > role || (given == 0 && role == 0)
        if rules.has(.a19Weaker), !isWeaker { return "A-19" }
        for device in words.devices {
            if rules.has(.a19Bound), !isTied(device, to: words.member, in: fact.past) {
                return "A-19"
            }
            if rules.has(.a19Barred), isBarred(device, in: fact.past) {
                return "A-19"
            }
        }
        return words.drops.flatMap { dropFault(fact, author, words, $0) }
    }

    private func dropFault(
        _ fact: Fact, _ author: Given, _ words: RoleGrant, _ own: [DeviceID]
    ) -> String? {
        if rules.has(.a20Acts), author.role != 0 { return "A-20" }
        if rules.has(.a20Gives), words.role != .owner { return "A-20" }
        if rules.has(.a20Heir), !holdsRole(words.member, in: fact.past) { return "A-20" }
        if rules.has(.a20Empty), own.isEmpty || words.devices.isEmpty { return "A-20" }
        for device in own {
            if rules.has(.a20Bound), !isTied(device, to: author.member, in: fact.past) {
                return "A-20"
            }
            if rules.has(.a20Barred), isBarred(device, in: fact.past) {
                return "A-20"
            }
        }
        return nil
    }

    /// Whether a grant in the past gives the member owner, admin or member.
    private func holdsRole(_ member: MemberID, in past: PlainSet) -> Bool {
        past.contains { place in
            (devices(facts[place].operation.action) ?? []).contains {
                guard let given = given(by: place, to: $0) else { return false }
                return given.member == member && given.role <= 2
            }
        }
    }

    ///
    func removeDeviceFault(_ fact: Fact, _ author: Given, _ device: DeviceID) -> String? {
        let owners = owners(of: device, in: fact.past)
        if rules.has(.a22Bound), owners.isEmpty { return "A-22" }
        guard rules.has(.a22Whose) else { return nil }
        return owners.contains(author.member) || author.role <= 1 ? nil : "A-22"
    }

    ///
    func closeFault(_ fact: Fact, _ author: Given, _ id: OperationID) -> String? {
        guard let invite = place(id, in: fact.past), let terms = terms(invite),
            let inviter = facts[invite].author
        else { return "A-24" }
        let isOwn = inviter.member == author.member && terms.policy != nil && author.role <= 2
        if rules.has(.a24Role), author.role > 1, !isOwn { return "A-24" }
        return rules.has(.a24Rank) && rank(of: author) > rank(of: inviter) ? "A-24" : nil
    }

    ///
    func recutFault(_ fact: Fact, _ author: Given, _ id: OperationID) -> String? {
        guard let widened = place(id, in: fact.past), isRevocation(facts[widened]),
            let other = facts[widened].author
        else { return "A-25" }
        let isOwn = other.member == author.member
        let isWeaker = rank(of: other) < rank(of: author)
        guard rules.has(.a25) else { return nil }
        switch facts[widened].operation.action {
        case .leave: return isOwn || author.role > 1 ? "A-25" : nil
        case .removeDevice where isOwn: return isWeaker ? "A-25" : nil
        default: return author.role > 1 || !isOwn && isWeaker ? "A-25" : nil
        }
    }

    /// remove, rmdev, rvinv, leave, or a grant that replaces or drops.
    func isRevocation(_ fact: Fact) -> Bool {
        switch fact.operation.action {
        case .remove, .removeDevice, .revokeInvite, .leave: true
        case .grant(let words): words.replaces || words.drops != nil
        default: false
        }
    }
}
