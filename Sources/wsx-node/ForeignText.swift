import WorkspaceModel

/// Foreign text made safe for a terminal, in one line.
///
/// Everything that an answer or a file brings goes through here, or through `foreignBody`.
func sanitised(_ text: String) -> String { TerminalText.escaped(text, for: .line) }

/// The lines of a message, each safe for a terminal. A tab becomes blanks, so that columns hold.
func foreignBody(_ text: String) -> [String] {
    TerminalText.escaped(text, for: .body).utf8
        .split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        .map { line in
            String(decoding: line.flatMap { $0 == 0x09 ? [0x20, 0x20] : [$0] }, as: UTF8.self)
        }
}

/// How many columns text takes that was made safe.
func columnWidth(_ text: String) -> Int { TerminalText.displayWidth(text) }
