import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import CRDTStore

/// The operations of one content document with random forks and citations, stored.
private struct CitingDocument {
    let store: NodeStore
    let history: RandomHistory
    private(set) var written: [RandomHistory.Written] = []

    init(count: Int, with random: inout SeededGenerator) throws {
        history = RandomHistory(count: count, channels: 1, with: &random)
        store = try .inMemory()
        try store.begin()
        let workspace = try store.operations.enter(
            history.workspace, workspace: nil, kind: .authority)
        for item in history.shuffledCausally(with: &random) {
            guard item.log.document != history.workspace else { continue }
            try store.operations.enter(item.log.document, workspace: workspace, kind: .channel)
            try StoredLog.put(item, in: store)
            written.append(item)
        }
        try store.commit()
    }

    func place(of id: OperationID) throws -> OperationStore.BranchPlace? {
        guard let item = written.first(where: { $0.operation.id == id }) else { return nil }
        let header = item.operation.header
        let reference = OperationReference(
            device: header.device, incarnation: header.incarnation, sequence: header.sequence,
            id: id)
        return try store.operations.find(reference, in: item.log.document)
            .map { .init(branch: $0.branch, sequence: $0.sequence) }
    }

    /// What an operation cannot be stored without, in rows of other branches.
    func past(of item: RandomHistory.Written) throws -> Set<OperationStore.BranchPlace> {
        let header = item.operation.header
        let cited = header.dependencies.map(\.id) + (header.previous.map { [$0] } ?? [])
        let own = try place(of: item.operation.id)
        return Set(try cited.compactMap { try place(of: $0) }.filter { $0.branch != own?.branch })
    }

    /// All that is needed by operations up to these ends, the ends included: by the definition.
    func closed(_ ends: [Int64: UInt64]) throws -> [Int64: UInt64] {
        var ends = ends
        for item in history.operations.reversed() where item.log.document != history.workspace {
            guard let own = try place(of: item.operation.id),
                let end = ends[own.branch], own.sequence <= end
            else { continue }
            for place in try past(of: item) {
                ends[place.branch] = max(ends[place.branch] ?? 0, place.sequence)
            }
        }
        return ends
    }
}

extension NodeStore {
    fileprivate func citations() throws -> [[Int64]] {
        try connection.statement("SELECT * FROM citation ORDER BY lid, seq, by_lid, by_seq")
            .rows { [$0.integer(0), $0.integer(1), $0.integer(2), $0.integer(3)] }
    }
}

struct `What operations cite` {
    @Test(arguments: Seeds.explore(8))
    func `is known in both directions`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let document = try CitingDocument(count: 80, with: &random)
        let operations = document.store.operations
        #expect(try !document.store.citations().isEmpty)
        var cited: [OperationStore.BranchPlace: Set<OperationStore.BranchPlace>] = [:]
        for item in document.written {
            let own = try #require(try document.place(of: item.operation.id))
            let past = try document.past(of: item)
            #expect(
                Set(try operations.past(of: own.branch, at: own.sequence...own.sequence)) == past,
                "WSX_SEED=\(seed)")
            for place in past { cited[place, default: []].insert(own) }
        }
        for (place, citing) in cited {
            var seen: Set<OperationStore.BranchPlace> = []
            let last = try operations.lastCited(in: place.branch, behind: nil) {
                seen.insert($0)
                return false
            }
            #expect(last == nil)
            // Where branches leave one another is known from the branches.
            let noted = citing.filter { operations.branch($0.branch)?.forkSequence != $0.sequence }
            #expect(seen.isSuperset(of: noted), "WSX_SEED=\(seed)")
        }
    }

    @Test(arguments: Seeds.explore(4))
    func `follows from the operations, in a store of the version before too`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let store = try CitingDocument(count: 80, with: &random).store
        let noted = try store.citations()
        try store.begin()
        try store.operations.noteAllCitations()
        #expect(try store.citations() == noted, "WSX_SEED=\(seed)")
        try store.commit()
        try store.begin()
        try store.connection.execute(EarlierStore.schema15)
        for table in [
            "citation", "following", "following_past", "late_basis", "unheard", "setting",
            "setting_past", "note_edit", "note_snapshot",
        ] {
            try store.connection.execute("DROP TABLE \(table)")
        }
        try store.connection.execute("DROP INDEX annotation_note")
        try store.connection.setSchemaVersion(8)
        try store.connection.commit()
        let again = try store.reopened()
        #expect(try again.citations() == noted, "WSX_SEED=\(seed)")
        #expect(try again.connection.schemaVersion() == Int64(Schema.version))
    }

    @Test func `goes with what is removed`() throws {
        var random = SeededGenerator(seed: 5)
        let document = try CitingDocument(count: 60, with: &random)
        let operations = document.store.operations
        try document.store.begin()
        for branch in operations.branches.keys.sorted().reversed() {
            try operations.cut(branch, behind: nil)
        }
        #expect(try document.store.citations().isEmpty)
    }

    @Test(arguments: Seeds.explore(12))
    func `stays as long as it is needed, and not longer`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let document = try CitingDocument(count: 90, with: &random)
        let operations = document.store.operations
        var wanted: [Int64: UInt64] = [:]
        for branch in operations.branches.keys.sorted() {
            wanted[branch] = operations.branches[branch]?.tipSequence
        }
        var reach = try document.closed(wanted)
        // What is wanted becomes less and less.
        for _ in 0..<6 {
            var fallen: [LogBranch] = []
            for number in wanted.keys.sorted() where random.oneIn(4) {
                guard let branch = operations.branch(number), let end = wanted[number] else {
                    continue
                }
                let less = random.below(Int(end) + 2)
                wanted[number] = less > Int(branch.forkSequence) ? UInt64(less - 1) : nil
                fallen.append(branch)
            }
            let (before, now) = (reach, wanted)
            var lowering = BranchLowering(
                operations, reach: { before[$0.number] }, wanted: { now[$0.number] })
            try lowering.lower(fallen)
            for (number, end) in lowering.ends { reach[number] = end }
            #expect(try reach == document.closed(wanted), "WSX_SEED=\(seed)")
        }
    }
}
