import WorkspaceModel

/// What a past determines about a member's devices, from the oldest on (PROTOCOL.md, 4.0, Age,
/// rank, barred).
///
/// A thief of a revoked device writes with it as if before the revocation, and others may cite
/// that. So nothing counts here that a device wrote and that an end barring it does not know.
struct DeviceRoll: Sendable {
    /// A device, and the operation that binds it.
    struct Link: Sendable {
        let age: DeviceAge
        let device: DeviceID
        let binding: Int
    }

    /// The age of each device, by the oldest binding of it that counts.
    private(set) var ages: [DeviceID: DeviceAge] = [:]
    /// For each device, the ends that bar it.
    private(set) var bars: [DeviceID: [Int]] = [:]
    /// For each barred device, what all ends that bar it know.
    private var common: [DeviceID: CausalPast] = [:]
    /// All bindings that count.
    private(set) var links: [Link] = []
    /// How many others were examined to make it.
    fileprivate(set) var looks = 0

    /// When a device came to a member: smaller is older, and an older device may bar a younger one.
    struct DeviceAge: Comparable, Sendable {
        let lamport: UInt64
        let id: OperationID
        let place: Int
        /// (depth, id) of the adddev by which it took the place of a device of that age.
        private(set) var successionLamport: UInt64 = 0
        private(set) var succession = OperationID.zero

        /// The age of a device that comes right behind it, and behind all others there.
        func succeeded(by id: OperationID, at lamport: UInt64) -> Self {
            guard (successionLamport, succession) < (lamport, id) else { return self }
            var next = self
            next.successionLamport = lamport
            next.succession = id
            return next
        }

        static func < (left: Self, right: Self) -> Bool {
            if left.lamport != right.lamport { return left.lamport < right.lamport }
            if left.id != right.id { return left.id < right.id }
            if left.place != right.place { return left.place < right.place }
            if left.successionLamport != right.successionLamport {
                return left.successionLamport < right.successionLamport
            }
            return left.succession < right.succession
        }
    }

    mutating func append(_ link: Link) { links.append(link) }

    /// Enters a device by the oldest of the bindings that count.
    ///
    /// - Parameter common: what all ends that bar it know.
    mutating func enter(
        _ device: DeviceID, _ age: DeviceAge, bars: [Int], knowing common: CausalPast?
    ) {
        ages[device] = age
        self.bars[device] = bars
        self.common[device] = common
    }

    /// Whether what a device wrote there counts: the device came to the member, and all ends that
    /// bar it know it.
    func counts(_ place: AuthPlace, by device: DeviceID) -> Bool {
        guard let bars = bars[device] else { return false }
        return bars.isEmpty
            || common[device]?.contains(branch: place.branch, position: place.position) == true
    }

    /// Whether an end bars a device as this member's.
    func isBarred(_ device: DeviceID) -> Bool { bars[device]?.isEmpty == false }
}

extension PlacedOperations {
    /// The devices of a member, as `record` knows them.
    ///
    /// - Cost: `DeviceRoll.looks`: one for each binding of the member's devices, for each
    ///   revocation of one of them, and for each end that bars it; and those of `CountingEnds`.
    ///   None for each pair of these: all ends that bar a device are asked at once what they know.
    func roll(of member: MemberID, before record: AuthRecord) -> DeviceRoll {
        let finals = CountingEnds(of: member, before: record, self)
        var roll = DeviceRoll()
        let (added, admitted) = (people.additions[member] ?? [], people.admitted[member] ?? [])
        roll.looks = finals.looks &+ added.count &+ admitted.count
        let additions = Dictionary(
            grouping: added.filter { record.knows(records[$0].place) }
        ) { records[$0].operation.device }
        // The oldest is last.
        var open: [DeviceRoll.Link] = []
        func note(_ link: DeviceRoll.Link) {
            var (low, high) = (0, open.count)
            while low < high {
                let middle = (low + high) / 2
                if link.age < open[middle].age { low = middle + 1 } else { high = middle }
            }
            open.insert(link, at: low)
        }
        for index in admitted
        where record.knows(records[index].place) && letsIn(index, finals) {
            for link in links(by: index, after: nil) { note(link) }
        }
        while let link = open.popLast() {
            let linker = records[link.binding].operation.device
            let isUnknown =
                records[link.binding].operation.action.isAddition
                && !roll.counts(records[link.binding].place, by: linker)
            guard !isUnknown else { continue }
            roll.append(link)
            guard roll.ages[link.device] == nil else { continue }
            let bars = bars(of: link.device, as: member, link.age, roll, finals, before: record)
            roll.looks &+= bars.count &+ (people.removals[.device(link.device)]?.count ?? 0)
            roll.enter(link.device, link.age, bars: bars, knowing: commonPast(of: bars))
            for addition in additions[link.device] ?? [] {
                for next in links(by: addition, after: link.age) { note(next) }
            }
        }
        return roll
    }

    /// What an operation binds; no device is older than the one that linked it.
    func links(
        by index: Int, after author: DeviceRoll.DeviceAge?
    ) -> [DeviceRoll.Link] {
        let (lamport, id) = (records[index].lamport, records[index].operation.id)
        return devicesBound(index).enumerated().map { place, device in
            var age = DeviceRoll.DeviceAge(lamport: lamport, id: id, place: place)
            if let behind = author?.succeeded(by: id, at: lamport) {
                age = records[index].operation.takesPlace ? behind : max(behind, age)
            }
            return DeviceRoll.Link(age: age, device: device, binding: index)
        }
    }

    /// Whether an admission lets its member in: one that lists a replaced phrase does so only if a
    /// final end of the phrase knows it.
    private func letsIn(_ index: Int, _ finals: CountingEnds) -> Bool {
        guard records[index].operation.action.isAdmission,
            let phrase = devicesBound(index).first, let known = finals.known[phrase]
        else { return true }
        let place = records[index].place
        return known.contains(branch: place.branch, position: place.position)
    }

    private func bars(
        of device: DeviceID, as member: MemberID, _ age: DeviceRoll.DeviceAge, _ roll: DeviceRoll,
        _ finals: CountingEnds, before record: AuthRecord
    ) -> [Int] {
        (people.removals[.device(device)] ?? []).filter { end in
            guard records[end].author == member, record.knows(records[end].place) else {
                return false
            }
            if finals.contains(end) { return true }
            let author = records[end].operation.device
            guard author != device, let judge = roll.ages[author], judge < age else { return false }
            return roll.counts(records[end].place, by: author)
        }
    }

    /// What all of the operations know; `nil` if there are none.
    private func commonPast(of indices: [Int]) -> CausalPast? {
        guard let first = indices.first else { return nil }
        return indices.dropFirst().reduce(into: records[first].past) {
            $0.formIntersection(records[$1].past)
        }
    }

    /// An operation that would know this one and all that it knows.
    func knowing(_ index: Int) -> AuthRecord {
        let record = records[index]
        var past = record.past
        past.insert(record.place)
        return AuthRecord(
            record.operation, lamport: record.lamport, place: record.place, past: past)
    }
}
