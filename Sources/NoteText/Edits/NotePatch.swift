/// One change of a text, as an editor is told: at a place, so much goes and this comes.
///
/// Places count Unicode scalars. The patches of a list take effect one after the other: each one's
/// place is that in the text that those before it have left.
public struct NotePatch: Hashable, Sendable {
    /// Scalars before it.
    public var at: Int
    /// Scalars that go.
    public var deleted: Int
    /// What comes instead.
    public var inserted: String

    /// A change of a text.
    public init(at: Int, deleted: Int, inserted: String) {
        self.at = at
        self.deleted = deleted
        self.inserted = inserted
    }

    /// Scalars that come.
    public var insertedCount: Int { inserted.unicodeScalars.count }
}

extension NotePatch {
    /// Which side of what is inserted exactly there a place keeps to.
    public enum Side: Sendable {
        /// Before it: the end of a selection, somebody else's cursor.
        case before
        /// Behind it: one's own cursor.
        case behind
    }

    /// Where a place of the old text is in the new one.
    public func moved(_ place: Int, keeping side: Side = .before) -> Int {
        if place < at || place == at && side == .before { return place }
        let end = at + deleted
        if place > end || place == end && (deleted > 0 || side == .behind) {
            return place - deleted + insertedCount
        }
        // What it was in is gone.
        return at + (side == .behind ? insertedCount : 0)
    }

    /// The same change, of a text to which `patches` happened meanwhile.
    ///
    /// What others inserted inside a part that it deletes stays, so one change can become several,
    /// which take effect one after the other.
    public func transformed(over patches: [NotePatch]) -> [NotePatch] {
        let (end, isTooFar) = at.addingReportingOverflow(deleted)
        // What reaches nowhere stays so: it is refused where it is applied.
        guard at >= 0, deleted >= 0, !isTooFar else { return [self] }
        // Places of the old text: what is inserted, and the parts of it that still go.
        var place = at
        var parts = deleted > 0 ? [at..<end] : []
        for patch in patches {
            place = patch.moved(place)
            parts = parts.flatMap { patch.kept($0) }
        }
        var result: [NotePatch] = []
        // From the end, so that what goes moves nothing that is still to go.
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

    /// What is left of a part of the old text, in places of the new one.
    private func kept(_ part: Range<Int>) -> [Range<Int>] {
        let end = at + deleted
        let shift = insertedCount - deleted
        let head = part.lowerBound..<max(part.lowerBound, min(part.upperBound, at))
        let tail = min(part.upperBound, max(part.lowerBound, end))..<part.upperBound
        var kept: [Range<Int>] = []
        if !head.isEmpty { kept.append(head) }
        if !tail.isEmpty { kept.append(tail.lowerBound + shift..<tail.upperBound + shift) }
        return kept
    }

    /// The text with all of `patches` applied, `nil` where one of them reaches beyond its end.
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

/// Gathers what happens to a text, neighbouring changes as one.
struct PatchList {
    private(set) var patches: [NotePatch] = []
    /// Of each patch the text that went.
    private(set) var removed: [String] = []
    /// Scalars that the last patch inserts.
    private var lastCount = 0

    /// `count` scalars, which are `text`, go behind the first `at`.
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

    /// A text of `count` scalars comes behind the first `at`.
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
