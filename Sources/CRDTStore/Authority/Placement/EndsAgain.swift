import WorkspaceModel

/// Ends of a member's own devices that count again: nobody has such a device in by a grant that does not
/// know of its end (PROTOCOL.md, 4.0.3, V-10).
///
/// A final end, by which a recovery phrase that was replaced has ended itself for good, counts under every
/// grant that gives the phrase to its member. A revocation of another own device counts under those that
/// give its author to the member, link nothing and do not know it, where they give the ended one, too, or know
/// what that one has bound. Under each grant but its own an end has a record of its
/// own, which is as strong as the grant makes its author, rests on the grant alone, and is made when the
/// later of the two comes. For an author in the place of another see `AuthBehind`.
///
/// - Cost: a record for each pair of an end and a grant, which counts as `FurtherEnds.looksPerRecord`. Each
///   pair is a look, and under a grant by somebody else one more for each binding of the ended device. Of
///   several final ends all but the strongest are void, so that they are not kept; of several revocations of
///   one device by another only those have such records that know no other one.
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
            var known = KnownEnds()
            for grant in people.grantsOfDevice[record.operation.device] ?? [] {
                placeAgain(
                    index, under: grant, nil, as: record.operation.device, known: &known)
            }
            placeBehind(of: index, known: &known)
            placeUnlisted(index, known: &known)
        }
        for grant in [index, record.ownPart].compactMap({ $0 })
        where records[grant].gives.role != nil {
            var known = KnownEnds()
            for device in Set(records[grant].gives.devices).sorted() {
                for end in further.endsByDevice[device] ?? [] {
                    placeAgain(end, under: grant, nil, as: device, known: &known)
                }
            }
            placeBehind(under: grant, known: &known)
            placeUnlisted(under: grant, known: &known)
        }
    }

    /// The last revocations of a device by the author's device that one more knows: knowing those
    /// implies all before them, so that a grant need not be compared with each.
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

    /// - Parameters:
    ///   - behind: where its author's device stands under the grant, which does not list it.
    ///   - listed: the device in whose place it counts there.
    ///   - known: what was found of the same ends and grants.
    mutating func placeAgain(
        _ end: Int, under grant: Int, _ behind: AuthBehind?, as listed: DeviceID,
        known: inout KnownEnds
    ) {
        looks &+= 1
        // Fields are read one by one: to copy a record takes as long as to make one.
        let isFinalEnd = records[end].again.isFinalEnd
        guard case .device(let ended) = records[end].aim,
            behind != nil || records[end].grant != grant,
            records[grant].gives.subject == records[end].author,
            isFinalEnd || !isLink(grant),
            let place = place(of: listed, behind, under: grant, known: &known),
            isUnknown(end, to: grant)
        else { return }
        let isUndoing = !(isFinalEnd && isLink(grant))
        let unknown = isUndoing ? unknownAdditions(end, to: grant, known: &known) : []
        guard isFinalEnd || !unknown.isEmpty || records[grant].place(of: ended) != nil
        else { return }
        var record = again(end, under: place, behind)
        if isFinalEnd || !unknown.isEmpty, mayUndo(record, ended, under: grant) {
            record.again.undoing =
                record.again.isUnlisted
                ? undoing(byUnlisted: end, unknown, under: grant, known: &known)
                : undoing(by: end, unknown, under: grant, known: &known)
        }
        append(record, again: end, at: place)
    }

    /// Where ends count under a grant. All that count in one place share what that says, whenever they come.
    private func place(
        of listed: DeviceID, _ behind: AuthBehind?, under grant: Int, known: inout KnownEnds
    ) -> KnownEnds.Place? {
        let position = AuthPosition(
            grant: grant, listed: listed, generation: behind?.generation ?? 0)
        if let place = known.place, place.position == position { return place }
        let standing =
            further.standings[position]?.standing
            ?? deviceRank(ofGrant: grant, listed).map {
                SharedValue(
                    AuthStanding(under: grant, giving: records[grant].gives.role, author: $0))
            }
        known.place = standing.map { KnownEnds.Place(position: position, standing: $0) }
        return known.place
    }

    /// What an end is under another grant.
    private func again(
        _ end: Int, under place: KnownEnds.Place, _ behind: AuthBehind?
    ) -> AuthRecord {
        var record = AuthRecord(again: records[end], as: place.standing)
        record.again.original = end
        record.again.behind = behind
        return record
    }

    private mutating func append(_ record: AuthRecord, again end: Int, at place: KnownEnds.Place) {
        looks &+= FurtherEnds.looksPerRecord
        let index = records.count
        records.append(record)
        further.enter(place.position, place.standing)
        further.endsAgain[end, default: []].insert(index, at: self.place(ofRecord: index, of: end))
        if let place = following(index) { further.place(index, at: place) }
        register(index)
        noteUndoing(index)
    }

    /// How many further records of an end are stronger than one.
    func place(ofRecord index: Int, of end: Int) -> Int {
        place(of: index, among: further.endsAgain[end] ?? [])
    }

    /// How many of some records, the strongest first, are stronger than one.
    func place(of index: Int, among all: [Int]) -> Int {
        var (low, high) = (0, all.count)
        while low < high {
            let middle = (low + high) / 2
            if isStronger(all[middle], than: index) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Whether a grant links a device: it gives that one alone.
    private func isLink(_ grant: Int) -> Bool { records[grant].operation.action.isAddition }

    /// Whether a grant has its member's devices from itself alone: nothing that it knows binds any.
    func isEntry(_ grant: Int) -> Bool {
        switch records[grant].operation.action {
        case .create, .admit: true
        default: false
        }
    }

    /// The additions of a device that a grant knows and an end of it does not, looked for once.
    private mutating func unknownAdditions(
        _ end: Int, to grant: Int, known: inout KnownEnds
    ) -> [Int] {
        guard !isEntry(grant) else { return [] }
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
        if let place = following(index) { further.unplace(at: place) }
        if let grant = records[index].grant {
            let behind = records[index].again.behind
            further.leave(
                AuthPosition(
                    grant: grant, listed: behind?.root ?? records[index].operation.device,
                    generation: behind?.generation ?? 0))
        }
        if let end = records[index].again.original {
            let place = place(ofRecord: index, of: end)
            if further.endsAgain[end]?.indices.contains(place) == true {
                further.endsAgain[end]?.remove(at: place)
            }
            if further.endsAgain[end]?.isEmpty == true { further.endsAgain[end] = nil }
        }
        records.removeLast()
    }
}

/// What was found of ends under grants: it is the same in each place in which they count there.
struct KnownEnds {
    struct Pair: Hashable {
        let end: Int
        let grant: Int
    }

    /// Where ends count, and as what.
    struct Place {
        let position: AuthPosition
        let standing: SharedValue<AuthStanding>
    }

    /// The last place that was asked for.
    var place: Place?
    var additions: [Pair: [Int]] = [:]
    var undoings: [Pair: AuthUndoing] = [:]
    /// By grant what the devices of its member have linked, as far as it knows.
    var linked: [Int: [DeviceID: [DeviceID]]] = [:]
}

/// What an end undoes of what its device has bound: see `DevicesAlong`.
extension PlacedOperations {
    /// What the device that an end ends has bound to its member, as far as a grant knows and the end
    /// does not.
    mutating func unknownAdditions(_ end: Int, to grant: Int) -> [Int] {
        guard case .removeDevice(let ended) = records[end].operation.action,
            let member = records[end].author,
            let found = people.links[OwnDevice(member: member, device: ended)]
        else { return [] }
        looks &+= found.count
        return found.filter { knows(grant, $0) && !knows(end, $0) }
    }

    /// What has let the member in by a phrase, as far as a grant knows, or is it, and a final end of the
    /// phrase does not.
    mutating func unknownAdmissions(_ end: Int, to grant: Int) -> [Int] {
        guard records[end].again.isFinalEnd, let member = records[end].author else { return [] }
        // Of so many that do not know of each other each is looked at under itself alone.
        let all = isEntry(grant) ? [grant] : people.admitted[member] ?? []
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

    /// What an end undoes under a grant, where it may; `nil` for nothing. Under what links a device a
    /// final end takes that one anyway.
    private mutating func undoing(
        by end: Int, _ unknown: [Int], under grant: Int, known: inout KnownEnds
    ) -> AuthUndoing? {
        guard !isLink(grant) else { return nil }
        let pair = KnownEnds.Pair(end: end, grant: grant)
        if let found = known.undoings[pair] { return found }
        let found = undoing(
            unknown + unknownAdmissions(end, to: grant), under: grant, known: &known)
        known.undoings[pair] = found
        return found
    }

    /// The same of bindings, as far as the grant knows them.
    mutating func undoing(
        _ bindings: [Int], under grant: Int, known: inout KnownEnds
    ) -> AuthUndoing? {
        guard !bindings.isEmpty else { return nil }
        let devices = devices(
            reachedFrom: bindings.flatMap(devicesBound), links(knownTo: grant, known: &known))
        return AuthUndoing(Set(bindings).sorted(), devices: Array(devices))
    }

    /// Notes an end among those of its grant that undo something, the strongest first.
    mutating func noteUndoing(_ index: Int) {
        guard records[index].again.undoing != nil, let grant = records[index].grant else { return }
        further.undoing[grant, default: []].insert(index, at: place(ofUndoing: index, under: grant))
        further.undoingOf[original(index), default: []].append(index)
    }

    /// How many ends that undo something under a grant are stronger than one.
    func place(ofUndoing index: Int, under grant: Int) -> Int {
        place(of: index, among: further.undoing[grant] ?? [])
    }

    mutating func unnoteUndoing(_ index: Int) {
        guard records[index].again.undoing != nil, let grant = records[index].grant else { return }
        let end = original(index)
        further.undoingOf[end]?.removeAll { $0 == index }
        if further.undoingOf[end]?.isEmpty == true { further.undoingOf[end] = nil }
        further.undoing[grant]?.removeAll { $0 == index }
        guard further.undoing[grant]?.isEmpty == true else { return }
        further.undoing[grant] = nil
        // Where nothing undoes anything under it, nothing of this is asked; and the grant may go.
        further.links[grant] = nil
        further.firstUndoing[grant] = nil
        further.cutOff[grant] = nil
    }

    /// What each device of a grant's member has linked, as far as the grant knows.
    private mutating func links(
        knownTo grant: Int, known: inout KnownEnds
    ) -> [DeviceID: [DeviceID]] {
        if let found = known.linked[grant] { return found }
        var linked: [DeviceID: [DeviceID]] = [:]
        if !isEntry(grant) {
            let all = records[grant].gives.subject.flatMap { people.additions[$0] } ?? []
            looks &+= all.count
            for addition in all where addition == grant || knows(grant, addition) {
                linked[records[addition].operation.device, default: []] += devicesBound(addition)
            }
        }
        known.linked[grant] = linked
        return linked
    }

    /// Some devices, and those to which links lead from them.
    private func devices(
        reachedFrom first: [DeviceID], _ linked: [DeviceID: [DeviceID]]
    ) -> Set<DeviceID> {
        var open = first
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
