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
extension AuthEvaluator {
    /// What the device that an end ends has bound to its member, as far as a grant knows and the end
    /// does not.
    mutating func unknownAdditions(_ end: Int, to grant: Int) -> [Int] {
        guard case .removeDevice(let ended) = records[end].operation.action,
            let found = records[end].author.flatMap({ additions[$0] })
        else { return [] }
        looks &+= found.count
        return found.filter {
            records[$0].operation.device == ended && knows(grant, $0) && !knows(end, $0)
        }
    }

    /// Whether an end counts again for what its device has bound: that of a weaker device does not.
    func mayUndo(_ end: Int, under grant: Int) -> Bool {
        let device = records[end].operation.device
        guard case .removeDevice(let ended) = records[end].operation.action, ended != device,
            records[grant].place(of: ended) != nil,
            let loser = deviceRank(ofGrant: grant, ended)
        else { return true }
        return deviceRank(ofGrant: grant, device).map { $0 < loser } == true
    }

    /// What an end undoes under a grant; `nil` for nothing.
    mutating func undoing(_ additions: [Int], by end: Int, under grant: Int) -> AuthUndoing? {
        guard !additions.isEmpty, mayUndo(end, under: grant) else { return nil }
        let devices = devices(reachedFrom: additions.flatMap(devicesBound), under: grant)
        return AuthUndoing(additions, devices: Array(devices))
    }

    /// Notes an end among those of its grant that undo something, the strongest first.
    mutating func noteUndoing(_ index: Int) {
        guard records[index].undoing != nil, let grant = records[index].grant else { return }
        let before = (undoing[grant] ?? []).prefix { isStronger($0, than: index) }.count
        undoing[grant, default: []].insert(index, at: before)
    }

    mutating func unnoteUndoing(_ index: Int) {
        guard records[index].undoing != nil, let grant = records[index].grant else { return }
        undoing[grant]?.removeAll { $0 == index }
        if undoing[grant]?.isEmpty == true { undoing[grant] = nil }
    }

    /// Finds anew which devices an end cuts off, and weaker ones of its grant, now that it has gained
    /// or lost its effect.
    mutating func findCutOff(from index: Int) {
        guard records[index].undoing != nil, let grant = records[index].grant else { return }
        var undone: Set<Int> = []
        var gone: Set<DeviceID> = []
        for end in undoing[grant] ?? [] where records[end].isValid {
            guard let own = records[end].undoing else { continue }
            undone.formUnion(own.additions)
            guard !isStronger(end, than: index) else {
                gone.formUnion(own.cutOff)
                continue
            }
            let reached = devicesReached(under: grant, without: undone)
            let cutOff = own.devices.filter { !reached.contains($0) && !gone.contains($0) }
            gone.formUnion(cutOff)
            records[end].undoing = AuthUndoing(
                own.additions, devices: own.devices, cutOff: cutOff)
        }
    }

    /// The devices to which chains lead, as far as a grant knows.
    private mutating func devicesReached(
        under grant: Int, without undone: Set<Int>
    ) -> Set<DeviceID> {
        let first = records[grant].subject.flatMap { admitted[$0] } ?? []
        looks &+= first.count
        let devices = first.filter { $0 == grant || knows(grant, $0) }.flatMap(devicesBound)
        return self.devices(reachedFrom: devices, under: grant, without: undone)
    }

    /// Some devices, and those to which additions that a grant knows lead from them.
    private mutating func devices(
        reachedFrom first: [DeviceID], under grant: Int, without undone: Set<Int> = []
    ) -> Set<DeviceID> {
        let further = records[grant].subject.flatMap { additions[$0] } ?? []
        looks &+= further.count
        var open = first
        var linked: [DeviceID: [DeviceID]] = [:]
        for addition in further where addition == grant || knows(grant, addition) {
            guard !undone.contains(addition) else { continue }
            linked[records[addition].operation.device, default: []] += devicesBound(addition)
        }
        var reached: Set<DeviceID> = []
        while let device = open.popLast() {
            guard reached.insert(device).inserted else { continue }
            open += linked[device] ?? []
        }
        return reached
    }

    private func devicesBound(_ index: Int) -> [DeviceID] {
        records[index].operation.action.boundDevices ?? []
    }
}
