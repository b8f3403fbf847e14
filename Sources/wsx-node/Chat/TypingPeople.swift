import WorkspaceModel

/// Who is writing in the conversation on the screen, as others said last: each of them for 10 s
/// (docs/PROTOCOL.md, 5.10), or until a message of theirs comes.
struct TypingPeople {
    private var people: [(id: String, name: String, until: Int64)] = []

    /// More are not kept: from three on no name is shown.
    static let countMax = 64
    private static let shownMilliseconds = Int64(Limits.typingMilliseconds)
    /// Columns of a name at most.
    private static let nameColumnsMax = 16

    /// Somebody writes.
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

    /// Somebody has sent what they were writing.
    mutating func end(_ id: String?) { people.removeAll { $0.id == id } }

    /// Forgets those whose time is over. A clock that was set back shows nobody for longer.
    mutating func expire(at now: Int64) {
        people.removeAll { $0.until <= now || $0.until &- now > Self.shownMilliseconds }
    }

    /// When the next one is over; `nil` while nobody writes.
    var due: Int64? { people.map(\.until).min() }

    /// A sentence about them in so many columns; empty while nobody writes.
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

    /// A name in so many columns, and in four where there is hardly any room.
    private func name(_ place: Int, _ columns: Int) -> String {
        TerminalText.truncated(
            people[place].name, toColumns: min(max(columns, 4), Self.nameColumnsMax))
    }
}
