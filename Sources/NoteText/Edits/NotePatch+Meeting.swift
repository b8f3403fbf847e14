// Operational transformation of concurrent changes to one text.
extension NotePatch {
    /// Transforms two lists of changes of one text against each other: applying `ours` and then the
    /// resulting `theirs` gives the same text as applying `theirs` and then the resulting `ours`.
    /// Where both insert at one place, ours comes first.
    ///
    /// - Parameters:
    ///   - ours: each patch refers to the text after the ones before it, as in `theirs`.
    ///   - steps: how many pairs of patches are compared at most.
    /// - Returns: `nil` if that is exceeded, or a position is invalid.
    /// - Returns: `nil` where that would be more, or a place is none.
    public static func carried(
        _ ours: [NotePatch], past theirs: [NotePatch], steps: Int = 1_000_000
    ) -> (ours: [NotePatch], theirs: [NotePatch])? {
        guard (ours + theirs).allSatisfy(\.isSomewhere) else { return nil }
        var meeting = PatchMeeting(steps: steps)
        return meeting.carry(ours, past: theirs)
    }

    private var isSomewhere: Bool {
        at >= 0 && deleted >= 0 && !at.addingReportingOverflow(deleted).overflow
    }
}

/// Transforms changes against each other, pair by pair.
private struct PatchMeeting {
    /// How many pairs may still be compared.
    var steps: Int

    mutating func carry(
        _ ours: [NotePatch], past theirs: [NotePatch]
    ) -> (ours: [NotePatch], theirs: [NotePatch])? {
        var theirs = theirs
        var result: [NotePatch] = []
        for patch in ours {
            guard let met = carry(patch, past: theirs) else { return nil }
            result += met.ours
            theirs = met.theirs
        }
        return (result, theirs)
    }

    private mutating func carry(
        _ patch: NotePatch, past theirs: [NotePatch]
    ) -> (ours: [NotePatch], theirs: [NotePatch])? {
        var mine = [patch]
        var result: [NotePatch] = []
        for other in theirs {
            // A transformed change may have become several, and each of them is
            // transformed over the rest.
            if mine.count == 1, let only = mine.first {
                guard steps > 0 else { return nil }
                steps -= 1
                mine = only.passed(over: other, isFirst: true)
                result += other.passed(over: only, isFirst: false)
            } else {
                guard let met = carry(mine, past: [other]) else { return nil }
                mine = met.ours
                result += met.theirs
            }
        }
        return (mine, result)
    }
}

extension NotePatch {
    /// The same change, for the text after `other`.
    ///
    /// - Parameter isFirst: whether its text comes first where both insert at one place.
    fileprivate func passed(over other: NotePatch, isFirst: Bool) -> [NotePatch] {
        let place = other.place(of: at, isFirst: isFirst)
        var result: [NotePatch] = []
        // From the end, so that a deletion does not shift the remaining ones. None of it is before
        // the insertion, since inserted text comes before the text it replaces.
        for part in other.kept(at..<at + deleted).reversed() {
            result.append(NotePatch(at: part.lowerBound, deleted: part.count, inserted: ""))
        }
        guard !inserted.isEmpty else { return result }
        if let last = result.last, last.at == place {
            result[result.count - 1].inserted = inserted
        } else {
            result.append(NotePatch(at: place, deleted: 0, inserted: inserted))
        }
        return result
    }

    /// Where text inserted at a position of the old text belongs in the new one.
    private func place(of place: Int, isFirst: Bool) -> Int {
        if place < at || place == at && isFirst { return place }
        return at + insertedCount + max(0, place - at - deleted)
    }
}
