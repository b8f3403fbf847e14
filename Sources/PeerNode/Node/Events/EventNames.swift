import WorkspaceModel

/// The names of events that people and scripts ask for.
extension EventName {
    /// The events of features which this build does not have. They are
    /// accepted, so that a script may ask for all that it knows; they are in no list and never
    /// occur.
    private static let absent = [
        "file.added", "file.available", "file.dropped", "conflict.resolved", "import.finished",
        "config.changed",
    ]

    /// Every name that an event can have.
    static let names = all.map(\.word)

    /// Rejects a name or pattern that no event will ever match: a caller would wait for it without
    /// end.
    static func check(_ pattern: String) throws(NodeError) {
        let known = names + absent
        guard !known.contains(where: { EventFilter.matches($0, glob: pattern) }) else { return }
        let kind = pattern.split(separator: ".", maxSplits: 1).first.map(String.init) ?? pattern
        let family = names.filter { $0.utf8.starts(with: (kind + ".").utf8) }
        let hint: String
        if let similar = Similarity.nearest(to: pattern, in: names) {
            hint = "did you mean \(NodeError.quoted(similar))?"
        } else if family.isEmpty {
            hint = "such as 'message.created', 'channel.*' or '*.created'"
        } else {
            hint = "one of: \(family.sorted().joined(separator: ", "))"
        }
        throw NodeError(
            .badRequest, "there is no event \(NodeError.quoted(pattern))", hint: hint,
            reason: "events.type", fields: [.init(name: "types", reason: "form")])
    }
}
