import WorkspaceModel

/// Devices that go with those that are ended again: whoever had these has bound them with them
/// (PROTOCOL.md, 4.0.3, V-11).
///
/// A chain of additions leads to each device, from what let its member in. An end undoes what its
/// device has bound and it does not know. Of the ends under one grant, the strongest first, the one that
/// leaves no chain to a device hits what that device does under the grant.
///
/// - Cost: a look for each addition of the member for each such end; and as many again for each of
///   the same grant that is as weak or weaker, whenever one gains or loses its effect.
extension AuthVerdicts {
    /// Finds anew which devices an end cuts off, and weaker ones of its grant, now that it has gained
    /// or lost its effect.
    mutating func findCutOff(from index: Int) {
        guard records[index].again.undoing != nil, let grant = records[index].grant else { return }
        var undone: Set<Int> = []
        var gone: Set<DeviceID> = []
        for end in placed.further.undoing[grant] ?? [] where records[end].isValid {
            guard let own = records[end].again.undoing else { continue }
            undone.formUnion(own.additions)
            guard !placed.isStronger(end, than: index) else {
                gone.formUnion(own.cutOff)
                continue
            }
            let reached = devicesReached(under: grant, without: undone)
            let cutOff = own.devices.filter { !reached.contains($0) && !gone.contains($0) }
            gone.formUnion(cutOff)
            placed.records[end].again.undoing = AuthUndoing(
                own.additions, devices: own.devices, cutOff: cutOff)
        }
    }

    /// The devices to which chains lead, as far as a grant knows.
    private mutating func devicesReached(
        under grant: Int, without undone: Set<Int>
    ) -> Set<DeviceID> {
        let first = records[grant].gives.subject.flatMap { placed.people.admitted[$0] } ?? []
        looks &+= first.count
        let devices = first.filter { $0 == grant || placed.knows(grant, $0) }.flatMap(
            placed.devicesBound)
        return placed.devices(reachedFrom: devices, under: grant, without: undone)
    }
}
