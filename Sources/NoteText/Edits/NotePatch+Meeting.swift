// Changes of one text that two made at the same time, each without knowing of the other's.
extension NotePatch {
    /// Carries two lists of changes of one text past each other: after `ours` and then `theirs` of the
    /// answer, and after `theirs` and then `ours` of it, there is the same text. Where both insert at
    /// one place, ours stands first.
    ///
    /// - Parameters:
    ///   - ours: each patch of the text that those before it have left, as `theirs`.
    ///   - steps: how many pairs of patches are compared at most.
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

/// Carries changes past each other, pair by pair.
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
            // What passed a change may be several now, and each of them passes the rest.
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
    /// The same change, of the text after `other`.
    ///
    /// - Parameter isFirst: whether, where both insert at one place, this one's text stands first.
    fileprivate func passed(over other: NotePatch, isFirst: Bool) -> [NotePatch] {
        let place = other.place(of: at, isFirst: isFirst)
        var result: [NotePatch] = []
        // From the end, so that what goes moves nothing that is still to go. None of it lies before the
        // place, as what is inserted stands before what goes with it.
        for part in other.rest(of: at..<at + deleted).reversed() {
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

    /// Where text that was inserted at a place of the old text stands in the new one.
    private func place(of place: Int, isFirst: Bool) -> Int {
        if place < at || place == at && isFirst { return place }
        return at + insertedCount + max(0, place - at - deleted)
    }

    /// What is left of a part of the old text that goes, in places of the new one.
    private func rest(of part: Range<Int>) -> [Range<Int>] {
        let end = at + deleted
        let shift = insertedCount - deleted
        let head = part.lowerBound..<max(part.lowerBound, min(part.upperBound, at))
        let tail = min(part.upperBound, max(part.lowerBound, end))..<part.upperBound
        var rest: [Range<Int>] = []
        if !head.isEmpty { rest.append(head) }
        if !tail.isEmpty { rest.append(tail.lowerBound + shift..<tail.upperBound + shift) }
        return rest
    }
}
