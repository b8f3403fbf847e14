import CRDTStore
import WorkspaceModel

/// Describes forks and restorations for `status`, `doctor` and `why`.
final class ForkEvidence: CorePart {
    /// Forks that `doctor` names one by one; of more it tells the number.
    private static let forksNamedMax = 5

    /// Two signed operations at one place of a log, as a person reads them.
    struct ForkText {
        let device: DeviceID
        /// The one that came second, `o_…`.
        let operation: String
        let text: String
        let at: Int64
    }

    /// The newest forks, of one device or of all.
    func forks(
        of wanted: Set<DeviceID>? = nil, limit: Int
    ) throws(StorageError) -> [ForkText] {
        // Evidence about one device must not be hidden by newer evidence about many others.
        let rows = try store.registry.evidence(limit: wanted == nil ? limit : 1_000)
        var found: [ForkText] = []
        for row in rows where found.count < limit {
            guard let log = store.operations.branch(row.branch)?.log,
                wanted?.contains(log.device) ?? true,
                let first = try store.operations.place(in: row.branch, at: row.sequence),
                let second = try store.operations.place(in: row.other, at: row.sequence)
            else { continue }
            let text = """
                \(deviceText(log.device)) signed two operations at position \(row.sequence) of one \
                log: \(PublicID.operation(first.link.id)) and \
                \(PublicID.operation(second.link.id)); both branches are kept
                """
            found.append(
                ForkText(
                    device: log.device, operation: PublicID.operation(second.link.id), text: text,
                    at: row.found))
        }
        return found
    }

    /// A device by the name of the member whom it belongs to, if known.
    func deviceText(_ device: DeviceID) -> String {
        for workspace in workspaces.values.sorted(by: { $0.number < $1.number }) {
            if workspace.judged.evaluator.bestGrant(of: device) != nil,
                let member = workspace.owner(of: device)
            {
                let name = workspace.displayName(of: member)
                return "a device of \(name) (\(PublicID.device(device).prefix(12)))"
            }
        }
        return "the device \(PublicID.device(device).prefix(12))"
    }

    func forkFindings() throws(NodeError) -> [FindingObject] {
        try stored { () throws(StorageError) in
            let count = try store.registry.evidenceCount()
            guard count > 0 else {
                return [.init(id: "forks", state: "ok", message: "no device has forked")]
            }
            let summary = FindingObject(
                id: "forks", state: "warn",
                message: "times a device wrote two operations at the same position: \(count)",
                hint: "was a home copied or restored? run only one copy of it")
            return [summary]
                + (try forks(limit: Self.forksNamedMax)).map {
                    .init(id: "fork", state: "warn", message: $0.text)
                }
        }
    }

    /// The restoration of this home in the last seven days, or `nil`.
    func recentRestoration() throws(NodeError) -> String? {
        let last = try stored { () throws(StorageError) in try core.log.lastRestoration() }
        guard let last, time.wall &- min(last.at, time.wall) < 7 * 24 * 3_600 * 1_000 else {
            return nil
        }
        let cause =
            switch last.reason {
            case "peersKnowMore": "peers had newer operations of this device than this home"
            case "runsTwice": "a copy of this home is running"
            case "missing", "unreadable":
                "this home was restored from a copy, or its guard file was lost"
            case "otherStore": "the store of this home was replaced"
            case "otherMachine": "this home came from another machine"
            case "otherFile": "this home is a copy of another"
            case "storeIsOlder", "guardIsOlder": "this home has older files than it once had"
            default: "this home was copied, moved or restored from a copy"
            }
        return "\(cause); it continues under a new store id, and nothing was lost on the peers"
    }
}
