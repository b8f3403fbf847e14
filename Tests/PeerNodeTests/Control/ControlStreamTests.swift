import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// How a control connection handles a byte stream, however it arrives and is answered.
struct `A stream of control requests` {
    private func line(_ id: Int, _ method: String = "node.version") -> String {
        #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)"}"#
    }

    /// What can be read from the connection, as lines.
    private func written(_ connection: inout ControlConnection) -> [String] {
        let bytes = Array(connection.unsent)
        connection.didSend(bytes.count)
        return bytes.split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Lines of every kind, good and bad, with every end of a line.
    private func stream(_ random: inout SeededGenerator) -> [UInt8] {
        var bytes: [UInt8] = []
        for id in 0..<(1 + random.below(12)) {
            switch random.below(8) {
            case 0: bytes += [UInt8]("{\"broken\":".utf8)
            case 1: bytes += [UInt8]("  \t ".utf8)
            case 2: bytes += random.bytes(random.below(20)).filter { $0 != 0x0A }
            case 3: bytes += [UInt8](line(id, "no.such").utf8)
            case 4: bytes += [UInt8]("[\(line(id))]".utf8)
            default: bytes += [UInt8](line(id).utf8)
            }
            bytes += random.oneIn(3) ? [0x0D, 0x0A] : [0x0A]
        }
        // The last line may lack its end.
        if random.oneIn(2) { bytes += [UInt8](line(99).utf8) }
        return bytes
    }

    /// What was asked and what was answered when the stream comes in these pieces.
    private func served(_ pieces: [ArraySlice<UInt8>]) -> (asked: [String], answers: [String]) {
        var connection = ControlConnection(id: 1)
        var asked: [String] = []
        var answers: [String] = []
        func serve() {
            while let request = connection.nextRequest() {
                asked.append("\(request.call.number) \(request.method)")
                connection.answer(request.call, .success(.string(request.method)))
            }
            answers += written(&connection)
        }
        for piece in pieces {
            connection.receive(Array(piece))
            serve()
        }
        connection.endOfInput()
        serve()
        #expect(connection.isFinished)
        return (asked, answers)
    }

    @Test(arguments: Seeds.explore(30))
    func `means the same wherever it is cut`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let bytes = stream(&random)
        let whole = served([bytes[...]])
        for _ in 0..<5 {
            let cut = served(RandomCuts.parts(of: bytes, upTo: [2, 59], using: &random))
            #expect(cut.asked == whole.asked, "WSX_SEED=\(seed)")
            #expect(cut.answers == whole.answers, "WSX_SEED=\(seed)")
        }
    }

    @Test(arguments: Seeds.explore(20))
    func `answers each request once under its own id, in whatever order answers come`(
        _ seed: UInt64
    ) throws {
        var random = SeededGenerator(seed: seed)
        var connection = ControlConnection(id: 5)
        let count = 1 + random.below(60)
        connection.receive((0..<count).flatMap { [UInt8]((line($0) + "\n").utf8) })
        var calls: [CallID] = []
        while let request = connection.nextRequest() { calls.append(request.call) }
        #expect(calls.map(\.number) == (1...UInt64(count)).map { $0 }, "WSX_SEED=\(seed)")
        let order = calls.shuffled(using: &random)
        for call in order {
            connection.answer(call, .success(.integer(Int64(call.number))))
            // Neither a second answer nor one for somebody else is written.
            connection.answer(call, .success("again"))
            connection.answer(CallID(connection: 6, number: call.number), .success("other"))
        }
        let answers = try written(&connection).map { try JSONValue(parsing: $0) }
        #expect(answers.map { $0["id"]?.integerValue } == order.map { Int64($0.number) - 1 })
        #expect(
            answers.map { $0["result"]?.integerValue } == order.map { Int64($0.number) },
            "WSX_SEED=\(seed)")
        #expect(!connection.isWaiting)
    }

    @Test func `takes a line of exactly 1 MiB, and refuses one byte more`() {
        let request = [UInt8](line(1).utf8)
        for (count, isTaken) in [
            (Limits.controlLineBytesMax, true), (Limits.controlLineBytesMax + 1, false),
        ] {
            var connection = ControlConnection(id: 1)
            let padding = [UInt8](repeating: 0x20, count: count - request.count)
            connection.receive(padding + request)
            // Whether it ends with a newline or not at all does not matter.
            connection.receive([0x0A])
            #expect((connection.nextRequest() != nil) == isTaken)
            #expect(written(&connection).count == (isTaken ? 0 : 1))
            #expect(connection.isFinished == !isTaken)
        }
    }

    @Test func `serves the lines before one that is too long, and nothing after it`() {
        var connection = ControlConnection(id: 1)
        let long = [UInt8](repeating: 0x78, count: Limits.controlLineBytesMax + 1)
        connection.receive([UInt8]((line(1) + "\n").utf8) + long + [0x0A])
        connection.receive([UInt8]((line(2) + "\n").utf8))
        let first = connection.nextRequest()
        #expect(first?.call.number == 1)
        #expect(connection.nextRequest() == nil)
        if let first { connection.answer(first.call, .success(true)) }
        let lines = written(&connection)
        #expect(lines.count == 2)
        #expect(lines[0].contains("control.too_long"))
        #expect(lines[1].contains(#""id":1,"result":true"#), "what was asked is answered")
        connection.receive([UInt8]((line(3) + "\n").utf8))
        #expect(connection.nextRequest() == nil)
        #expect(connection.isFinished)
    }

    // MARK: Bounds

    /// Case K09: a client that sends without reading has to wait, in bounded memory.
    @Test func `of one who never reads stops at the bound and goes on when read`() {
        var connection = ControlConnection(id: 1)
        let answer = JSONValue.string(String(repeating: "x", count: 1_000))
        var asked = 0
        var given = 0
        while given < 10_000 {
            while connection.wantsInput, given < 10_000 {
                connection.receive([UInt8]((line(given) + "\n").utf8))
                given += 1
                while let request = connection.nextRequest() {
                    asked += 1
                    connection.answer(request.call, .success(answer))
                }
            }
            #expect(
                connection.unsentCount < Limits.controlUnsentBytesMax + Limits.controlLineBytesMax)
            connection.didSend(connection.unsentCount)
        }
        while let request = connection.nextRequest() {
            asked += 1
            connection.answer(request.call, .success(answer))
            connection.didSend(connection.unsentCount)
        }
        #expect(asked == 10_000)
    }

    @Test func `stops at 256 that wait, and takes one more for each that is answered`() {
        var connection = ControlConnection(id: 1)
        for number in 0..<Limits.controlRequestsPendingMax {
            connection.receive([UInt8]((line(number) + "\n").utf8))
        }
        while connection.nextRequest() != nil {}
        #expect(!connection.wantsInput, "256 wait for their answers")
        // A client that is read anyway gets no further request until one is answered.
        connection.receive([UInt8]((line(1_000) + "\n").utf8))
        #expect(connection.nextRequest() == nil)
        connection.answer(CallID(connection: 1, number: 1), .success(true))
        #expect(connection.nextRequest()?.call.number == 257)
        #expect(connection.nextRequest() == nil)
    }

    @Test(arguments: Seeds.explore(20))
    func `is written whole and in order, however little the socket takes`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var connection = ControlConnection(id: 1)
        var taken: [UInt8] = []
        var told = 0
        for number in 0..<200 {
            if random.oneIn(2) {
                let text = JSONValue.string(String(repeating: "y", count: random.below(3_000)))
                connection.notify(
                    subscription: 1,
                    EventObject(
                        sequence: Int64(number), cursor: "e1.\(number)", at: 0, type: "t",
                        data: text))
                told += 1
            } else {
                let count = random.below(connection.unsentCount + 1)
                taken += connection.unsent.prefix(count)
                connection.didSend(count)
            }
        }
        taken += connection.unsent
        connection.didSend(connection.unsentCount)
        #expect(connection.unsent.isEmpty && connection.unsentCount == 0)
        let sequences = taken.split(separator: 0x0A).map {
            (try? JSONValue(parsing: Array($0)))?["params"]?["seq"]?.integerValue ?? -1
        }
        #expect(sequences == sequences.sorted() && !sequences.contains(-1), "WSX_SEED=\(seed)")
        #expect(sequences.count == told, "WSX_SEED=\(seed)")
    }

    // MARK: The end

    @Test func `that ends at once is finished at once`() {
        for text in ["", "\n", " \r\n", "\t"] {
            var connection = ControlConnection(id: 1)
            connection.receive([UInt8](text.utf8))
            connection.endOfInput()
            #expect(connection.nextRequest() == nil)
            #expect(connection.isFinished, "\(text.debugDescription)")
            #expect(!connection.wantsInput)
        }
    }

    @Test func `takes nothing that comes after its end`() {
        var connection = ControlConnection(id: 1)
        connection.endOfInput()
        connection.receive([UInt8]((line(1) + "\n").utf8))
        #expect(connection.nextRequest() == nil)
        #expect(connection.isFinished)
    }

    @Test func `stays open for the answer and until that is written`() {
        var connection = ControlConnection(id: 1)
        connection.receive([UInt8](line(1).utf8))
        connection.endOfInput()
        let request = connection.nextRequest()
        #expect(connection.isWaiting && !connection.isFinished)
        if let request { connection.answer(request.call, .success(true)) }
        #expect(!connection.isWaiting && !connection.isFinished)
        connection.didSend(connection.unsentCount)
        #expect(connection.isFinished)
    }

    @Test func `tells only the first reason for which it is closed`() {
        var connection = ControlConnection(id: 1)
        connection.close(because: .stopping)
        connection.close(because: .tooManyClients)
        let lines = written(&connection)
        #expect(lines.count == 1)
        #expect(lines.first?.contains(#""kind":"stopping""#) == true)
        #expect(lines.first?.contains(#""id":null"#) == true)
    }
}

struct `A splitter of lines` {
    /// The definition: split at newlines, forget blank ones.
    private func naive(_ bytes: [UInt8], hasEnded: Bool) -> [[UInt8]] {
        var lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false).map(Array.init)
        if !hasEnded { lines.removeLast() }
        return lines.filter { !$0.allSatisfy { [0x20, 0x09, 0x0D].contains($0) } }
    }

    private func drain(_ splitter: inout LineSplitter) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        while case .line(let line) = splitter.next() { lines.append(line) }
        return lines
    }

    @Test(arguments: Seeds.explore(30))
    func `gives every line that is not blank, whatever the pieces`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let letters: [UInt8] = [0x0A, 0x0A, 0x0D, 0x20, 0x09, 0x61, 0x62, 0x00, 0xFF]
        var splitter = LineSplitter()
        var all: [UInt8] = []
        var lines: [[UInt8]] = []
        for _ in 0..<60 {
            let piece = (0..<random.below(9)).map { _ in letters[random.below(letters.count)] }
            splitter.append(piece)
            all += piece
            if random.oneIn(2) { lines += drain(&splitter) }
        }
        lines += drain(&splitter)
        #expect(lines == naive(all, hasEnded: false), "WSX_SEED=\(seed)")
        splitter.end()
        lines += drain(&splitter)
        #expect(lines == naive(all, hasEnded: true), "WSX_SEED=\(seed)")
        #expect(splitter.isEmpty && splitter.storedCount == 0, "WSX_SEED=\(seed)")
    }

    @Test func `keeps saying that a line is too long`() {
        var splitter = LineSplitter()
        splitter.append([UInt8](repeating: 0x61, count: Limits.controlLineBytesMax + 1))
        #expect(splitter.next() == .tooLong)
        splitter.append([0x0A, 0x62, 0x0A])
        #expect(splitter.next() == .tooLong)
    }
}
