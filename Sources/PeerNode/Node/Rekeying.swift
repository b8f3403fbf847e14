import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Which epoch key seals what is written now (PROTOCOL.md, 4.1).
struct SealingKey {
    /// The key's name.
    let id: KeyID
    /// The operation that introduced it.
    let operation: OperationID
    /// Whether that operation knows of every membership that has ended. If not, somebody who is
    /// out may hold the key.
    let answersAll: Bool
}

extension Workspace {
    /// Of the keys that valid operations made and we hold: the one with the largest (lam, id)
    /// whose operation has every valid removal and departure in its past, and every grant that made
    /// a guest of somebody, or is one. Without such a key, the newest.
    func findSealingKey() -> SealingKey? {
        let ends = evaluator.keyEnds
        let depth = ends.compactMap { evaluator.lamport(of: $0) }.max() ?? 0
        var newest: (rank: (UInt64, OperationID), id: KeyID)?
        var best: (rank: (UInt64, OperationID), id: KeyID)?
        for id in authorityOrder {
            guard let key = authority[id]?.payload.newKey, keys[key] != nil,
                evaluator.isValid(id), let lamport = evaluator.lamport(of: id)
            else { continue }
            let rank = (lamport, id)
            if newest.map({ $0.rank < rank }) ?? true { newest = (rank, key) }
            // What has a deeper operation in its past is deeper itself.
            guard lamport >= depth, best.map({ $0.rank < rank }) ?? true,
                ends.allSatisfy({ $0 == id || evaluator.isAncestor($0, of: id) })
            else { continue }
            best = (rank, key)
        }
        if let best { return SealingKey(id: best.id, operation: best.rank.1, answersAll: true) }
        return newest.map { SealingKey(id: $0.id, operation: $0.rank.1, answersAll: false) }
    }

    /// Whether a new epoch key is due: somebody who is out may hold the current one, or somebody
    /// who may hold it has no box with it, being let in beside it or a guest while it was made.
    var needsKeyChange: Bool {
        guard let sealing = sealingKey else { return false }
        guard sealing.answersAll else { return true }
        var boxes: Set<[UInt8]> = []
        for id in authorityOrder {
            guard let wrapped = authority[id]?.payload.wrappedKeys, wrapped.key == sealing.id,
                evaluator.isValid(id)
            else { continue }
            boxes.formUnion(wrapped.wraps.filter(\.holdsKey).map(\.devicePrefix))
        }
        return keyHolders(excluding: []).contains {
            !boxes.contains(Array($0.device.bytes.prefix(8)))
        }
    }

    /// The held keys that no other held one leads to, newest first; `limit` at most.
    func maximalKeys(limit: Int) -> [(id: KeyID, key: SymmetricKey)] {
        var sources: [KeyID: (lamport: UInt64, operation: OperationID)] = [:]
        for id in authorityOrder {
            guard let key = authority[id]?.payload.newKey, keys[key] != nil,
                let lamport = evaluator.lamport(of: id)
            else { continue }
            if let known = sources[key], known < (lamport, id) { continue }
            sources[key] = (lamport, id)
        }
        var covered: Set<KeyID> = []
        for id in authorityOrder {
            guard let rekey = authority[id]?.payload.carriedRekey, let newer = keys[rekey.keyID]
            else { continue }
            for older in rekey.olderKeys {
                // Only what was there before: a pair that leads to each other leads nowhere.
                guard let name = KeyID(untrusted: older.id), let source = sources[name],
                    evaluator.isAncestor(source.operation, of: id),
                    KeyWrap.unwrap(older.sealed, under: newer)?.keyID == name
                else { continue }
                covered.insert(name)
            }
        }
        return sources.filter { !covered.contains($0.key) }
            .sorted { $0.value > $1.value }.prefix(limit)
            .compactMap { source in keys[source.key].map { (source.key, $0) } }
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
        for id in authorityOrder where evaluator.isValid(id) {
            guard let subject = evaluator.subject(ofGrant: id) else { continue }
            for entry in authority[id]?.payload.listedDevices ?? []
            where agreementKeys[subject]?[entry.device] == nil {
                agreementKeys[subject, default: [:]][entry.device] = entry.agreementKey
            }
        }
        var holders: [DeviceID: AgreementPublicKey] = [:]
        for standing in members where fits(standing) {
            for device in standing.devices where !excluded.contains(device) {
                guard let bytes = agreementKeys[standing.member]?[device],
                    let key = AgreementPublicKey(untrusted: bytes)
                else { continue }
                holders[device] = key
            }
        }
        return holders.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}

/// Changing epoch keys, and taking up the changes of others.
extension NodeCore {
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
        return try authorAuthority(in: workspace) { _ in
            .rekey(
                .init(
                    rekey: rekey, discoveryID: discovery.map(DiscoveryName.id),
                    olderDiscovery: older, answers: nil))
        }
    }

    /// Before an admin writes: a key that somebody who is out may hold is changed first. Others
    /// use the newest.
    func answerEnds(in workspace: Workspace) throws(StorageError) {
        guard workspace.sealingKey?.answersAll == false else { return }
        try changeKey(of: workspace)
    }

    // MARK: Older keys

    /// Opens what held keys lead to, and what that leads to. A loop: the chain may be long.
    ///
    /// - Parameter first: keys under which older ones may be sealed.
    /// - Returns: the keys that were not held before.
    func openOlderKeys(
        under first: [KeyID], in workspace: Workspace
    ) throws(StorageError) -> [KeyID] {
        var carriers: [KeyID: [Rekey]] = [:]
        var introduced: Set<KeyID> = []
        guard !first.isEmpty else { return [] }
        for id in workspace.authorityOrder {
            guard let payload = workspace.authority[id]?.payload else { continue }
            payload.newKey.map { _ = introduced.insert($0) }
            payload.carriedRekey.map { carriers[$0.keyID, default: []].append($0) }
        }
        var opened: [KeyID] = []
        var left = first
        while let name = left.popLast() {
            guard let newer = workspace.keys[name] else { continue }
            for older in (carriers[name] ?? []).flatMap(\.olderKeys) {
                // A member may seal anything there; keys that nothing introduces open nothing.
                guard let id = KeyID(untrusted: older.id), workspace.keys[id] == nil,
                    introduced.contains(id),
                    let key = KeyWrap.unwrap(older.sealed, under: newer), key.keyID == id
                else { continue }
                try take(key.longLived, discovery: nil, in: workspace)
                opened.append(id)
                left.append(id)
            }
        }
        return opened
    }

    // MARK: Who changes the key, and when

    /// Sets the time at which this device changes the key, when that is due: admins do it one
    /// after the other, the strongest first, and each only if it is still due.
    func planKeyChange(of workspace: Workspace) {
        keyChangesDue[workspace.number] = nil
        guard workspace.standing == .member, let own = workspace.ownRole, own <= .admin,
            workspace.needsKeyChange
        else { return }
        let ranked = workspace.members.filter { $0.role <= .admin }
            .sorted { $0.rank < $1.rank }
        let place = ranked.firstIndex { $0.member == workspace.member } ?? ranked.count
        keyChangesDue[workspace.number] =
            time.monotonic &+ 1_000 &+ 4_000 &* UInt64(min(place, 64))
    }

    func changeKeysWhenDue() throws(StorageError) {
        let due = keyChangesDue.filter { $0.value <= time.monotonic }.keys.sorted()
        for number in due {
            keyChangesDue[number] = nil
            guard mayWrite, let workspace = workspaces[number], workspace.needsKeyChange else {
                continue
            }
            try changeKey(of: workspace)
        }
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
        case .addDevices(let devices, _, _): devices
        default: []
        }
    }
}
