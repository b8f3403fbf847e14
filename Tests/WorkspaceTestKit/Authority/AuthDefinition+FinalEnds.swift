import CRDTStore
import WorkspaceModel

/// Ends of a member's own devices that count again under other grants: V-10.
extension AuthDefinition {
    /// Whether a device ends itself, and knows that another one took its place.
    func isFinalEnd(_ fact: Fact) -> Bool {
        guard case .removeDevice(fact.operation.device) = fact.operation.action,
            let author = fact.author
        else { return false }
        return !successions(author, in: fact.past).isEmpty
    }

    /// What a past has of a device's handing its place on.
    func successions(_ author: Given, in past: PlainSet) -> [Int] {
        past.filter { other in
            let addition = facts[other]
            return addition.operation.takesPlace && addition.operation.device == author.device
                && addition.author?.member == author.member
        }
    }

    /// What is judged once more since an operation is here, an end or a grant: each as if the end had
    /// cited that grant.
    func endsAgain(by place: Int) -> [Fact] {
        guard rules.has(.v10) else { return [] }
        let all = facts.indices.filter { !facts[$0].isBehind && facts[$0].again == nil }
        return all.compactMap { end(place, under: $0) } + all.compactMap { end($0, under: place) }
    }

    private func end(_ end: Int, under grant: Int) -> Fact? {
        guard let author = facts[end].author, author.grant != grant,
            let given = given(by: grant, to: author.device), given.member == author.member,
            countsAgain(end, under: grant)
        else { return nil }
        return judged(end, as: given)
    }

    /// What an end counts as under a grant that gives its author, or whom that stands behind, something.
    func judged(_ end: Int, as given: Given, behind: Behind? = nil) -> Fact {
        var fact = facts[end]
        (fact.author, fact.again, fact.behind, fact.hitBy) = (given, end, behind, [])
        fact.rank = ownRank(of: fact)
        fact.supports = supports(of: fact)
        return fact
    }

    /// Whether an end counts under another grant than its own.
    func countsAgain(_ end: Int, under grant: Int) -> Bool {
        guard case .removeDevice(let device) = facts[end].operation.action else { return false }
        return isFinalEnd(facts[end])
            || device != facts[end].author?.device && isFirst(end, of: device, for: grant)
    }

    /// Whether a grant that is no adddev gives the device to the author of its revocation, too, or knows what
    /// it has bound and the revocation does not (V-11), and does not know that; nor does the revocation know
    /// another one of that author's that the grant does not know.
    private func isFirst(_ end: Int, of device: DeviceID, for grant: Int) -> Bool {
        guard rules.has(.v10Own), let author = facts[end].author, !knows(facts[grant], end),
            !isLink(grant),
            given(by: grant, to: device)?.member == author.member
                || rules.has(.v11Unlisted) && !unknownAdditions(end, to: grant).isEmpty
        else { return false }
        return !facts[end].past.contains { other in
            guard case .removeDevice(device) = facts[other].operation.action,
                let one = facts[other].author
            else { return false }
            return (one.device, one.member) == (author.device, author.member)
                && !knows(facts[grant], other)
        }
    }

    /// Whether a grant is an adddev.
    func isLink(_ grant: Int) -> Bool {
        if case .addDevices = facts[grant].operation.action { true } else { false }
    }

    /// The place of what it says, however often that is judged.
    func original(_ place: Int) -> Int { facts[place].again ?? place }

    /// With the ends that are judged once more, where both the end and the grant are among these.
    func withEndsAgain(_ known: PlainSet) -> PlainSet {
        var known = known
        for place in facts.indices {
            guard let end = facts[place].again, let grant = facts[place].author?.grant,
                known.contains(end), known.contains(grant)
            else { continue }
            known.insert(place)
        }
        return known
    }

    /// Whether an operation is valid, under whichever grant.
    func hasEffect(_ place: Int, in valid: PlainSet) -> Bool {
        valid.contains { original($0) == place }
    }

    /// Whether a confirm that is valid keeps an end under its grant.
    private func isKept(_ end: Int, among valid: PlainSet) -> Bool {
        var judgement = Judgement(known: valid)
        for place in valid { judgement.verdicts[place] = true }
        return !endsOwnPhrase(end) && isConfirmed(end, &judgement)
    }

    /// What is valid of some valid operations, which were told by their ids: of an end also where.
    func places(ofValid ids: Set<OperationID>) -> PlainSet {
        let several = Set(facts.compactMap(\.again))
        var valid = PlainSet()
        var ends: [Int] = []
        for place in facts.indices where ids.contains(facts[place].operation.id) {
            if several.contains(original(place)) { ends.append(place) } else { valid.insert(place) }
        }
        for end in ends.sorted(by: { facts[$0].rank < facts[$1].rank }) {
            guard facts[end].supports.allSatisfy({ valid.contains($0) }),
                facts[end].behind.map({ hasFollowed(end, $0) { valid.contains($0) } }) ?? true
            else { continue }
            var judgement = Judgement(known: valid)
            for place in valid { judgement.verdicts[place] = true }
            let hits = facts[end].hitBy.filter {
                valid.contains($0) && !isNamed(end, beforeBy: $0, &judgement)
            }
            let taking = hits + [endCuttingOff(end, among: valid)].compactMap { $0 }
            guard
                taking.isEmpty
                    || isKept(end, among: valid) && taking.allSatisfy({ givesUp($0, end) })
            else { continue }
            valid.insert(end)
        }
        // What has effect under no grant has it because it is confirmed (V-6).
        for end in several
        where ids.contains(facts[end].operation.id) && !hasEffect(end, in: valid) {
            valid.insert(end)
        }
        return valid
    }
}
