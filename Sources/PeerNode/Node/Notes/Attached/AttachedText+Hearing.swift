import NoteText
public import WorkspaceModel

// Changes of the text that the node reports.
extension AttachedText {
    /// The node has written what it was asked.
    ///
    /// - Parameters:
    ///   - from: the version that it changed; the same as `to` where nothing was left to change.
    ///   - to: what came of it.
    /// - Throws: `conflict` where too much has changed meanwhile.
    public mutating func written(from: String, to: String) throws(NodeError) {
        writing?.answer = (from, to)
        try settle()
    }

    /// Handles an event of the node about the text.
    ///
    /// - Parameter event: the data of a `note.patch`.
    /// - Returns: whether the text is known now; otherwise it has to be read again.
    /// - Throws: `conflict` where too much has changed meanwhile.
    public mutating func hear(_ event: JSONValue) throws(NodeError) -> Bool {
        guard let from = event["from"]?.stringValue, let to = event["version"]?.stringValue,
            let list = event["patch"]?.arrayValue
        else { return false }
        // A change that was just read may be reported afterwards.
        guard from == writing?.steps.last?.to ?? version else { return isBehind }
        isBehind = false
        var line = Line(patches: [], author: event["by"] ?? .null)
        for item in list { line.patches.append(try AttachedLine.patch(item)) }
        guard var new = writing else {
            Self.apply(line.patches, to: &text)
            version = to
            say(line.patches, by: [line.author])
            return true
        }
        let step = Step(from: from, to: to, line: line)
        guard !new.asked.isEmpty else {
            try take(step, past: line.patches, &new)
            writing = new
            return true
        }
        new.steps.append(step)
        writing = new
        try settle()
        return true
    }

    /// Takes up what the node has told, once it is known what of it is the editor's own.
    private mutating func settle() throws(NodeError) {
        guard var new = writing, let answer = new.answer else { return }
        // Where the editor's own change is among the reported steps, and how many steps it takes.
        let place: (index: Int, count: Int)?
        if answer.from == answer.to {
            let before = new.steps.lastIndex { $0.to == answer.to }
            place =
                answer.to == version ? (0, 0) : before.map { (index: $0 + 1, count: 0) }
        } else {
            place = new.steps.firstIndex { $0.from == answer.from && $0.to == answer.to }
                .map { (index: $0, count: 1) }
        }
        guard let (index, count) = place else { return }
        for step in new.steps[..<index] {
            let met = try Self.carried(new.asked, past: step.line.patches)
            new.asked = met.ours
            try take(step, past: met.theirs, &new)
        }
        for step in new.steps[index..<index + count] {
            Self.apply(step.line.patches, to: &text)
            version = step.to
        }
        for step in new.steps[(index + count)...] { try take(step, past: step.line.patches, &new) }
        (new.asked, new.steps, new.answer) = ([], [], nil)
        writing = new
        if new.rest.isEmpty { finish(new) }
    }

    /// Takes up a step of somebody else.
    ///
    /// - Parameter patches: what it changed, of the text after what the node was asked.
    private mutating func take(
        _ step: Step, past patches: [NotePatch], _ new: inout Writing
    ) throws(NodeError) {
        let met = try Self.carried(new.rest, past: patches)
        Self.apply(step.line.patches, to: &text)
        version = step.to
        (new.rest, new.theirs) = (met.ours, new.theirs + met.theirs)
        if !met.theirs.isEmpty { new.authors.append(step.line.author) }
    }

    private static func carried(
        _ ours: [NotePatch], past theirs: [NotePatch]
    ) throws(NodeError) -> (ours: [NotePatch], theirs: [NotePatch]) {
        guard let met = NotePatch.carried(ours, past: theirs) else { throw .noteTooFarApart }
        return met
    }

    // MARK: Reading again

    /// The text was read again: something was not told, or the node was away.
    ///
    /// - Throws: `conflict` where too much has changed meanwhile.
    public mutating func reread(text now: String, version: String) throws(NodeError) {
        let now = Array(now.unicodeScalars)
        isBehind = true
        self.version = version
        guard var new = writing else {
            let patches = Self.difference(from: text, to: now)
            text = now
            return say(patches, by: [])
        }
        // Steps that were reported and not applied yet are part of the text that was read.
        let isMade = new.answer != nil || shows(new.asked, now)
        if isMade { Self.apply(new.asked, to: &text) }
        let met = try Self.carried(
            isMade ? new.rest : new.asked + new.rest, past: Self.difference(from: text, to: now))
        text = now
        (new.asked, new.steps, new.answer) = ([], [], nil)
        (new.rest, new.theirs) = (met.ours, new.theirs + met.theirs)
        if !met.theirs.isEmpty { new.authors.append(.null) }
        writing = new
        if new.rest.isEmpty { finish(new) }
    }

    /// Whether a text shows that changes were made although no answer said so: it was lost.
    private func shows(_ patches: [NotePatch], _ now: [Unicode.Scalar]) -> Bool {
        guard !patches.isEmpty else { return false }
        func distance(_ text: [Unicode.Scalar]) -> Int {
            Self.difference(from: text, to: now).reduce(0) { $0 + $1.deleted + $1.insertedCount }
        }
        var after = text
        Self.apply(patches, to: &after)
        return distance(after) < distance(text)
    }
}
