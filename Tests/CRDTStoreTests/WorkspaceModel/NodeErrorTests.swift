import Testing
import WorkspaceModel

struct `A failure that leaves the program` {
    @Test(arguments: NodeError.Kind.allCases)
    func `has a number, a word, and statuses`(_ kind: NodeError.Kind) {
        #expect((-32_768 ... -32_000).contains(kind.code))
        #expect((1...78).contains(kind.exitStatus))
        #expect(kind.httpStatus >= 202 && kind.httpStatus < 600)
        #expect(kind.rawValue.utf8.allSatisfy { $0 == 0x5F || (0x61...0x7A).contains($0) })
        let json = NodeError(kind, "what happened").json
        #expect(json["code"]?.integerValue == Int64(kind.code))
        #expect(json["data"]?["kind"]?.stringValue == kind.rawValue)
        #expect(json["data"]?["retry"]?.boolValue == kind.isRetryable)
        #expect(json["data"]?["seed"]?.stringValue == kind.seed)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let kind: NodeError.Kind
        let code: Int
        let exit: Int32
        let http: Int
        let seed: String?
        let retry: Bool
        var testDescription: String { kind.rawValue }
    }

    static let published = [
        Row(kind: .unknownOperation, code: -32601, exit: 1, http: 404, seed: "E97", retry: false),
        Row(kind: .badRequest, code: -32602, exit: 2, http: 400, seed: "E11", retry: false),
        Row(kind: .internal, code: -32603, exit: 70, http: 500, seed: "E99", retry: false),
        Row(kind: .notFound, code: -32001, exit: 5, http: 404, seed: "E13", retry: false),
        Row(kind: .locked, code: -32005, exit: 4, http: 401, seed: "E05", retry: true),
        Row(kind: .rateLimited, code: -32014, exit: 1, http: 429, seed: "E98", retry: true),
        Row(kind: .pending, code: -32017, exit: 7, http: 202, seed: nil, retry: true),
        Row(kind: .inviteUsed, code: -32019, exit: 1, http: 410, seed: nil, retry: false),
        Row(kind: .cursorExpired, code: -32023, exit: 1, http: 410, seed: nil, retry: false),
        Row(kind: .stopping, code: -32026, exit: 3, http: 503, seed: nil, retry: true),
        Row(kind: .ambiguous, code: -32029, exit: 5, http: 409, seed: nil, retry: false),
        Row(kind: .inUse, code: -32030, exit: 6, http: 409, seed: nil, retry: false),
        Row(kind: .storeFailed, code: -32032, exit: 70, http: 500, seed: nil, retry: false),
    ]

    @Test(arguments: published)
    func `keeps its published row`(_ row: Row) {
        #expect(row.kind.code == row.code)
        #expect(row.kind.exitStatus == row.exit)
        #expect(row.kind.httpStatus == row.http)
        #expect(row.kind.seed == row.seed)
        #expect(row.kind.isRetryable == row.retry)
    }

    @Test func `is written as the interface promises`() {
        let error = NodeError(
            .badRequest, "unknown parameter 'chanel'", hint: "did you mean 'channel'?",
            reason: "unknown_parameter", fields: [.init(name: "chanel", reason: "unknown")])
        #expect(
            error.json.text == """
                {"code":-32602,"message":"unknown parameter 'chanel'",\
                "data":{"kind":"bad_request","reason":"unknown_parameter","retry":false,\
                "hint":"did you mean 'channel'?","field":"chanel",\
                "fields":[{"field":"chanel","reason":"unknown"}],"seed":"E11"}}
                """)
    }

    @Test func `comes back from its own form`() {
        let errors = [
            NodeError.noWorkspace, .lineTooLong, .cursorExpired(oldest: "e1.7"),
            .ambiguous("Mina", candidates: [["id": "u_1"]], field: "member"),
            .homeInUse(pid: 42), .notFound("channel", "x", field: "channel"), .stopping,
            .badJSON(JSONError(reason: .duplicateKey, offset: 9)), .tooManyClients,
            .unknownCommand("mesage.send", similar: "message.send"),
            .noIdentity, .notRunning(socket: "/run/x"), .internalFailure(reason: "node.fault"),
        ]
        for error in errors { #expect(NodeError(json: error.json) == error) }
        let future = NodeError(json: ["message": "?", "data": ["kind": "from_the_future"]])
        #expect(future.kind == .internal)
        #expect(NodeError(json: .null).kind == .internal)
    }

    @Test func `quotes foreign names harmlessly`() {
        #expect(NodeError.quoted("a\u{1B}]0;x\u{7}") == "'a\\u{1b}]0;x\\u{7}'")
        #expect(NodeError.quoted("\u{202E}abc") == "'\\u{202e}abc'")
        #expect(NodeError.quoted("a\nb\u{9B}") == "'a\\u{a}b\\u{9b}'")
        #expect(NodeError.quoted(String(repeating: "x", count: 10_000)).utf8.count < 60)
    }
}
