import WorkspaceModel

/// Hints on a command line: the commands in them act on the same home as the one that failed.
struct HintText {
    /// What every command in a hint is given, such as ` --home /srv/wsx`; empty for the usual home.
    private let flags: String

    /// The commands that act on no home.
    private static let homeless = [
        "help", "man", "version", "completion", "rpc --describe", "--home", "--socket", "FOLDER",
    ]

    init(_ globals: GlobalFlags) {
        var flags = ""
        if let home = globals.home { flags += " --home " + Self.quotedForShell(home) }
        if let socket = globals.socket { flags += " --socket " + Self.quotedForShell(socket) }
        self.flags = flags
    }

    /// `text`, in which each command of this program repeats the flags that say where it acts.
    func text(_ text: String) -> String {
        guard !flags.isEmpty else { return text }
        let name = Array("wsx-node ".utf8)
        let bytes = Array(text.utf8)
        var made: [UInt8] = []
        var place = 0
        while place < bytes.count {
            guard bytes[place...].starts(with: name), isBeginning(bytes, place) else {
                made.append(bytes[place])
                place += 1
                continue
            }
            let rest = bytes[(place + name.count)...]
            let isHomeless = Self.homeless.contains { rest.starts(with: $0.utf8) }
            made += name.dropLast() + (isHomeless ? [] : Array(flags.utf8)) + [0x20]
            place += name.count
        }
        return String(decoding: made, as: UTF8.self)
    }

    /// Whether a word begins at `place`, and no usage line, which shows what may be written.
    private func isBeginning(_ bytes: [UInt8], _ place: Int) -> Bool {
        guard place > 0 else { return true }
        let before = bytes[..<place]
        if before.reversed().starts(with: "usage: ".utf8.reversed()) { return false }
        return before.last.map { [0x20, 0x22, 0x27, 0x28].contains($0) } ?? true
    }

    /// `word` as a shell reads it back as one word.
    static func quotedForShell(_ word: String) -> String {
        let isPlain = word.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "/._-+:@%,".utf8.contains(byte)
            }
        }
        if isPlain, !word.isEmpty { return word }
        var made = "'"
        for scalar in word.unicodeScalars {
            if scalar == "'" { made += "'\\''" } else { made.unicodeScalars.append(scalar) }
        }
        return made + "'"
    }
}
