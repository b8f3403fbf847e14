import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Which epoch key seals new content (PROTOCOL.md, 4.2).
struct SealingKey {
    /// The key's name.
    let id: KeyID
    /// The operation that introduced it.
    let operation: OperationID
    /// Whether that operation knows of every membership that has ended. If not, somebody who is
    /// out may hold the key.
    let answersAll: Bool
    /// Whether it knows of those at least that an owner or admin has said of others.
    let answersAdmins: Bool
}

extension Workspace {
    /// Takes up what an operation says of keys, after it was judged.
    ///
    /// - Parameter change: the verdicts that came with it.
    func noteKeys(of payload: AuthorityPayload, _ id: OperationID, _ change: AuthChange) {
        guard let lamport = judged.evaluator.lamport(of: id) else { return }
        secrets.index.note(payload, id, lamport: lamport) {
            judged.evaluator.isAncestor($0, of: id)
        }
        let isAlone = change.isEmpty || change.isOnly(id)
        if payload.bearsOnEnds || !isAlone {
            secrets.index.ends = nil
            secrets.index.forgetSealing()
        } else if payload.newKey.map(secrets.keys.holds) == true {
            secrets.index.forgetSealing()
        }
    }

    /// The valid operations that the key has to be changed after.
    func keyEnds() -> [OperationID] {
        let ends = secrets.index.ends ?? judged.evaluator.keyEnds
        secrets.index.ends = ends
        return ends
    }

    /// Whether an owner or admin wrote this end, and it ends somebody else's access.
    func isSaidByAdminOfOthers(_ end: OperationID) -> Bool {
        guard let role = judged.evaluator.actingRole(of: end) else { return false }
        return role <= .admin && judged.evaluator.isSaidOfOthers(end)
    }

    /// Those of them that do more than end the author's own device: someone who may hold a key that
    /// does not answer such an end is out.
    func membershipKeyEnds() -> [OperationID] {
        keyEnds().filter { id in
            guard case .removeDevice? = authority[id]?.payload else { return true }
            return judged.evaluator.isSaidOfOthers(id)
        }
    }

    /// Of the held keys that valid operations introduced: the one with the largest (lam, id) whose
    /// author is a member, and whose operation has in its past every valid removal and departure,
    /// every grant that made a member a guest, and every revocation of an invite, or is one itself.
    /// Without such a key, the newest that knows all of these except ends of members' own devices,
    /// or at least the ends by owners and admins of others' access: otherwise a deeper operation by
    /// a member who was offline would give the key to people who were removed. Without that, the
    /// newest.
    func findSealingKey() -> SealingKey? {
        let (ends, ofMembers) = (keyEnds(), membershipKeyEnds())
        let byAdmins = ends.filter(isSaidByAdminOfOthers)
        let (depth, leastDepth) = (depth(of: ends), depth(of: byAdmins))
        var (knowing, knowingAdmins): (KeyIndex.Introduction?, KeyIndex.Introduction?)
        var (newest, newestOfThoseOut): (KeyIndex.Introduction?, KeyIndex.Introduction?)
        for known in secrets.index.newestFirst {
            // An operation with a deeper one in its past is deeper itself.
            let isDeepEnough = known.lamport >= (knowing == nil ? leastDepth : depth)
            guard newest == nil || isDeepEnough else { break }
            secrets.index.looks &+= 1
            guard secrets.keys.holds(known.key), gives(known) else { continue }
            guard isGiverIn(known.operation) else {
                newestOfThoseOut = newestOfThoseOut ?? known
                continue
            }
            newest = newest ?? known
            if knows(ends, known) {
                return SealingKey(
                    id: known.key, operation: known.operation, answersAll: true,
                    answersAdmins: true)
            }
            if knowing == nil, knows(ofMembers, known) { knowing = known }
            if knowingAdmins == nil, knows(byAdmins, known) { knowingAdmins = known }
        }
        return (knowing ?? knowingAdmins ?? newest ?? newestOfThoseOut).map {
            SealingKey(
                id: $0.key, operation: $0.operation, answersAll: false,
                answersAdmins: knowingAdmins != nil)
        }
    }

    private func knows(_ ends: [OperationID], _ known: KeyIndex.Introduction) -> Bool {
        knows(ends, known.operation, lamport: known.lamport)
    }

    private func depth(of operations: [OperationID]) -> UInt64 {
        operations.compactMap { judged.evaluator.lamport(of: $0) }.max() ?? 0
    }

    /// Whether an operation has all of those in its past, or is one.
    func knows(_ ends: [OperationID], _ operation: OperationID, lamport: UInt64) -> Bool {
        // An operation with a deeper one in its past is deeper itself.
        ends.allSatisfy { $0 == operation || judged.evaluator.lamport(of: $0) ?? .max < lamport }
            && ends.allSatisfy { $0 == operation || judged.evaluator.isAncestor($0, of: operation) }
    }

    /// Whether an operation introduces the key that it names: it is valid, acts as member or more,
    /// or for a guest ends the guest's own devices, and the key is new in it. A key that existed
    /// before may be known to people whose end the operation knows.
    func gives(_ known: KeyIndex.Introduction) -> Bool {
        !known.isRepeated && judged.evaluator.isValid(known.operation)
            && actsAsMember(known.operation)
    }

    /// Whether an operation acts as member or more; what makes the workspace acts under no grant.
    private func actsAsMember(_ operation: OperationID) -> Bool {
        if authority[operation]?.isRoot == true { return true }
        return judged.evaluator.actingRole(of: operation).map { $0 <= .member } ?? false
    }

    /// Whether the author of a key has a role of member or more: a person who has left by a younger
    /// device can still end devices with an older one.
    func isGiverIn(_ operation: OperationID) -> Bool {
        guard let device = authority[operation]?.log.device else { return false }
        return judged.evaluator.contentGrant(of: device, leastRole: .member) != nil
    }

    /// Whether a new epoch key is due: a former member may hold the current one, or someone
    /// entitled to it has no box in it, because they were admitted concurrently or were a guest at
    /// the time.
    var needsKeyChange: Bool {
        guard let sealing = sealingKey else { return false }
        guard sealing.answersAll else { return true }
        var boxes: Set<[UInt8]> = []
        for id in secrets.index.boxes[sealing.id] ?? [] where judged.evaluator.isValid(id) {
            secrets.index.looks &+= 1
            guard actsAsMember(id) else { continue }
            let wraps = authority[id]?.payload.wrappedKeys?.wraps ?? []
            boxes.formUnion(wraps.filter(\.holdsKey).map(\.devicePrefix))
        }
        // A device with a key that cannot be sealed to would cause endless key changes.
        return keyHolders(excluding: []).contains {
            !boxes.contains(Array($0.device.bytes.prefix(8)))
                && SealedBox.canSeal(to: $0.agreementKey)
        }
    }
}
