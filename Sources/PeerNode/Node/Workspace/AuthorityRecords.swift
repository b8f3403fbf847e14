import WorkspaceModel

extension Workspace {
    /// One authority operation, as far as others than the evaluator need it. It is looked at with
    /// every command, and what it says is large: so it is never copied.
    final class AuthorityRecord: Sendable {
        let payload: AuthorityPayload
        let log: LogName
        let sequence: UInt64
        let timestamp: HybridTimestamp
        let grant: OperationID
        let arrival: Int64
        let isRoot: Bool

        init(
            payload: AuthorityPayload, log: LogName, sequence: UInt64, timestamp: HybridTimestamp,
            grant: OperationID, arrival: Int64, isRoot: Bool
        ) {
            self.payload = payload
            self.log = log
            self.sequence = sequence
            self.timestamp = timestamp
            self.grant = grant
            self.arrival = arrival
            self.isRoot = isRoot
        }
    }
}

/// The stored operations of an authority document, in the order of arrival and by id. Those behind
/// frequent queries are indexed separately: admissions, and the workspace's settings.
struct AuthorityRecords: Sequence {
    private(set) var order: [OperationID] = []
    /// The founding and the admissions.
    private(set) var entrances: [OperationID] = []
    /// The founding, and what sets or ends the workspace.
    private(set) var settings: [OperationID] = []
    private var records: [OperationID: Workspace.AuthorityRecord] = [:]

    subscript(id: OperationID) -> Workspace.AuthorityRecord? { records[id] }

    var values: some Collection<Workspace.AuthorityRecord> { records.values }

    mutating func enter(_ record: Workspace.AuthorityRecord, _ id: OperationID) {
        guard records.updateValue(record, forKey: id) == nil else { return }
        order.append(id)
        if record.payload.isEntrance { entrances.append(id) }
        if record.payload.isSetting { settings.append(id) }
    }

    func makeIterator() -> Dictionary<OperationID, Workspace.AuthorityRecord>.Iterator {
        records.makeIterator()
    }
}

extension AuthorityPayload {
    /// Whether it lets somebody in.
    var isEntrance: Bool {
        switch self {
        case .create, .admit: true
        default: false
        }
    }

    /// Whether it says what the workspace is called, who may do what there, or that it has ended.
    var isSetting: Bool {
        switch self {
        case .create, .setWorkspace, .deleteWorkspace: true
        default: false
        }
    }
}
