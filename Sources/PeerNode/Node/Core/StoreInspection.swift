import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Runs an inspection with a second core beside the one that serves the node.
extension InspectionJob {
    /// Does the work.
    ///
    /// - Returns: the input that brings the core what was found.
    public func run(for call: CallID, in places: Places) -> NodeInput {
        do throws(InspectionFailure) {
            return .inspected(call, .success(try inspect(places)))
        } catch { return .inspected(call, .failure(error)) }
    }

    private func inspect(_ places: Places) throws(InspectionFailure) -> StoreFindings {
        var findings = StoreFindings()
        var isRead = false
        do throws(StorageError) {
            let live = try places.live()
            findings.pages = try live.integrityProblems(thorough: true)
            isRead = true
            return findings.pages.isEmpty ? try compare(live, in: places) : findings
        } catch {
            guard error.isDamage else { throw isRead ? .beside(error) : .store(error) }
            // Pages may be whole, and rows make no sense nevertheless.
            findings = StoreFindings()
            findings.pages = [error.message]
            return findings
        }
    }

    /// Compares a store, all pages of which were just read, with what its operations yield.
    private func compare(
        _ live: Connection, in places: Places
    ) throws(StorageError) -> StoreFindings {
        var findings = StoreFindings()
        let copy = try places.copy(live)
        for name in Integrity.unsettledNames {
            let value = try copy.statement("SELECT 1 FROM meta WHERE name = ?")
                .integer(.text(name))
            guard value == nil else {
                findings.isUnsettled = true
                return findings
            }
        }
        guard try copy.statement("SELECT 1 FROM unheard WHERE due > 0 LIMIT 1").integer() == nil
        else {
            findings.isUnsettled = true
            return findings
        }
        try checkOperations(copy, &findings)
        let fresh = try places.fresh()
        findings.lost = try StoreSalvage.copy(copy, into: fresh).operations
        findings.lost -= try copy.statement("SELECT count(*) FROM damaged").integer() ?? 0
        let store = try NodeStore(fresh)
        let environment = try environment(of: store, places.random)
        do throws(StartError) {
            _ = try NodeCore(environment: environment, store: store, at: time)
        } catch {
            guard case .store(let reason) = error else {
                throw StorageError(.other, "the store could not be built", statement: "check")
            }
            throw reason
        }
        findings.derived = try StoreComparison.compare(
            copy, with: fresh, without: isLateSettled ? [] : ["late"])
        return findings
    }

    private func checkOperations(
        _ copy: Connection, _ findings: inout StoreFindings
    ) throws(StorageError) {
        let operations = try NodeStore(copy).operations
        findings.operations = operations.count
        var next: Int64 = 1
        while let first = try operations.nextArrival(from: next) {
            let end = min(operations.arrival, first + 999)
            findings.damaged += try StoreCheck.problems(in: operations, arrivals: first...end)
            next = end + 1
        }
    }

    private func environment(
        of store: NodeStore, _ random: any RandomSource
    ) throws(StorageError) -> NodeEnvironment {
        NodeEnvironment(
            random: random, files: InspectedHome(home, try Self.guardBytes(of: store)),
            home: "", socket: "", announces: false)
    }

    /// The store is the one that it says it is.
    private static func guardBytes(of store: NodeStore) throws(StorageError) -> [UInt8]? {
        guard let id = try store.registry.value("store").flatMap(StoreID.init(untrusted:)) else {
            return nil
        }
        let slot = RestoreGuard(
            storeID: id, facts: InspectedHome.facts,
            commitCounter: UInt64(max(store.commitCounter, 0))
        ).slotBytes
        return slot + slot
    }
}

/// The home of a core that is built for an inspection only: it persists nothing.
private final class InspectedHome: HomeFiles {
    static let facts = StoreFileFacts(machine: 0, device: 0, inode: 0, birthNanoseconds: 0)

    private let home: HomeIdentity
    private let guardBytes: [UInt8]?

    init(_ home: HomeIdentity, _ guardBytes: [UInt8]?) {
        self.home = home
        self.guardBytes = guardBytes
    }

    func readIdentity() throws(HomeFileError) -> [UInt8]? { home.fileBytes }
    func createIdentity(_ bytes: [UInt8]) throws(HomeFileError) {}
    func replaceIdentity(_ bytes: [UInt8]) throws(HomeFileError) {}
    var storeFacts: StoreFileFacts { Self.facts }
    var freeBytes: Int64 { .max }
    var diskBytes: Int64 { .max }
    var storeBytes: Int64 { 0 }
    func read() -> [UInt8]? { guardBytes }
    func write(slot: Int, bytes: [UInt8]) {}
}
