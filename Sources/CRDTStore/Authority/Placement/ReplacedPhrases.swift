import WorkspaceModel

/// Phrases that a grant does not give, though it may give what they have added or linked: its
/// author has heard of an end of such a phrase, maybe of a thief's. Only an end that another member
/// has confirmed counts there (PROTOCOL.md, 4.0.3, V-13).
///
/// - Cost: a look for each pair of a final end and a grant by an owner or admin to its member; a
///   record for each of these pairs whose grant knows what the phrase has linked, and not the end.
extension PlacedOperations {
    /// Makes the records of the ends of phrases that a new grant does not give.
    mutating func placeUnlisted(under grant: Int, known: inout KnownEnds) {
        guard let member = records[grant].gives.subject, let first = firstListed(by: grant) else {
            return
        }
        for end in further.finalEnds[member] ?? [] {
            placeUnlisted(end, under: grant, first, known: &known)
        }
    }

    /// Makes the records of a new end under the grants that do not give its phrase.
    mutating func placeUnlisted(_ end: Int, known: inout KnownEnds) {
        guard records[end].again.isFinalEnd, let member = records[end].author else { return }
        for grant in people.given[member] ?? [] {
            guard let first = firstListed(by: grant) else { continue }
            placeUnlisted(end, under: grant, first, known: &known)
        }
    }

    /// The place in which ends of other devices count under a grant by an owner or admin.
    private func firstListed(by grant: Int) -> AuthSuccessorPlace? {
        guard case .grant = records[grant].operation.action, !records[grant].isOpaque else {
            return nil
        }
        return records[grant].gives.devices.first.map { AuthSuccessorPlace($0, generation: -1) }
    }

    private mutating func placeUnlisted(
        _ end: Int, under grant: Int, _ first: AuthSuccessorPlace, known: inout KnownEnds
    ) {
        looks &+= 1
        let phrase = records[end].operation.device
        guard records[grant].place(of: phrase) == nil, !knows(grant, end),
            let member = records[end].author,
            let linked = people.links[OwnDevice(member: member, device: phrase)],
            linked.contains(where: { knows(grant, $0) })
        else { return }
        placeAgain(end, under: grant, first, as: first.root, known: &known)
    }

    /// What an end undoes if its phrase is not given: the bindings that it does not know, and those
    /// of phrases that its own phrase has revoked, as far as it knows.
    mutating func undoing(
        byUnlisted end: Int, _ unknown: [Int], under grant: Int, known: inout KnownEnds
    ) -> AuthUndoneBindings? {
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
