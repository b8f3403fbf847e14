import WorkspaceModel

/// Phrases that took the place of one that a grant lists: what they revoke counts under that grant, where
/// the final ends say so by which each names the next (PROTOCOL.md, 4.0.3, V-12).
///
/// - Cost: a record for each revocation by such a phrase and each grant that lists the first one. Whose
///   phrases took no place costs nothing.
extension PlacedOperations {
    /// The additions that take the place of the device of a final end and that it knows; none for what is no
    /// final end.
    func successions(before end: AuthRecord) -> [Int] {
        guard case .removeDevice(end.operation.device) = end.operation.action,
            let member = end.author
        else { return [] }
        return (people.additions[member] ?? []).filter {
            records[$0].operation.takesPlace && records[$0].operation.device == end.operation.device
                && end.knows(records[$0].place)
        }
    }

    /// The device that a final end names: that of the first of these which the old phrase has not revoked,
    /// as far as it knows. `nil` where that has revoked all.
    func successor(by end: AuthRecord, of successions: [Int]) -> DeviceID? {
        successions.filter { addition in
            !devicesBound(addition).contains { device in
                (people.removals[.device(device)] ?? []).contains {
                    records[$0].operation.device == end.operation.device
                        && records[$0].author == end.author && end.knows(records[$0].place)
                }
            }
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
                let generations = generations(behind: root, of: member)
                for grant in people.grantsOfDevice[root] ?? [] {
                    placeBehind(root, generations, under: grant, of: member)
                }
            }
            return
        }
        for root in next.keys {
            var known = KnownEnds()
            for (generation, devices) in generations(behind: root, of: member)
            where devices.contains(device) {
                let behind = AuthBehind(root, generation: generation)
                for grant in people.grantsOfDevice[root] ?? [] {
                    placeAgain(index, under: grant, behind: behind, known: &known)
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
            let generations = generations(behind: root, of: member)
            placeBehind(root, generations, under: grant, of: member)
        }
    }

    private mutating func placeBehind(
        _ root: DeviceID, _ generations: [(UInt8, Set<DeviceID>)], under grant: Int,
        of member: MemberID
    ) {
        guard records[grant].gives.subject == member else { return }
        var known = KnownEnds()
        for (generation, devices) in generations {
            let behind = AuthBehind(root, generation: generation)
            for end in devices.sorted().flatMap({ further.endsByDevice[$0] ?? [] }) {
                placeAgain(end, under: grant, behind: behind, known: &known)
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
    /// Notes the final end of a member's device, which may name another one.
    mutating func note(
        _ end: Int, by device: DeviceID, of member: MemberID, naming next: DeviceID?
    ) {
        finalEnds[member, default: []].append(end)
        guard let next else { return }
        successors[end] = next
        successions[member, default: [:]][device, default: [:]][next, default: []].append(end)
    }

    /// Takes back the one that was noted last.
    mutating func forget(_ end: Int, by device: DeviceID, of member: MemberID) {
        guard finalEnds[member]?.last == end else { return }
        finalEnds[member]?.removeLast()
        if finalEnds[member]?.isEmpty == true { finalEnds[member] = nil }
        guard let next = successors.removeValue(forKey: end) else { return }
        successions[member]?[device]?[next]?.removeLast()
        guard successions[member]?[device]?[next]?.isEmpty == true else { return }
        successions[member]?[device]?[next] = nil
        if successions[member]?[device]?.isEmpty == true { successions[member]?[device] = nil }
        if successions[member]?.isEmpty == true { successions[member] = nil }
    }
}

extension PlacedOperations {
    /// Where the device of a record stands behind a listed one; `nil` where it stands behind nothing.
    func following(_ index: Int) -> AuthFollowing? {
        guard let behind = records[index].again.behind, let grant = records[index].grant else {
            return nil
        }
        return AuthFollowing(grant: grant, behind: behind, device: records[index].operation.device)
    }

    /// Where the device stands that a final end names under its grant; `nil` for what names none.
    func followingNamed(by index: Int) -> AuthFollowing? {
        guard records[index].again.isFinalEnd, let grant = records[index].grant,
            let device = further.successors[original(index)]
        else { return nil }
        let before = records[index].again.behind
        let behind = AuthBehind(
            before?.root ?? records[index].operation.device,
            generation: (before?.generation ?? 0) + 1)
        return AuthFollowing(grant: grant, behind: behind, device: device)
    }
}

extension AuthVerdicts {
    /// Whether the phrase right before the one that wrote an end has a valid final end, under the same
    /// grant, that names it. What stands behind nothing needs none.
    func hasFollowed(_ index: Int) -> Bool {
        placed.following(index).map { placed.further.followed[$0] != nil } ?? true
    }

    /// Counts a final end that has become valid under its grant, or is so no more.
    mutating func noteFinal(_ index: Int) {
        guard let place = placed.followingNamed(by: index) else { return }
        let count = (placed.further.followed[place] ?? 0) + (records[index].isValid ? 1 : -1)
        placed.further.followed[place] = count > 0 ? count : nil
    }

    /// What stands right behind a final end under its grant, and so counts only with it.
    func ends(behind index: Int) -> [Int] {
        placed.followingNamed(by: index).flatMap { placed.further.behind[$0] } ?? []
    }
}
