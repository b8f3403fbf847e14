import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Changes the discovery secret, and applies changes by others.
extension KeySchedule {
    /// The discovery secrets that are held, sealed under the new key for those who get it: devices
    /// that were offline continue under an old one until they hear of the new.
    func olderDiscovery(
        under key: SymmetricKey, in workspace: Workspace, using random: any RandomSource
    ) -> [SealedSecret] {
        workspace.secrets.discovery.newest.suffix(Limits.olderKeysMax).map {
            SealedSecret(id: $0.name, sealed: KeyWrap.wrap($0.key, under: key, using: random))
        }
    }

    /// Takes the discovery secrets that valid changes hand on under a key that is held. Each change
    /// is looked at once.
    func takeOlderDiscovery(
        under name: KeyID, in workspace: Workspace
    ) throws(StorageError) {
        for id in workspace.secrets.index.takeDiscoveryCarriers(of: name) {
            try takeOlderDiscovery(of: id, in: workspace)
        }
    }

    /// The same for a secret that an operation gives only now.
    func takeDiscovery(
        handedOnAs name: [UInt8], in workspace: Workspace
    ) throws(StorageError) {
        guard workspace.gives(name) else { return }
        for id in workspace.secrets.index.takeCarriers(ofDiscovery: name) {
            try takeOlderDiscovery(of: id, in: workspace)
        }
    }

    private func takeOlderDiscovery(
        of id: OperationID, in workspace: Workspace
    ) throws(StorageError) {
        workspace.secrets.index.looks &+= 1
        guard case .rekey(let change)? = workspace.authority[id]?.payload,
            workspace.judged.isValid(id), workspace.secrets.keys.holds(change.rekey.keyID)
        else { return }
        for secret in change.olderDiscovery ?? []
        where !workspace.secrets.discovery.names.contains(secret.id) {
            guard workspace.gives(secret.id) else {
                workspace.secrets.index.putBack(id, handingOnDiscovery: secret.id)
                continue
            }
            guard let key = workspace.secrets.keys[change.rekey.keyID],
                let opened = KeyWrap.unwrap(secret.sealed, under: key),
                DiscoveryName.id(of: opened) == secret.id
            else { continue }
            try take(discovery: opened, in: workspace)
        }
    }

    /// Opens again what gives or hands on a discovery secret that is not held: a change of the key
    /// that had no effect when it came names no secret, and whatever its box holds was passed over.
    ///
    /// - Parameter changed: the operations that came to count; `nil` for all.
    /// - Returns: the keys that were not held before.
    func openMissedDiscovery(
        of workspace: Workspace, among changed: [OperationID]? = nil
    ) throws(StorageError) -> [KeyID] {
        var opened: [KeyID] = []
        let missed =
            changed ?? workspace.secrets.index.givers(besides: workspace.secrets.discovery.names)
        for id in missed where workspace.judged.isValid(id) {
            guard let payload = workspace.authority[id]?.payload,
                case .rekey(let change) = payload
            else { continue }
            if let name = change.discoveryID, !workspace.secrets.discovery.names.contains(name) {
                try opened += openKeys(of: payload, in: workspace)
            }
            try takeOlderDiscovery(of: id, in: workspace)
        }
        return opened
    }

    /// Stores a discovery secret, where it is new.
    func take(discovery: SymmetricKey, in workspace: Workspace) throws(StorageError) {
        guard let home else { return }
        let id = DiscoveryName.id(of: discovery)
        guard !workspace.secrets.discovery.names.contains(id) else { return }
        try store.registry.setSecret(
            home.seal(discovery, name: id, using: environment.random),
            kind: .discovery, id: id, workspace: workspace.number, names: store.operations)
        workspace.secrets.discovery.add(discovery.longLived, named: id)
        arrangeDiscovery(of: workspace)
    }

    /// Puts those in memory in order, and forgets the oldest of too many.
    private func arrangeDiscovery(of workspace: Workspace) {
        let secrets = workspace.secrets.discovery.newest
        let keys = Dictionary(secrets.map { ($0.name, $0.key) }) { first, _ in first }
        workspace.secrets.discovery.use(
            workspace.inOrder(secrets.map(\.name)).compactMap { name in
                keys[name].map { (name, $0) }
            })
        network.candidates = nil
    }

    /// Loads the newest stored secrets into memory; on a locked node those that were there stay.
    func openDiscovery(of workspace: Workspace) throws(StorageError) {
        guard home != nil else { return arrangeDiscovery(of: workspace) }
        var secrets: [(name: [UInt8], key: SymmetricKey)] = []
        for name in workspace.inOrder(workspace.secrets.discovery.names.sorted(by: Self.isBefore)) {
            let sealed = try store.registry.secret(.discovery, name, of: workspace.number)
            guard var secret = sealed.flatMap({ turn.session.vault.open($0, .discovery, name) })
            else {
                continue
            }
            defer { SecretBytes.wipe(&secret) }
            SymmetricKey(untrusted: secret, lifetime: .long).map { secrets.append((name, $0)) }
        }
        workspace.secrets.discovery.use(secrets)
        network.candidates = nil
    }

    private static func isBefore(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.lexicographicallyPrecedes(right)
    }
}
