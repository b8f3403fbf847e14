public import WorkspaceModel

/// A file that is transferred over a line-based connection, after the line that announces it.
///
/// During the transfer no other request of the connection is accepted, and answers to earlier ones
/// wait, so no line is ever sent between its bytes.
struct LineFile {
    private enum Stage {
        /// The answer is awaited; then bytes may follow it.
        case asked
        /// So many bytes are still to come, and the worker takes them.
        case coming(left: Int64)
        /// This many bytes are still expected, and are discarded.
        case unwanted(left: Int64)
        /// All of it came, and the answer is awaited.
        case came
        /// So many bytes are still to be sent.
        case going(left: Int64)
        /// Nothing is left of it.
        case over
    }

    /// The number of its call.
    let call: UInt64
    private var stage: Stage
    /// Lines that wait until all of the file was sent.
    private(set) var held: [UInt8] = []

    /// A file that is asked for.
    init(askedBy call: UInt64) { (self.call, stage) = (call, .asked) }

    /// A file of this many bytes that is being uploaded.
    init(_ byteCount: Int64, handedInBy call: UInt64) {
        self.call = call
        stage = byteCount > 0 ? .coming(left: byteCount) : .came
    }

    /// How many bytes follow the line of a request that hands in a file.
    ///
    /// - Parameter parameters: from outside, and not checked yet.
    /// - Throws: `bad_request` where that cannot be known, so that nothing behind the line can be read.
    static func announced(by parameters: JSONObject) throws(NodeError) -> Int64 {
        guard let count = parameters["bytes"]?.integerValue,
            (0...Limits.filePositionMax).contains(count)
        else {
            throw NodeError(
                .badRequest, "'bytes' must say how many bytes follow the line",
                hint: "the connection ends: what follows cannot be told from lines",
                reason: "file.bad_length", fields: [.init(name: "bytes", reason: "form")])
        }
        return count
    }

    // MARK: What it is at

    /// Whether bytes of it are to come, wanted or not.
    var isComing: Bool { missing > 0 }

    /// Whether bytes of it have to be sent.
    var isGoing: Bool {
        if case .going = stage { return true }
        return false
    }

    /// Whether the next line is not part of it.
    var isOver: Bool {
        if case .over = stage { return true }
        return false
    }

    /// Bytes that are still to come.
    var missing: Int64 {
        switch stage {
        case .coming(let left), .unwanted(let left): left
        case .asked, .came, .going, .over: 0
        }
    }

    // MARK: Bytes

    /// The bytes that have arrived for the worker.
    mutating func take(from splitter: inout LineSplitter) -> [UInt8] {
        guard case .coming(let left) = stage else { return [] }
        let bytes = splitter.raw(Int(clamping: left))
        let rest = left - Int64(bytes.count)
        stage = rest > 0 ? .coming(left: rest) : .came
        return bytes
    }

    /// Discards bytes that are not wanted.
    ///
    /// - Returns: whether there was any.
    mutating func drop(from splitter: inout LineSplitter) -> Bool {
        guard case .unwanted(let left) = stage else { return false }
        let count = splitter.raw(Int(clamping: left)).count
        let rest = left - Int64(count)
        stage = rest > 0 ? .unwanted(left: rest) : .over
        return count > 0
    }

    /// Sends the next bytes of it on.
    ///
    /// - Returns: whether anybody waits for them.
    mutating func give(_ bytes: [UInt8], to output: inout [UInt8]) -> Bool {
        guard case .going(let left) = stage, bytes.count <= left else { return false }
        output += bytes
        let rest = left - Int64(bytes.count)
        stage = rest > 0 ? .going(left: rest) : .over
        return true
    }

    // MARK: Answers

    /// Its call is answered, just now.
    mutating func answered(_ answer: Result<JSONValue, NodeError>) {
        switch (stage, answer) {
        case (.asked, .success(let value)):
            let count = value["bytes"]?.integerValue ?? 0
            stage = count > 0 ? .going(left: count) : .over
        case (.coming(let left), _): stage = .unwanted(left: left)
        case (.unwanted, _): break
        case (.asked, _), (.came, _), (.going, _), (.over, _): stage = .over
        }
    }

    /// Nothing more comes: what is missing never will.
    mutating func endOfInput() {
        if isComing { stage = .over }
    }

    /// Keeps a line until all of the file was sent.
    mutating func hold(_ line: [UInt8]) { held += line }

    /// The lines that were kept.
    mutating func takeHeld() -> [UInt8] {
        defer { held = [] }
        return held
    }
}

extension Command {
    /// Whether bytes of a file or a text go with a call, behind its line or its answer.
    ///
    /// - Parameter parameters: from outside, and not checked yet.
    public static func carriesFile(_ method: String, _ parameters: JSONObject) -> Bool {
        shape(of: method) == .fileBody || LineText.follows(method, parameters)
            || method == FileMethods.readOrSave && (parameters["folder"] ?? .null).isNull
    }

    /// Whether those bytes come with the request.
    static func takesFile(_ method: String) -> Bool { method == FileBodyMethods.putName }
}
