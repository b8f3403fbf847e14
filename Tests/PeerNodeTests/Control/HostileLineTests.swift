import Foundation
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Lines sent with harmful intent, or by mistake.
struct `A hostile control line` {
    private let good = [UInt8](#"{"jsonrpc":"2.0","id":"good","method":"node.version"}"#.utf8)

    /// The answers to `line` and to a good request behind it.
    private func answers(_ line: [UInt8]) throws -> [JSONValue] {
        var connection = ControlConnection(id: 1)
        connection.receive(line + [0x0A] + good + [0x0A])
        let node = TableNode()
        while let request = connection.nextRequest() {
            do throws(NodeError) {
                guard case .reply(let value) = try request.run(on: node) else { continue }
                connection.answer(request.call, .success(value))
            } catch { connection.answer(request.call, .failure(error)) }
        }
        #expect(node.asked.isEmpty, "nothing was done")
        return try connection.unsent.split(separator: 0x0A).map {
            try JSONValue(parsing: Array($0))
        }
    }

    private func reason(_ answer: JSONValue?) -> String? {
        answer?["error"]?["data"]?["reason"]?.stringValue
    }

    struct File: Decodable {
        struct Case: Decodable {
            let name: String
            let base64: String?
            let `repeat`: String?
            let count: Int?
        }
        let cases: [Case]
    }

    /// Case K01. A case with newlines is several lines, of which at least one is refused.
    @Test(.vectors("json/jsontestsuite-parsing.json"))
    func `of the parsing suite is refused, and the next line is served`() throws {
        let file = try Vectors.json("json/jsontestsuite-parsing.json", as: File.self)
        #expect(file.cases.count == 318)
        for entry in file.cases {
            let text = entry.repeat.map { String(repeating: $0, count: entry.count ?? 1) }
            let data = entry.base64.flatMap { Data(base64Encoded: $0) }
            let line = data.map { [UInt8]($0) } ?? [UInt8]((text ?? "").utf8)
            let isBlank = line.allSatisfy { [0x20, 0x09, 0x0D, 0x0A].contains($0) }
            let answers = try answers(line)
            #expect(answers.last?["id"] == "good", "\(entry.name)")
            #expect(answers.count >= (isBlank ? 1 : 2), "\(entry.name)")
            let refusals = answers.dropLast().map(reason)
            #expect(!refusals.contains(nil), "\(entry.name): no line of these is a request")
            if entry.name.hasPrefix("n_"), !line.contains(0x0A), !isBlank {
                #expect(refusals == ["control.bad_json"], "\(entry.name)")
            }
        }
    }

    static let broken: [(String, [UInt8])] = [
        ("UTF-16", [0xFF, 0xFE] + "{}".utf8.flatMap { [$0, 0x00] }),
        ("UTF-16 without a mark", "{}".utf8.flatMap { [$0, 0x00] }),
        ("UTF-8 with a mark", [0xEF, 0xBB, 0xBF] + "{}".utf8),
        ("a lone continuation byte", [UInt8]("{\"a\":\"".utf8) + [0x80] + "\"}".utf8),
        ("an overlong slash", [UInt8]("{\"a\":\"".utf8) + [0xC0, 0xAF] + "\"}".utf8),
        ("a surrogate in UTF-8", [UInt8]("{\"a\":\"".utf8) + [0xED, 0xA0, 0x80] + "\"}".utf8),
        ("a text that is cut", [UInt8]("{\"a\":\"".utf8) + [0xF0, 0x9F]),
        ("a NUL", [0x00]), ("a NUL in a text", [UInt8]("{\"a\":\"".utf8) + [0x00] + "\"}".utf8),
        ("a comma too many", [UInt8]("{\"a\":1,}".utf8)),
        ("two documents", [UInt8]("{}{}".utf8)), ("a comment", [UInt8]("{}//".utf8)),
        ("single quotes", [UInt8]("{'a':1}".utf8)),
        ("a doubled key", [UInt8](#"{"a":1,"a":1}"#.utf8)),
        ("a key doubled by an escape", [UInt8](#"{"a":1,"\u0061":1}"#.utf8)),
        ("a lone surrogate", [UInt8](#"{"a":"\ud800"}"#.utf8)),
        ("no method of HTTP", [UInt8]("BREW / HTTP/1.1".utf8)),
    ]

    /// Cases K04 and K06.
    @Test(arguments: broken.indices)
    func `that is no JSON in UTF-8 is refused by that name`(_ index: Int) throws {
        let (name, line) = Self.broken[index]
        let answers = try answers(line)
        #expect(answers.count == 2, "\(name)")
        #expect(reason(answers.first) == "control.bad_json", "\(name)")
        #expect(answers.first?["id"] == .null && answers.last?["id"] == "good")
    }

    static let numbers: [(String, String?)] = [
        ("1", nil), ("100", nil), ("0", "range"), ("1001", "range"), ("-1", "range"),
        ("9223372036854775807", "range"), ("-9223372036854775808", "range"),
        ("9223372036854775808", "type"), ("18446744073709551616", "type"), ("1.0", "type"),
        ("1e2", "type"), ("1E2", "type"), ("1e400", "type"), ("-0", "type"),
        ("9007199254740993", "range"), ("\"1\"", "type"), ("true", "type"), ("[1]", "type"),
        ("null", nil),
    ]

    /// Case K05: a number is exactly the one that was written, or it is refused by its field.
    @Test(arguments: numbers.indices)
    func `with a strange number is refused by its field`(_ index: Int) throws {
        let (number, mismatch) = Self.numbers[index]
        var connection = ControlConnection(id: 1)
        let text =
            #"{"jsonrpc":"2.0","id":1,"method":"invite.list","params":{"limit":\#(number)}}"#
        connection.receive([UInt8](text.utf8) + [0x0A])
        let next = connection.nextRequest()
        let request = try #require(next)
        let node = TableNode()
        guard let mismatch else {
            _ = try request.run(on: node)
            #expect(node.asked == ["invites"])
            return
        }
        let error = #expect(throws: NodeError.self) { try request.run(on: node) }
        #expect(error?.reason == "control.bad_param")
        #expect(error?.fields == [.init(name: "limit", reason: mismatch)])
        #expect(node.asked.isEmpty)
    }

    /// Whatever comes, the connection answers or waits; it never traps and never grows.
    @Test(arguments: Seeds.explore(20))
    func `of garbage or of mutated requests does no harm`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var connection = ControlConnection(id: 1)
        let node = TableNode()
        for _ in 0..<300 {
            var line = random.oneIn(4) ? random.bytes(random.below(60)) : good
            for _ in 0..<random.below(4) where !line.isEmpty {
                let place = random.below(line.count)
                switch random.below(3) {
                case 0: line[place] ^= UInt8(1 << random.below(8))
                case 1: line.remove(at: place)
                default: line.insert(UInt8(random.below(256)), at: place)
                }
            }
            connection.receive(line + [0x0A])
            while let request = connection.nextRequest() {
                do throws(NodeError) {
                    guard case .reply(let value) = try request.run(on: node) else { continue }
                    connection.answer(request.call, .success(value))
                } catch { connection.answer(request.call, .failure(error)) }
            }
            for answer in connection.unsent.split(separator: 0x0A) {
                let value = try? JSONValue(parsing: Array(answer))
                #expect(value?["jsonrpc"] == "2.0", "WSX_SEED=\(seed)")
                #expect((value?["result"] == nil) != (value?["error"] == nil))
            }
            connection.didSend(connection.unsentCount)
        }
        #expect(connection.wantsInput && !connection.isFinished, "WSX_SEED=\(seed)")
    }
}
