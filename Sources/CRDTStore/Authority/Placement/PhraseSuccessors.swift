import WorkspaceModel

/// Phrases that replaced one that a grant lists: what they revoke counts under that grant, if a
/// chain of final ends, each naming the next phrase, leads to them (PROTOCOL.md, 4.0.3, V-12).
///
/// - Cost: a record for each end by such a phrase and each grant that lists an earlier one: at most
///   `phraseSuccessionsMax` of these for each end. It has no effect there until the final ends have
///   arrived.
extension PlacedOperations {
    /// The adddevs known to a final end that take the place of its device; empty for anything that
    /// is not a final end.
    func successions(before end: AuthRecord) -> [Int] {
        guard case .removeDevice(end.operation.device) = end.operation.action,
            let member = end.author
        else { return [] }
        let own = OwnDevice(member: member, device: end.operation.device)
        return (people.links[own] ?? []).filter {
            records[$0].operation.takesPlace && end.knows(records[$0].place)
        }
    }

    /// The device that a final end names as successor: that of the first of these adddevs whose
    /// device the old phrase has not revoked, as far as the end knows. `nil` if it has revoked all.
    func successor(by end: AuthRecord, of successions: [Int]) -> DeviceID? {
        successions.filter { addition in
            !devicesBound(addition).contains { isRevoked($0, asKnownTo: end) }
        }.min(by: { isEarlier($0, than: $1) }).flatMap { devicesBound($0).first }
    }

    /// The line of phrases behind which a device stands, the nearest first: the one that put it in
    /// its place, as an operation knows, the one that put that in its place, as that adddev knows,
    /// and so on. Each adddev leads to one phrase, so nobody can make an end count in many places.
    mutating func line(
        of device: DeviceID, as member: MemberID, knownTo index: Int
    ) -> [DeviceID] {
        var line: [DeviceID] = []
        var (device, knowing) = (device, index)
        while line.count < Limits.phraseSuccessionsMax {
            let all = people.successions[OwnDevice(member: member, device: device)] ?? []
            looks &+= all.count
            let known = all.filter { knows(knowing, $0) }
            guard let word = known.min(by: { isEarlier($0, than: $1) }) else { break }
            device = records[word].operation.device
            line.append(device)
            knowing = word
        }
        return line
    }

    private func isEarlier(_ index: Int, than other: Int) -> Bool {
        (records[index].lamport, records[index].operation.id)
            < (records[other].lamport, records[other].operation.id)
    }

    /// Makes the records of a new end whose author stands behind another phrase.
    mutating func placeBehind(of index: Int, known: inout KnownEnds) {
        guard let member = records[index].author else { return }
        let line = line(of: records[index].operation.device, as: member, knownTo: index)
        guard !line.isEmpty else { return }
        further.lines[index] = line
        for (root, generation) in zip(line, Int8(1)...) {
            further.endsBehind[root, default: []].append(.init(end: index, generation: generation))
            let behind = AuthSuccessorPlace(root, generation: generation)
            for grant in people.grantsOfDevice[root] ?? [] {
                placeAgain(index, under: grant, behind, as: root, known: &known)
            }
        }
    }

    /// Makes the records of such ends under a new grant.
    mutating func placeBehind(under grant: Int, known: inout KnownEnds) {
        for root in Set(records[grant].gives.devices).sorted() {
            // One for each generation, shared by all records of these ends.
            var behind: [Int8: AuthSuccessorPlace] = [:]
            for place in further.endsBehind[root] ?? [] {
                let there =
                    behind[place.generation]
                    ?? AuthSuccessorPlace(root, generation: place.generation)
                behind[place.generation] = there
                placeAgain(place.end, under: grant, there, as: root, known: &known)
            }
        }
    }
}

extension FurtherEnds {
    /// Enters the final end of a member's device, which may name a successor.
    mutating func note(_ end: Int, of member: MemberID, naming next: DeviceID?) {
        finalEnds[member, default: []].append(end)
        successors[end] = next
    }

    /// Takes back the one that was entered last.
    mutating func forget(_ end: Int, of member: MemberID) {
        guard finalEnds[member]?.last == end else { return }
        finalEnds[member]?.removeLast()
        if finalEnds[member]?.isEmpty == true { finalEnds[member] = nil }
        successors[end] = nil
    }
}

extension PlacedOperations {
    /// Where the device of a record stands behind a listed one; `nil` if it stands behind none.
    func following(_ index: Int) -> AuthFollowing? {
        guard let behind = records[index].again.behind, behind.generation > 0,
            let grant = records[index].grant
        else {
            return nil
        }
        return AuthFollowing(grant: grant, behind: behind, device: records[index].operation.device)
    }

    /// Where the device stands that a final end names under its grant; `nil` if it names none.
    func followingNamed(by index: Int) -> AuthFollowing? {
        guard records[index].again.isFinalEnd, !records[index].again.isUnlisted,
            let grant = records[index].grant, let device = further.successors[original(index)]
        else { return nil }
        let before = records[index].again.behind
        let behind = AuthSuccessorPlace(
            before?.root ?? records[index].operation.device,
            generation: (before?.generation ?? 0) + 1)
        return AuthFollowing(grant: grant, behind: behind, device: device)
    }
}
