import WorkspaceModel

/// Ends of a member's own devices that count again: nobody has such a device in by a grant that does not
/// know of its end (PROTOCOL.md, 4.0.3, V-10).
///
/// A final end, by which a recovery phrase that was replaced has ended itself for good, counts under every
/// grant that gives the phrase to its member. A revocation of another own device counts under those that
/// give its author to the member and do not know it, where they give the other one, too, or know what that one
/// has bound. Under each grant but its own an end has a record of its
/// own, which is as strong as the grant makes its author, rests on the grant alone, and is made when the
/// later of the two comes. For an author in the place of another see `AuthBehind`.
///
/// - Cost: a record for each pair of an end and a grant. Each is a look. Of several final ends all but the
///   strongest are void, so that they are not kept; of several revocations of one device by another only
///   those have such records that know no other one.
extension PlacedOperations {
    /// The device that a record ends, where it may count again.
    func deviceEndedAgain(by record: AuthRecord) -> DeviceID? {
        guard rules == .workspace, record.author != nil,
            case .removeDevice(let device) = record.operation.action,
            record.again.isFinalEnd || device != record.operation.device
        else { return nil }
        return device
    }

    /// Makes the records that follow from what was placed last.
    mutating func placeEndsAgain(after index: Int) {
        let record = records[index]
        guard record.fault == nil, !record.isOpaque else { return }
        if let device = deviceEndedAgain(by: record) {
            further.earlierEnds[index] = latestEnds(of: device, before: index)
            further.endsByDevice[record.operation.device, default: []].append(index)
            for grant in people.grantsOfDevice[record.operation.device] ?? [] {
                placeAgain(index, under: grant)
            }
            placeBehind(of: index)
        }
        for grant in [index, record.ownPart].compactMap({ $0 })
        where records[grant].gives.role != nil {
            for device in Set(records[grant].gives.devices) {
                for end in further.endsByDevice[device] ?? [] {
                    placeAgain(end, under: grant)
                }
            }
            placeBehind(under: grant)
        }
    }

    /// The last revocations of a device by the author's device that one more knows: whoever knows those
    /// knows all before them, so that a grant need not be compared with each.
    private mutating func latestEnds(of device: DeviceID, before index: Int) -> [Int]? {
        let record = records[index]
        var latest: [Int] = []
        for other in (further.endsByDevice[record.operation.device] ?? []).reversed() {
            looks &+= 1
            guard records[other].aim == .device(device),
                records[other].author == record.author, knows(index, other),
                !latest.contains(where: { knows($0, other) })
            else { continue }
            latest.append(other)
        }
        return latest.isEmpty ? nil : latest
    }

    /// Whether a grant knows neither an end nor, of a revocation, an earlier one by the same device.
    private mutating func isUnknown(_ end: Int, to grant: Int) -> Bool {
        guard !records[end].again.isFinalEnd else { return true }
        let earlier = further.earlierEnds[end] ?? []
        looks &+= earlier.count
        return !knows(grant, end) && earlier.allSatisfy { knows(grant, $0) }
    }

    private mutating func placeAgain(_ end: Int, under grant: Int) {
        var known = KnownEnds()
        placeAgain(end, under: grant, behind: nil, known: &known)
    }

    /// - Parameters:
    ///   - behind: where its author's device stands under the grant, which does not list it.
    ///   - known: what was found of ends of devices that stand behind the same one.
    mutating func placeAgain(
        _ end: Int, under grant: Int, behind: AuthBehind?, known: inout KnownEnds
    ) {
        looks &+= 1
        let first = records[end]
        guard case .device(let ended) = first.aim, behind != nil || first.grant != grant,
            records[grant].gives.subject == first.author,
            behind.map({ !further.isPlaced(end, under: grant, $0) }) ?? true,
            let author = deviceRank(ofGrant: grant, behind?.root ?? first.operation.device),
            isUnknown(end, to: grant)
        else { return }
        let unknown = unknownAdditions(end, to: grant, known: &known)
        guard first.again.isFinalEnd || !unknown.isEmpty || records[grant].place(of: ended) != nil
        else { return }
        var record = AuthRecord(
            first.operation, lamport: first.lamport, place: first.place, past: first.past)
        record.again.original = end
        record.again.isFinalEnd = first.again.isFinalEnd
        record.again.behind = behind
        record.canBeKept = first.canBeKept
        record.grant = grant
        record.author = first.author
        record.actingRole = records[grant].gives.role
        record.supports = [grant]
        record.aim = first.aim
        record.rank = AuthRank(
            author: author, isOwnEnd: first.operation.isOwnEnd,
            generation: behind?.generation ?? 0, lamport: first.lamport, id: first.operation.id)
        record.again.undoing =
            known.undoings[KnownEnds.Pair(end: end, grant: grant)]
            ?? undoing(
                unknown + unknownAdmissions(end, to: grant), by: record, ended, under: grant)
        if let undoing = record.again.undoing {
            known.undoings[KnownEnds.Pair(end: end, grant: grant)] = undoing
        }
        let index = records.count
        record.admission = index
        records.append(record)
        further.endsAgain[end, default: []].insert(index, at: place(ofRecord: index, of: end))
        if let place = following(index) { further.place(index, of: end, at: place) }
        register(index)
        noteUndoing(index)
    }

    /// How many further records of an end are stronger than one.
    func place(ofRecord index: Int, of end: Int) -> Int {
        place(of: index, among: further.endsAgain[end] ?? [])
    }

    /// How many of some records, the strongest first, are stronger than one.
    private func place(of index: Int, among all: [Int]) -> Int {
        var (low, high) = (0, all.count)
        while low < high {
            let middle = (low + high) / 2
            if isStronger(all[middle], than: index) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The additions of a device that a grant knows and an end of it does not, looked for once.
    private mutating func unknownAdditions(
        _ end: Int, to grant: Int, known: inout KnownEnds
    ) -> [Int] {
        let pair = KnownEnds.Pair(end: end, grant: grant)
        if let found = known.additions[pair] { return found }
        let found = unknownAdditions(end, to: grant)
        known.additions[pair] = found
        return found
    }

    /// Takes back the last record, which is a final end's under another grant.
    mutating func unplaceAgain() {
        let index = records.count - 1
        unregister(index)
        unnoteUndoing(index)
        let record = records.removeLast()
        guard let end = record.again.original else { return }
        if let behind = record.again.behind, let grant = record.grant {
            further.unplace(
                end,
                at: AuthFollowing(grant: grant, behind: behind, device: record.operation.device))
        }
        further.endsAgain[end]?.removeAll { $0 == index }
        if further.endsAgain[end]?.isEmpty == true { further.endsAgain[end] = nil }
    }
}

/// What was found of ends under grants, in the place of one listed device: it is the same in each generation
/// in which their devices stand behind that one.
struct KnownEnds {
    struct Pair: Hashable {
        let end: Int
        let grant: Int
    }

    var additions: [Pair: [Int]] = [:]
    var undoings: [Pair: AuthUndoing] = [:]
}

/// What an end undoes of what its device has bound: see `DevicesAlong`.
extension PlacedOperations {
    /// What the device that an end ends has bound to its member, as far as a grant knows and the end
    /// does not.
    mutating func unknownAdditions(_ end: Int, to grant: Int) -> [Int] {
        guard case .removeDevice(let ended) = records[end].operation.action,
            let found = records[end].author.flatMap({ people.additions[$0] })
        else { return [] }
        looks &+= found.count
        return found.filter {
            records[$0].operation.device == ended && knows(grant, $0) && !knows(end, $0)
        }
    }

    /// What has let the member in by a phrase, as far as a grant knows, or is it, and a final end of the
    /// phrase does not.
    mutating func unknownAdmissions(_ end: Int, to grant: Int) -> [Int] {
        guard records[end].again.isFinalEnd, let member = records[end].author else { return [] }
        let all = people.admitted[member] ?? []
        looks &+= all.count
        return all.filter {
            records[$0].operation.action.isAdmission
                && devicesBound($0).first == records[end].operation.device
                && ($0 == grant || knows(grant, $0)) && !knows(end, $0)
        }
    }

    /// Whether an end counts again for what its device has bound: that of a weaker device does not.
    private func mayUndo(_ record: AuthRecord, _ ended: DeviceID, under grant: Int) -> Bool {
        guard ended != record.operation.device, records[grant].place(of: ended) != nil,
            let loser = deviceRank(ofGrant: grant, ended)
        else { return true }
        return record.rank.author < loser
    }

    /// What an end undoes under a grant; `nil` for nothing.
    private mutating func undoing(
        _ bindings: [Int], by record: AuthRecord, _ ended: DeviceID, under grant: Int
    ) -> AuthUndoing? {
        guard !bindings.isEmpty, mayUndo(record, ended, under: grant) else { return nil }
        let devices = devices(reachedFrom: bindings.flatMap(devicesBound), under: grant)
        return AuthUndoing(bindings.sorted(), devices: Array(devices))
    }

    /// Notes an end among those of its grant that undo something, the strongest first.
    mutating func noteUndoing(_ index: Int) {
        guard records[index].again.undoing != nil, let grant = records[index].grant else { return }
        further.undoing[grant, default: []].insert(index, at: place(ofUndoing: index, under: grant))
    }

    /// How many ends that undo something under a grant are stronger than one.
    func place(ofUndoing index: Int, under grant: Int) -> Int {
        place(of: index, among: further.undoing[grant] ?? [])
    }

    mutating func unnoteUndoing(_ index: Int) {
        guard records[index].again.undoing != nil, let grant = records[index].grant else { return }
        further.undoing[grant]?.removeAll { $0 == index }
        guard further.undoing[grant]?.isEmpty == true else { return }
        further.undoing[grant] = nil
        // Where nothing undoes anything under it, nothing of this is asked; and the grant may go.
        further.links[grant] = nil
        further.firstUndoing[grant] = nil
        further.cutOff[grant] = nil
    }

    /// Some devices, and those to which additions that a grant knows lead from them.
    private mutating func devices(reachedFrom first: [DeviceID], under grant: Int) -> Set<DeviceID>
    {
        let further = records[grant].gives.subject.flatMap { people.additions[$0] } ?? []
        looks &+= further.count
        var open = first
        var linked: [DeviceID: [DeviceID]] = [:]
        for addition in further where addition == grant || knows(grant, addition) {
            linked[records[addition].operation.device, default: []] += devicesBound(addition)
        }
        var reached: Set<DeviceID> = []
        while let device = open.popLast() {
            guard reached.insert(device).inserted else { continue }
            open += linked[device] ?? []
        }
        return reached
    }

    func devicesBound(_ index: Int) -> [DeviceID] {
        records[index].operation.action.boundDevices ?? []
    }
}
