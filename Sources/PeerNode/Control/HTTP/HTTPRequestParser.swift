import WorkspaceModel

/// Parses one HTTP/1.1 request from bytes that arrive in arbitrary pieces.
///
/// It examines each byte once, stores no more than `Limits` allow, and gives the same request, or
/// the same refusal, however the bytes were split. Bytes after the request are dropped: a
/// connection carries one.
struct HTTPRequestParser {
    /// The result of the bytes so far.
    enum Progress: Equatable {
        case needsMore
        case request(HTTPRequest)
        case refused(HTTPResponse)
    }

    private enum Stage {
        case head
        case body(left: Int)
        case chunkSize
        case chunk(left: Int)
        case chunkEnd
        case trailers
        /// The request was given out, and the bytes of its body are taken one part after the other.
        case file(left: Int)
        case over
    }

    private var bytes: [UInt8] = []
    private var start = 0
    private var scanned = 0
    private var stage = Stage.head
    private var head = HTTPHead()
    private var request: HTTPRequest?
    /// Bytes that lines of this stage may still have.
    private var allowance = Limits.httpHeadBytesMax
    /// Whether to send `100 Continue` if the body does not arrive by itself.
    private var owesContinue = false
    private var hasEnded = false

    /// Bytes of a refused body that are still expected; they are read so that the client reads the
    /// refusal.
    private(set) var discardableCount = 0

    /// Takes what was read.
    mutating func append(_ more: [UInt8]) {
        if case .over = stage {
            discardableCount -= min(discardableCount, more.count)
        } else {
            bytes.append(contentsOf: more)
        }
    }

    /// Nothing more will come: a request that is not whole by now is refused.
    mutating func end() { hasEnded = true }

    /// Whether the client waits for `100 Continue`; reported once.
    mutating func takeContinue() -> Bool {
        defer { owesContinue = false }
        return owesContinue
    }

    /// The request as soon as it is whole, or why it is refused; once.
    mutating func next() -> Progress {
        do throws(HTTPResponse) {
            while true {
                if case .over = stage { return .needsMore }
                guard try step() else { break }
                guard let request else { continue }
                switch stage {
                case .over, .file: return .request(request)
                default: break
                }
            }
            bytes.removeFirst(start)
            scanned -= start
            start = 0
            if hasEnded { throw .malformed("the request ends early") }
            return .needsMore
        } catch {
            stage = .over
            owesContinue = false
            bytes = []
            return .refused(error)
        }
    }

    /// Does what the bytes allow in one stage.
    ///
    /// - Returns: `false` if more bytes are needed.
    private mutating func step() throws(HTTPResponse) -> Bool {
        switch stage {
        case .head:
            guard let line = try line() else { return false }
            if line.isEmpty { try finishHead() } else { try head.take(line) }
        case .body(let left):
            let taken = take(left)
            stage = .body(left: left - taken)
            if left > taken { return false }
            finish()
        case .chunkSize:
            guard let line = try line() else { return false }
            try beginChunk(line)
        case .chunk(let left):
            let taken = take(left)
            stage = .chunk(left: left - taken)
            if left > taken { return false }
            enter(.chunkEnd, allowing: 2)
        case .chunkEnd:
            guard let line = try line() else { return false }
            guard line.isEmpty else { throw .malformed("a chunk is longer than it says") }
            enter(.chunkSize, allowing: Limits.httpChunkLineBytesMax)
        case .trailers:
            guard let line = try line() else { return false }
            if line.isEmpty { finish() }
        case .file, .over: return false
        }
        return true
    }

    private mutating func enter(_ next: Stage, allowing count: Int) {
        stage = next
        allowance = count
    }

    private mutating func finish() {
        stage = .over
        bytes = []
    }

    // MARK: Head

    private mutating func finishHead() throws(HTTPResponse) {
        let request = try head.finished()
        self.request = request
        let framing = try HTTPHead.framing(of: request)
        let waits = try HTTPHead.expectsContinue(request)
        let coding = request.field("content-encoding") ?? "identity"
        guard HTTPText.lowercased(coding.utf8) == "identity" else {
            throw .refused(415, .unsupported, "a body must not be compressed", "http.encoding")
        }
        if HTTPCall.takesFile(request) { return try beginFile(framing, of: request, waits: waits) }
        switch framing {
        case .length(0): finish()
        case .length(let count):
            guard count <= Limits.httpBodyBytesMax else {
                let rest = count - min(count, bytes.count - start)
                // A client that waits for `100 Continue` sends no body after this response.
                discardableCount = waits || rest > Limits.httpDiscardedBytesMax ? 0 : rest
                throw .bodyTooLarge
            }
            stage = .body(left: count)
            owesContinue = waits
        case .chunks:
            enter(.chunkSize, allowing: Limits.httpChunkLineBytesMax)
            owesContinue = waits
        }
    }

    // MARK: Body

    private mutating func beginChunk(_ line: ArraySlice<UInt8>) throws(HTTPResponse) {
        let digits = line.prefix { Hexadecimal.value(ofDigit: $0) != nil }
        let rest = line.dropFirst(digits.count).drop { $0 == 0x20 || $0 == 0x09 }
        guard (1...8).contains(digits.count), rest.isEmpty || rest.first == UInt8(ascii: ";")
        else { throw .malformed("a chunk starts with its size in at most 8 hex digits") }
        let size = digits.reduce(0) { $0 << 4 | Int(Hexadecimal.value(ofDigit: $1) ?? 0) }
        guard size > 0 else { return enter(.trailers, allowing: Limits.httpHeadBytesMax) }
        guard (request?.body.count ?? 0) + size <= Limits.httpBodyBytesMax else {
            discardableCount = Limits.httpDiscardedBytesMax
            throw .bodyTooLarge
        }
        stage = .chunk(left: size)
    }

    /// Moves up to `count` bytes into the body, and says how many there were.
    private mutating func take(_ count: Int) -> Int {
        let taken = min(count, bytes.count - start)
        request?.body.append(contentsOf: bytes[start..<start + taken])
        start += taken
        scanned = max(scanned, start)
        return taken
    }

    // MARK: Files

    /// A file may be longer than memory, so it is not gathered here.
    private mutating func beginFile(
        _ framing: HTTPHead.Framing, of request: HTTPRequest, waits: Bool
    ) throws(HTTPResponse) {
        guard case .length(let count) = framing, request.field("content-length") != nil else {
            if framing == .chunks, !waits { discardableCount = Limits.httpDiscardedBytesMax }
            throw .refused(
                411, .badRequest, "the length of a file must be known in advance",
                "http.length", hint: "send Content-Length")
        }
        self.request?.fileByteCount = count
        stage = .file(left: count)
        owesContinue = waits
    }

    /// Bytes of a file that are not here yet.
    var missingFileBytes: Int {
        guard case .file(let left) = stage else { return 0 }
        return left - min(left, bytes.count - start)
    }

    /// Bytes of a file that are here and that nobody has taken.
    var untakenFileBytes: Int {
        guard case .file(let left) = stage else { return 0 }
        return min(left, bytes.count - start)
    }

    /// Whether the file ends before its length.
    var endsEarly: Bool { hasEnded && missingFileBytes > 0 }

    /// The next bytes of a file, as far as they are here.
    ///
    /// - Throws: the refusal of a file that is longer than announced; then its last bytes are not
    ///   returned, so that it is not taken for complete.
    mutating func takeFile() throws(HTTPResponse) -> [UInt8] {
        guard case .file(let left) = stage else { return [] }
        let stored = bytes.count - start
        guard stored <= left else {
            throw .refused(
                400, .badRequest, "the body is longer than announced", "file.too_long")
        }
        let part = [UInt8](bytes[start...])
        (bytes, start, scanned) = ([], 0, 0)
        stage = .file(left: left - stored)
        return part
    }

    /// Discards the rest of a file that was answered before its end.
    mutating func dropFile() {
        guard case .file = stage else { return }
        let rest = missingFileBytes
        discardableCount = owesContinue || rest > Limits.httpDiscardedBytesMax ? 0 : rest
        finish()
    }

    // MARK: Lines

    /// The next line without its end, or `nil` if it is not whole yet.
    private mutating func line() throws(HTTPResponse) -> ArraySlice<UInt8>? {
        while scanned < bytes.count, bytes[scanned] != 0x0A { scanned += 1 }
        let isWhole = scanned < bytes.count
        let count = scanned - start + (isWhole ? 1 : 0)
        guard count <= allowance else {
            if case .chunkEnd = stage { throw .malformed("a chunk is longer than it says") }
            throw .refused(
                431, .tooLarge, "the header is longer than \(Limits.httpHeadBytesMax) bytes",
                "http.head")
        }
        guard isWhole else { return nil }
        allowance -= count
        var line = bytes[start..<scanned]
        scanned += 1
        start = scanned
        if line.last == 0x0D { line.removeLast() }
        guard !line.contains(0x0D), !line.contains(0) else {
            throw .malformed("a line contains bytes that are not text")
        }
        return line
    }
}
