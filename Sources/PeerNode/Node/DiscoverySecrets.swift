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

extension Workspace {
    /// The names of the discovery secrets that the workspace has, each with the depth and id of
    /// the operation that gives it: a box may hold anything, and under a wrong secret nobody would
    /// find anybody.
    var discoveryNames: [[UInt8]: (depth: UInt64, operation: OperationID)] {
        var names: [[UInt8]: (depth: UInt64, operation: OperationID)] = [:]
        for id in authorityOrder {
            let name: [UInt8]?
            switch authority[id]?.payload {
            case .create(let create)?: name = create.discoveryID
            case .rekey(let change)? where evaluator.isValid(id): name = change.discoveryID
            default: continue
            }
            guard let name, let depth = evaluator.lamport(of: id) else { continue }
            if let known = names[name], known < (depth, id) { continue }
            names[name] = (depth, id)
        }
        return names
    }

    /// Puts the discovery secrets in the order in which the workspace gave them, the newest last:
    /// all nodes try the same one first.
    func sortDiscovery() {
        guard discovery.count > 1 else { return }
        let names = discoveryNames
        let placed = discovery.map { (names[DiscoveryName.id(of: $0)], $0) }
        discovery = placed.sorted { left, right in
            guard let after = right.0 else { return false }
            return left.0.map { $0 < after } ?? true
        }.map(\.1)
    }
}

/// Changing the discovery secret, and taking up the changes of others.
extension NodeCore {
    /// The discovery secrets that are held, sealed for whoever gets the new key: those who were
    /// away go on under an old one until they hear of the new.
    func olderDiscovery(
        under key: SymmetricKey, in workspace: Workspace, using random: any RandomSource
    ) -> [SealedSecret] {
        workspace.discovery.suffix(Limits.olderKeysMax).map {
            SealedSecret(
                id: DiscoveryName.id(of: $0), sealed: KeyWrap.wrap($0, under: key, using: random))
        }
    }

    /// Takes the discovery secrets that valid changes of the key hand on, as far as their keys are
    /// held, and puts all in order.
    func takeOlderDiscovery(of workspace: Workspace) throws(StorageError) {
        var wanted: [(key: SymmetricKey, secret: SealedSecret)] = []
        for id in workspace.authorityOrder {
            guard case .rekey(let change)? = workspace.authority[id]?.payload,
                let older = change.olderDiscovery, workspace.evaluator.isValid(id),
                let key = workspace.keys[change.rekey.keyID]
            else { continue }
            wanted += older.map { (key, $0) }
        }
        guard !wanted.isEmpty else { return }
        let names = workspace.discoveryNames
        var held = Set(workspace.discovery.map(DiscoveryName.id))
        for (key, secret) in wanted where names[secret.id] != nil && !held.contains(secret.id) {
            guard let opened = KeyWrap.unwrap(secret.sealed, under: key),
                DiscoveryName.id(of: opened) == secret.id
            else { continue }
            held.insert(secret.id)
            try take(discovery: opened.longLived, in: workspace)
        }
        workspace.sortDiscovery()
    }

    /// Opens again what gives a discovery secret that is not held: a change of the key that had no
    /// effect when it came names no secret, and whatever its box holds was passed over.
    ///
    /// - Returns: the keys that were not held before.
    func openMissedDiscovery(of workspace: Workspace) throws(StorageError) -> [KeyID] {
        var opened: [KeyID] = []
        let held = Set(workspace.discovery.map(DiscoveryName.id))
        for id in workspace.authorityOrder {
            guard let payload = workspace.authority[id]?.payload,
                case .rekey(let change) = payload, let name = change.discoveryID,
                !held.contains(name), workspace.evaluator.isValid(id)
            else { continue }
            try opened += openKeys(of: payload, in: workspace)
        }
        return opened
    }

    /// Stores a discovery secret, where it is new.
    func take(discovery: SymmetricKey, in workspace: Workspace) throws(StorageError) {
        guard let home else { return }
        let id = DiscoveryName.id(of: discovery)
        guard !workspace.discovery.contains(where: { DiscoveryName.id(of: $0) == id }) else {
            return
        }
        workspace.discovery.append(discovery)
        workspace.sortDiscovery()
        try store.registry.setSecret(
            home.seal(discovery, name: id, using: environment.random),
            kind: .discovery, id: id, workspace: workspace.number, names: store.operations)
        network.candidates = nil
    }
}
