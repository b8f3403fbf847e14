import CRDTStore
import NoteText
import WorkspaceModel

/// An edit of a note that mentions the owner of this home.
struct NoteMention {
    /// By their short numbers.
    let workspace: Int64
    let document: Int64
    let arrival: Int64

    /// The lines around what somebody writes, as they are and as they are without it.
    ///
    /// - Parameters:
    ///   - scalars: the text.
    ///   - written: the parts of it that are being written, ascending and apart.
    static func lines(
        of scalars: [Unicode.Scalar], around written: [Range<Int>]
    ) -> [(now: String, before: String)] {
        var regions: [(lines: Range<Int>, written: [Range<Int>])] = []
        for range in written where range.upperBound <= scalars.count {
            let lines = line(around: range, in: scalars)
            guard let last = regions.last, lines.lowerBound <= last.lines.upperBound else {
                regions.append((lines, [range]))
                continue
            }
            regions[regions.count - 1] = (
                last.lines.lowerBound..<max(last.lines.upperBound, lines.upperBound),
                last.written + [range]
            )
        }
        return regions.map { region in
            var before = String.UnicodeScalarView()
            var at = region.lines.lowerBound
            for range in region.written where range.lowerBound >= at {
                before.append(contentsOf: scalars[at..<range.lowerBound])
                at = range.upperBound
            }
            before.append(contentsOf: scalars[at..<max(at, region.lines.upperBound)])
            var now = String.UnicodeScalarView()
            now.append(contentsOf: scalars[region.lines])
            return (String(now), String(before))
        }
    }

    private static func line(
        around range: Range<Int>, in scalars: [Unicode.Scalar]
    ) -> Range<Int> {
        var (start, end) = (range.lowerBound, range.upperBound)
        let first = max(0, start - Limits.noteMentionScalarsMax)
        let last = min(scalars.count, end + Limits.noteMentionScalarsMax)
        while start > first, scalars[start - 1] != "\n" { start -= 1 }
        while end < last, scalars[end] != "\n" { end += 1 }
        return start..<end
    }
}

/// Finds whom the text of a note mentions.
extension NoteWriter {
    /// Whom the draft mentions in addition to the published lines. People who are mentioned there
    /// already were told.
    func newMentions(in note: OpenNote, of workspace: Workspace) -> Mentions {
        guard note.note.draft != nil, note.note.byteCount <= Limits.noteMentionBytesMax,
            let channel = workspace.channel(numbered: note.place.document)
        else { return .none }
        let text = note.note.text
        guard text.utf8.contains(UInt8(ascii: "@")) else { return .none }
        let written = note.note.authorship().filter { $0.key == nil }.map(\.range)
        let lines = NoteMention.lines(of: Array(text.unicodeScalars), around: written)
            .filter { $0.now.utf8.contains(UInt8(ascii: "@")) }
        guard !lines.isEmpty else { return .none }
        let people =
            channel.privateMembership.map { $0.roles.keys.sorted() }
            ?? workspace.members.filter { $0.role <= .member }.map(\.member)
        let finder = MentionFinder(
            people.map { (member: $0, name: workspace.displayName(of: $0)) })
        var members: Set<MemberID> = []
        var isEverybody = false
        for line in lines {
            let (now, before) = (finder.mentions(in: line.now), finder.mentions(in: line.before))
            members.formUnion(Set(now.members).subtracting(before.members))
            isEverybody = isEverybody || (now.isEverybody && !before.isEverybody)
        }
        return Mentions(members, everybody: isEverybody)
    }
}
