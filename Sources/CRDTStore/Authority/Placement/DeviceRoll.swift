import WorkspaceModel

/// What a past says of a member's devices, from the oldest on (PROTOCOL.md, 4.0, Age, rank, barred).
///
/// Whoever has a device that was given up writes with it as if before that, and others may cite it. So
/// nothing counts here that a device wrote and what bars it does not know.
struct DeviceRoll: Sendable {
    /// A device that something binds, and what does.
    struct Link: Sendable {
        let age: DeviceAge
        let device: DeviceID
        let binding: Int
    }

    /// The age of each device, by the oldest binding of it that counts.
    private(set) var ages: [DeviceID: DeviceAge] = [:]
    /// What bars each.
    private(set) var bars: [DeviceID: [Int]] = [:]
    /// All that counts.
    private(set) var links: [Link] = []

    /// When a device came to a member: smaller is older, and the older may bar the younger.
    struct DeviceAge: Comparable, Sendable {
        let lamport: UInt64
        let id: OperationID
        let place: Int
        /// (Depth, id) of the addition by which it took the place of the device that came then.
        private(set) var successionLamport: UInt64 = 0
        private(set) var succession = OperationID.zero

        init(lamport: UInt64, id: OperationID, place: Int) {
            self.lamport = lamport
            self.id = id
            self.place = place
        }

        /// The age of whoever comes right behind it, and behind all that do so already.
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

    /// Enters a device by the oldest of what counts.
    mutating func enter(_ device: DeviceID, _ age: DeviceAge, bars: [Int]) {
        ages[device] = age
        self.bars[device] = bars
    }

    /// Whether something bars a device as this member's.
    func isBarred(_ device: DeviceID) -> Bool { bars[device]?.isEmpty == false }
}

extension PlacedOperations {
    /// The devices of a member, as `record` knows them.
    ///
    /// - Cost: a look for each binding of the member's devices, with each revocation that bars who wrote
    ///   it; and for each revocation of such a device, with each that bars its author.
    func roll(of member: MemberID, before record: AuthRecord) -> DeviceRoll {
        let finals = countingFinals(of: member, before: record)
        let additions = Dictionary(
            grouping: (people.additions[member] ?? []).filter { record.knows(records[$0].place) }
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
        for index in people.admitted[member] ?? []
        where record.knows(records[index].place) && letsIn(index, finals) {
            for link in links(by: index, after: nil) { note(link) }
        }
        var roll = DeviceRoll()
        while let link = open.popLast() {
            let linker = records[link.binding].operation.device
            let isUnknown =
                records[link.binding].operation.action.isAddition
                && roll.bars[linker]?.allSatisfy { knows($0, link.binding) } != true
            guard !isUnknown else { continue }
            roll.append(link)
            guard roll.ages[link.device] == nil else { continue }
            let bars = bars(of: link.device, as: member, link.age, roll, finals, before: record)
            roll.enter(link.device, link.age, bars: bars)
            for addition in additions[link.device] ?? [] {
                for next in links(by: addition, after: link.age) { note(next) }
            }
        }
        return roll
    }

    /// What an operation binds; no device is older than what has linked it.
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

    /// The final ends of a member's phrases that are known and count: of several of one phrase those that
    /// the strongest confirmation names, if somebody else has confirmed any. Whoever has old words writes
    /// such ends with them, too.
    private func countingFinals(of member: MemberID, before record: AuthRecord) -> Set<Int> {
        let known = (further.finalEnds[member] ?? []).filter { record.knows(records[$0].place) }
        guard known.count > 1 else { return Set(known) }
        var strongest: [DeviceID: Int] = [:]
        var confirmations: [Int: Set<Int>] = [:]
        var ended = EndedSupports(self, before: record)
        for end in known {
            let device = records[end].operation.device
            let found = (further.confirms[end] ?? []).filter {
                record.knows(records[$0].place) && records[$0].author != member
                    && !ended.contains($0)
            }
            confirmations[end] = Set(found)
            for index in found where strongest[device].map({ isStronger(index, than: $0) }) ?? true
            {
                strongest[device] = index
            }
        }
        return Set(
            known.filter { end in
                strongest[records[end].operation.device].map {
                    confirmations[end]?.contains($0) == true
                } ?? true
            })
    }

    /// Nobody comes in by a phrase that was replaced: some final end of it knows the admission.
    private func letsIn(_ index: Int, _ finals: Set<Int>) -> Bool {
        guard records[index].operation.action.isAdmission,
            let phrase = devicesBound(index).first
        else { return true }
        let own = finals.filter { records[$0].operation.device == phrase }
        return own.isEmpty || own.contains { knows($0, index) }
    }

    private func bars(
        of device: DeviceID, as member: MemberID, _ age: DeviceRoll.DeviceAge, _ roll: DeviceRoll,
        _ finals: Set<Int>, before record: AuthRecord
    ) -> [Int] {
        (people.removals[.device(device)] ?? []).filter { end in
            guard records[end].author == member, record.knows(records[end].place) else {
                return false
            }
            if finals.contains(end) { return true }
            let author = records[end].operation.device
            guard author != device, let judge = roll.ages[author], judge < age else { return false }
            return (roll.bars[author] ?? []).allSatisfy { knows($0, end) }
        }
    }

    /// Whether an older device of a member that it belongs to had revoked this one, or a phrase itself
    /// after it had handed its place on. Its key is as good as stolen, for everybody.
    func isBarred(_ device: DeviceID, before record: AuthRecord) -> Bool {
        guard people.removals[.device(device)] != nil else { return false }
        return (people.bindings[device] ?? [:]).keys.contains {
            isBound(device, to: $0, before: record) && roll(of: $0, before: record).isBarred(device)
        }
    }

    /// a list of a member's own devices, each bound by what counts, none barred.
    func listingFault(
        _ record: AuthRecord, _ devices: [DeviceID], of member: MemberID
    ) -> AuthFault? {
        for device in devices {
            guard isBound(device, to: member, before: record) else { return .foreignDevice }
            if isBarred(device, before: record) { return .deviceBarred }
        }
        // Where nobody has revoked anything, all counts.
        guard !devices.isEmpty, people.ownRemovals[member] != nil else { return nil }
        let roll = roll(of: member, before: record)
        return devices.contains { roll.ages[$0] == nil } ? .foreignDevice : nil
    }

    /// An operation that would know one and all that this knows.
    func knowing(_ index: Int) -> AuthRecord {
        let record = records[index]
        var past = record.past
        past.insert(record.place)
        return AuthRecord(
            record.operation, lamport: record.lamport, place: record.place, past: past)
    }
}
