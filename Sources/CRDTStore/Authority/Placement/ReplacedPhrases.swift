import WorkspaceModel

/// Phrases that a grant does not give, though it gives one that stands behind them: its author has heard of
/// an end of such a phrase, and maybe of a thief's. The end counts there that another member has confirmed
/// (PROTOCOL.md, 4.0.3, V-13).
///
/// - Cost: for each grant by an owner or admin the lines of the devices that it lists; a record for each final
///   end of a phrase in one of these.
extension PlacedOperations {
    /// Notes which phrases stood before those that a grant gives, and makes the records of their ends.
    mutating func placeBefore(under grant: Int, known: inout KnownEnds) {
        guard case .grant = records[grant].operation.action,
            let member = records[grant].gives.subject, people.additions[member] != nil
        else { return }
        let listed = records[grant].gives.devices
        var seen = Set(listed)
        for device in listed {
            let line = line(of: device, as: member, knownTo: grant)
            for (phrase, generation) in zip(line, Int8(1)...)
            where seen.insert(phrase).inserted {
                let behind = AuthBehind(device, generation: -generation)
                further.replaced[phrase, default: []].append(.init(grant: grant, behind: behind))
                further.replacedUnder[grant, default: []].append(phrase)
                for end in further.endsByDevice[phrase] ?? [] {
                    placeBefore(end, under: grant, behind, known: &known)
                }
            }
        }
    }

    /// Makes the records of a new end under the grants that give what stands behind its phrase.
    mutating func placeBefore(_ end: Int, known: inout KnownEnds) {
        for place in further.replaced[records[end].operation.device] ?? [] {
            placeBefore(end, under: place.grant, place.behind, known: &known)
        }
    }

    private mutating func placeBefore(
        _ end: Int, under grant: Int, _ behind: AuthBehind, known: inout KnownEnds
    ) {
        guard records[end].again.isFinalEnd, !knows(grant, end) else { return }
        placeAgain(end, under: grant, behind, as: behind.root, known: &known)
    }

    /// Forgets what was noted of a grant that is taken back, the last one.
    mutating func forgetReplaced(under grant: Int) {
        for phrase in further.replacedUnder.removeValue(forKey: grant) ?? [] {
            further.replaced[phrase]?.removeLast()
            if further.replaced[phrase]?.isEmpty == true { further.replaced[phrase] = nil }
        }
    }

    /// What an end undoes where a phrase is given that stands behind its own: what it does not know, and
    /// those phrases which its own has revoked, as far as it knows.
    mutating func undoing(
        byReplaced end: Int, _ unknown: [Int], under grant: Int, known: inout KnownEnds
    ) -> AuthUndoing? {
        let revoked = successions(before: records[end]).filter { addition in
            knows(grant, addition)
                && devicesBound(addition).contains { isRevoked($0, asKnownTo: records[end]) }
        }
        let bindings = unknown + revoked + unknownAdmissions(end, to: grant)
        return undoing(bindings, under: grant, known: &known)
    }

    /// Whether a phrase has revoked a device, as far as its end knows.
    func isRevoked(_ device: DeviceID, asKnownTo end: AuthRecord) -> Bool {
        (people.removals[.device(device)] ?? []).contains {
            records[$0].operation.device == end.operation.device
                && records[$0].author == end.author && end.knows(records[$0].place)
        }
    }
}
