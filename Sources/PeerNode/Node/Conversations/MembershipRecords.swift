import CRDTStore
import WorkspaceModel

/// The stored membership operations of a private document, opened or not, and which of them have to
/// be tried with a new key.
final class MembershipRecords {
    private let document: DocumentID
    /// By id.
    private(set) var records: [OperationID: PrivateDocument.Record] = [:]
    /// The ids of `records` in the order of arrival.
    private(set) var order: [OperationID] = []
    /// Those of `records` that no key has opened so far.
    private(set) var closed: Set<OperationID> = []
    /// The same by the key that they name.
    private var closedByKey: [KeyID: Set<OperationID>] = [:]
    /// The opened operations that introduce the key under which they are sealed.
    private(set) var introducing: [KeyID: [OperationID]] = [:]
    /// What was not tried yet: operations that arrived, and epochs whose key arrived.
    private var untried: (operations: [OperationID], epochs: [KeyID]) = ([], [])
    /// Operations that were opened, and what they cite.
    private var operationSize = 0
    /// Seats that they name: for people whom the workspace has admitted, as far as that was
    /// checked, and for others.
    var seats = (given: 0, named: 0)
    /// How much there is to judge. A seat takes as long as some operations, a name next to nothing.
    var size: Int { operationSize + 6 * seats.given + (seats.named - seats.given) / 8 }
    /// Whether any operation tells guests what anything is called.
    private(set) var tellsNames = false
    /// Whether any operation leaves only a part of logs.
    private(set) var hasCuts = false

    init(of document: DocumentID) { self.document = document }

    func enter(_ id: OperationID, _ record: PrivateDocument.Record) {
        guard records[id] == nil else { return }
        records[id] = record
        order.append(id)
        closed.insert(id)
        closedByKey[record.keyID, default: []].insert(id)
        untried.operations.append(id)
    }

    /// A key of an epoch came.
    func noteKey(of epoch: KeyID) { untried.epochs.append(epoch) }

    /// The opened operations and their past, in the order of arrival. All others say nothing, and
    /// no opened one depends on them: members who are not in the document can write any number of
    /// such operations.
    var telling: [OperationID] {
        guard !closed.isEmpty else { return order }
        var found: Set<OperationID> = []
        var next = order.filter { !closed.contains($0) }
        while let id = next.popLast() {
            guard let record = records[id], found.insert(id).inserted else { continue }
            next += record.dependencies
            record.previous.map { next.append($0) }
        }
        return order.filter(found.contains)
    }

    /// The operations and epochs that arrived since the last call: every operation is tried when it
    /// arrives, and when a key of its epoch does.
    func takeUntried() -> (operations: [OperationID], epochs: [KeyID]) {
        defer { untried = ([], []) }
        return untried
    }

    /// Whether any of `records` names a key.
    func names(key: KeyID) -> Bool { records.values.contains { $0.keyID == key } }

    /// The operations that name a key and were not opened so far.
    func closed(under name: KeyID) -> Set<OperationID> { closedByKey[name] ?? [] }

    /// Notes what an operation says.
    func noteOpened(_ id: OperationID, _ change: PrivateChange?) {
        forgetClosed(id)
        let own = (change?.action.cuts ?? []).filter { $0.log.document == document }
        records[id]?.change = change?.withoutCuts
        records[id]?.cuts = CutTable(own)
        if !own.isEmpty { hasCuts = true }
        if let name = records[id]?.keyID, change?.action.epoch?.keyID == name {
            introducing[name, default: []].append(id)
        }
        if case .add(let addition)? = change?.action,
            addition.workspaceName != nil || addition.displayNames != nil
        {
            tellsNames = true
        }
        operationSize += 1 + (records[id]?.dependencies.count ?? 0)
        let named = change?.action.seats ?? []
        seats = (seats.given + named.count, seats.named + named.count)
    }

    /// An empty table goes, with the room that it has: mostly all that is there opens.
    private func forgetClosed(_ id: OperationID) {
        closed.remove(id)
        if closed.isEmpty { closed = [] }
        guard let name = records[id]?.keyID else { return }
        closedByKey[name]?.remove(id)
        if closedByKey[name]?.isEmpty == true { closedByKey[name] = nil }
        if closedByKey.isEmpty { closedByKey = [:] }
    }
}

/// A cache of how far content of a private document counts, until authority changes.
final class ContentRights {
    /// How far content of a log is valid.
    var limits: [PrivateDocument.LimitPlace: PrivateContentLimit] = [:]
    /// How far a log has a right over other people's messages, for those logs that redactions asked
    /// about.
    var deletionLimits: [PrivateDocument.LimitPlace: [PrivateContentLimit]] = [:]
    /// Members whose undos were passed over because they never had a right here.
    var passedOver: Set<MemberID> = []
    /// Whether redactions have to be judged again: at first, and whenever those limits change.
    var hasOtherRights = true
    /// Whether `limits` has every range that is stored, and not only those asked for since the
    /// start.
    var hasAllLimits = false
    /// How far removals and departures keep the logs that were asked about.
    var cuts = PrivateCuts()
}

extension PrivateDocument {
    /// One membership operation. A class, because a hash table of structs of nearly 400 bytes would
    /// reserve room for as many again.
    final class Record {
        /// `nil` until it was opened, and where it means nothing to this version. The logs that it
        /// lists are in `cuts`.
        var change: PrivateChange?
        /// How far it keeps logs of this document.
        var cuts = CutTable.none
        /// The member whose device wrote it, `nil` where it cites no grant.
        let author: MemberID?
        let log: LogName
        let sequence: UInt64
        let timestamp: HybridTimestamp
        /// The workspace grant that it cites.
        let grant: OperationID
        let keyID: KeyID
        let arrival: Int64
        let branch: Int64
        /// The nearest membership operation before it in its log.
        let previous: OperationID?
        let dependencies: [OperationID]

        /// One that was not opened so far.
        init(
            author: MemberID?, log: LogName, sequence: UInt64, timestamp: HybridTimestamp,
            grant: OperationID, keyID: KeyID, arrival: Int64, branch: Int64,
            previous: OperationID?, dependencies: [OperationID]
        ) {
            self.author = author
            self.log = log
            self.sequence = sequence
            self.timestamp = timestamp
            self.grant = grant
            self.keyID = keyID
            self.arrival = arrival
            self.branch = branch
            self.previous = previous
            self.dependencies = dependencies
        }
    }
}
