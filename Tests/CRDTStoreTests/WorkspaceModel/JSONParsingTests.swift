import Foundation
import Testing
import WorkspaceModel

struct `A JSON document` {
    struct Vector: Sendable, CustomTestStringConvertible {
        let name: String
        let bytes: [UInt8]
        var testDescription: String { name }
    }

    /// The parsing suite, or nothing where the shared data is not there.
    static let vectors: [Vector] = {
        let package = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let shared =
            ProcessInfo.processInfo.environment["WSX_SHARED"]
            ?? package.deletingLastPathComponent().appending(path: "shared").path
        let path = shared + "/data/vectors/json/jsontestsuite-parsing.json"
        guard let data = FileManager.default.contents(atPath: path),
            let file = try? JSONSerialization.jsonObject(with: data) as? [String: Any],
            let cases = file["cases"] as? [[String: Any]]
        else {
            print("SKIPPED: no JSON vectors at \(path); set WSX_SHARED")
            return []
        }
        return cases.compactMap { entry in
            guard let name = entry["name"] as? String else { return nil }
            if let text = entry["repeat"] as? String, let count = entry["count"] as? Int {
                return Vector(name: name, bytes: Array(String(repeating: text, count: count).utf8))
            }
            let data = (entry["base64"] as? String).flatMap { Data(base64Encoded: $0) }
            return data.map { Vector(name: name, bytes: [UInt8]($0)) }
        }
    }()

    @Test(.enabled(if: !vectors.isEmpty, "the shared vectors are not there"))
    func `is accepted or refused as the parsing suite demands`() {
        #expect(Self.vectors.count == 318)
        for vector in Self.vectors {
            let isAccepted = (try? JSONValue(parsing: vector.bytes)) != nil
            if vector.name.hasPrefix("y_") {
                // The suite lets a name occur twice; here it does not.
                #expect(isAccepted != vector.name.contains("duplicated"), "\(vector.name)")
            } else if vector.name.hasPrefix("n_") {
                #expect(!isAccepted, "\(vector.name)")
            }
        }
    }

    struct Refusal: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: [UInt8]
        let reason: JSONError.Reason
        let offset: Int

        init(_ name: String, _ text: String, _ reason: JSONError.Reason, _ offset: Int) {
            self.init(name, Array(text.utf8), reason, offset)
        }

        init(_ name: String, _ bytes: [UInt8], _ reason: JSONError.Reason, _ offset: Int) {
            testDescription = name
            self.bytes = bytes
            self.reason = reason
            self.offset = offset
        }
    }

    static let refusals = [
        Refusal("nothing", "", .endsEarly, 0),
        Refusal("byte order mark", [0xEF, 0xBB, 0xBF, 0x31], .unexpectedByte, 0),
        Refusal("UTF-16", [0xFF, 0xFE, 0x31, 0x00], .unexpectedByte, 0),
        Refusal("trailing comma in a list", "[1,]", .unexpectedByte, 3),
        Refusal("trailing comma in an object", #"{"a":1,}"#, .unexpectedByte, 7),
        Refusal("two values", "1 2", .trailingBytes, 2),
        Refusal("a name twice", #"{"a":1,"a":2}"#, .duplicateKey, 10),
        Refusal("a name twice in two spellings", #"{"a":1,"\u0061":2}"#, .duplicateKey, 15),
        Refusal("lone high surrogate", #""\ud800""#, .invalidEscape, 7),
        Refusal("lone low surrogate", #""\udc00""#, .invalidEscape, 7),
        Refusal("surrogates in disorder", #""\ud800\ud800""#, .invalidEscape, 13),
        Refusal("bare newline", "\"a\nb\"", .controlCharacter, 2),
        Refusal("not UTF-8", [0x22, 0xFF, 0x22], .invalidUTF8, 2),
        Refusal("leading zero", "01", .unexpectedByte, 1),
        Refusal("plus sign", "+1", .unexpectedByte, 0),
        Refusal("no digits after the point", "1.", .endsEarly, 2),
        Refusal("half a word", "tru", .endsEarly, 3),
        Refusal("open text", "\"abc", .endsEarly, 4),
        Refusal("33 levels", String(repeating: "[", count: 33), .tooDeep, 32),
        Refusal("100 000 levels", String(repeating: "[", count: 100_000), .tooDeep, 32),
    ]

    @Test(arguments: refusals)
    func `is refused with the place and the reason`(_ row: Refusal) {
        #expect(throws: JSONError(reason: row.reason, offset: row.offset)) {
            try JSONValue(parsing: row.bytes)
        }
    }

    @Test func `may be nested 32 levels deep`() throws {
        let text = String(repeating: "[", count: 32) + String(repeating: "]", count: 32)
        #expect(try JSONValue(parsing: text).text == text)
    }

    @Test func `refuses a name twice among any number of members`() throws {
        for count in 1...70 {
            let members = (0..<count).map { "\"k\($0)\":0" }
            let text = "{" + members.joined(separator: ",") + "}"
            #expect(try JSONValue(parsing: text).text == text)
            for twice in [members[0], members[count / 2], members[count - 1]] {
                let more = "{" + (members + [twice]).joined(separator: ",") + "}"
                let error = #expect(throws: JSONError.self) { try JSONValue(parsing: more) }
                #expect(error?.reason == .duplicateKey, "\(count) members")
            }
        }
    }

    @Test func `refuses a name twice among very many, quickly`() throws {
        let names = (0..<50_000).map { "\"k\($0)\":0" }.joined(separator: ",")
        #expect(try JSONValue(parsing: "{\(names)}").objectValue?.members.count == 50_000)
        #expect(throws: JSONError.self) { try JSONValue(parsing: "{\(names),\"k7\":0}") }
    }

    struct Number: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let value: JSONValue
    }

    static let numbers = [
        Number(testDescription: "0", value: .integer(0)),
        Number(testDescription: "-1", value: .integer(-1)),
        Number(testDescription: "9007199254740993", value: .integer(9_007_199_254_740_993)),
        Number(testDescription: "9223372036854775807", value: .integer(.max)),
        Number(testDescription: "-9223372036854775808", value: .integer(.min)),
        Number(testDescription: "9223372036854775808", value: .decimal("9223372036854775808")),
        Number(testDescription: "18446744073709551616", value: .decimal("18446744073709551616")),
        Number(testDescription: "-0", value: .decimal("-0")),
        Number(testDescription: "1.0", value: .decimal("1.0")),
        Number(testDescription: "1e2", value: .decimal("1e2")),
        Number(testDescription: "1e400", value: .decimal("1e400")),
    ]

    @Test(arguments: numbers)
    func `keeps numbers exact`(_ row: Number) throws {
        let value = try JSONValue(parsing: row.testDescription)
        #expect(value == row.value)
        #expect((value.integerValue == nil) == (row.value.integerValue == nil))
        #expect(value.text == row.testDescription)
    }

    /// Any cut or changed byte of a document is either refused or read, never a trap.
    @Test func `survives every cut and every flipped bit`() throws {
        let text = #"{"id":"m_1","n":[-12.5e3,true,null],"t":"\ud83d\ude00 \u0041\n","o":{"":{}}}"#
        let bytes = Array(text.utf8)
        #expect(throws: Never.self) { try JSONValue(parsing: bytes) }
        for length in 0..<bytes.count {
            #expect(throws: JSONError.self) { try JSONValue(parsing: Array(bytes[..<length])) }
        }
        for index in bytes.indices {
            for bit in 0..<8 {
                var changed = bytes
                changed[index] ^= 1 << UInt8(bit)
                if let value = try? JSONValue(parsing: changed) {
                    #expect(try JSONValue(parsing: value.bytes) == value)
                }
            }
        }
    }
}
