import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import CRDTStore

/// Stores written logs as the node does: checked, appended to existing branches, forks as forks.
enum StoredLog {
    /// Some checked operation.
    static var anything: CheckedOperation {
        get throws {
            var log = WrittenLog(by: TestDevice(1), in: .zero)
            log.writeMany(1)
            return try OperationChecks.check(log.operations[0], in: .zero, after: nil)
        }
    }

    /// Stores operations of a branch from `range`, behind `place` or wherever they fit.
    @discardableResult
    static func put(
        _ log: WrittenLog, _ range: Range<Int>? = nil, in store: NodeStore,
        at place: OperationStore.Place? = nil, seen: UInt64 = 1 << 40, floor: Int64 = 0
    ) throws -> (branch: Int64, appended: [OperationStore.Appended]) {
        let range = range ?? 0..<log.operations.count
        try store.begin()
        try store.operations.enter(log.document, workspace: nil, kind: .authority)
        let checked = try OperationChecks.check(
            log.run(range), after: log.link(before: range.lowerBound))
        let found = try place ?? self.place(for: log, at: range.lowerBound, in: store)
        return try store.operations.append(
            checked, in: log.name, of: store.operations.workspace(of: log.document), at: found,
            seen: seen,
            citing: checked.map { _ in floor == 0 ? [] : [Self.place(sortedAt: floor)] })
    }

    /// Says that the signature at a place was verified.
    static func verify(at place: Int64, of branch: Int64, in store: NodeStore) throws {
        try store.begin()
        try store.connection.statement("UPDATE operation SET sigok = 1 WHERE lid = ? AND seq = ?")
            .run(.integer(branch), .integer(place))
    }

    /// Some operation that is displayed there.
    private static func place(sortedAt sort: Int64) -> StoredPlace {
        StoredPlace(
            arrival: 0, branch: 0, sequence: 0,
            link: ChainLink(id: .zero, timestamp: HybridTimestamp(rawValue: 0)), sort: sort)
    }

    /// Where the operation at `sequence` of the log belongs.
    static func place(
        for log: WrittenLog, at sequence: Int, in store: NodeStore
    ) throws -> OperationStore.Place {
        let branches = try store.operations.branches(of: log.name)
        guard let first = branches.first else { return .newLog }
        guard sequence > 0 else { return .fork(of: first.number, at: 0) }
        let previous = log.reference(sequence - 1)
        for branch in branches where branch.tip.id == previous.id {
            return .behind(branch: branch.number)
        }
        let stored = try store.operations.find(previous, in: log.document)
        return .fork(of: stored?.branch ?? first.number, at: UInt64(sequence))
    }

    /// Stores what of a history is not there yet, one operation at a time.
    static func put(_ operations: some Sequence<RandomHistory.Written>, in store: NodeStore) throws
    {
        for written in operations { try put(written, in: store) }
    }

    static func put(_ written: RandomHistory.Written, in store: NodeStore) throws {
        let header = written.operation.header
        try store.begin()
        try store.operations.enter(written.log.document, workspace: nil, kind: .authority)
        let link = try header.previous.map { id in
            let reference = OperationReference(
                device: header.device, incarnation: header.incarnation,
                sequence: header.sequence - 1, id: id)
            return try store.operations.find(reference, in: written.log.document)
        }
        let branches = try store.operations.branches(of: written.log)
        var place = OperationStore.Place.newLog
        if let first = branches.first {
            place = .fork(of: link??.branch ?? first.number, at: header.sequence)
        }
        for branch in branches where branch.tip.id == header.previous {
            place = .behind(branch: branch.number)
        }
        let checked = try OperationChecks.check(
            written.operation, in: written.log.document, after: link??.link)
        var cited: [StoredPlace] = []
        for dependency in header.dependencies {
            try store.operations.find(dependency, in: written.log.document)
                .map { cited.append($0) }
        }
        let (branch, appended) = try store.operations.append(
            [checked], in: written.log, of: store.operations.workspace(of: written.log.document),
            at: place, seen: 1 << 40, citing: [cited])
        store.operations.setKept(
            .init(sequence: header.sequence, id: checked.id), of: branch)
        try store.events.append(type: 1, at: 1, workspace: 1, arrival: appended[0].arrival)
    }
}

/// Everything a store says about its operations, to compare two stores.
struct StoreContents: Equatable {
    var branches: [LogBranch] = []
    var places: [StoredPlace] = []
    var entries: [OperationRun.Entry] = []
    var grants: [Int64] = []
    var arrival: Int64
    var count: Int64
    var newestEvent: Int64

    init(_ store: NodeStore) throws {
        arrival = store.operations.arrival
        count = store.operations.count
        newestEvent = store.events.newest
        let documents = try store.connection.statement("SELECT id FROM document ORDER BY id").rows {
            (row) throws(StorageError) -> DocumentID in try row.identifier32(0)
        }
        for document in documents {
            branches += try store.operations.branches(in: document)
            try store.operations.forEachOperation(in: document) { operation in
                places.append(operation.place)
                entries.append(operation.entry)
                grants.append(operation.grantNumber)
            }
        }
    }
}

extension NodeStore {
    /// The store as a restart finds it.
    func reopened() throws -> NodeStore {
        try NodeStore(Connection(image: try connection.serialized()))
    }

    static func inMemory() throws -> NodeStore {
        try NodeStore(Connection(image: EmptyStore.image))
    }
}

/// Most tests have one workspace, so a document's id determines its workspace.
extension OperationStore {
    /// The first workspace that has the document, 0 where none does.
    func workspace(of document: DocumentID) throws -> Int64 {
        try connection.statement("SELECT workspace FROM document WHERE id = ? ORDER BY did")
            .integer(.blob(document.bytes)) ?? 0
    }

    func document(_ id: DocumentID) throws -> DocumentRow? {
        document(id, in: try workspace(of: id))
    }

    func branches(of log: LogName) throws -> [LogBranch] {
        branches(of: log, in: try workspace(of: log.document))
    }

    func branches(in document: DocumentID) throws -> [LogBranch] {
        branches(in: document, of: try workspace(of: document))
    }

    func find(
        _ reference: OperationReference, in document: DocumentID
    ) throws -> StoredPlace? {
        try find(reference, in: document, of: workspace(of: document))
    }

    func forEachOperation(
        in document: DocumentID, _ body: (StoredOperation) -> Void
    ) throws {
        try forEachOperation(in: document, of: workspace(of: document)) {
            (operation) throws(StorageError) in body(operation)
        }
    }
}
