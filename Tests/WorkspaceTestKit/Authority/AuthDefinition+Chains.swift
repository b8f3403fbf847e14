import CRDTStore
import WorkspaceModel

/// What loses effect with a device that is ended again, because only it had bound that: V-11.
extension AuthDefinition {
    /// What the device that an end ends has bound to the member, as far as a grant knows and the end
    /// does not.
    func unknownAdditions(_ end: Int, to grant: Int) -> [Int] {
        guard case .removeDevice(let device) = facts[end].operation.action,
            let member = facts[end].author?.member
        else { return [] }
        return facts[grant].past.filter { place in
            guard case .addDevices = facts[place].operation.action, !facts[place].isBehind else {
                return false
            }
            return facts[place].operation.device == device
                && facts[place].author?.member == member && !knows(facts[end], place)
        }
    }

    /// The additions that an end undoes under the grant where it is judged once more.
    private func undone(by end: Int) -> [Int] {
        guard facts[end].again != nil, let author = facts[end].author,
            !isLink(author.grant),
            case .removeDevice(let ended) = facts[end].operation.action
        else { return [] }
        if rules.has(.v11Stronger), ended != author.device,
            let loser = given(by: author.grant, to: ended), loser.member == author.member,
            !(rank(of: author) < rank(of: loser))
        {
            return []
        }
        return unknownAdditions(end, to: author.grant)
            + revokedSuccessions(end, knownTo: author.grant)
            + unknownAdmits(end, to: author.grant)
    }

    /// What has let the member in by a phrase, as far as a grant knows, or is it, and a final end of the
    /// phrase does not.
    private func unknownAdmits(_ end: Int, to grant: Int) -> [Int] {
        guard rules.has(.v11Admits), isFinalEnd(facts[end]), let author = facts[end].author else {
            return []
        }
        var known = facts[grant].past
        known.insert(grant)
        return known.filter { place in
            guard case .admit(_, author.member, let devices, _) = facts[place].operation.action
            else { return false }
            return devices.first == author.device && !knows(facts[end], place)
        }
    }

    /// The end that leaves no chain to the device of an operation, where it hits that, of what is valid and
    /// stronger.
    func endCuttingOff(_ o: Int, _ judgement: inout Judgement) -> Int? {
        guard let author = facts[o].author, facts[o].behind == nil else { return nil }
        let ends = undoing(author, before: o).filter { isValid($0, &judgement) }
        return end(hitting: o, author, of: ends)
    }

    /// The same, where it is known what is valid.
    func endCuttingOff(_ o: Int, among valid: PlainSet) -> Int? {
        guard let author = facts[o].author, facts[o].behind == nil else { return nil }
        let ends = undoing(author, before: o).filter { valid.contains($0) }
        return end(hitting: o, author, of: ends)
    }

    /// The first of some ends that leaves no chain, from the strongest on, where it neither knows the
    /// operation nor is it (V-7, V-10).
    private func end(hitting o: Int, _ author: Given, of ends: [Int]) -> Int? {
        func mayHit(_ end: Int) -> Bool {
            original(end) != original(o) && !(rules.has(.known) && knows(facts[end], o))
        }
        guard rules.has(.v11Together) else {
            return ends.first { mayHit($0) && isCutOff(author, by: [$0]) }
        }
        let sorted = ends.sorted { facts[$0].rank < facts[$1].rank }
        let first = sorted.indices.first { isCutOff(author, by: Array(sorted[...$0])) }
        return first.map { sorted[$0] }.flatMap { mayHit($0) ? $0 : nil }
    }

    /// Whether an end is the first of those that are valid, from the strongest on, that leaves no chain
    /// to a device under a grant.
    func cutsOff(_ end: Int, _ other: Given, among valid: PlainSet) -> Bool {
        let ends = undoing(other).filter { valid.contains($0) }
        guard ends.contains(end) else { return false }
        let before = ends.filter { facts[$0].rank < facts[end].rank }
        return !isCutOff(other, by: before) && isCutOff(other, by: before + [end])
    }

    /// The ends that are judged once more under a grant as its member's.
    private func undoing(_ author: Given, before o: Int? = nil) -> [Int] {
        guard rules.has(.v11) else { return [] }
        return (again[author.grant] ?? []).filter { end in
            guard facts[end].author?.member == author.member else { return false }
            guard let o else { return true }
            return facts[end].rank < facts[o].rank && facts[end].rank < ownRank(of: facts[o])
        }
    }

    private func isCutOff(_ author: Given, by ends: [Int]) -> Bool {
        guard rules.has(.v11Together) else {
            return ends.contains { isCutOff(author, without: undone(by: $0)) }
        }
        return isCutOff(author, without: ends.flatMap { undone(by: $0) })
    }

    /// Whether no chain leads to a device any more without some links, and one does with them.
    private func isCutOff(_ author: Given, without undone: [Int]) -> Bool {
        guard !undone.isEmpty else { return false }
        var known = facts[author.grant].past
        known.insert(author.grant)
        let counting = roll(of: author.member, in: known).counting
        return isReached(author.device, by: counting)
            && !isReached(author.device, by: counting.filter { !undone.contains($0.place) })
    }

    /// Whether a chain leads from a create or an admit to a device, each link written by a device that
    /// the one before binds.
    private func isReached(_ device: DeviceID, by links: Set<Binding>) -> Bool {
        var reached: Set<DeviceID> = []
        var count = -1
        while count < reached.count {
            count = reached.count
            for link in links {
                if case .addDevices = facts[link.place].operation.action,
                    !reached.contains(facts[link.place].operation.device)
                {
                    continue
                }
                reached.insert(link.device)
            }
        }
        return reached.contains(device)
    }
}
