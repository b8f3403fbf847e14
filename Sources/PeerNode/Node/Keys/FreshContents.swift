import WorkspaceModel

/// What was opened when it was taken in this turn, for whoever reads it again before its effects are
/// carried out: the answer of the call that wrote it, the event, the index of the search.
///
/// A payload is the key beside the number, so nothing is ever found for an operation whose bytes have
/// gone or are others by now. It is empty while the node waits, and takes no part in what is shown.
struct FreshContents {
    private var contents: [Int64: (payload: [UInt8], content: ContentPayload)] = [:]

    /// Keeps what an operation says, while there is room.
    ///
    /// - Parameter payload: as it is stored, sealed.
    mutating func note(_ content: ContentPayload, of payload: [UInt8], arrival: Int64) {
        guard contents.count < Limits.freshContentsMax else { return }
        contents[arrival] = (payload, content)
    }

    /// What was opened of exactly this payload; `nil` where it has to be opened.
    func content(of payload: [UInt8], arrival: Int64) -> ContentPayload? {
        guard let known = contents[arrival], known.payload == payload else { return nil }
        return known.content
    }

    var isEmpty: Bool { contents.isEmpty }

    mutating func forget() {
        guard !isEmpty else { return }
        contents.removeAll(keepingCapacity: true)
    }
}
