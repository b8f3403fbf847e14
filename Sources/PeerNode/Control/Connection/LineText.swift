import WorkspaceModel

/// A text behind the line of the call that writes it, because a line is too short for it.
///
/// It is part of the call: the call runs once all of it is here, and until it is answered no other
/// request of the connection is taken. So a connection holds one text at most.
struct LineText {
    private enum Stage {
        /// It is still to come, and then belongs to this request.
        case coming(RequestEnvelope)
        /// The call with this number has it.
        case given(UInt64)
    }

    /// How long it is, in bytes.
    let byteCount: Int
    private var stage: Stage

    /// The text that a request announces.
    ///
    /// - Parameter room: how many bytes may come, over this connection and at this time.
    /// - Throws: why it is not taken. Then nothing behind the line can be read.
    init(announcedBy request: RequestEnvelope, room: Int) throws(NodeError) {
        let count = try LineFile.announced(by: request.parameters)
        guard count <= Int64(Limits.noteTextPerCallBytesMax) else { throw .noteTooLarge }
        guard count <= Int64(room) else { throw .tooManyTexts }
        (byteCount, stage) = (Int(count), .coming(request))
    }

    /// The request that waits for it.
    var awaiting: RequestEnvelope? {
        if case .coming(let request) = stage { request } else { nil }
    }

    /// Its call was handed out with it.
    mutating func give(to call: UInt64) { stage = .given(call) }

    /// Whether this call has it.
    func isGiven(to call: UInt64) -> Bool {
        if case .given(call) = stage { true } else { false }
    }

    /// Whether a text follows the line of a call.
    ///
    /// - Parameter parameters: from outside, and not checked yet.
    static func follows(_ method: String, _ parameters: JSONObject) -> Bool {
        NoteCommandTable.takersOfTexts.contains(method)
            && !(parameters["bytes"] ?? .null).isNull
    }
}

extension NodeError {
    /// The texts that come now are as much as may be kept of them in memory.
    fileprivate static let tooManyTexts = NodeError(
        .busy, "several other long texts are being written at this moment", hint: "try again",
        reason: "control.busy")
    /// The connection ended before all of a text was there.
    static let textCut = NodeError(
        .badRequest, "the text is shorter than announced",
        hint: "announce the size that it has", reason: "control.text_cut",
        fields: [.init(name: "bytes", reason: ParameterMismatch.range.rawValue)])
}
