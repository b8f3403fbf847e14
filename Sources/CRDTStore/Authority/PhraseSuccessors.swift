import WorkspaceModel

/// Phrases that took the place of one that a grant lists: what they revoke counts under that grant, where
/// the final ends say so by which each names the next (PROTOCOL.md, 4.0.3, V-12).
///
/// - Cost: a record for each revocation by such a phrase and each grant that lists the first one. Whose
///   phrases took no place costs nothing.
extension PlacedOperations {
    /// The device that a final end names: that of the first addition that takes the place of its device and
    /// that it knows. `nil` for what is no final end.
    func successor(by end: AuthRecord) -> DeviceID? {
        guard case .removeDevice(end.operation.device) = end.operation.action,
            let member = end.author
        else { return nil }
        return (people.additions[member] ?? []).filter {
            records[$0].operation.takesPlace && records[$0].operation.device == end.operation.device
                && end.knows(records[$0].place)
        }.min {
            (records[$0].lamport, records[$0].operation.id)
                < (records[$1].lamport, records[$1].operation.id)
        }.flatMap { devicesBound($0).first }
    }

    /// Where a new end counts whose author stands behind another phrase; and, where it is the first that
    /// names its successor, where all ends by those behind it count.
    mutating func placeBehind(of index: Int) {
        guard let member = records[index].author, let next = further.successions[member] else {
            return
        }
        let device = records[index].operation.device
        if let named = further.successors[index], next[device]?[named]?.first == index {
            for root in Set(next.keys) {
                for grant in people.grantsOfDevice[root] ?? [] {
                    placeBehind(root, under: grant, of: member)
                }
            }
            return
        }
        for root in next.keys {
            for (generation, devices) in generations(behind: root, of: member)
            where devices.contains(device) {
                for grant in people.grantsOfDevice[root] ?? [] {
                    placeAgain(
                        index, under: grant, behind: AuthBehind(root, generation: generation))
                }
            }
        }
    }

    /// The ends that count so under a new grant.
    mutating func placeBehind(under grant: Int) {
        guard let member = records[grant].gives.subject, further.successions[member] != nil else {
            return
        }
        var seen: Set<DeviceID> = []
        for root in records[grant].gives.devices where seen.insert(root).inserted {
            placeBehind(root, under: grant, of: member)
        }
    }

    private mutating func placeBehind(_ root: DeviceID, under grant: Int, of member: MemberID) {
        guard records[grant].gives.subject == member else { return }
        for (generation, devices) in generations(behind: root, of: member) {
            let behind = AuthBehind(root, generation: generation)
            for end in devices.sorted().flatMap({ further.endsByDevice[$0] ?? [] }) {
                placeAgain(end, under: grant, behind: behind)
            }
        }
    }

    /// The devices that stand behind one, by how many phrases behind.
    private func generations(
        behind root: DeviceID, of member: MemberID
    ) -> [(UInt8, Set<DeviceID>)] {
        var found: [(UInt8, Set<DeviceID>)] = []
        var devices: Set<DeviceID> = [root]
        for generation in UInt8(1)...UInt8(Limits.phraseSuccessionsMax) {
            devices = devices.reduce(into: []) {
                $0.formUnion(further.successions[member]?[$1]?.keys.map { $0 } ?? [])
            }
            guard !devices.isEmpty else { break }
            found.append((generation, devices))
        }
        return found
    }
}

extension FurtherEnds {
    /// Notes the final end of a member's device that names another one.
    mutating func note(_ end: Int, by device: DeviceID, of member: MemberID, naming next: DeviceID)
    {
        finalEnds[member, default: []].append(end)
        successors[end] = next
        successions[member, default: [:]][device, default: [:]][next, default: []].append(end)
    }

    /// Takes back the one that was noted last.
    mutating func forget(_ end: Int, by device: DeviceID, of member: MemberID) {
        guard let next = successors.removeValue(forKey: end) else { return }
        finalEnds[member]?.removeLast()
        if finalEnds[member]?.isEmpty == true { finalEnds[member] = nil }
        successions[member]?[device]?[next]?.removeLast()
        guard successions[member]?[device]?[next]?.isEmpty == true else { return }
        successions[member]?[device]?[next] = nil
        if successions[member]?[device]?.isEmpty == true { successions[member]?[device] = nil }
        if successions[member]?.isEmpty == true { successions[member] = nil }
    }
}

extension AuthVerdicts {
    /// Whether the phrase right before the one that wrote an end has a valid final end, under the same
    /// grant, that names it. What stands behind nothing needs none.
    func hasFollowed(_ index: Int) -> Bool {
        guard let behind = records[index].again.behind, let grant = records[index].grant else {
            return true
        }
        let device = records[index].operation.device
        return (placed.further.finalsInForce[grant] ?? []).contains { end in
            let before = records[end].again.behind
            let isBefore =
                behind.generation == 1
                ? before == nil && records[end].operation.device == behind.root
                : before?.root == behind.root && before?.generation == behind.generation - 1
            return isBefore && records[end].author == records[index].author
                && placed.further.successors[placed.original(end)] == device
        }
    }

    /// Notes whether a final end is valid under its grant.
    mutating func noteFinal(_ index: Int) {
        guard records[index].again.isFinalEnd, let grant = records[index].grant else { return }
        if records[index].isValid {
            placed.further.finalsInForce[grant, default: []].insert(index)
        } else if placed.further.finalsInForce[grant]?.remove(index) != nil,
            placed.further.finalsInForce[grant]?.isEmpty == true
        {
            placed.further.finalsInForce[grant] = nil
        }
    }

    /// What stands behind a final end under its grant, and so counts only with it.
    func ends(behind index: Int) -> [Int] {
        guard records[index].again.isFinalEnd, let grant = records[index].grant else { return [] }
        return placed.further.behind[grant] ?? []
    }
}
