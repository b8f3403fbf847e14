import WorkspaceModel

/// The devices of the members whom an operation concerns, as it knows them (PROTOCOL.md, 4.0): each
/// roll is made once, for all rules and all devices that need it.
///
/// A roll follows from the member and the past alone, so asking device by device gives the same
/// result.
struct KnownRolls {
    /// The operation whose past is asked.
    let record: AuthRecord
    /// How many others were examined.
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
    /// Whether an older device of a member to whom it is bound had revoked this one, or a phrase
    /// has revoked itself after it had handed its place on. Its key counts as stolen, for
    /// everybody.
    func isBarred(_ device: DeviceID, _ known: inout KnownRolls) -> Bool {
        guard people.removals[.device(device)] != nil else { return false }
        let bindings = people.bindings[device] ?? [:]
        // In a fixed order, since the cost is visible to others.
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
    /// - Cost: a look for each binding of each of them, and a roll for each member to whom one of
    ///   them is bound: the number of rolls does not grow with the number of devices.
    func listingFault(
        _ devices: [DeviceID], of member: MemberID, _ known: inout KnownRolls
    ) -> AuthFault? {
        for device in devices {
            known.note(people.bindings[device]?[member]?.count ?? 0)
            guard isBound(device, to: member, before: known.record) else { return .foreignDevice }
            if isBarred(device, &known) { return .deviceBarred }
        }
        // If nobody has revoked anything, all bindings count.
        guard !devices.isEmpty, people.ownRemovals[member] != nil else { return nil }
        let roll = known.roll(of: member, self)
        return devices.contains { roll.ages[$0] == nil } ? .foreignDevice : nil
    }

    /// Counts the cost of finding the members of devices: it counts towards the end of a turn, and
    /// somebody pays for it.
    mutating func note(looksAtRolls count: Int) {
        looks &+= count
        looksAtRolls &+= count
    }
}
