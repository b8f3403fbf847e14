import WorkspaceModel

/// Ends of a member's own devices that count again: nobody has such a device in by a grant that does not
/// know of its end (PROTOCOL.md, 4.0.3, V-10).
///
/// A final end, by which a recovery phrase that was replaced has ended itself for good, counts under every
/// grant that gives the phrase to its member. A revocation of another own device counts under those that
/// give its author to the member and do not know it, where they give the other one, too, or know what that one
/// has bound. Under each grant but its own an end has a record of its
/// own, which is as strong as the grant makes its author, rests on the grant alone, and is made when the
/// later of the two comes.
///
/// - Cost: a record for each pair of an end and a grant. Each is a look. Of several final ends all but the
///   strongest are void, so that they are not kept; of several revocations of one device by another only
///   those have such records that know no other one.
extension AuthEvaluator {
    /// Whether a device ends itself, and knows that another one took its place.
    func isFinal(_ end: AuthRecord) -> Bool {
        guard case .removeDevice(end.operation.device) = end.operation.action,
            let member = end.author
        else { return false }
        return (additions[member] ?? []).contains {
            records[$0].operation.takesPlace && records[$0].operation.device == end.operation.device
                && end.knows(records[$0].place)
        }
    }

    /// The device that a record ends, where it may count again.
    func deviceEndedAgain(by record: AuthRecord) -> DeviceID? {
        guard rules == .workspace, record.author != nil,
            case .removeDevice(let device) = record.operation.action,
            record.isFinalEnd || device != record.operation.device
        else { return nil }
        return device
    }

    /// Makes the records that follow from what was placed last.
    mutating func placeEndsAgain(after index: Int) {
        let record = records[index]
        guard record.fault == nil, !record.isOpaque else { return }
        if let device = deviceEndedAgain(by: record) {
            earlierEnds[index] = latestEnds(of: device, before: index)
            endsByDevice[record.operation.device, default: []].append(index)
            for grant in grantsOfDevice[record.operation.device] ?? [] {
                placeAgain(index, under: grant)
            }
        }
        for grant in [index, record.ownPart].compactMap({ $0 }) where records[grant].role != nil {
            for device in Set(records[grant].devices) {
                for end in endsByDevice[device] ?? [] {
                    placeAgain(end, under: grant)
                }
            }
        }
    }

    /// The last revocations of a device by the author's device that one more knows: whoever knows those
    /// knows all before them, so that a grant need not be compared with each.
    private mutating func latestEnds(of device: DeviceID, before index: Int) -> [Int]? {
        let record = records[index]
        var latest: [Int] = []
        for other in (endsByDevice[record.operation.device] ?? []).reversed() {
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
        guard !records[end].isFinalEnd else { return true }
        let earlier = earlierEnds[end] ?? []
        looks &+= earlier.count
        return !knows(grant, end) && earlier.allSatisfy { knows(grant, $0) }
    }

    private mutating func placeAgain(_ end: Int, under grant: Int) {
        looks &+= 1
        let first = records[end]
        guard case .device(let ended) = first.aim, first.grant != grant,
            records[grant].subject == first.author,
            let author = deviceRank(ofGrant: grant, first.operation.device),
            isUnknown(end, to: grant)
        else { return }
        let unknown = unknownAdditions(end, to: grant)
        guard !unknown.isEmpty || records[grant].place(of: ended) != nil else { return }
        var record = AuthRecord(
            first.operation, lamport: first.lamport, place: first.place, past: first.past)
        record.original = end
        record.isFinalEnd = first.isFinalEnd
        record.grant = grant
        record.author = first.author
        record.actingRole = records[grant].role
        record.supports = [grant]
        record.aim = first.aim
        record.undoing = undoing(unknown, by: end, under: grant)
        record.rank = AuthRank(
            author: author, isOwnEnd: first.operation.isOwnEnd, lamport: first.lamport,
            id: first.operation.id)
        let index = records.count
        record.admission = index
        records.append(record)
        endsAgain[end, default: []].append(index)
        register(index)
        noteUndoing(index)
        countConfirmations(of: index)
    }

    /// An operation's record, and those of a final end under other grants.
    func everyRecord(of index: Int) -> [Int] {
        endsAgain[index].map { [index] + $0 } ?? [index]
    }

    /// The record that an operation is found by.
    func original(_ index: Int) -> Int { records[index].original ?? index }

    /// The ids of some records, each once, in their order.
    func ids(of found: [Int]) -> [OperationID] {
        var seen: Set<OperationID> = []
        return found.map { records[$0].operation.id }.filter { seen.insert($0).inserted }
    }

    /// Takes back the last record, which is a final end's under another grant.
    mutating func unplaceAgain() {
        let index = records.count - 1
        unregister(index)
        unnoteUndoing(index)
        let record = records.removeLast()
        confirmationCounts[index] = nil
        guard let end = record.original else { return }
        endsAgain[end]?.removeLast()
        if endsAgain[end]?.isEmpty == true { endsAgain[end] = nil }
    }
}
