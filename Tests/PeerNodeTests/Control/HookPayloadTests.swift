import Testing
import WorkspaceModel

@testable import PeerNode

struct `A webhook's body` {
    struct Row: Sendable, CustomTestStringConvertible {
        let what: String
        let type: String
        let body: String
        let text: String
        var testDescription: String { what }

        init(_ what: String, _ type: String, _ body: String, _ text: String) {
            self.what = what
            self.type = type
            self.body = body
            self.text = text
        }
    }

    private func request(_ type: String, _ body: [UInt8]) -> HTTPRequest {
        HTTPRequest(
            method: "POST", path: ["hooks", "general"], query: [],
            fields: type.isEmpty ? [] : [.init(name: "content-type", value: type)], body: body)
    }

    private static let form = "application/x-www-form-urlencoded"

    static let rows = [
        Row("curl -d", form, "build 42 passed", "build 42 passed"),
        Row("curl -d with signs", form, "100% of a+b & c=d", "100% of a+b & c=d"),
        Row("curl -d of JSON without a type", form, #"{"text":"*hi*"}"#, "**hi**"),
        Row("curl -d of other JSON", form, #"{"build":42}"#, #"{"build":42}"#),
        Row("curl -d of broken JSON", form, #"{"text":"a"#, #"{"text":"a"#),
        Row("a form", form, "payload=%7B%22text%22%3A%22a+b%26c%22%7D", "a b&c"),
        Row("a form that nobody escaped", form, #"payload={"text":"done"}"#, "done"),
        Row("a form with more", form + "; charset=utf-8", "payload={\"text\":\"x\"}&v=1", "x"),
        Row("no type", "", "uptime 3 days\n", "uptime 3 days"),
        Row("plain text", "text/plain", "a\nb\r\n\n", "a\nb"),
        Row(
            "plain text that is JSON", "text/plain; charset=utf-8", #"{"text":"a"}"#,
            #"{"text":"a"}"#),
        Row("bytes that are text", "application/octet-stream", "한국", "한국"),
        Row("Slack's JSON", "application/json", #"{"text":"a &lt;b&gt;"}"#, "a <b>"),
        Row("Slack's JSON with a charset", "application/json;charset=utf-8", #"{"text":"a"}"#, "a"),
        Row("JSON of a kind", "application/vnd.x+json", #"{"text":"a"}"#, "a"),
        Row(
            "Apprise", "application/json",
            #"{"version":"1.0","title":"T","message":"*m*","attachments":[],"type":"info"}"#,
            "**T**\n*m*"),
        Row("Apprise without a title", "application/json", #"{"title":"","message":"m"}"#, "m"),
        Row("a message beside a text", "application/json", #"{"text":"t","message":"m"}"#, "t"),
    ]

    @Test(arguments: rows)
    func `is a message`(row: Row) throws {
        #expect(try HookPayload(hook: request(row.type, Array(row.body.utf8))).text == row.text)
    }

    static let refusals = [
        Row("broken JSON", "application/json", "{", "invalid_payload"),
        Row("a list", "application/json", "[]", "invalid_payload"),
        Row("nothing as JSON", "application/json", "", "invalid_payload"),
        Row("a form with broken JSON", form, "payload={", "invalid_payload"),
        Row("a form with a broken escape", form, "payload=%7", "invalid_payload"),
        Row("a form with nothing", form, "payload=", "invalid_payload"),
        Row("parts", "multipart/form-data; boundary=x", "--x", "invalid_payload"),
        Row("nothing", "", "", "no_text"), Row("white space", form, " \n\t ", "no_text"),
        Row("no text", "application/json", "{}", "no_text"),
        Row("white space as JSON", "application/json", #"{"text":" \n"}"#, "no_text"),
        Row("an empty attachment", "application/json", #"{"attachments":[{}]}"#, "no_text"),
        Row(
            "JSON nested too deep", "application/json",
            #"{"text":"a","blocks":"# + String(repeating: "[", count: 40)
                + String(repeating: "]", count: 40) + "}", "invalid_payload"),
    ]

    @Test(arguments: refusals)
    func `without a message is refused in Slack's word`(row: Row) {
        let problem = #expect(throws: HookPayload.Problem.self) {
            try HookPayload(hook: request(row.type, Array(row.body.utf8)))
        }
        #expect(problem?.rawValue == row.text)
    }

    @Test func `that is no UTF-8 is refused`() {
        for type in ["", "text/plain", Self.form, "application/json"] {
            #expect(throws: HookPayload.Problem.invalid) {
                try HookPayload(hook: request(type, [0x61, 0xFF]))
            }
        }
    }

    @Test(arguments: [
        ("\"m_01hx9t4c\"", "m_01hx9t4c"), ("\"1503435956.000247\"", "1503435956.000247"),
        ("\"nope\"", "nope"), ("1503435956.5", "1503435956.5"), ("null", nil), ("\"\"", nil),
    ])
    func `names a thread as it says, for the node to find or refuse`(
        _ row: (given: String, kept: String?)
    ) throws {
        let body = "{\"text\":\"a\",\"thread_ts\":\(row.given)}"
        let payload = try HookPayload(hook: request("application/json", Array(body.utf8)))
        #expect(payload.thread == row.kept)
    }

    @Test(arguments: [
        ("application/json", #"{"channel":"general","text":"a","thread_ts":"m_1"}"#),
        ("application/x-www-form-urlencoded", "channel=general&text=a&thread_ts=m_1&token=xoxb"),
        ("", "token=x&channel=general&text=%61&thread_ts=m_1"),
        (
            "application/x-www-form-urlencoded",
            "channel=general&thread_ts=m_1&attachments=%5B%7B%22text%22%3A%22a%22%7D%5D"
        ),
    ])
    func `of a posted message names channel, text and thread`(type: String, body: String) throws {
        let payload = try HookPayload(post: request(type, Array(body.utf8)))
        #expect(payload.channel == "general")
        #expect(payload.text == "a")
        #expect(payload.thread == "m_1")
    }

    @Test func `of a posted message is refused where it is no form and no message`() {
        for (body, problem) in [
            ("channel=a&text=%", HookPayload.Problem.invalid), ("channel=a", .noText),
            (String(repeating: "a=b&", count: 100), .invalid),
        ] {
            #expect(throws: problem) {
                try HookPayload(post: request("", Array(body.utf8)))
            }
        }
    }
}
