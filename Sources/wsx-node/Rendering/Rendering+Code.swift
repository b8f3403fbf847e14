import PeerNode
import WorkspaceModel

/// Preformatted messages: code, and the output of programs.
extension Rendering {
    /// The lines of a code message, each behind a bar, below a line with its author.
    ///
    /// Lines are not wrapped at blanks. A line wider than the terminal continues behind another
    /// bar, so that the terminal never starts a row of its own.
    func codeBlock(_ head: String, _ lines: [String], _ notes: [String]) -> String {
        let gap = columns.map { $0 < 40 } == true ? "  " : "       "
        var text = head + "\n"
        for line in lines {
            let room = columns.map { max($0 - gap.utf8.count - 2, 8) }
            let pieces = room.map { Self.pieces(of: line, columns: $0) } ?? [line]
            for (index, piece) in pieces.enumerated() {
                let bar = dim(index == 0 ? "│" : "┆")
                text += gap + bar + (piece.isEmpty ? "" : " " + piece) + "\n"
            }
        }
        for note in notes {
            let room = columns.map { max($0 - gap.utf8.count, 8) }
            for piece in room.map({ wrapped(note, columns: $0) }) ?? [note] {
                text += gap + dim(piece) + "\n"
            }
        }
        return text
    }

    /// A line in pieces of maximum width, which together are the line.
    static func pieces(of line: String, columns: Int) -> [String] {
        guard line.utf8.count > columns else { return [line] }
        var pieces: [String] = []
        var piece = ""
        var width = 0
        for character in line {
            let emoji = character.unicodeScalars.count { $0.properties.isEmojiPresentation }
            let own = max(columnWidth(String(character)), emoji * 2)
            if width + own > columns, !piece.isEmpty {
                pieces.append(piece)
                piece = ""
                width = 0
            }
            piece.append(character)
            width += own
        }
        return pieces + (piece.isEmpty ? [] : [piece])
    }
}
