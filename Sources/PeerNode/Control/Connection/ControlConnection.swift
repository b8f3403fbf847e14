import BlobStore
public import WorkspaceModel

/// One connection to the control socket, without the socket: bytes in, requests out; answers in,
/// bytes out.
///
/// It speaks JSON-RPC line by line, or HTTP if it begins with an HTTP method: then it carries one
/// request and its answer, or a stream of events. The bytes of a file follow the line that uploads
/// it, or the answer to the request for it. Those of a long text follow the line of the request that
/// writes it.
///
/// The owner of the file descriptor passes in what was read, runs the requests in order inside a
/// turn, and passes in the answers after the turn's COMMIT. It reads only while `wantsInput` is
/// true and closes when `isFinished` is, so memory stays bounded whatever the peer does. Before a
/// request arrives, the only thing written is why none is accepted.
public struct ControlConnection {
    /// The number under which the owner keeps it.
    public let id: UInt64

    /// Bytes that were read before the protocol is known; `nil` from then on.
    private var opening: [UInt8]? = []
    /// The one request of a connection that speaks HTTP.
    private var exchange: HTTPExchange?
    private var splitter = LineSplitter()
    /// The file that goes over a connection of lines just now.
    private var file: LineFile?
    /// The text that a request has announced, until that is answered.
    private var text: LineText?
    /// Requests handed out and not yet answered, with the ids to be echoed.
    private var waiting: [UInt64: JSONValue?] = [:]
    private var lastNumber: UInt64 = 0
    private var output: [UInt8] = []
    private var sentCount = 0
    private var hasInputEnded = false
    private var hasHungUp = false
    private var isBroken = false

    /// Streams of events that are open on it. The owner counts, for the node knows them.
    public var openSubscriptions = 0

    /// How many bytes of a text may come, as far as texts on other connections leave room.
    public var textRoom = Limits.noteTextPerCallBytesMax
    /// How many bytes of a text come, or are held by a call that is not answered yet.
    public var textByteCount: Int { text?.byteCount ?? 0 }

    /// A connection that nothing was read from.
    public init(id: UInt64) { self.id = id }

    // MARK: Reading

    /// Whether the owner should read from the socket now.
    public var wantsInput: Bool {
        guard !hasInputEnded, !isBroken else { return false }
        if let file {
            return file.isComing && splitter.storedCount < Limits.fileUntakenBytesMax
        }
        if let text, text.awaiting != nil { return splitter.storedCount < text.byteCount }
        return hasRoom && exchange?.wantsInput != false
            && (hasHungUp || splitter.storedCount <= Self.storedInputMax)
    }

    /// Whether a request was begun whose rest is still to come.
    public var awaitsRest: Bool {
        guard wantsInput else { return false }
        if let opening { return !opening.isEmpty }
        if let file { return file.isComing }
        if text?.awaiting != nil { return true }
        return exchange?.wantsInput ?? !splitter.isEmpty
    }

    /// How many lines or requests were taken from what was read, good or bad.
    public private(set) var takenCount: UInt64 = 0

    /// Whether another request may be taken from what was read.
    private var hasRoom: Bool {
        hasHungUp
            || waiting.count < Limits.controlRequestsPendingMax
                && unsentCount < Limits.controlUnsentBytesMax
    }

    /// Two lines: the one that is being read, and what came with its end.
    private static let storedInputMax = 2 * Limits.controlLineBytesMax

    /// Takes what was read. Call `nextRequest()` until it gives `nil` afterwards.
    public mutating func receive(_ bytes: [UInt8]) {
        guard !isBroken, !hasInputEnded else { return }
        guard let opening else { return take(bytes) }
        let start = opening + bytes
        let speaksHTTP = HTTPExchange.recognises(start)
        self.opening = speaksHTTP == nil ? start : nil
        if speaksHTTP == true { exchange = HTTPExchange() }
        if speaksHTTP != nil { take(start) }
    }

    private mutating func take(_ bytes: [UInt8]) {
        if exchange == nil { splitter.append(bytes) } else { exchange?.receive(bytes) }
    }

    /// The other side will send nothing more, and may still be reading.
    public mutating func endOfInput() {
        hasInputEnded = true
        if let opening { splitter.append(opening) }
        opening = nil
        if let file, file.missing > Int64(splitter.storedCount) {
            // The rest of a file never arrives. The client that uploads it may still read why.
            self.file = nil
            _ = splitter.raw(splitter.storedCount)
            answer(
                CallID(connection: id, number: file.call),
                .failure(NodeError(BlobError.tooShort, file: "the file")))
        }
        splitter.end()
        exchange?.endOfInput(&output)
    }

    /// The client has disconnected and reads no answer. Its earlier requests still count, however
    /// many: all of them are in the kernel's buffer, which bounds them.
    public mutating func hangUp() {
        hasHungUp = true
        output = []
        sentCount = 0
    }

    /// The next request, or `nil` while there is none or too many wait.
    ///
    /// Lines that are no request are answered here. Also to be called after answers, which make
    /// room for what was read before.
    public mutating func nextRequest() -> ControlRequest? {
        if exchange != nil { return nextOverHTTP() }
        while !isBroken, isFree(), hasRoom {
            if text != nil { return takeText() }
            switch splitter.next() {
            case .none: return nil
            case .tooLong:
                takenCount += 1
                refuse(.lineTooLong, id: .null)
                isBroken = true
            case .line(let line):
                takenCount += 1
                do throws(RequestEnvelope.Refusal) {
                    if let request = try begin(RequestEnvelope(line)) { return request }
                } catch { refuse(error.error, id: error.id) }
            }
        }
        return nil
    }

    /// The request of a line; `nil` where there is nothing to do.
    private mutating func begin(
        _ envelope: RequestEnvelope
    ) throws(RequestEnvelope.Refusal) -> ControlRequest? {
        if LineText.follows(envelope.method, envelope.parameters) {
            do throws(NodeError) {
                text = try LineText(announcedBy: envelope, room: textRoom)
            } catch {
                isBroken = true
                throw .init(error: error, id: envelope.id ?? .null)
            }
            return takeText()
        }
        if Command.carriesFile(envelope.method, envelope.parameters) {
            guard Command.takesFile(envelope.method) else {
                // Without an id nothing is answered, so no bytes can follow an answer.
                if envelope.id == nil { return nil }
                file = LineFile(askedBy: lastNumber + 1)
                return handOut(envelope)
            }
            do throws(NodeError) {
                let count = try LineFile.announced(by: envelope.parameters)
                // A small file that is here already needs no worker, and nobody waits for it.
                if count <= Int64(Limits.inlineFileBytesMax), splitter.storedCount >= count {
                    return handOut(envelope, file: splitter.raw(Int(count)))
                }
                file = LineFile(count, handedInBy: lastNumber + 1)
            } catch {
                isBroken = true
                throw .init(error: error, id: envelope.id ?? .null)
            }
        }
        return handOut(envelope)
    }

    /// The request that waits for a text, once all of that is here.
    private mutating func takeText() -> ControlRequest? {
        guard let text, let envelope = text.awaiting else { return nil }
        guard splitter.storedCount >= text.byteCount else {
            guard hasInputEnded else { return nil }
            // The rest never comes. The client may still read why nothing was written.
            self.text = nil
            _ = splitter.raw(splitter.storedCount)
            refuse(.textCut, id: envelope.id ?? .null)
            return nil
        }
        let request = handOut(envelope, file: splitter.raw(text.byteCount))
        self.text?.give(to: request.call.number)
        return request
    }

    private mutating func handOut(
        _ envelope: RequestEnvelope, file: [UInt8]? = nil
    ) -> ControlRequest {
        lastNumber += 1
        waiting.updateValue(envelope.id, forKey: lastNumber)
        return ControlRequest(
            call: CallID(connection: id, number: lastNumber), method: envelope.method,
            parameters: envelope.parameters, file: file)
    }

    /// Whether the next line may be read: no file is under way.
    private mutating func isFree() -> Bool {
        guard file != nil else { return true }
        if file?.drop(from: &splitter) == true { takenCount += 1 }
        releaseFile()
        return file == nil
    }

    /// Goes on with lines once nothing is left of a file.
    private mutating func releaseFile() {
        guard file?.isOver == true else { return }
        output += file?.takeHeld() ?? []
        file = nil
    }

    private mutating func nextOverHTTP() -> ControlRequest? {
        guard !isBroken, let call = exchange?.next(&output) else { return nil }
        lastNumber += 1
        waiting.updateValue(nil, forKey: lastNumber)
        return ControlRequest(
            call: CallID(connection: id, number: lastNumber), method: call.method,
            parameters: call.parameters)
    }

    // MARK: Answering

    /// Answers a request. An answer to one that does not wait, or that had no id, is dropped.
    public mutating func answer(_ call: CallID, _ answer: Result<JSONValue, NodeError>) {
        guard call.connection == id, let expected = waiting.removeValue(forKey: call.number)
        else { return }
        if text?.isGiven(to: call.number) == true { text = nil }
        if exchange != nil {
            exchange?.answer(answer, &output)
            return
        }
        if let requestID = expected {
            switch answer {
            case .success(let value): append("result", value, id: requestID)
            case .failure(let error): append("error", error.json, id: requestID)
            }
        }
        guard file?.call == call.number else { return }
        file?.answered(answer)
        // The rest of a refused upload is read and discarded, up to a limit.
        if let missing = file?.missing, missing > Limits.fileUnwantedBytesMax { isBroken = true }
        releaseFile()
    }

    /// Sends an event to the client.
    ///
    /// - Parameter subscription: its number on this connection.
    public mutating func notify(subscription: Int64, _ event: EventObject) {
        if exchange != nil {
            exchange?.notify(event, &output)
            return
        }
        // The number is followed by the members of the event, as they were encoded.
        let members = event.line ?? event.json.bytes
        var line = Self.eventStart
        line.reserveCapacity(line.count + members.count + 32)
        line.append(contentsOf: String(subscription).utf8)
        line.append(UInt8(ascii: ","))
        line.append(contentsOf: members.dropFirst())
        line.append(contentsOf: "}\n".utf8)
        write(line)
    }

    private static let eventStart = Array(
        #"{"jsonrpc":"2.0","method":"event","params":{"subscription":"#.utf8)

    /// Whether a request was handed out and not answered yet.
    public var isWaiting: Bool { !waiting.isEmpty }

    /// Ends the connection with a failure that belongs to no request, such as `slow_reader`.
    public mutating func close(because error: NodeError) {
        if exchange != nil {
            exchange?.close(because: error, &output)
        } else if !isBroken {
            refuse(error, id: .null)
        }
        isBroken = true
    }

    private mutating func refuse(_ error: NodeError, id: JSONValue) {
        append("error", error.json, id: id)
    }

    private mutating func append(_ member: String, _ value: JSONValue, id: JSONValue) {
        var line = Self.line(.object(["jsonrpc": "2.0", "id": id, member: value]))
        // Calls that waited are answered all at once, whatever is unread.
        let unread = unsentCount + (file?.held.count ?? 0)
        let isUnread = unread > 2 * Limits.controlUnsentBytesMax && line.count > 64 * 1024
        if isUnread || line.count > Limits.controlLineBytesMax + 1 {
            let error = isUnread ? NodeError.unreadAnswers : .answerTooLong
            line = Self.line(["jsonrpc": "2.0", "id": id, "error": error.json])
        }
        write(line)
    }

    /// Writes a line, behind the file that is being sent.
    private mutating func write(_ line: [UInt8]) {
        if file?.isGoing == true { file?.hold(line) } else { output += line }
    }

    private static func line(_ value: JSONValue) -> [UInt8] {
        var line: [UInt8] = []
        value.append(to: &line)
        line.append(UInt8(ascii: "\n"))
        return line
    }

    // MARK: Files

    /// Whether a file may be under way over it.
    public var hasFile: Bool { file != nil || exchange != nil }

    /// Whether bytes of a file are to follow an answer.
    public var isSendingFile: Bool {
        !isBroken && (exchange?.isSending == true || file?.isGoing == true)
    }

    /// Sends the next bytes of a file on.
    ///
    /// - Returns: whether anybody waits for them. If not, the rest is not to be read.
    public mutating func give(_ bytes: [UInt8]) -> Bool {
        guard !isBroken, !hasHungUp else { return false }
        guard exchange == nil else { return exchange?.give(bytes, &output) == true }
        guard file?.give(bytes, to: &output) == true else { return false }
        releaseFile()
        return true
    }

    /// The bytes of a file that have arrived since the last call, for an uploading request.
    public mutating func takeFile() -> [UInt8] {
        guard !isBroken else { return [] }
        let bytes =
            exchange == nil
            ? file?.take(from: &splitter) ?? [] : exchange?.takeFile(&output) ?? []
        guard !bytes.isEmpty else { return [] }
        // As long as bytes come, the request is not slow.
        takenCount += 1
        return bytes
    }

    /// Ends the answer before all of a file was sent: its reader sees that it is too short.
    public mutating func cutFile() {
        guard isSendingFile else { return }
        output = []
        sentCount = 0
        isBroken = true
    }

    // MARK: Writing

    /// The bytes that have to be written to the socket.
    public var unsent: ArraySlice<UInt8> { output[sentCount...] }

    /// How much that is. A stream of events waits while it is above `Limits.controlUnsentBytesMax`.
    public var unsentCount: Int { output.count - sentCount }

    /// Notes that the first `count` bytes of `unsent` were written.
    public mutating func didSend(_ count: Int) {
        precondition((0...unsentCount).contains(count), "sent \(count) of \(unsentCount) bytes")
        sentCount += count
        if sentCount == output.count {
            output.removeAll(keepingCapacity: output.count <= 64 * 1024)
            sentCount = 0
        } else if sentCount > output.count / 2 {
            output.removeFirst(sentCount)
            sentCount = 0
        }
    }

    /// Whether everything asked was answered and written, and nothing more can come.
    public var isFinished: Bool {
        guard unsentCount == 0 else { return false }
        if let exchange, !isBroken {
            return exchange.isFinished(
                hasInputEnded: hasInputEnded, hasSubscription: openSubscriptions > 0)
        }
        return isBroken
            || (hasInputEnded && file == nil && text == nil && splitter.isEmpty && waiting.isEmpty
                && openSubscriptions == 0)
    }
}
