import WorkspaceModel

/// Devices that go with one that is ended again: whoever had that one has bound them with it
/// (PROTOCOL.md, 4.0.3, V-11).
extension AuthEvaluator {
    /// The devices that a grant lists and that came by the one that an end ends.
    ///
    /// - Cost: nothing where that device has bound none; else a look for each operation that binds a
    ///   device to the member.
    mutating func devicesAlong(_ end: Int, under grant: Int) -> [DeviceID] {
        let device = records[end].operation.device
        guard case .device(let ended) = records[end].aim, let member = records[end].author,
            device == ended || isStronger(device, than: ended, under: grant),
            hasBound(ended, as: member)
        else { return [] }
        let others = boundOtherwise(than: ended, as: member, end, under: grant)
        return records[grant].devices.filter { $0 != ended && $0 != device && !others.contains($0) }
    }

    private func isStronger(_ device: DeviceID, than other: DeviceID, under grant: Int) -> Bool {
        guard let first = deviceRank(ofGrant: grant, device),
            let second = deviceRank(ofGrant: grant, other)
        else { return false }
        return first < second
    }

    private mutating func hasBound(_ device: DeviceID, as member: MemberID) -> Bool {
        let found = additions[member] ?? []
        looks &+= found.count
        return found.contains { records[$0].operation.device == device }
    }

    /// The devices that a grant knows as the member's by anything else than additions of one device,
    /// or of what came by that one, which an end of it does not know.
    private mutating func boundOtherwise(
        than ended: DeviceID, as member: MemberID, _ end: Int, under grant: Int
    ) -> Set<DeviceID> {
        let additions = (additions[member] ?? []).filter { $0 == grant || knows(grant, $0) }
        let first = (admitted[member] ?? []).filter { $0 == grant || knows(grant, $0) }
        var reached = first.flatMap { records[$0].operation.action.boundDevices ?? [] }
        var added: [DeviceID: [DeviceID]] = [:]
        for index in additions {
            let devices = records[index].operation.action.boundDevices ?? []
            if knows(end, index) {
                reached += devices
            } else {
                added[records[index].operation.device, default: []] += devices
            }
        }
        looks &+= additions.count + first.count
        var found: Set<DeviceID> = []
        while let next = reached.popLast() {
            guard found.insert(next).inserted, next != ended else { continue }
            reached += added[next] ?? []
        }
        return found
    }
}
