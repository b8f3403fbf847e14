import Testing
import WorkspaceModel

@Suite struct `A JSON value` {
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
