import Testing
import WorkspaceModel

struct `A JSON value` {
    struct Text: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let text: String
        let written: String
    }

    static let texts = [
        Text(testDescription: "plain", text: "hello", written: #""hello""#),
        Text(testDescription: "slash stays", text: "a/b", written: #""a/b""#),
        Text(testDescription: "quote and backslash", text: #"a"\"#, written: #""a\"\\""#),
        Text(testDescription: "short escapes", text: "\u{8}\t\n\u{c}\r", written: #""\b\t\n\f\r""#),
        Text(
            testDescription: "separators of lines", text: "a\u{2028}b\u{2029}c",
            written: #""a\u2028b\u2029c""#),
        Text(
            testDescription: "directions",
            text: "\u{61C}\u{200E}\u{200F}\u{202A}\u{202E}\u{2066}\u{2069}",
            written: #""\u061c\u200e\u200f\u202a\u202e\u2066\u2069""#),
        Text(
            testDescription: "neighbours of those",
            text: "\u{61B}\u{200D}\u{2010}\u{2027}\u{202F}\u{2065}\u{206A}é",
            written: "\"\u{61B}\u{200D}\u{2010}\u{2027}\u{202F}\u{2065}\u{206A}é\""),
        Text(testDescription: "escape sequence", text: "\u{1B}[2J", written: #""\u001b[2J""#),
        Text(testDescription: "DEL", text: "\u{7F}", written: #""\u007f""#),
        Text(testDescription: "C1 control", text: "a\u{9B}b", written: #""a\u009bb""#),
        Text(
            testDescription: "no-break space is no control", text: "\u{A0}", written: "\"\u{A0}\""),
        Text(testDescription: "beyond the first plane", text: "😀", written: "\"😀\""),
        Text(testDescription: "Korean", text: "회의록", written: "\"회의록\""),
    ]

    @Test(arguments: texts)
    func `writes text without a bare control, and reads it back`(_ row: Text) throws {
        #expect(JSONValue.string(row.text).text == row.written)
        #expect(try JSONValue(parsing: row.written).stringValue == row.text)
    }

    /// What needs no escape is passed over eight bytes at a time.
    @Test(arguments: texts)
    func `writes text the same wherever it stands in a longer one`(_ row: Text) throws {
        let inner = row.written.dropFirst().dropLast()
        for (before, after) in [(0, 7), (1, 8), (3, 0), (7, 9), (8, 1), (9, 30), (16, 16)] {
            let start = String(repeating: "~", count: before)
            let end = String(repeating: " ", count: after)
            let text = start + row.text + end
            #expect(JSONValue.string(text).text == "\"" + start + inner + end + "\"")
            #expect(try JSONValue(parsing: JSONValue.string(text).bytes).stringValue == text)
        }
    }

    static let scaled: [(literal: String, places: Int, number: Int64?)] = [
        ("52.5200066", 7, 525_200_066), ("-13.4", 7, -134_000_000), ("7", 7, 70_000_000),
        ("1e-7", 7, 1), ("1E-05", 7, 100), ("-2.5e+1", 7, -250_000_000), ("1.50", 1, 15),
        ("1e-8", 7, nil), ("0.00000001", 7, nil), ("0.5", 0, nil), ("2.0", 0, 2), ("20e-1", 0, 2),
        ("0", 7, 0), ("0.000", 7, 0), ("0e99999999999999999999", 7, 0), ("-0", 7, nil),
        ("9223372036854775807", 0, .max), ("-9223372036854775808", 0, .min),
        ("9223372036854775808", 0, nil), ("922337203685477580.7", 1, .max),
        ("1e18", 0, 1_000_000_000_000_000_000), ("1e19", 0, nil), ("1e400", 0, nil),
        ("1e9223372036854775807", 18, nil), ("1e-9223372036854775808", 0, nil),
        ("1e99999999999999999999", 0, nil),
    ]

    @Test(arguments: scaled)
    func `is worth an exact integer, however it is written`(
        _ row: (literal: String, places: Int, number: Int64?)
    ) throws {
        let value = try JSONValue(parsing: row.literal)
        #expect(value.integer(timesTenTo: row.places) == row.number)
        #expect(JSONValue.string(row.literal).integer(timesTenTo: row.places) == nil)
    }

    @Test func `keeps the order of members`() throws {
        let value: JSONValue = ["z": 1, "a": [true, .null, "x"], "m": ["k": "v"]]
        #expect(value.text == #"{"z":1,"a":[true,null,"x"],"m":{"k":"v"}}"#)
        #expect(try JSONValue(parsing: value.bytes) == value)
    }

    @Test func `tells accents in two spellings apart`() throws {
        let object = try JSONValue(parsing: #"{"\u00e9":1,"e\u0301":2}"#)
        #expect(object["\u{e9}"] == 1)
        #expect(object["e\u{301}"] == 2)
        #expect(JSONValue.string("\u{e9}") != JSONValue.string("e\u{301}"))
    }

    @Test func `gives nil for what is not there`() {
        let value: JSONValue = ["list": [1, 2], "no": false]
        #expect(value["list"]?[1]?.integerValue == 2)
        #expect(value["list"]?[2] == nil)
        #expect(value["list"]?[-1] == nil)
        #expect(value["other"] == nil)
        #expect(value["no"]?.boolValue == false)
        #expect(value["no"]?.stringValue == nil)
        #expect(JSONValue.null["x"] == nil)
    }

    @Test func `changes members in place`() {
        var object: JSONObject = ["a": 1, "b": 2]
        object["b"] = 3
        object["c"] = 4
        object["a"] = nil
        object["nothing"] = nil
        #expect(JSONValue.object(object).text == #"{"b":3,"c":4}"#)
    }

    @Test func `writes absent things as null`() {
        let absent: String? = nil
        #expect(JSONValue(orNull: absent) == .null)
        #expect(JSONValue(orNull: "x") == "x")
        let noNumber: Int64? = nil
        #expect(JSONValue(orNull: noNumber) == .null)
        #expect(JSONValue(orNull: true) == true)
        #expect(JSONValue(texts: ["a", "b"]) == ["a", "b"])
    }
}
