import WorkspaceModel

/// Completes hints: the commands in them act on the same home as the one that failed.
struct HintText {
    /// The flags added to every command in a hint, such as ` --home /srv/wsx`; empty
    /// for the default home.
    private let flags: String

    /// The commands that need no home.
    private static let homeless = [
        "help", "man", "version", "completion", "rpc --describe", "--home", "--socket", "FOLDER",
    ]

    init(_ globals: GlobalFlags) {
        var flags = ""
        if let home = globals.home { flags += " --home " + NodeError.shellWord(home) }
        if let socket = globals.socket { flags += " --socket " + NodeError.shellWord(socket) }
        self.flags = flags
    }

    /// `text`, with the flags added to each command of this program.
    func text(_ text: String) -> String {
        guard !flags.isEmpty else { return text }
        let name = "wsx-node "
        return text.replacing(name) { bytes, place in
            guard isBeginning(bytes, place) else { return nil }
            let rest = bytes[(place + name.utf8.count)...]
            let isHomeless = Self.homeless.contains { rest.starts(with: $0.utf8) }
            return isHomeless ? nil : "wsx-node\(flags) "
        }
    }

    /// Whether a word begins at `place` outside a usage line, which only shows the syntax.
    private func isBeginning(_ bytes: [UInt8], _ place: Int) -> Bool {
        guard place > 0 else { return true }
        let before = bytes[..<place]
        if before.reversed().starts(with: "usage: ".utf8.reversed()) { return false }
        return before.last.map { [0x20, 0x22, 0x27, 0x28].contains($0) } ?? true
    }
}

extension String {
    /// The text with each `part` replaced.
    ///
    /// - Parameter other: the replacement, given the bytes of the text and the index of the part;
    ///   `nil` keeps it.
    func replacing(_ part: String, by other: ([UInt8], Int) -> String?) -> String {
        let (part, bytes) = (Array(part.utf8), Array(utf8))
        var made: [UInt8] = []
        var place = 0
        while place < bytes.count {
            if bytes[place...].starts(with: part), let text = other(bytes, place) {
                made += text.utf8
                place += part.count
            } else {
                made.append(bytes[place])
                place += 1
            }
        }
        return String(decoding: made, as: UTF8.self)
    }
}
