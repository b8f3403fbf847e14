/// Which of several final ends of a phrase may be confirmed further: a thief with the old words may
/// have written others (PROTOCOL.md, 4.0.6, F-16).
///
/// - Cost: a look for each end that a confirmation names; where the one that chose is void, one for each
///   confirmation of the phrase's final ends; where another end is chosen, one for each of their records.
extension AuthVerdicts {
    /// See `PlacedOperations.phrase(ofFinalEnd:)`.
    func phrase(ofFinalEnd index: Int) -> OwnDevice? { placed.phrase(ofFinalEnd: index) }

    /// Takes up that a confirmation has become valid, or is so no more.
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

    /// The records of all final ends of the phrases of which another one is chosen now.
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

    /// Whether a confirmation says which end counts: it is another member's, and stronger than the end is under
    /// some grant. A person's end cites the newest role, and a thief's the weakest grant.
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

/// Phrases that took the place of one that a grant lists (PROTOCOL.md, 4.0.3, V-12).
extension AuthVerdicts {
    /// Whether the phrase right before the one that wrote an end has a valid final end, under the same
    /// grant, that names it. What stands behind nothing needs none. What is of a phrase that the grant does
    /// not give needs a confirmation.
    func hasFollowed(_ index: Int) -> Bool {
        if records[index].again.isUnlisted { return isConfirmed(index) }
        return placed.following(index).map { placed.further.followed[$0] != nil } ?? true
    }

    /// Counts a final end that has become valid under its grant, or is so no more.
    mutating func noteFinal(_ index: Int) {
        guard let place = placed.followingNamed(by: index) else { return }
        let count = (placed.further.followed[place] ?? 0) + (records[index].isValid ? 1 : -1)
        placed.further.followed[place] = count > 0 ? count : nil
    }

    /// What stands right behind a final end under its grant, and so counts only with it.
    func ends(behind index: Int) -> [Int] {
        placed.followingNamed(by: index).flatMap { placed.further.behind[$0] } ?? []
    }
}
