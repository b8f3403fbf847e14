/// Which of several final ends of a phrase may be confirmed further: a thief with the old phrase
/// may have written others (PROTOCOL.md, 4.0.6, F-16).
///
/// - Cost: a look for each end that a confirmation names; if the confirmation that chose becomes
///   void, one for each confirmation of the phrase's final ends; if another end becomes chosen, one
///   for each of their records.
extension AuthVerdicts {
    /// See `PlacedOperations.phrase(ofFinalEnd:)`.
    func phrase(ofFinalEnd index: Int) -> OwnDevice? { placed.phrase(ofFinalEnd: index) }

    /// Applies that a confirmation has become valid, or is valid no longer.
    mutating func chooseEnds(by confirmation: Int) {
        guard placed.rules == .workspace else { return }
        for end in records[confirmation].cited.confirmed {
            guard let phrase = phrase(ofFinalEnd: end) else { continue }
            let known = confirmations.chosen[phrase]
            defer {
                if confirmations.chosen[phrase]?.end != known?.end {
                    confirmations.rechosen.insert(phrase)
                }
            }
            if !records[confirmation].isValid {
                guard known?.confirmation == confirmation else { continue }
                confirmations.chosen[phrase] = strongestChoice(of: phrase)
            } else if mayChoose(confirmation, end) {
                let choice = AuthConfirmations.ChosenEnd(end: end, confirmation: confirmation)
                guard known.map({ isStronger(choice, than: $0) }) ?? true else { continue }
                confirmations.chosen[phrase] = choice
            }
        }
    }

    /// The records of all final ends of the phrases whose chosen end has changed.
    mutating func takeRechosen() -> [Int] {
        defer { confirmations.rechosen = [] }
        return confirmations.rechosen.flatMap { finalEnds(of: $0) }
            .flatMap { placed.everyRecord(of: $0) }
    }

    private func finalEnds(of phrase: OwnDevice) -> [Int] {
        (placed.further.finalEnds[phrase.member] ?? []).filter {
            records[$0].operation.device == phrase.device
        }
    }

    private func strongestChoice(of phrase: OwnDevice) -> AuthConfirmations.ChosenEnd? {
        finalEnds(of: phrase).flatMap { end in
            (placed.further.confirms[end] ?? []).filter {
                records[$0].isValid && mayChoose($0, end)
            }.map { AuthConfirmations.ChosenEnd(end: end, confirmation: $0) }
        }.min { isStronger($0, than: $1) }
    }

    /// Whether a confirmation chooses an end: it is by another member, and stronger than the end is
    /// under some grant. A person's end cites the newest role, a thief's the weakest grant.
    private func mayChoose(_ confirmation: Int, _ end: Int) -> Bool {
        records[confirmation].author != records[end].author
            && placed.everyRecord(of: end).contains { placed.isStronger(confirmation, than: $0) }
    }

    private func isStronger(
        _ choice: AuthConfirmations.ChosenEnd, than other: AuthConfirmations.ChosenEnd
    ) -> Bool {
        choice.confirmation == other.confirmation
            ? placed.isStronger(choice.end, than: other.end)
            : placed.isStronger(choice.confirmation, than: other.confirmation)
    }
}

/// Phrases that replaced one that a grant lists (PROTOCOL.md, 4.0.3, V-12).
extension AuthVerdicts {
    /// Whether the phrase right before the one that wrote an end has a valid final end under the
    /// same grant that names it. An end that stands behind nothing needs none. An end by a phrase
    /// that the grant does not list needs a confirmation (V-13).
    func hasFollowed(_ index: Int) -> Bool {
        if records[index].again.isUnlisted { return isConfirmed(index) }
        return placed.following(index).map { placed.further.followed[$0] != nil } ?? true
    }

    /// Counts a final end that has become valid under its grant, or is valid no longer.
    mutating func noteFinal(_ index: Int) {
        guard let place = placed.followingNamed(by: index) else { return }
        let count = (placed.further.followed[place] ?? 0) + (records[index].isValid ? 1 : -1)
        placed.further.followed[place] = count > 0 ? count : nil
    }

    /// The ends by the phrase right behind a final end under its grant, which count only with it.
    func ends(behind index: Int) -> [Int] {
        placed.followingNamed(by: index).flatMap { placed.further.behind[$0] } ?? []
    }
}
