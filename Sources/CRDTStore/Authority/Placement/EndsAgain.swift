import WorkspaceModel

/// Ends of a member's own devices that count again: no device is in by a grant that does not know
/// its end (PROTOCOL.md, 4.0.3, V-10).
///
/// A final end, by which a replaced recovery phrase has revoked itself permanently, counts under
/// every grant that gives the phrase to its member. A revocation of another own device counts under
/// grants that give its author's device to the member, are no adddev and do not know it, if they
/// also give the revoked device or know what that has bound. Under each grant but its own an end
/// has a record of its own. The record has the rank that the grant gives its author, rests on the
/// grant alone, and is made when the later of the two arrives. For an author in the place of
/// another one see `AuthSuccessorPlace`.
///
/// - Cost: a record for each pair of an end and a grant, which counts as
///   `FurtherEnds.looksPerRecord`. Each pair is a look, and under a grant by another member one
///   more for each binding of the revoked device. Of several final ends all but the strongest are
///   void, so they are not kept; of several revocations of one device by another only those that
///   know no other one have such records.
extension PlacedOperations {
    /// The device that a record ends, if it may count again.
    func deviceEndedAgain(by record: AuthRecord) -> DeviceID? {
        guard rules == .workspace, record.author != nil,
            case .removeDevice(let device) = record.operation.action,
            record.again.isFinalEnd || device != record.operation.device
        else { return nil }
        return device
    }

    /// Makes the records that follow from the operation placed last.
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

    /// The last revocations of a device by the author's device that a further one knows: knowing
    /// these implies all before them, so that a grant need not be compared with each.
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

    /// Whether an end may count under a grant by what that knows: a final end always; a revocation
    /// if the grant does not know it, but knows the earlier ones that it knows (V-10).
    private mutating func isUnknown(_ end: Int, to grant: Int) -> Bool {
        guard !records[end].again.isFinalEnd else { return true }
        let earlier = further.earlierEnds[end] ?? []
        looks &+= earlier.count
        return !knows(grant, end) && earlier.allSatisfy { knows(grant, $0) }
    }

    /// - Parameters:
    ///   - behind: where its author's device stands under the grant, if that does not list it.
    ///   - listed: the device in whose place it counts there.
    ///   - known: the results for the same ends and grants.
    mutating func placeAgain(
        _ end: Int, under grant: Int, _ behind: AuthSuccessorPlace?, as listed: DeviceID,
        known: inout KnownEnds
    ) {
        looks &+= 1
        // Fields are read one by one: copying a record costs as much as making one.
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

    /// The place where ends count under a grant. All that count in one place share their standing,
    /// whenever they arrive.
    private func place(
        of listed: DeviceID, _ behind: AuthSuccessorPlace?, under grant: Int, known: inout KnownEnds
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

    /// The record of an end under another grant.
    private func again(
        _ end: Int, under place: KnownEnds.Place, _ behind: AuthSuccessorPlace?
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

    /// How many further records of an end are stronger than a given one.
    func place(ofRecord index: Int, of end: Int) -> Int {
        place(of: index, among: further.endsAgain[end] ?? [])
    }

    /// How many of the records, the strongest first, are stronger than a given one.
    func place(of index: Int, among all: [Int]) -> Int {
        var (low, high) = (0, all.count)
        while low < high {
            let middle = (low + high) / 2
            if isStronger(all[middle], than: index) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Whether a grant links a device: it gives a role to that device alone.
    private func isLink(_ grant: Int) -> Bool { records[grant].operation.action.isAddition }

    /// Whether a grant itself is the only binding of its member's devices: nothing that it knows
    /// binds one.
    func isEntry(_ grant: Int) -> Bool {
        switch records[grant].operation.action {
        case .create, .admit: true
        default: false
        }
    }

    /// The adddevs by a device that a grant knows and an end of it does not, looked up once.
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

    /// Takes back the last record, which is that of an end under another grant.
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

/// Results for ends under grants: they are the same in each place where the ends count.
struct KnownEnds {
    struct Pair: Hashable {
        let end: Int
        let grant: Int
    }

    /// A place where ends count, and their standing there.
    struct Place {
        let position: AuthPosition
        let standing: SharedValue<AuthStanding>
    }

    /// The place that was asked for last.
    var place: Place?
    var additions: [Pair: [Int]] = [:]
    var undoings: [Pair: AuthUndoneBindings] = [:]
    /// For each grant, what the devices of its member have linked, as far as it knows.
    var linked: [Int: [DeviceID: [DeviceID]]] = [:]
}

/// What an end undoes of the bindings by its device: see `DevicesAlong`.
extension PlacedOperations {
    /// The bindings by a revoked device to its member that a grant knows and the end does not.
    mutating func unknownAdditions(_ end: Int, to grant: Int) -> [Int] {
        guard case .removeDevice(let ended) = records[end].operation.action,
            let member = records[end].author,
            let found = people.links[OwnDevice(member: member, device: ended)]
        else { return [] }
        looks &+= found.count
        return found.filter { knows(grant, $0) && !knows(end, $0) }
    }

    /// The admissions of the member by a phrase that a grant knows, or is, and that a final end of
    /// the phrase does not know.
    mutating func unknownAdmissions(_ end: Int, to grant: Int) -> [Int] {
        guard records[end].again.isFinalEnd, let member = records[end].author else { return [] }
        // Under an admission only that one is examined: there may be many concurrent ones.
        let all = isEntry(grant) ? [grant] : people.admitted[member] ?? []
        looks &+= all.count
        return all.filter {
            records[$0].operation.action.isAdmission
                && devicesBound($0).first == records[end].operation.device
                && ($0 == grant || knows(grant, $0)) && !knows(end, $0)
        }
    }

    /// Whether an end may undo what its device has bound: one by a weaker device may not.
    private func mayUndo(_ record: AuthRecord, _ ended: DeviceID, under grant: Int) -> Bool {
        guard ended != record.operation.device, records[grant].place(of: ended) != nil,
            let loser = deviceRank(ofGrant: grant, ended)
        else { return true }
        return record.rank.author < loser
    }

    /// What an end undoes under a grant, if it may; `nil` for nothing. Under an adddev nothing is
    /// undone: a final end hits that adddev anyway.
    private mutating func undoing(
        by end: Int, _ unknown: [Int], under grant: Int, known: inout KnownEnds
    ) -> AuthUndoneBindings? {
        guard !isLink(grant) else { return nil }
        let pair = KnownEnds.Pair(end: end, grant: grant)
        if let found = known.undoings[pair] { return found }
        let found = undoing(
            unknown + unknownAdmissions(end, to: grant), under: grant, known: &known)
        known.undoings[pair] = found
        return found
    }

    /// The same for bindings, as far as the grant knows them.
    mutating func undoing(
        _ bindings: [Int], under grant: Int, known: inout KnownEnds
    ) -> AuthUndoneBindings? {
        guard !bindings.isEmpty else { return nil }
        let devices = devices(
            reachedFrom: bindings.flatMap(devicesBound), links(knownTo: grant, known: &known))
        return AuthUndoneBindings(Set(bindings).sorted(), devices: Array(devices))
    }

    /// Enters an end among those of its grant that undo something, the strongest first.
    mutating func noteUndoing(_ index: Int) {
        guard records[index].again.undoing != nil, let grant = records[index].grant else { return }
        further.undoing[grant, default: []].insert(index, at: place(ofUndoing: index, under: grant))
        further.undoingOf[original(index), default: []].append(index)
    }

    /// How many ends that undo something under a grant are stronger than a given one.
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
        // If no end undoes anything under the grant, these are not needed; and the grant may go.
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

    /// The given devices, and those to which links lead from them.
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
