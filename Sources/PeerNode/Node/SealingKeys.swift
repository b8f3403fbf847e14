import CRDTStore
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
    /// Whether it knows of those at least that an owner or admin has said of others.
    let answersAdmins: Bool
}

extension Workspace {
    /// Takes up what an operation says of keys, after it was judged.
    ///
    /// - Parameter change: the verdicts that came with it.
    func noteKeys(of payload: AuthorityPayload, _ id: OperationID, _ change: AuthChange) {
        guard let lamport = evaluator.lamport(of: id) else { return }
        keyIndex.note(payload, id, lamport: lamport)
        let isAlone = change.becameInvalid.isEmpty && change.becameValid.allSatisfy { $0 == id }
        if payload.bearsOnEnds || !isAlone {
            keyIndex.ends = nil
            keyIndex.forgetSealing()
        } else if payload.newKey.map(keys.holds) == true {
            keyIndex.forgetSealing()
        }
    }

    /// The valid operations that the key has to be changed after.
    func keyEnds() -> [OperationID] {
        let ends = keyIndex.ends ?? evaluator.keyEnds
        keyIndex.ends = ends
        return ends
    }

    /// Whether an owner or admin has ended there what is not the own person's.
    func isSaidByAdminOfOthers(_ end: OperationID) -> Bool {
        guard let role = evaluator.actingRole(of: end) else { return false }
        return role <= .admin && evaluator.isSaidOfOthers(end)
    }

    /// Of the keys that valid operations gave and we hold: the one with the largest (lam, id) whose
    /// giver is in, and whose operation has every valid removal and departure in its past, every
    /// grant that made a guest of somebody, and every revocation of an invite, or is one. Without
    /// such a key, the newest.
    func findSealingKey() -> SealingKey? {
        let ends = keyEnds()
        let depth = ends.compactMap { evaluator.lamport(of: $0) }.max() ?? 0
        var newest: KeyIndex.Introduction?
        var newestOfThoseOut: KeyIndex.Introduction?
        for known in keyIndex.newestFirst {
            // What has a deeper operation in its past is deeper itself.
            guard newest == nil || known.lamport >= depth else { break }
            keyIndex.looks &+= 1
            guard keys.holds(known.key), gives(known) else { continue }
            guard isGiverIn(known.operation) else {
                newestOfThoseOut = newestOfThoseOut ?? known
                continue
            }
            newest = newest ?? known
            let answersAll =
                known.lamport >= depth
                && ends.allSatisfy {
                    $0 == known.operation || evaluator.isAncestor($0, of: known.operation)
                }
            guard answersAll else { continue }
            return SealingKey(
                id: known.key, operation: known.operation, answersAll: true, answersAdmins: true)
        }
        return (newest ?? newestOfThoseOut).map { newest in
            let answersAdmins = ends.allSatisfy { end in
                !isSaidByAdminOfOthers(end) || end == newest.operation
                    || evaluator.isAncestor(end, of: newest.operation)
            }
            return SealingKey(
                id: newest.key, operation: newest.operation, answersAll: false,
                answersAdmins: answersAdmins)
        }
    }

    /// Whether an operation gives the key that it names: it is valid, acts as member or more, for a
    /// guest ends own devices too, and the key is new in it. One that was there before may be known to
    /// those whose end the operation knows.
    func gives(_ known: KeyIndex.Introduction) -> Bool {
        guard evaluator.isValid(known.operation), actsAsMember(known.operation) else {
            return false
        }
        return keyIndex.introductions(besides: known)
            .allSatisfy { !evaluator.isAncestor($0, of: known.operation) }
    }

    /// Whether an operation acts as member or more; what makes the workspace acts under no grant.
    private func actsAsMember(_ operation: OperationID) -> Bool {
        if authority[operation]?.isRoot == true { return true }
        return evaluator.actingRole(of: operation).map { $0 <= .member } ?? false
    }

    /// Whether who gave a key is in as member or more: whoever has left by a younger device goes on
    /// ending own devices with an older one.
    func isGiverIn(_ operation: OperationID) -> Bool {
        guard let device = authority[operation]?.log.device else { return false }
        return evaluator.contentGrant(of: device, leastRole: .member) != nil
    }

    /// Whether a new epoch key is due: somebody who is out may hold the current one, or somebody
    /// who may hold it has no box with it, being let in beside it or a guest while it was made.
    var needsKeyChange: Bool {
        guard let sealing = sealingKey else { return false }
        guard sealing.answersAll else { return true }
        var boxes: Set<[UInt8]> = []
        for id in keyIndex.boxes[sealing.id] ?? [] where evaluator.isValid(id) {
            keyIndex.looks &+= 1
            guard actsAsMember(id) else { continue }
            let wraps = authority[id]?.payload.wrappedKeys?.wraps ?? []
            boxes.formUnion(wraps.filter(\.holdsKey).map(\.devicePrefix))
        }
        return keyHolders(excluding: []).contains {
            !boxes.contains(Array($0.device.bytes.prefix(8)))
        }
    }
}
