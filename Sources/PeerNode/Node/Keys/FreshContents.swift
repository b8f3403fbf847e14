import WorkspaceModel

/// Content that was decrypted when it was accepted in this turn, for those who read it again before
/// the effects of the turn are carried out: the answer of the call that wrote it, the event, and
/// the search index.
///
/// The payload is part of the key, so nothing is ever found for an operation whose bytes were
/// erased or replaced. It is empty between turns, and does not affect what is displayed.
struct FreshContents {
    private var contents: [Int64: (payload: [UInt8], content: ContentPayload)] = [:]
    /// A message that was sealed here and is about to be stored.
    private var written: (payload: [UInt8], content: ContentPayload)?

    /// Keeps what an operation says, while there is room.
    ///
    /// - Parameter payload: the stored, sealed payload.
    mutating func note(_ content: ContentPayload, of payload: [UInt8], arrival: Int64) {
        guard contents.count < Limits.freshContentsMax else { return }
        contents[arrival] = (payload, content)
    }

    /// Keeps a message that this device has just sealed: it need not be opened to be folded.
    mutating func noteWritten(_ content: ContentPayload, as payload: [UInt8]) {
        if case .message = content { written = (payload, content) }
    }

    /// The content that was sealed into exactly this payload just now; returned once.
    mutating func takeWritten(_ payload: [UInt8]) -> ContentPayload? {
        guard let written else { return nil }
        self.written = nil
        return written.payload == payload ? written.content : nil
    }

    /// The content that was opened from exactly this payload; `nil` where it has to be opened.
    func content(of payload: [UInt8], arrival: Int64) -> ContentPayload? {
        guard let known = contents[arrival], known.payload == payload else { return nil }
        return known.content
    }

    var isEmpty: Bool { contents.isEmpty }

    mutating func forget() {
        written = nil
        guard !isEmpty else { return }
        contents.removeAll(keepingCapacity: true)
    }
}
