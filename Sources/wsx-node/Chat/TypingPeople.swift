import WorkspaceModel

/// The people typing in the conversation on the screen: each for 10 s after the last indicator
/// (docs/PROTOCOL.md, 5.10), or until their message arrives.
struct TypingPeople {
    private var people: [(id: String, name: String, until: Int64)] = []

    /// The limit: from three people on no names are shown.
    static let countMax = 64
    private static let shownMilliseconds = Int64(Limits.typingMilliseconds)
    /// Columns of a name at most.
    private static let nameColumnsMax = 16

    /// Somebody is typing.
    ///
    /// - Parameters:
    ///   - id: `u_…`.
    ///   - name: safe for a terminal.
    ///   - now: milliseconds since 1970.
    mutating func hear(_ id: String, _ name: String, at now: Int64) {
        if let place = people.firstIndex(where: { $0.id == id }) {
            people[place] = (id, name, now &+ Self.shownMilliseconds)
            return
        }
        if people.count >= Self.countMax { people.removeFirst() }
        people.append((id, name, now &+ Self.shownMilliseconds))
    }

    /// Somebody has sent their message.
    mutating func end(_ id: String?) { people.removeAll { $0.id == id } }

    /// Removes expired people. After a clock was set back, nobody is shown for longer.
    mutating func expire(at now: Int64) {
        people.removeAll { $0.until <= now || $0.until &- now > Self.shownMilliseconds }
    }

    /// When the next one expires; `nil` while nobody types.
    var due: Int64? { people.map(\.until).min() }

    /// A sentence about them in at most this many columns; empty while nobody types.
    func text(columns: Int) -> String {
        let said: String
        switch people.count {
        case 0: return ""
        case 1: said = "\(name(0, columns - 10)) is typing"
        case 2:
            let half = (columns - 16) / 2
            said = "\(name(0, half)) and \(name(1, half)) are typing"
        default: said = "several people are typing"
        }
        return TerminalText.truncated(said, toColumns: columns)
    }

    /// A name shortened to this many columns, at least four.
    private func name(_ place: Int, _ columns: Int) -> String {
        TerminalText.truncated(
            people[place].name, toColumns: min(max(columns, 4), Self.nameColumnsMax))
    }
}
