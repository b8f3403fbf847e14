import CRDTStore
import WorkspaceModel

/// A member's devices according to a past, the oldest first: 4.0 of PROTOCOL.md, Age, rank, barred.
extension AuthDefinition {
    /// A device and what binds it.
    struct Binding: Hashable {
        let device: DeviceID
        let place: Int
    }

    /// The devices of one member in one past.
    struct Roll {
        /// By device, the age of the oldest binding of it that counts.
        var ages: [DeviceID: Rank] = [:]
        /// By device, what bars it.
        var bars: [DeviceID: [Int]] = [:]
        /// What counts.
        var counting: Set<Binding> = []
    }

    func roll(of member: MemberID, in past: PlainSet) -> Roll {
        let ends = past.filter { place in
            guard case .removeDevice = facts[place].operation.action else { return false }
            return facts[place].author?.member == member
        }
        let finals = countingFinals(among: ends, of: member, in: past)
        var waiting: [Binding] = []
        for place in past where !facts[place].isBehind {
            guard let bound = bound(by: facts[place]), bound.member == member,
                letsIn(place, finals)
            else { continue }
            waiting += bound.devices.map { Binding(device: $0, place: place) }
        }
        var roll = Roll()
        // Each time the oldest of those of which it is known who has linked them.
        while let (binding, age) = waiting.compactMap({ binding in
            self.age(of: binding, roll).map { (binding, $0) }
        }).min(by: { $0.1 < $1.1 }) {
            waiting.removeAll { $0 == binding }
            if rules.has(.countsLinks), isAddition(binding.place) {
                let bars = roll.bars[facts[binding.place].operation.device] ?? []
                guard bars.allSatisfy({ knows(facts[$0], binding.place) }) else { continue }
            }
            roll.counting.insert(binding)
            guard roll.ages[binding.device] == nil else { continue }
            let bars = ends.filter { self.bars($0, binding.device, age, finals, roll) }
            roll.ages[binding.device] = age
            roll.bars[binding.device] = bars
        }
        return roll
    }

    /// Of several final ends of one device those that the strongest confirm of any names, if there is one
    /// by another member that nothing ends.
    private func countingFinals(
        among ends: [Int], of member: MemberID, in past: PlainSet
    ) -> [Int] {
        let finals = ends.filter { isFinalEnd(facts[$0]) }
        guard rules.has(.countsConfirmed), finals.count > 1 else { return finals }
        let confirms = past.filter { place in
            guard case .confirm = facts[place].operation.action else { return false }
            return !rules.has(.countsOthers)
                || facts[place].author?.member != member && !isEnded(place, in: past)
        }.sorted { facts[$0].rank < facts[$1].rank }
        return finals.filter { end in
            let own = finals.filter {
                facts[$0].operation.device == facts[end].operation.device
            }
            let first = confirms.first { confirm in own.contains { names(confirm, $0) } }
            return first.map { names($0, end) } ?? true
        }
    }

    private func names(_ confirm: Int, _ end: Int) -> Bool {
        guard case .confirm(let ids) = facts[confirm].operation.action else { return false }
        return ids.contains(facts[end].operation.id)
    }

    /// Whether a revocation in a past, valid or not, hits a confirm or something that it rests on.
    private func isEnded(_ confirm: Int, in past: PlainSet) -> Bool {
        var open = [confirm]
        var restsOn: Set<Int> = []
        while let place = open.popLast() {
            guard restsOn.insert(place).inserted else { continue }
            if rules.has(.countsUnended) { open += facts[place].supports }
        }
        return past.contains { end in
            switch facts[end].operation.action {
            case .confirm: false
            case .remove, .removeDevice: restsOn.contains { hits(end, $0) }
            default: rules.has(.countsUnended) && restsOn.contains { hits(end, $0) }
            }
        }
    }

    /// Whether a binding is no admit by a phrase that was replaced, or some final end knows that.
    private func letsIn(_ place: Int, _ finals: [Int]) -> Bool {
        guard rules.has(.countsAdmits),
            case .admit(_, _, let devices, _) = facts[place].operation.action
        else { return true }
        let own = finals.filter { facts[$0].operation.device == devices.first }
        return own.isEmpty || own.contains { knows(facts[$0], place) }
    }

    private func isAddition(_ place: Int) -> Bool {
        if case .addDevices = facts[place].operation.action { true } else { false }
    }

    /// How old a binding is; `nil` where the device that linked it has no age yet.
    private func age(of binding: Binding, _ roll: Roll) -> Rank? {
        let fact = facts[binding.place]
        guard let index = bound(by: fact)?.devices.firstIndex(of: binding.device) else {
            return nil
        }
        let said = Rank(
            grantLam: fact.lam, grant: fact.operation.id, place: index, own: 0, id: .zero)
        guard isAddition(binding.place) else { return said }
        guard let author = roll.ages[fact.operation.device] else { return nil }
        var behind = author
        if (author.taken, author.taking) < (fact.lam, fact.operation.id) {
            (behind.taken, behind.taking) = (fact.lam, fact.operation.id)
        }
        return fact.operation.takesPlace ? behind : max(behind, said)
    }

    private func bars(
        _ end: Int, _ device: DeviceID, _ age: Rank, _ finals: [Int], _ roll: Roll
    ) -> Bool {
        guard case .removeDevice(device) = facts[end].operation.action else { return false }
        if finals.contains(end) { return true }
        let author = facts[end].operation.device
        guard author != device, let judge = roll.ages[author], judge < age else { return false }
        return !rules.has(.barsKnown)
            || (roll.bars[author] ?? []).allSatisfy { knows(facts[$0], end) }
    }

    /// Whether something bars a device as anybody's.
    func isBarred(_ device: DeviceID, in past: PlainSet) -> Bool {
        let isRevoked = past.contains { place in
            if case .removeDevice(device) = facts[place].operation.action { true } else { false }
        }
        return isRevoked
            && owners(of: device, in: past).contains {
                roll(of: $0, in: past).bars[device]?.isEmpty == false
            }
    }

    /// Whether what binds a device to a member counts.
    func isTied(_ device: DeviceID, to member: MemberID, in past: PlainSet) -> Bool {
        roll(of: member, in: past).ages[device] != nil
    }
}
