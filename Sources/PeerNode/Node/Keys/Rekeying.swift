import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

extension Workspace {
    /// The held keys that no other held one leads to, newest first; `limit` at most.
    ///
    /// - Cost: linear in what changes of the key hand on; a seal is opened once, whenever this is
    ///   asked.
    func maximalKeys(limit: Int) -> [(id: KeyID, key: SymmetricKey)] {
        var covered: Set<KeyID> = []
        for known in secrets.index.firstIntroductions where secrets.keys.holds(known.key) {
            for id in secrets.index.carriers[known.key] ?? [] {
                for older in provenOlderKeys(of: id) {
                    // Only what was there before: a pair that leads to each other leads nowhere.
                    guard let source = secrets.index.firstIntroduction(of: older),
                        judged.isAncestor(source.operation, of: id)
                    else { continue }
                    covered.insert(older)
                }
            }
        }
        return secrets.index.firstIntroductions
            .filter { secrets.keys.holds($0.key) && !covered.contains($0.key) }
            .sorted { $0.rank > $1.rank }.prefix(limit)
            .compactMap { source in secrets.keys[source.key].map { (source.key, $0) } }
    }

    /// The older keys in a change whose own key is held, as far as they are what they say.
    private func provenOlderKeys(of id: OperationID) -> [KeyID] {
        guard let rekey = authority[id]?.payload.carriedRekey else { return [] }
        // There are at most `Limits.olderKeysMax`, a bit for each.
        let older = rekey.olderKeys.prefix(UInt64.bitWidth)
        let bits: UInt64
        if let known = secrets.index.proven[id] {
            bits = known
        } else {
            guard !older.isEmpty, let newer = secrets.keys[rekey.keyID] else { return [] }
            bits = older.enumerated().reduce(0) { bits, item in
                let opened = KeyWrap.unwrap(item.element.sealed, under: newer)
                return opened?.keyID.bytes == item.element.id ? bits | 1 << item.offset : bits
            }
            secrets.index.proven[id] = bits
        }
        return older.enumerated().compactMap { offset, secret in
            bits >> offset & 1 == 1 ? KeyID(untrusted: secret.id) : nil
        }
    }

    /// The devices that may hold the group key, each with the key to which boxes are sealed:
    /// those with a grant in force of everybody who is more than a guest. Ascending.
    func keyHolders(
        excluding excluded: Set<DeviceID>
    ) -> [(device: DeviceID, agreementKey: AgreementPublicKey)] {
        holders(excluding: excluded) { $0.role <= .member }
    }

    /// The devices with a grant in force of those who fit, each with its box key. Ascending.
    func holders(
        excluding excluded: Set<DeviceID>, where fits: (MemberStanding) -> Bool
    ) -> [(device: DeviceID, agreementKey: AgreementPublicKey)] {
        var agreementKeys: [MemberID: [DeviceID: [UInt8]]] = [:]
        for id in secrets.index.deviceLists where judged.isValid(id) {
            guard let subject = judged.subject(ofGrant: id) else { continue }
            for entry in authority[id]?.payload.listedDevices ?? []
            where agreementKeys[subject]?[entry.device] == nil {
                agreementKeys[subject, default: [:]][entry.device] = entry.agreementKey
            }
        }
        var holders: [DeviceID: AgreementPublicKey] = [:]
        for standing in members where fits(standing) {
            for device in standing.devices where !excluded.contains(device) {
                // A person bound by an admission without effect is in by a grant, which has no
                // keys; the device's own signature over its key is still valid.
                let listed = agreementKeys[standing.member]?[device]
                holders[device] =
                    listed.flatMap { AgreementPublicKey(untrusted: $0) }
                    ?? boxKeys(everOf: device).first
            }
        }
        return holders.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}

/// Changes epoch keys, and applies changes by others.
extension KeySchedule {
    /// A fresh epoch key for everybody who stays, with the keys before it sealed under it.
    ///
    /// The author takes the key from its own box, as everybody does, when the operation that
    /// carries this is accepted.
    ///
    /// - Parameters:
    ///   - excluded: devices whose grants end with the same operation.
    ///   - key: the new key.
    ///   - discovery: a new discovery secret beside it, for guests too; `nil` for the newest.
    /// - Returns: `nil` where no discovery secret is held, or nobody would hold the key.
    func rekey(
        excluding excluded: Set<DeviceID> = [], to key: SymmetricKey? = nil,
        beside discovery: SymmetricKey? = nil, in workspace: Workspace
    ) -> Rekey? {
        // A guest may end their own devices, and creates no key with that.
        guard let own = workspace.ownRole, own <= .member else { return nil }
        // A guest has no part in the key, and has to hear of a new secret all the same.
        let guests =
            discovery == nil
            ? [] : workspace.holders(excluding: excluded) { $0.role == .guest }
        guard let discovery = discovery ?? workspace.discovery.last else { return nil }
        let key = key ?? SymmetricKey(using: environment.random, lifetime: .long)
        let members = workspace.keyHolders(excluding: excluded)
        let boxes = members.map { ($0, Optional(key)) } + guests.map { ($0, nil) }
        let wraps = boxes.sorted { $0.0.device < $1.0.device }.compactMap {
            wrap($0.1, discovery, for: $0.0.device, to: $0.0.agreementKey)
        }
        guard !wraps.isEmpty else { return nil }
        let older = workspace.maximalKeys(limit: Limits.olderKeysMax).map {
            SealedSecret(
                id: $0.id.bytes,
                sealed: KeyWrap.wrap($0.key, under: key, using: environment.random))
        }
        return Rekey(keyID: key.keyID, wraps: wraps, olderKeys: older)
    }

    /// Writes an operation that does nothing but change the epoch key.
    ///
    /// - Parameter withDiscovery: whether there is also a new discovery secret.
    /// - Returns: its id, or `nil` when this device may not; then nothing is written.
    @discardableResult
    func changeKey(
        of workspace: Workspace, withDiscovery: Bool = false
    ) throws(StorageError) -> OperationID? {
        guard let own = workspace.ownRole, own <= .admin else { return nil }
        let key = SymmetricKey(using: environment.random, lifetime: .long)
        let discovery =
            withDiscovery ? SymmetricKey(using: environment.random, lifetime: .long) : nil
        guard let rekey = rekey(to: key, beside: discovery, in: workspace) else { return nil }
        let older = discovery.map { _ in
            olderDiscovery(under: key, in: workspace, using: environment.random)
        }
        return try core.log.authorAuthority(in: workspace) { _ in
            .rekey(
                .init(
                    rekey: rekey, discoveryID: discovery.map(DiscoveryName.id),
                    olderDiscovery: older, answers: nil))
        }
    }

    // MARK: Older keys

    /// Opens what an operation leads to by older keys and discovery secrets, after its own box was
    /// opened.
    ///
    /// Everything that hands on keys is looked at when it comes, if its key is held, else once when
    /// its key is: so opening n keys costs what n operations hand on.
    ///
    /// - Parameter boxed: the keys that the box gave.
    /// - Returns: the further keys that were not held before.
    func openWhatFollows(
        from payload: AuthorityPayload, _ boxed: [KeyID], in workspace: Workspace
    ) throws(StorageError) -> [KeyID] {
        var opened: [KeyID] = []
        var under = boxed
        if let rekey = payload.carriedRekey, !boxed.contains(rekey.keyID),
            workspace.secrets.keys.holds(rekey.keyID)
        {
            try opened += openOlderKeys(in: rekey, of: workspace)
            under.append(rekey.keyID)
        }
        if let name = payload.newKey {
            for older in workspace.secrets.index.takeAwaited(name) {
                try opened += open(
                    [SealedSecret(id: name.bytes, sealed: older.sealed)], under: older.newer,
                    in: workspace)
            }
        }
        opened += try openOlderKeys(under: boxed + opened, in: workspace)
        for name in under + opened { try takeOlderDiscovery(under: name, in: workspace) }
        if case .rekey(let change) = payload, let name = change.discoveryID {
            try takeDiscovery(handedOnAs: name, in: workspace)
        }
        return opened
    }

    /// Opens what keys lead to that were not held before, and what that leads to. A loop: the chain
    /// may be long.
    ///
    /// - Parameter first: keys under which older ones may be sealed.
    /// - Returns: the keys that were not held before.
    func openOlderKeys(
        under first: [KeyID], in workspace: Workspace
    ) throws(StorageError) -> [KeyID] {
        var opened: [KeyID] = []
        var left = first
        while let name = left.popLast() {
            for id in workspace.secrets.index.carriers[name] ?? [] {
                workspace.secrets.index.looks &+= 1
                guard let rekey = workspace.authority[id]?.payload.carriedRekey else { continue }
                let found = try openOlderKeys(in: rekey, of: workspace)
                opened += found
                left += found
            }
        }
        return opened
    }

    private func openOlderKeys(
        in rekey: Rekey, of workspace: Workspace
    ) throws(StorageError) -> [KeyID] {
        // Usually all of them are held already, and nothing is opened.
        try open(rekey.olderKeys, under: rekey.keyID, in: workspace)
    }

    private func open(
        _ older: [SealedSecret], under newer: KeyID, in workspace: Workspace
    ) throws(StorageError) -> [KeyID] {
        var opened: [KeyID] = []
        for secret in older {
            // A member may seal anything there; keys that nothing introduces open nothing.
            guard let name = KeyID(untrusted: secret.id), !workspace.secrets.keys.holds(name),
                workspace.secrets.index.introduces(name), let key = workspace.secrets.keys[newer],
                let found = KeyWrap.unwrap(secret.sealed, under: key), found.keyID == name
            else { continue }
            try take(found, discovery: nil, in: workspace)
            opened.append(name)
        }
        return opened
    }

    /// K and the discovery secret in a box for each of these devices; without K for a guest's.
    func wraps(
        _ key: SymmetricKey?, _ discovery: SymmetricKey, for devices: [DeviceEntry]
    ) -> [WrappedKey] {
        devices.compactMap { entry in
            AgreementPublicKey(untrusted: entry.agreementKey).flatMap {
                wrap(key, discovery, for: entry.device, to: $0)
            }
        }.sorted { $0.devicePrefix.lexicographicallyPrecedes($1.devicePrefix) }
    }

    /// K, unless it is a guest's, and the discovery secret in a box for one device.
    func wrap(
        _ key: SymmetricKey?, _ discovery: SymmetricKey, for device: DeviceID,
        to agreementKey: AgreementPublicKey
    ) -> WrappedKey? {
        var (first, second) = (key?.exposedCopy() ?? [], discovery.exposedCopy())
        var secrets = first + second
        defer {
            SecretBytes.wipe(&first)
            SecretBytes.wipe(&second)
            SecretBytes.wipe(&secrets)
        }
        guard
            let box = try? SealedBox.seal(secrets, to: agreementKey, using: environment.random)
        else { return nil }
        return WrappedKey(devicePrefix: [UInt8](device.bytes.prefix(8)), box: box)
    }
}

extension AuthorityPayload {
    /// The new epoch key with its boxes, whatever kind of operation carries it.
    var carriedRekey: Rekey? {
        switch self {
        case .rekey(let change): change.rekey
        case .remove(let remove): remove.rekey
        case .removeDevice(_, _, let rekey): rekey
        default: nil
        }
    }

    /// The devices that the operation binds to a member.
    var listedDevices: [DeviceEntry] {
        switch self {
        case .create(let create): create.devices
        case .admit(let joiner, _, _, _): joiner.devices
        case .addDevices(let devices, _, _, _): devices
        default: []
        }
    }
}
