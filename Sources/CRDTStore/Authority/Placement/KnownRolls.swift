import WorkspaceModel

/// The devices of the members whom an operation is about, as it knows them (PROTOCOL.md, 4.0): each roll is
/// made once, whatever rules ask for it, and of however many devices.
///
/// A roll follows from the member and the past alone, so who is asked of device by device finds the same.
struct KnownRolls {
    /// Whose past is asked.
    let record: AuthRecord
    /// How many others were looked at.
    private(set) var looks = 0
    private var rolls: [MemberID: DeviceRoll] = [:]

    init(before record: AuthRecord) { self.record = record }

    mutating func roll(of member: MemberID, _ placed: PlacedOperations) -> DeviceRoll {
        if let known = rolls[member] { return known }
        let roll = placed.roll(of: member, before: record)
        note(roll.looks)
        rolls[member] = roll
        return roll
    }

    mutating func note(_ count: Int) { looks &+= count }
}

extension PlacedOperations {
    /// Whether an older device of a member that it belongs to had revoked this one, or a phrase itself
    /// after it had handed its place on. Its key is as good as stolen, for everybody.
    func isBarred(_ device: DeviceID, _ known: inout KnownRolls) -> Bool {
        guard people.removals[.device(device)] != nil else { return false }
        let bindings = people.bindings[device] ?? [:]
        // In an order, for what it costs reaches others.
        for member in bindings.keys.sorted() {
            known.note(bindings[member]?.count ?? 0)
            if isBound(device, to: member, before: known.record),
                known.roll(of: member, self).isBarred(device)
            {
                return true
            }
        }
        return false
    }

    /// a list of a member's own devices, each bound by what counts, none barred.
    ///
    /// - Cost: a look for each binding of each of them, and a roll for each member to whom one of them is
    ///   bound: no more of these the more devices there are.
    func listingFault(
        _ devices: [DeviceID], of member: MemberID, _ known: inout KnownRolls
    ) -> AuthFault? {
        for device in devices {
            known.note(people.bindings[device]?[member]?.count ?? 0)
            guard isBound(device, to: member, before: known.record) else { return .foreignDevice }
            if isBarred(device, &known) { return .deviceBarred }
        }
        // Where nobody has revoked anything, all counts.
        guard !devices.isEmpty, people.ownRemovals[member] != nil else { return nil }
        let roll = known.roll(of: member, self)
        return devices.contains { roll.ages[$0] == nil } ? .foreignDevice : nil
    }

    /// Counts what it took to see whose devices are: a turn ends for it, and somebody pays.
    mutating func note(looksAtRolls count: Int) {
        looks &+= count
        looksAtRolls &+= count
    }
}
