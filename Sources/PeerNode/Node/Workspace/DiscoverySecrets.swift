import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// The names of discovery secrets.
enum DiscoveryName {
    /// H16("wsx-discid1", disc), 16 bytes.
    static func id(of discovery: SymmetricKey) -> [UInt8] {
        var bytes = discovery.exposedCopy()
        defer { SecretBytes.wipe(&bytes) }
        return [UInt8](Hash.personal("wsx-discid1", bytes).prefix(16))
    }
}

/// The discovery secrets of one workspace: the names of all that are stored, and the newest ones
/// themselves. Those stay in memory while the node is locked, as do the link secrets that group
/// keys yield.
struct DiscoverySecrets {
    /// The names of all that are stored.
    private(set) var names: Set<[UInt8]> = []
    /// The newest, which is used first, is the last.
    private(set) var newest: [(name: [UInt8], key: SymmetricKey)] = []
    /// The link secrets that are tried before these.
    var epochs = LinkEpochs()

    /// Notes the name of one that is stored.
    mutating func note(_ name: [UInt8]) { names.insert(name) }

    /// Has another choice in memory, in that order.
    mutating func use(_ secrets: [(name: [UInt8], key: SymmetricKey)]) { newest = secrets }

    /// Adds one that was just stored.
    mutating func add(_ key: SymmetricKey, named name: [UInt8]) {
        names.insert(name)
        newest.append((name, key))
    }
}

extension Workspace {
    /// The discovery secrets that are in memory, newest last.
    var discovery: [SymmetricKey] { secrets.discovery.newest.map(\.key) }

    /// Whether the workspace has a discovery secret of that name: a box may hold anything, and under
    /// a wrong secret nobody would find anybody.
    func gives(_ name: [UInt8]) -> Bool { discoveryGiver(name) != nil }

    /// Depth and id of the operation that gives a discovery secret.
    func discoveryGiver(_ name: [UInt8]) -> (UInt64, OperationID)? {
        secrets.index.discoveryNames(name)
            .first { $0.isFirst || judged.evaluator.isValid($0.operation) }.map(\.rank)
    }

    /// The names in the order in which the workspace introduced them, the newest last: all nodes
    /// try the same one first. If there are very many, only the newest.
    func inOrder(_ names: some Sequence<[UInt8]>) -> ArraySlice<[UInt8]> {
        let placed = names.map { (rank: discoveryGiver($0), name: $0) }
        let sorted = placed.sorted { left, right in
            guard let after = right.rank else { return false }
            return left.rank.map { $0 < after } ?? true
        }
        return sorted.map(\.name).suffix(Limits.discoverySecretsMax)
    }
}
