import Testing
import WorkspaceModel

@testable import PeerNode

struct `A stream of events over HTTP` {
    private func parameters(_ path: String, _ head: String = "") throws -> JSONObject {
        var parser = HTTPRequestParser()
        parser.append(Array("GET \(path) HTTP/1.1\r\n\(head)\r\n".utf8))
        guard case .request(let request) = parser.next() else { return [:] }
        let call = try HTTPCall(request)
        #expect(call.method == "events.subscribe")
        return call.parameters
    }

    @Test(arguments: [
        ("/events", "", #"{"keepalive_s":45}"#),
        ("/events?since=all", "", #"{"since":"all","keepalive_s":45}"#),
        ("/events?since=all", "Last-Event-ID: e1.7\r\n", #"{"since":"e1.7","keepalive_s":45}"#),
        ("/events?since=all", "Last-Event-ID:\r\n", #"{"since":"all","keepalive_s":45}"#),
        (
            "/events?types=message.*,read.*&types=x&channels=general", "",
            #"{"types":["message.*","read.*","x"],"channels":["general"],"keepalive_s":45}"#
        ),
        (
            "/events?name=bot&ephemeral=&keepalive_s=5&workspace=acme", "",
            #"{"name":"bot","ephemeral":true,"keepalive_s":5,"workspace":"acme"}"#
        ),
        ("/events?ephemeral=0", "", #"{"ephemeral":false,"keepalive_s":45}"#),
        ("/events?types=", "", #"{"keepalive_s":45}"#),
        ("/events?keepalive_s=soon&x=1", "", #"{"keepalive_s":"soon","x":"1"}"#),
    ])
    func `is asked for by its query`(path: String, head: String, expected: String) throws {
        #expect(JSONValue.object(try parameters(path, head)).text == expected)
    }

    @Test func `is refused where a name stands twice`() {
        #expect(throws: HTTPResponse.self) { try parameters("/events?since=a&since=b") }
        #expect(throws: HTTPResponse.self) {
            try parameters("/events?" + (0..<100).map { "a\($0)=1" }.joined(separator: "&"))
        }
    }

    private func open() -> (ControlConnection, CallID?) {
        var connection = ControlConnection(id: 4)
        connection.receive(Array("GET /events?since=e1.1 HTTP/1.1\r\n\r\n".utf8))
        let request = connection.nextRequest()
        return (connection, request?.call)
    }

    private func taken(_ connection: inout ControlConnection) -> String {
        let text = String(decoding: connection.unsent, as: UTF8.self)
        connection.didSend(connection.unsentCount)
        return text
    }

    @Test func `begins with its position and gives each event its own`() throws {
        var (connection, call) = open()
        connection.answer(
            try #require(call), .success(SubscriptionObject(id: 1, cursor: "e1.1").json))
        connection.openSubscriptions = 1
        let head = taken(&connection)
        #expect(head.hasPrefix("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"))
        #expect(!head.contains("Content-Length"))
        #expect(head.hasSuffix("\r\n\r\nretry: 2000\nid: e1.1\n\n"))
        #expect(!connection.isFinished)
        connection.notify(
            subscription: 1,
            EventObject(
                sequence: 2, cursor: "e1.2", at: 9, type: "message.created",
                data: ["text": "two\nlines"]))
        let text1 = taken(&connection)
        #expect(
            text1 == "id: e1.2\nevent: message.created\ndata: "
                + #"{"seq":2,"cursor":"e1.2","at":9,"type":"message.created","workspace":null,"#
                + #""backfill":false,"data":{"text":"two\nlines"}}"# + "\n\n")
        connection.notify(
            subscription: 1,
            EventObject(sequence: 2, cursor: "e1.2", at: 9, type: "keepalive", data: [:]))
        let text2 = taken(&connection)
        #expect(text2 == ": keepalive\nid: e1.2\n\n")
        #expect(!connection.isFinished)
        connection.endOfInput()
        #expect(!connection.isFinished, "a half-closed reader still reads")
        connection.openSubscriptions = 0
        #expect(connection.isFinished)
    }

    @Test func `that cannot begin is refused with the status of its kind`() throws {
        var (connection, call) = open()
        connection.answer(try #require(call), .failure(.cursorExpired(oldest: "e2.5")))
        let answer = taken(&connection)
        #expect(answer.hasPrefix("HTTP/1.1 410 Gone\r\n"))
        #expect(answer.contains(#""oldest":"e2.5""#))
        #expect(connection.isFinished)
    }

    @Test func `just ends when the node stops`() throws {
        var (connection, call) = open()
        connection.answer(
            try #require(call), .success(SubscriptionObject(id: 1, cursor: "e1.1").json))
        connection.openSubscriptions = 1
        _ = taken(&connection)
        connection.close(because: .stopping)
        let text3 = taken(&connection)
        #expect(text3.isEmpty)
        #expect(connection.isFinished)
    }
}
