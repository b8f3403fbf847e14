import CRDTStore
import WorkspaceModel

/// Which operations void which: 4.0.3 of PROTOCOL.md.
extension AuthDefinition {
    /// What an operation needs valid: its grant, of an admit its invite, of an invite the wsset.
    func supports(of fact: Fact) -> [Int] {
        var supports: [Int] = []
        if rules.has(.v1Grant), let author = fact.author { supports.append(author.grant) }
        switch fact.operation.action {
        case .admit(let invite, _, _, _) where rules.has(.v1Invite):
            place(invite, in: fact.past).map { supports.append($0) }
        case .invite(let terms) where rules.has(.v1Policy):
            place(terms.policy, in: fact.past).map { supports.append($0) }
        default: break
        }
        return supports
    }

    /// Whether `r` takes the validity from `o` if it is valid itself: the table.
    func hits(_ r: Int, _ o: Int) -> Bool {
        let target = facts[o]
        guard let author = target.author else { return false }
        if rules.has(.known), knows(facts[r], o), !passesOver(r, o) { return false }
        if original(r) == original(o) { return false }
        if rules.has(.stronger), !(facts[r].rank < target.rank) { return false }
        if hitsAdmission(r, target) || answers(r, anEndBeside: target) { return true }
        if rules.has(.stronger), rules.has(.authorStronger), !(facts[r].rank < ownRank(of: target))
        {
            return false
        }
        return reaches(r, author) || (rules.isOld && reachesAsOnce(r, target, author))
    }

    /// Whether `r` names another own end that has ended what this one would end.
    private func answers(_ r: Int, anEndBeside target: Fact) -> Bool {
        guard rules.has(.answeredEnd), isOwnEnd(target),
            case .confirm(let named) = facts[r].operation.action
        else { return false }
        return named.contains { id in
            guard let end = place(id, in: facts[r].past), isOwnEnd(facts[end]),
                !knows(target, end),
                let one = facts[end].author, let other = target.author
            else { return false }
            guard case .leave = facts[end].operation.action else {
                return (one.grant, one.device) == (other.grant, other.device)
                    || rules.has(.v10Answer) && isFinalEnd(facts[end])
                        && (one.device, one.member) == (other.device, other.member)
            }
            return one.member == other.member && other.role >= one.role
                && letIn(one.grant) == letIn(other.grant)
        }
    }

    /// V-7: whether a confirm names a final end of a phrase that another one does not know, and knows that one
    /// and names it not.
    private func passesOver(_ r: Int, _ o: Int) -> Bool {
        guard rules.has(.v7Chosen), case .confirm(let named) = facts[r].operation.action,
            isFinalEnd(facts[o]), !named.contains(facts[o].operation.id)
        else { return false }
        return named.contains { id in
            guard let end = place(id, in: facts[r].past), isFinalEnd(facts[end]),
                let one = facts[end].author, let other = facts[o].author
            else { return false }
            return (one.device, one.member) == (other.device, other.member)
                && !knows(facts[o], end)
        }
    }

    /// Whether a valid confirm that is stronger than one that answers another end names an own end: of
    /// ends that were confirmed apart the one by the strongest stays.
    func isNamed(_ o: Int, beforeBy r: Int, _ judgement: inout Judgement) -> Bool {
        guard rules.has(.answeredBefore), isOwnEnd(facts[o]),
            case .confirm = facts[r].operation.action
        else { return false }
        return facts.indices.contains { other in
            guard case .confirm(let named) = facts[other].operation.action else { return false }
            return named.contains(facts[o].operation.id) && facts[other].rank < facts[r].rank
                && isValid(other, &judgement)
        }
    }

    /// A leave, or an rmdev of the device that wrote it.
    func isOwnEnd(_ fact: Fact) -> Bool {
        switch fact.operation.action {
        case .leave, .removeDevice(fact.operation.device): true
        default: false
        }
    }

    /// The rows that are about what is done, not about who does it.
    private func hitsAdmission(_ r: Int, _ target: Fact) -> Bool {
        guard case .admit(let id, _, _, _) = target.operation.action,
            let invite = place(id, in: target.past)
        else { return false }
        switch facts[r].operation.action {
        case .revokeInvite(let closed):
            return rules.has(.rvinv) && closed == id
        case .remove(let member):
            guard rules.has(.removeInvites), let inviter = facts[invite].author else {
                return false
            }
            return inviter.member == member && !knows(facts[inviter.grant], r)
        default:
            return false
        }
    }

    /// V-6: whether `r` gives up what was its own author's, so that it takes nothing confirmed.
    func givesUp(_ r: Int, _ o: Int) -> Bool {
        switch facts[r].operation.action {
        case .removeDevice, .leave:
            facts[r].author?.member == facts[o].author?.member && !replacesAuthor(r, of: o)
        case .revokeInvite: facts[r].author?.role == 2
        default: false
        }
    }

    /// Whether `r` is a final end, and `o` an rmdev: the old words may be somebody else's.
    private func replacesAuthor(_ r: Int, of o: Int) -> Bool {
        guard rules.has(.v6Final), case .removeDevice = facts[o].operation.action else {
            return false
        }
        return isFinalEnd(facts[r])
    }

    /// V-6: whether what is confirmed may rest on a grant.
    func stands(_ grant: Int, _ judgement: inout Judgement) -> Bool {
        if isValid(grant, &judgement) { return true }
        guard rules.has(.v6Chain), judgement.known.contains(grant), !facts[grant].isBehind,
            case .addDevices = facts[grant].operation.action, let author = facts[grant].author,
            stands(author.grant, &judgement)
        else { return false }
        return facts[grant].hitBy.allSatisfy {
            givesUp($0, grant) || !isValid($0, &judgement)
        }
    }

    /// V-6: whether a grant that is not valid has put in a device as nobody may any more: a final end hits it,
    /// or such a grant of its own.
    func isDisplaced(_ grant: Int, _ judgement: inout Judgement) -> Bool {
        guard judgement.known.contains(grant), !isValid(grant, &judgement),
            case .addDevices = facts[grant].operation.action, let author = facts[grant].author
        else { return false }
        if facts[grant].hitBy.contains(where: {
            isFinalEnd(facts[$0]) && isValid($0, &judgement)
        }) {
            return true
        }
        if let end = endCuttingOff(grant, &judgement), isFinalEnd(facts[end]) { return true }
        return isDisplaced(author.grant, &judgement)
    }

    /// V-6: whether it is an admit on an invite that is valid only because it is confirmed.
    func restsOnKept(_ o: Int, _ judgement: inout Judgement) -> Bool {
        guard rules.has(.v6Invite), case .admit(let id, _, _, _) = facts[o].operation.action,
            let invite = place(id, in: facts[o].past), let author = facts[invite].author
        else { return false }
        return !isValid(author.grant, &judgement)
            || facts[invite].hitBy.contains { isValid($0, &judgement) }
            || endCuttingOff(invite, &judgement) != nil
    }

    /// V-6: whether it is an rmdev of another recovery device of its author's member.
    func endsOwnPhrase(_ o: Int) -> Bool {
        let operation = facts[o].operation
        guard case .removeDevice(let device) = operation.action, device != operation.device,
            let author = facts[o].author
        else { return false }
        return isRecovery(device, of: author.member, in: facts[o].past)
    }

    /// V-6: whether a valid operation that is stronger confirms it.
    func isConfirmed(_ o: Int, _ judgement: inout Judgement) -> Bool {
        rules.has(.v6) && othersBuild(on: facts[o])
            && (facts[o].again == nil || rules.has(.v6Again))
            && facts.indices.contains { other in
                guard case .confirm(let operations) = facts[other].operation.action else {
                    return false
                }
                return operations.contains(facts[o].operation.id)
                    && (!rules.has(.v6Stronger) || facts[other].rank < facts[o].rank)
                    && isValid(other, &judgement)
            }
    }

    /// Whether it lets in or puts out, gives or takes, or makes something for all.
    func othersBuild(on fact: Fact) -> Bool {
        switch fact.operation.action {
        case .invite, .admit, .revokeInvite, .remove, .recut, .createDocument, .setDocument,
            .deleteDocument, .setWorkspace, .rekey, .confirm:
            true
        case .removeDevice(let device): device != fact.operation.device
        case .grant(let grant): grant.drops == nil
        default: false
        }
    }

    /// The rows about an author who writes under a grant with a device.
    func reaches(_ r: Int, _ author: Given) -> Bool {
        let (grant, revocation) = (facts[author.grant], facts[r])
        guard let other = revocation.author else { return false }
        let isExempt = knows(grant, r)
        switch revocation.operation.action {
        case .remove(let member):
            return rules.has(.removeMember) && author.member == member
                && !(rules.has(.removeExempt) && isExempt)
        case .removeDevice(let device):
            guard rules.has(.rmdev), device == author.device else { return false }
            let mayReach =
                other.member == author.member || revocation.again == nil && other.role <= 1
            return (mayReach || !rules.has(.rmdevWhose)) && !(rules.has(.rmdevExempt) && isExempt)
        case .leave:
            return rules.has(.leave) && other.member == author.member
                && !knows(facts[letIn(author.grant)], r)
        case .grant(let words):
            guard author.grant != r else { return false }
            if words.replaces, rules.has(.replaces), author.member == words.member, !isExempt,
                knows(revocation, author.grant) || (rules.has(.replacesAdmit) && isAdmit(grant))
            {
                return true
            }
            return words.drops != nil && !rules.isOld && rules.has(.drops)
                && other.member == author.member && !isExempt
        default:
            return false
        }
    }

    private func isAdmit(_ fact: Fact) -> Bool {
        if case .admit = fact.operation.action { true } else { false }
    }

    /// The grant to which a chain of adddevs leads back.
    func letIn(_ grant: Int) -> Int {
        guard rules.has(.leaveChain), case .addDevices = facts[grant].operation.action,
            let author = facts[grant].author
        else { return grant }
        return letIn(author.grant)
    }

    /// Under earlier rules, giving up a role voided operations that did not know of it.
    private func reachesAsOnce(_ r: Int, _ target: Fact, _ author: Given) -> Bool {
        guard case .grant(let words) = facts[r].operation.action, words.drops != nil,
            facts[r].author?.member == author.member, !knows(target, r)
        else { return false }
        if case .grant(let own) = target.operation.action { return own.drops == nil }
        return true
    }

    /// Inviting, 4.0.6: the policy in force in an invite's past, of those stronger than it.
    func isAllowed(_ place: Int, _ judgement: inout Judgement) -> Bool {
        let fact = facts[place]
        guard case .invite(let terms) = fact.operation.action, let role = fact.author?.role,
            role > 0
        else { return true }
        var latest: (place: Int, right: InviteRight)?
        for other in fact.past {
            guard case .setWorkspace(let right?) = facts[other].operation.action,
                facts[other].rank < fact.rank, isValid(other, &judgement)
            else { continue }
            if let known = latest, !isLater(other, than: known.place) { continue }
            latest = (other, right)
        }
        switch latest?.right {
        case nil: return true
        case .owner: return false
        case .admins: return terms.policy == nil
        case .members: return true
        }
    }

    /// The larger (lam, rank, id).
    private func isLater(_ one: Int, than other: Int) -> Bool {
        if facts[one].lam != facts[other].lam { return facts[one].lam > facts[other].lam }
        return facts[other].rank < facts[one].rank
    }
}
