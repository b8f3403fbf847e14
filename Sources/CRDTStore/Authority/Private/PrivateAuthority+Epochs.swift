public import WorkspaceModel

/// A key of a private document, with the valid operation that introduces it.
public struct PrivateIntroduction: Hashable, Sendable {
    /// The operation.
    public let operation: OperationID
    /// Its depth: of the suitable keys, the one with the largest (depth, operation) seals.
    public let lamport: UInt64
    /// What the operation states about the key.
    public let epoch: PrivateEpoch
    /// The ends of memberships and devices that it answers. Empty if its author is not in. An end
    /// of the author's own membership is included only if the operation is known to know it: the
    /// author of an end, or an accomplice, can name it before others have heard of it. A member who
    /// is in gains nothing by that, since they could hand on the key itself.
    public let answers: [OperationID]
}

/// Which keys there are, which one seals, and who may be given which.
///
/// - Source: PROTOCOL.md, 4.4.
extension PrivateAuthority {
    /// Every valid introduction of a key, ascending by (depth, operation). Two concurrent ones may
    /// introduce the same key.
    public var epochs: [PrivateIntroduction] {
        let present = present
        return introductions.filter(\.isValid).map { introduction($0, present) }
    }

    /// Whether a valid operation introduces the key, so that it may seal.
    public func introduces(_ key: KeyID) -> Bool {
        (introductionsByKey[key] ?? []).contains { introductions[$0].isValid }
    }

    /// The key to seal with (N-6 to N-9). Candidates are introduced by a member who is in, have
    /// every valid remove and leave in their operation's past or are it, answer everything in
    /// `revocations`, and may be given to everybody who is in. Of these it is the one with the
    /// largest (depth, operation).
    ///
    /// - Parameter revocations: the workspace's valid ends of members and devices that are in this
    ///   document.
    /// - Returns: `nil` when a new key has to be introduced first, which every member may do.
    public func sealingEpoch(answering revocations: Set<OperationID>) -> PrivateIntroduction? {
        let ends = latestOnEachBranch(validEnds)
        let present = present
        var answering: [OperationID: [Int]] = [:]
        for known in introductions where known.isValid {
            for answer in answers(of: known, present) where revocations.contains(answer) {
                answering[answer, default: []].append(known.operation)
            }
        }
        guard answering.count == revocations.count else { return nil }
        let seated = root?.history == .fromJoin ? members : []
        var givers: [MemberID: Set<Int>] = [:]
        let sealing = introductions.last { candidate in
            candidate.isValid && isPastOrSelf(ends, of: candidate.operation)
                && seated.allSatisfy { isTheirs(candidate.operation, $0, &givers) }
                && answering.values.allSatisfy { answers in
                    answers.contains {
                        $0 == candidate.operation || knows(candidate.operation, $0)
                    }
                }
                // A member who has left by a later seat may still write under an older one.
                && operations[candidate.operation].author.map(present.contains) == true
        }
        return sealing.map { introduction($0, present) }
    }

    /// Whether a member who is in may be given the key that an operation introduces: it gave the
    /// member a seat that still holds, or has such an operation in its past.
    ///
    /// - Parameter found: the results for other operations.
    private func isTheirs(
        _ operation: Int, _ member: PrivateMember, _ found: inout [MemberID: Set<Int>]
    ) -> Bool {
        func isGiver(_ giver: Int) -> Bool { giver == operation || knows(operation, giver) }
        // Usually the member's current seat suffices.
        if let seat = indices[member.seat], isGiver(seat) { return true }
        let givers = found[member.member] ?? givers(of: member.member)
        found[member.member] = givers
        return givers.contains(where: isGiver)
    }

    /// The operations that gave a member seats that still hold.
    private func givers(of member: MemberID) -> Set<Int> {
        let seats = ends(ofSeatsOf: member)
            .filter { $0.value.isEmpty && !evaluator.verdicts.lapsed.contains($0.key) }.keys
        return Set(seats.compactMap { owner(ofRecord: $0) })
    }

    /// The operations that gave a member seats that still hold, in the order of their ids.
    public func lasting(seatsOf member: MemberID) -> [OperationID] {
        givers(of: member).map { operations[$0].id }.sorted()
    }

    /// The first valid operation that introduces a key.
    public func introduction(of key: KeyID) -> OperationID? {
        (introductionsByKey[key] ?? []).first { introductions[$0].isValid }
            .map { operations[introductions[$0].operation].id }
    }

    /// The keys that may be given to the member, ascending by (depth, operation); none for a member
    /// who is not in. In a document that shows only later content these are the keys whose
    /// operation gave the member a seat that still holds, or has one in its past.
    ///
    /// The authority subkeys of all keys may be given to everybody who is in.
    public func keys(for member: MemberID) -> [KeyID] {
        // A seat may be valid and not ended, and still give nothing: a transfer took it, and what
        // the member kept has lapsed.
        guard standing(of: member) != nil else { return [] }
        let givers = givers(of: member)
        guard !givers.isEmpty, let root else { return [] }
        var keys: [KeyID] = []
        var seen: Set<KeyID> = []
        for known in introductions where known.isValid && isGiven(known, to: givers, of: root) {
            if seen.insert(known.epoch.keyID).inserted { keys.append(known.epoch.keyID) }
        }
        return keys
    }

    /// Whether a key may be given to a member who asks for it by name, including one whose
    /// introduction has no effect (N-15): a remove without effect left out a member who is in.
    public func mayGive(_ key: KeyID, to member: MemberID) -> Bool {
        guard standing(of: member) != nil, let root, case let givers = givers(of: member),
            !givers.isEmpty
        else { return false }
        return (introductionsByKey[key] ?? []).contains {
            isGiven(introductions[$0], to: givers, of: root)
        }
    }

    private func isGiven(
        _ known: Introduction, to givers: Set<Int>, of root: PrivateRoot
    ) -> Bool {
        root.history == .all || givers.contains(known.operation)
            || givers.contains { knows(known.operation, $0) }
    }

    /// The older keys that a new one should hand on: the held keys to which no other held key
    /// leads, the newest `Limits.olderKeysMax`, ascending by (depth, operation).
    ///
    /// - Parameter held: the keys of which the author holds the form that is handed on: the key
    ///   itself if the whole history is shown, else the authority subkey.
    public func keysToHandOn(holding held: Set<KeyID>) -> [KeyID] {
        let form: OlderPrivateKey.Form = root?.history == .fromJoin ? .authority : .whole
        var led: Set<KeyID> = []
        for known in introductions where held.contains(known.epoch.keyID) {
            for older in known.epoch.older where isOffered(older, as: form, by: known) {
                led.insert(older.keyID)
            }
        }
        var keys: [KeyID] = []
        var seen: Set<KeyID> = []
        for known in introductions {
            let key = known.epoch.keyID
            if held.contains(key), !led.contains(key), seen.insert(key).inserted {
                keys.append(key)
            }
        }
        return keys.suffix(Limits.olderKeysMax)
    }

    /// The older keys that the introduction of `key` hands on and that count: those introduced in
    /// its past.
    public func olderKeys(under key: KeyID) -> [OlderPrivateKey] {
        var older: [OlderPrivateKey] = []
        for index in introductionsByKey[key] ?? [] {
            let known = introductions[index]
            older += known.epoch.older.filter { isIntroduced($0.keyID, before: known) }
        }
        return older
    }

    /// A whole key also leads to its subkey.
    private func isOffered(
        _ older: OlderPrivateKey, as form: OlderPrivateKey.Form, by known: Introduction
    ) -> Bool {
        (older.form == form || older.form == .whole) && isIntroduced(older.keyID, before: known)
    }

    private func isIntroduced(_ key: KeyID, before known: Introduction) -> Bool {
        (introductionsByKey[key] ?? []).contains {
            knows(known.operation, introductions[$0].operation)
        }
    }

    /// The members who are in.
    private var present: Set<MemberID> { Set(evaluator.members.map(\.member)) }

    private func introduction(
        _ known: Introduction, _ present: Set<MemberID>
    ) -> PrivateIntroduction {
        PrivateIntroduction(
            operation: operations[known.operation].id, lamport: known.lamport,
            epoch: known.epoch, answers: answers(of: known, present))
    }

    private func answers(
        of known: Introduction, _ present: Set<MemberID>
    ) -> [OperationID] {
        let operation = operations[known.operation]
        guard let author = operation.author, present.contains(author) else { return [] }
        return known.epoch.answers.filter { end in
            subjects[end] == nil || subjects[end] != author
                || operation.knownEnds.contains(end)
        }
    }
}

extension PrivateAuthority {
    /// The last of the records on each branch: having it in the past implies the others.
    func latestOnEachBranch(_ records: [Int]) -> [Int] {
        var latest: [Int: Int] = [:]
        for index in records {
            let place = evaluator.records[index].place
            if let known = latest[place.branch],
                evaluator.records[known].place.position > place.position
            {
                continue
            }
            latest[place.branch] = index
        }
        return latest.values.sorted()
    }

    /// Whether each of the records is in the past of the operation, or part of it.
    func isPastOrSelf(_ records: [Int], of operation: Int) -> Bool {
        guard let first = parts[operation].first else { return false }
        return records.allSatisfy {
            parts[operation].contains($0)
                || evaluator.records[first].knows(evaluator.records[$0].place)
        }
    }

    /// The operation that a record is a part of.
    func owner(ofRecord index: Int) -> Int? {
        PrivatePlacement.operation(named: evaluator.records[index].operation.id)
    }

    /// The valid seats that the member ever had.
    func seats(of member: MemberID) -> [Int] {
        (evaluator.placed.people.grantsOfDevice[member.asDevice] ?? []).filter {
            evaluator.records[$0].isValid
        }
    }

    /// The valid removes and leaves that end the member's valid seats, by seat.
    ///
    /// What ends a seat also ends those that it replaced: the older seat may be stronger than the
    /// member's remover, and would go on counting. What a member kept of a transfer has replaced
    /// the seats that the transfer takes.
    func ends(ofSeatsOf member: MemberID) -> [Int: Set<Int>] {
        var ends: [Int: Set<Int>] = [:]
        // What replaces a seat knows it, and so is deeper: it is found first, except for what was
        // kept.
        let seats = seats(of: member).sorted {
            evaluator.records[$0].lamport > evaluator.records[$1].lamport
        }
        for seat in seats { findEnds(of: seat, member.asDevice, &ends) }
        return ends.filter { evaluator.records[$0.key].isValid }
    }

    @discardableResult
    private func findEnds(
        of seat: Int, _ member: DeviceID, _ found: inout [Int: Set<Int>]
    ) -> Set<Int> {
        if let known = found[seat] { return known }
        guard let exposure = evaluator.verdicts.contentExposure(seat, member) else { return [] }
        // Guards against two seats that seem to replace each other.
        found[seat] = []
        var replacing: [Int] = []
        var ending: Set<Int> = []
        evaluator.verdicts.forEachRevocation(hitting: exposure) { revocation in
            if evaluator.records[revocation].operation.action.endsMembership {
                ending.insert(revocation)
            } else {
                replacing.append(revocation)
            }
        }
        if let drop = evaluator.verdicts.drop(reaching: seat, member) {
            evaluator.records[drop].ownPart.map { replacing.append($0) }
        }
        for other in replacing { ending.formUnion(findEnds(of: other, member, &found)) }
        found[seat] = ending
        return ending
    }
}
