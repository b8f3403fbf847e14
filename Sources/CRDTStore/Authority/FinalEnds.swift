import WorkspaceModel

/// Final ends: a recovery phrase that was replaced has ended itself for good, whatever is given to it by
/// somebody who does not know of that (PROTOCOL.md, 4.0.3, V-10).
///
/// Such an end counts under every grant that gives the device to its member, as if it had cited that. For
/// each grant but its own it has a record of its own, which is as strong as the grant makes it, rests on
/// the grant alone, and is made when the later of the two comes.
///
/// - Cost: a record for each pair of a final end and a grant of its device. Each is a look, and of several
///   ends all but the strongest are void, so that they are not kept.
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

    /// Makes the records that follow from what was placed last.
    mutating func placeEndsAgain(after index: Int) {
        let record = records[index]
        guard record.fault == nil, !record.isOpaque else { return }
        if record.isFinalEnd {
            let device = record.operation.device
            finalEnds[device, default: []].append(index)
            for grant in grantsOfDevice[device] ?? [] { placeAgain(index, under: grant) }
        }
        for grant in [index, record.ownPart].compactMap({ $0 }) where records[grant].role != nil {
            for device in Set(records[grant].devices) {
                for end in finalEnds[device] ?? [] { placeAgain(end, under: grant) }
            }
        }
    }

    private mutating func placeAgain(_ end: Int, under grant: Int) {
        looks &+= 1
        let first = records[end]
        guard first.grant != grant, records[grant].subject == first.author,
            let author = deviceRank(ofGrant: grant, first.operation.device)
        else { return }
        var record = AuthRecord(
            first.operation, lamport: first.lamport, place: first.place, past: first.past)
        record.original = end
        record.isFinalEnd = true
        record.grant = grant
        record.author = first.author
        record.actingRole = records[grant].role
        record.supports = [grant]
        record.aim = first.aim
        record.rank = AuthRank(
            author: author, isOwnEnd: true, lamport: first.lamport, id: first.operation.id)
        let index = records.count
        record.admission = index
        records.append(record)
        endsAgain[end, default: []].append(index)
        register(index)
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
        let record = records.removeLast()
        confirmationCounts[index] = nil
        guard let end = record.original else { return }
        endsAgain[end]?.removeLast()
        if endsAgain[end]?.isEmpty == true { endsAgain[end] = nil }
    }
}
