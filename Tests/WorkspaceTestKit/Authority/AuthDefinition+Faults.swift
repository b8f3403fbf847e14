import CRDTStore
import WorkspaceModel

/// The rules on an operation's own bytes and its past: 4.0.2 of PROTOCOL.md. Each function returns
/// the violated rule.
extension AuthDefinition {
    /// A-5, which holds for all versions.
    func framed(_ fact: inout Fact) -> String? {
        let operation = fact.operation
        if case .create(_, let devices) = operation.action {
            let signer = devices.count > 1 ? devices[1] : devices.first
            let isRoot =
                operation.grant == nil && operation.dependencies.isEmpty
                && operation.previous == nil && facts.isEmpty
            return isRoot && signer == operation.device ? nil : "A-5"
        }
        guard let grant = place(operation.grant, in: fact.past),
            devices(facts[grant].operation.action)?.contains(operation.device) == true
        else { return "A-5" }
        guard !fact.isBehind else { return nil }
        guard let author = given(by: grant, to: operation.device) else { return "A-5" }
        fact.author = rules.isOld ? asOnceJudged(author, fact) : author
        return nil
    }

    /// Under earlier rules, a member who had given up a role in an operation's past acted in the
    /// next weaker one, whether or not that had effect.
    private func asOnceJudged(_ author: Given, _ fact: Fact) -> Given {
        let hasDropped = fact.past.contains { place in
            guard case .grant(let words) = facts[place].operation.action, words.drops != nil,
                place != author.grant, !facts[author.grant].past.contains(place)
            else { return false }
            return facts[place].author?.member == author.member
        }
        guard hasDropped else { return author }
        return Given(
            grant: author.grant, member: author.member, role: dropped(author.role),
            device: author.device, place: author.place)
    }

    ///
    func fault(of fact: Fact) -> String? {
        guard fact.operation.isWellBound else { return "A-1 to A-4" }
        guard let author = fact.author else { return nil }
        let role = author.role
        switch fact.operation.action {
        case .create: return nil
        case .invite(let terms): return inviteFault(fact, terms, role)
        case .request(let invite, let member, let devices, let end):
            return requestFault(fact, invite, role)
                ?? (end.map { returnFault(fact, $0, member, devices) }
                    ?? firstFault(fact, member, devices, "A-11", .a11, .a11))
        case .admit: return admitFault(fact, role)
        case .addDevices(let devices): return addFault(fact, author, devices)
        case .grant(let words): return grantFault(fact, author, words)
        case .remove(let member):
            if rules.has(.a21Role), role > 1 { return "A-21" }
            return rules.has(.a21Own) && member == author.member ? "A-21" : nil
        case .removeDevice(let device): return removeDeviceFault(fact, author, device)
        case .leave:
            if rules.isOld { return role == 0 && !hasOtherOwner(fact, author) ? "A-23" : nil }
            return rules.has(.a23) && role == 0 ? "A-23" : nil
        case .revokeInvite(let invite): return closeFault(fact, author, invite)
        case .recut(let revocation): return recutFault(fact, author, revocation)
        case .createDocument, .setDocument, .deleteDocument:
            return rules.has(.channelRole) && role > 2 ? "4.0.2" : nil
        case .setWorkspace, .rekey:
            return rules.has(.settingsRole) && role > 1 ? "4.0.2" : nil
        case .deleteWorkspace, .feature: return rules.has(.wsdelRole) && role > 0 ? "4.0.2" : nil
        case .cutPart: return nil
        case .confirm(let operations): return confirmFault(fact, operations, role)
        case .unknown: return rules.has(.a7) ? "A-7" : nil
        }
    }

    /// Whether the past has a grant that makes somebody else an owner, as was asked once.
    private func hasOtherOwner(_ fact: Fact, _ author: Given) -> Bool {
        fact.past.contains { place in
            (devices(facts[place].operation.action) ?? []).contains {
                guard let given = given(by: place, to: $0) else { return false }
                return given.role == 0 && given.member != author.member
            }
        }
    }

    ///
    private func confirmFault(_ fact: Fact, _ operations: [OperationID], _ role: Int) -> String? {
        if rules.has(.a30Role), role > 1 { return "A-30" }
        let isSized = (1...Limits.confirmedMax).contains(operations.count)
        guard isSized, Set(operations).count == operations.count else { return "A-30" }
        let areFit = operations.allSatisfy { id in
            guard let place = place(id, in: fact.past) else { return false }
            return othersBuild(on: facts[place]) || isOwnEnd(facts[place])
        }
        return areFit ? nil : "A-30"
    }

    ///
    private func inviteFault(_ fact: Fact, _ terms: InviteTerms, _ role: Int) -> String? {
        guard let policy = terms.policy else {
            if rules.has(.a8Role), role > 1 { return "A-8" }
            return rules.has(.a8Weaker) && Int(terms.role.rawValue) <= role ? "A-8" : nil
        }
        guard let named = place(policy, in: fact.past),
            case .setWorkspace(let right) = facts[named].operation.action
        else { return "A-9" }
        if rules.has(.a9Policy), right != .members { return "A-9" }
        if rules.has(.a9Role), role != 2 { return "A-9" }
        return rules.has(.a9Weaker) && terms.role != .member ? "A-9" : nil
    }

    ///
    private func requestFault(_ fact: Fact, _ id: OperationID, _ role: Int) -> String? {
        if rules.has(.a10Role), role > 2 { return "A-10" }
        guard let invite = place(id, in: fact.past), let terms = terms(invite) else {
            return "A-10"
        }
        let known = fact.past.filter {
            guard case .request(id, let asking, _, _) = facts[$0].operation.action else {
                return false
            }
            return !fact.past.contains { isRemoval(of: asking, facts[$0]) }
        }
        let limit = max(Limits.requestsPerInviteMin, terms.uses)
        return rules.has(.a10Count) && UInt64(known.count) >= limit ? "A-10" : nil
    }

    private func isRemoval(of member: MemberID, _ fact: Fact) -> Bool {
        if case .remove(member) = fact.operation.action { true } else { false }
    }

    /// Somebody is let in once: A-11, and of A-13 what is the same.
    private func firstFault(
        _ fact: Fact, _ member: MemberID, _ devices: [DeviceID], _ name: String,
        _ ofMember: AuthRule, _ ofDevice: AuthRule
    ) -> String? {
        if rules.has(ofMember), isBound(member, in: fact.past) { return name }
        guard rules.has(ofDevice) else { return nil }
        return devices.contains { !owners(of: $0, in: fact.past).isEmpty } ? name : nil
    }

    ///
    private func returnFault(
        _ fact: Fact, _ id: OperationID, _ member: MemberID, _ devices: [DeviceID]
    ) -> String? {
        guard let end = place(id, in: fact.past) else { return "A-12" }
        let isEnd: Bool
        switch facts[end].operation.action {
        case .remove(let removed): isEnd = removed == member
        case .leave: isEnd = facts[end].author?.member == member
        case .admit(_, let admitted, _, _): isEnd = admitted == member
        default: isEnd = false
        }
        if rules.has(.a12End), !isEnd { return "A-12" }
        for device in devices {
            if rules.has(.a12Bound), owners(of: device, in: fact.past) != [member] { return "A-12" }
            if rules.has(.a12Tied), !isTied(device, to: member, in: fact.past) { return "A-12" }
            if rules.has(.a12Barred), isBarred(device, in: fact.past) { return "A-12" }
        }
        return nil
    }

    ///
    private func admitFault(_ fact: Fact, _ role: Int) -> String? {
        guard case .admit(let id, let member, let devices, let request) = fact.operation.action,
            let invite = place(id, in: fact.past), let terms = terms(invite)
        else { return "A-13" }
        if rules.has(.a13Role), role > min(Int(terms.role.rawValue), 2) { return "A-13" }
        if let fault = firstFault(fact, member, devices, "A-13", .a13Member, .a13Device) {
            return fault
        }
        var admitted: Set<MemberID> = []
        var uses: UInt64 = 0
        var wasRemoved = false
        for place in fact.past {
            switch facts[place].operation.action {
            case .admit(id, let other, _, _):
                admitted.insert(other)
                uses += 1
            case .remove(member): wasRemoved = true
            default: break
            }
        }
        if !rules.isOld { uses = UInt64(admitted.count) }
        if rules.has(.a13Uses), uses >= terms.uses { return "A-13" }
        if rules.has(.a13Removed), wasRemoved, role > 1 { return "A-13" }
        return approvalFault(fact, role, terms, request) ?? keyFault(fact)
    }

    ///
    private func approvalFault(
        _ fact: Fact, _ role: Int, _ terms: InviteTerms, _ id: OperationID?
    ) -> String? {
        guard case .admit(let invite, let member, let devices, _) = fact.operation.action else {
            return nil
        }
        var asked: Fact?
        if let id {
            guard let request = place(id, in: fact.past) else { return "A-14" }
            asked = facts[request]
            guard
                case .request(let other, let person, let list, let end) =
                    facts[request].operation.action
            else { return "A-14" }
            let fits = end == nil && other == invite && person == member && list == devices
            if rules.has(.a14), !fits { return "A-14" }
        }
        guard terms.needsApproval else {
            let isLate = terms.expires.map { fact.operation.timestamp > $0 } ?? false
            return rules.has(.a16) && isLate ? "A-16" : nil
        }
        if rules.has(.a15Admin), role > 1 { return "A-15" }
        guard let asked else { return rules.has(.a15Request) ? "A-15" : nil }
        let isLate = terms.expires.map { asked.operation.timestamp > $0 } ?? false
        return rules.has(.a15Time) && isLate ? "A-15" : nil
    }

    ///
    private func keyFault(_ fact: Fact) -> String? {
        guard let key = fact.operation.namedKey, rules.has(.a18) else { return nil }
        return fact.past.contains { facts[$0].operation.introducedKey == key } ? nil : "A-18"
    }

    ///
    private func addFault(_ fact: Fact, _ author: Given, _ devices: [DeviceID]) -> String? {
        for device in devices {
            let others = owners(of: device, in: fact.past).subtracting([author.member])
            if rules.has(.a17Taken), !others.isEmpty { return "A-17" }
            if rules.has(.a17Barred), isBarred(device, in: fact.past) {
                return "A-17"
            }
        }
        if fact.operation.takesPlace {
            guard isRecovery(author.device, of: author.member, in: fact.past) else { return "A-17" }
            // Nobody's yet: neither the old phrase nor a device of every day.
            for device in devices where !owners(of: device, in: fact.past).isEmpty { return "A-17" }
        }
        guard rules.has(.a17Count), !fact.operation.takesPlace else { return keyFault(fact) }
        return linked(by: author, in: fact.past) < Limits.devicesLinkedMax ? keyFault(fact) : "A-17"
    }

    /// How many adddevs a device, and older ones of its member that are not barred, have written in a past.
    private func linked(by author: Given, in past: PlainSet) -> Int {
        let ages = roll(of: author.member, in: past).ages
        return past.filter { place in
            guard case .addDevices = facts[place].operation.action,
                let linker = facts[place].author, linker.member == author.member
            else { return false }
            if rules.isOld || !rules.has(.a17Older) || linker.device == author.device {
                return true
            }
            guard let own = ages[author.device], let age = ages[linker.device], age < own else {
                return false
            }
            return !isBarred(linker.device, in: past)
        }.count
    }
}
