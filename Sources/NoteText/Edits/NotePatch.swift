/// One change of a text, as sent to editors: at a position, delete some scalars and insert others.
///
/// Positions count Unicode scalars. The patches of a list are applied in order: each position
/// refers to the text after the patches before it.
public struct NotePatch: Hashable, Sendable {
    /// Scalars before it.
    public var at: Int
    /// Deleted scalars.
    public var deleted: Int
    /// The inserted text.
    public var inserted: String

    /// A change of a text.
    public init(at: Int, deleted: Int, inserted: String) {
        self.at = at
        self.deleted = deleted
        self.inserted = inserted
    }

    /// Inserted scalars.
    public var insertedCount: Int { inserted.unicodeScalars.count }
}

extension NotePatch {
    /// To which side a position moves when text is inserted exactly there.
    public enum Side: Sendable {
        /// Before it: the end of a selection, somebody else's cursor.
        case before
        /// Behind it: the user's own cursor.
        case behind
    }

    /// The position in the new text of a position in the old one.
    public func moved(_ place: Int, keeping side: Side = .before) -> Int {
        if place < at || place == at && side == .before { return place }
        let end = at + deleted
        if place > end || place == end && (deleted > 0 || side == .behind) {
            return place - deleted + insertedCount
        }
        // The text around it was deleted.
        return at + (side == .behind ? insertedCount : 0)
    }

    /// The same change, for the text after `patches`.
    ///
    /// Text that others inserted inside a part that it deletes is kept, so one change can become
    /// several, which are applied in order.
    public func transformed(over patches: [NotePatch]) -> [NotePatch] {
        let (end, isTooFar) = at.addingReportingOverflow(deleted)
        // An invalid range stays invalid: it is refused when it is applied.
        guard at >= 0, deleted >= 0, !isTooFar else { return [self] }
        // Positions of the old text: the insertion, and the parts that are still to be deleted.
        var place = at
        var parts = deleted > 0 ? [at..<end] : []
        for patch in patches {
            place = patch.moved(place)
            parts = parts.flatMap { patch.kept($0) }
        }
        var result: [NotePatch] = []
        // From the end, so that a deletion does not shift the remaining ones.
        for part in parts.reversed() {
            result.append(NotePatch(at: part.lowerBound, deleted: part.count, inserted: ""))
        }
        guard !inserted.isEmpty else { return result }
        if let last = result.last, last.at == place {
            result[result.count - 1].inserted = inserted
        } else {
            for patch in result { place = patch.moved(place) }
            result.append(NotePatch(at: place, deleted: 0, inserted: inserted))
        }
        return result
    }

    /// What remains of a part of the old text, in positions of the new one.
    func kept(_ part: Range<Int>) -> [Range<Int>] {
        let end = at + deleted
        let shift = insertedCount - deleted
        let head = part.lowerBound..<max(part.lowerBound, min(part.upperBound, at))
        let tail = min(part.upperBound, max(part.lowerBound, end))..<part.upperBound
        var kept: [Range<Int>] = []
        if !head.isEmpty { kept.append(head) }
        if !tail.isEmpty { kept.append(tail.lowerBound + shift..<tail.upperBound + shift) }
        return kept
    }

    /// The text with all of `patches` applied, `nil` if one of them exceeds its end.
    public static func apply(_ patches: [NotePatch], to text: String) -> String? {
        var scalars = Array(text.unicodeScalars)
        for patch in patches {
            guard patch.at >= 0, patch.deleted >= 0, patch.at <= scalars.count,
                patch.deleted <= scalars.count - patch.at
            else { return nil }
            scalars.replaceSubrange(
                patch.at..<patch.at + patch.deleted, with: patch.inserted.unicodeScalars)
        }
        var result = String.UnicodeScalarView()
        result.append(contentsOf: scalars)
        return String(result)
    }
}

/// Collects changes of a text, merging adjacent ones.
struct PatchList {
    private(set) var patches: [NotePatch] = []
    /// The deleted text of each patch.
    private(set) var removed: [String] = []
    /// Scalars that the last patch inserts.
    private var lastCount = 0

    /// Deletes `count` scalars, which are `text`, behind the first `at`.
    mutating func delete(at: Int, _ text: String, count: Int) {
        if let last = patches.last, last.inserted.isEmpty {
            if last.at == at {
                patches[patches.count - 1].deleted += count
                removed[removed.count - 1] += text
                return
            }
            if last.at == at + count {
                patches[patches.count - 1].at = at
                patches[patches.count - 1].deleted += count
                removed[removed.count - 1] = text + removed[removed.count - 1]
                return
            }
        }
        patches.append(NotePatch(at: at, deleted: count, inserted: ""))
        removed.append(text)
        lastCount = 0
    }

    /// Inserts a text of `count` scalars behind the first `at`.
    mutating func insert(at: Int, _ text: some StringProtocol, count: Int) {
        if let last = patches.last, last.at + lastCount == at {
            patches[patches.count - 1].inserted += text
            lastCount += count
            return
        }
        patches.append(NotePatch(at: at, deleted: 0, inserted: String(text)))
        removed.append("")
        lastCount = count
    }
}
