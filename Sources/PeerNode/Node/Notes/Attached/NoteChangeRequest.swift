import NoteText
import WorkspaceModel

/// A requested change of a note, relative to a version that its author has seen.
enum NoteChangeRequest {
    /// The whole new text.
    case text(String)
    /// The new lines and their look.
    case lines([NoteLine])
    /// Changes, each of the text that those before it have left.
    case steps([NoteStep])
}

/// One change of a text.
enum NoteStep {
    case patch(NotePatch)
    case format(Range<Int>, NoteMark)
    /// The kind of the line that contains this place.
    case line(Int, NoteBlockKind)
}

extension NoteStep {
    /// Whether it fits a text with this many scalars.
    ///
    /// - Parameter count: what it is afterwards.
    func fits(_ count: inout Int) -> Bool {
        switch self {
        case .patch(let patch):
            guard patch.at >= 0, patch.deleted >= 0, patch.at <= count,
                patch.deleted <= count - patch.at
            else { return false }
            count += patch.insertedCount - patch.deleted
            return true
        case .format(let range, _):
            return range.lowerBound >= 0 && !range.isEmpty && range.upperBound <= count
        case .line(let at, _): return at >= 0 && at <= count
        }
    }

    /// The same of the text after `others`; nothing where what it means is gone.
    func carried(past others: inout [NotePatch]) -> [NoteStep]? {
        switch self {
        case .patch(let patch):
            guard let met = NotePatch.carried([patch], past: others) else { return nil }
            others = met.theirs
            return met.ours.map(NoteStep.patch)
        case .format(let range, let mark):
            let moved = Self.moved(range, past: others)
            return moved.isEmpty ? [] : [.format(moved, mark)]
        case .line(let at, let kind):
            return [.line(others.reduce(at) { $1.moved($0) }, kind)]
        }
    }

    /// Where a part of a text is after some changes, without what was inserted at its ends.
    static func moved(_ range: Range<Int>, past others: [NotePatch]) -> Range<Int> {
        let start = others.reduce(range.lowerBound) { $1.moved($0, keeping: .behind) }
        let end = others.reduce(range.upperBound) { $1.moved($0) }
        return start..<max(start, end)
    }
}

/// Computes the changes that give lines a requested look.
struct NoteLookChanges {
    /// Lines as they are, by where they begin.
    private let starts: [Int]
    private let now: [NoteLine]

    init(of lines: [NoteLine]) {
        now = lines
        var at = 0
        starts = lines.map { line in
            defer { at += line.text.unicodeScalars.count + 1 }
            return at
        }
    }

    /// - Parameters:
    ///   - wanted: lines, of a text to which `others` have happened since.
    func steps(to wanted: [NoteLine], past others: [NotePatch]) -> [NoteStep] {
        var steps: [NoteStep] = []
        var at = 0
        for line in wanted {
            let start = others.reduce(at) { $1.moved($0, keeping: .behind) }
            if let index = lineIndex(at: start), now[index].kind != line.kind {
                steps.append(.line(start, line.kind))
            }
            for run in line.runs {
                let end = at + run.text.unicodeScalars.count
                let part = NoteStep.moved(at..<end, past: others)
                if !part.isEmpty { steps += formats(of: part, wanted: run.marks) }
                at = end
            }
            at += 1
        }
        return steps
    }

    /// The line that a place is in.
    private func lineIndex(at place: Int) -> Int? {
        var (low, high) = (0, starts.count)
        while low < high {
            let middle = (low + high) / 2
            if starts[middle] <= place { low = middle + 1 } else { high = middle }
        }
        return low > 0 ? low - 1 : nil
    }

    /// The steps that give a part of the text exactly these marks.
    private func formats(of part: Range<Int>, wanted: [NoteMark]) -> [NoteStep] {
        var differing: [NoteMark.Kind: Range<Int>] = [:]
        var index = lineIndex(at: part.lowerBound) ?? 0
        while index < now.count, starts[index] < part.upperBound {
            var at = starts[index]
            for run in now[index].runs {
                let end = at + run.text.unicodeScalars.count
                let shared = part.clamped(to: at..<end)
                at = end
                guard !shared.isEmpty else { continue }
                for kind in NoteMark.Kind.allCases
                where run.marks.first(where: { $0.kind == kind })
                    != wanted.first(where: { $0.kind == kind })
                {
                    let known = differing[kind] ?? shared
                    differing[kind] = known.lowerBound..<shared.upperBound
                }
            }
            index += 1
        }
        return NoteMark.Kind.allCases.compactMap { kind in
            differing[kind].map { range in
                .format(range, wanted.first { $0.kind == kind } ?? kind.off)
            }
        }
    }
}
