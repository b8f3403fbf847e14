import Testing
import WorkspaceModel

/// The published table of failures, copied row by row and compared with the one in the code.
struct `The table of failures` {
    struct Row: Sendable, CustomTestStringConvertible {
        let kind: String
        let code: Int
        let seed: String?
        /// `nil` where the interface publishes none.
        let http: Int?
        let exit: Int32
        let retry: Bool
        var testDescription: String { kind }

        init(
            _ kind: String, _ code: Int, _ seed: String?, http: Int?, exit: Int32,
            retry: Bool = false
        ) {
            self.kind = kind
            self.code = code
            self.seed = seed
            self.http = http
            self.exit = exit
            self.retry = retry
        }
    }

    static let rows = [
        Row("parse_error", -32700, nil, http: nil, exit: 1),
        Row("invalid_request", -32600, nil, http: nil, exit: 1),
        Row("unknown_op", -32601, "E97", http: nil, exit: 1),
        Row("bad_request", -32602, "E11", http: nil, exit: 2),
        Row("internal", -32603, "E99", http: nil, exit: 70),
        Row("not_found", -32001, "E13", http: 404, exit: 5),
        Row("unknown_user", -32002, "E03", http: 404, exit: 5),
        Row("wrong_secret", -32003, "E03", http: 401, exit: 4),
        Row("forbidden", -32004, "E14", http: 403, exit: 4),
        Row("session_expired", -32005, "E05", http: 401, exit: 4, retry: true),
        Row("locked", -32005, "E05", http: 401, exit: 4, retry: true),
        Row("device_revoked", -32006, "E06", http: 401, exit: 4),
        Row("duplicate", -32007, "E12", http: 409, exit: 6),
        Row("conflict", -32008, nil, http: 409, exit: 6),
        Row("conflict_void", -32008, nil, http: 409, exit: 6),
        Row("key_reused", -32009, nil, http: 409, exit: 6),
        Row("transfer_first", -32010, "E15", http: 409, exit: 6),
        Row("default_channel", -32011, "E11", http: 409, exit: 6),
        Row("too_large", -32012, nil, http: 413, exit: 1),
        Row("too_many", -32013, nil, http: 422, exit: 1),
        Row("rate_limited", -32014, "E98", http: 429, exit: 1, retry: true),
        Row("timeout", -32015, nil, http: 504, exit: 7, retry: true),
        Row("unreachable", -32016, nil, http: 502, exit: 7, retry: true),
        Row("pending", -32017, nil, http: 202, exit: 7, retry: true),
        Row("unsynced", -32018, nil, http: 409, exit: 7, retry: true),
        Row("invite_invalid", -32019, nil, http: 410, exit: 1),
        Row("invite_expired", -32019, nil, http: 410, exit: 1),
        Row("invite_used", -32019, nil, http: 410, exit: 1),
        Row("code_invalid", -32020, "11003", http: 400, exit: 1),
        Row("code_undeliverable", -32020, "11005", http: 400, exit: 1),
        Row("claim_changed", -32020, "11004", http: 400, exit: 1),
        Row("archived", -32021, nil, http: 410, exit: 1),
        Row("blob_missing", -32022, nil, http: 503, exit: 7, retry: true),
        Row("cursor_expired", -32023, nil, http: 410, exit: 1),
        Row("slow_reader", -32024, nil, http: nil, exit: 1, retry: true),
        Row("storage_full", -32025, nil, http: 507, exit: 1),
        Row("stopping", -32026, nil, http: 503, exit: 3, retry: true),
        Row("unsupported", -32027, nil, http: 501, exit: 1),
        Row("version_mismatch", -32027, nil, http: 501, exit: 1),
        Row("insufficient_coins", -32028, "E21", http: 402, exit: 1),
        Row("unknown_order", -32028, "E81", http: 402, exit: 1),
        Row("already_redeemed", -32028, "E81", http: 402, exit: 1),
        Row("invalid_receipt", -32028, "E82", http: 402, exit: 1),
        Row("ambiguous", -32029, nil, http: nil, exit: 5),
        Row("in_use", -32030, nil, http: nil, exit: 6),
        Row("busy", -32031, nil, http: nil, exit: 1, retry: true),
        Row("store_failed", -32032, nil, http: nil, exit: 70),
        // Made by the command line alone, so without a published number.
        Row("not_running", -32033, nil, http: nil, exit: 3, retry: true),
        Row("bad_configuration", -32034, nil, http: nil, exit: 78),
    ]

    @Test(arguments: rows)
    func `gives each word its published number and statuses`(_ row: Row) throws {
        let kind = try #require(NodeError.Kind(rawValue: row.kind))
        #expect(kind.code == row.code)
        #expect(kind.seed == row.seed)
        #expect(kind.exitStatus == row.exit)
        #expect(kind.isRetryable == row.retry)
        if let http = row.http { #expect(kind.httpStatus == http) }
    }

    @Test func `has a published row for every word and no other`() {
        let published = Self.rows.map(\.kind)
        #expect(Set(published) == Set(NodeError.Kind.allCases.map(\.rawValue)))
        #expect(Set(published).count == published.count)
    }

    /// A program that only knows the number treats all words under it alike.
    @Test func `gives words with one number the same statuses`() {
        let byCode = Dictionary(grouping: NodeError.Kind.allCases, by: \.code)
        for (code, kinds) in byCode {
            #expect(Set(kinds.map(\.exitStatus)).count == 1, "\(code)")
            #expect(Set(kinds.map(\.httpStatus)).count == 1, "\(code)")
            #expect(Set(kinds.map(\.isRetryable)).count == 1, "\(code)")
        }
    }

    /// 8, 9, 130, 141 and 143 are no failures of a call: the command line alone gives them.
    @Test func `uses only the exit statuses that the interface lists`() {
        let listed: Set<Int32> = [1, 2, 3, 4, 5, 6, 7, 70, 78]
        #expect(Set(NodeError.Kind.allCases.map(\.exitStatus)) == listed)
    }
}

struct `A ready-made failure` {
    struct Row: Sendable, CustomTestStringConvertible {
        let error: NodeError
        let kind: NodeError.Kind
        let reason: String
        let hint: String?
        var testDescription: String { reason }

        init(_ error: NodeError, _ kind: NodeError.Kind, _ reason: String, hint: String?) {
            self.error = error
            self.kind = kind
            self.reason = reason
            self.hint = hint
        }
    }

    static let rows = [
        Row(
            .invalidRequest("a request must be an object"), .invalidRequest, "control.bad_request",
            hint: #"send {"jsonrpc":"2.0","id":1,"method":"node.version"}"#),
        Row(
            .badJSON(JSONError(reason: .duplicateKey, offset: 9)), .parseError,
            "control.bad_json", hint: "send one JSON object per line, in UTF-8"),
        Row(
            .unknownCommand("x", similar: nil), .unknownOperation, "control.unknown_op",
            hint: "list them with 'wsx-node rpc --list'"),
        Row(
            .unknownCommand("chanel.list", similar: "channel.list"), .unknownOperation,
            "control.unknown_op", hint: "did you mean 'channel.list'?"),
        Row(.lineTooLong, .tooLarge, "control.too_long", hint: "send it in parts"),
        Row(.noteTooLarge, .tooLarge, "note.size", hint: "split it into several notes"),
        Row(.tooManyClients, .busy, "control.busy", hint: "close one and try again"),
        Row(.notFound("invite", "i_1"), .notFound, "invite.not_found", hint: nil),
        Row(.noWorkspace, .notFound, "workspace.none", hint: "wsx-node up --workspace NAME"),
        Row(
            .noIdentity, .notFound, "identity.none",
            hint: "wsx-node identity create --name NAME"),
        Row(
            .ambiguous("Mina", candidates: ["u_1", "u_2"], field: "member"), .ambiguous,
            "name.ambiguous", hint: "give the id"),
        Row(
            .ambiguous("Mina", candidates: [["id": "u_1"], ["id": "u_2"]], field: "member"),
            .ambiguous, "name.ambiguous",
            hint: "give the id; 'wsx-node why ID' says who let each in"),
        Row(
            .ambiguous(
                "Joon",
                candidates: [["id": "u_1", "name": "Joon A"], ["id": "u_2", "name": "joon"]],
                field: "member"), .ambiguous, "name.ambiguous",
            hint: "give the full name of one, or the id"),
        Row(
            .ambiguous(
                "Joon",
                candidates: [["id": "u_1", "name": "Joon"], ["id": "u_2", "name": "joon"]],
                field: "member"), .ambiguous, "name.ambiguous",
            hint: "give the id; 'wsx-node why ID' says who let each in"),
        Row(.homeInUse(pid: nil), .inUse, "store.locked", hint: "wsx-node down"),
        Row(
            .cursorExpired(oldest: "e1.5"), .cursorExpired, "events.cursor_expired",
            hint: "continue from data.oldest and read the state again"),
        Row(
            .forbidden("not yours", reason: "removed", hint: "ask"), .forbidden, "removed",
            hint: "ask"),
        Row(.stopping, .stopping, "node.stopping", hint: "wsx-node up"),
        Row(.notRunning(socket: "/run/s"), .notRunning, "control.no_daemon", hint: "wsx-node up"),
        Row(.usage("what?"), .badRequest, "usage", hint: nil),
        Row(
            .badConfiguration("no such key", line: 3), .badConfiguration, "config.invalid",
            hint: nil),
    ]

    @Test(arguments: rows)
    func `has its word, its reason and its hint`(_ row: Row) {
        #expect(row.error.kind == row.kind)
        #expect(row.error.reason == row.reason)
        #expect(row.error.hint == row.hint)
        #expect(row.error.exitStatus == row.kind.exitStatus)
    }

    @Test(arguments: rows)
    func `is one clause without a full stop or a control character`(_ row: Row) {
        let text = row.error.message
        #expect(!text.isEmpty)
        #expect(!text.hasSuffix("."))
        #expect(!text.unicodeScalars.contains { $0.properties.generalCategory == .control })
        let hint = row.error.json["data"]?["hint"]
        #expect(hint == JSONValue(orNull: row.hint), "always there, null where there is none")
    }

    @Test func `names the process, the line, the candidates and the oldest cursor`() {
        #expect(NodeError.homeInUse(pid: 42).json["data"]?["pid"] == 42)
        #expect(NodeError.homeInUse(pid: 42).message.hasSuffix("(process 42)"))
        #expect(NodeError.homeInUse(pid: nil).json["data"]?["pid"] == .null)
        let configuration = NodeError.badConfiguration("no such key", line: 3)
        #expect(configuration.message == "line 3: no such key")
        #expect(configuration.json["data"]?["line"] == 3)
        let ambiguous = NodeError.ambiguous("Mina", candidates: ["u_1", "u_2"], field: "member")
        #expect(ambiguous.json["data"]?["candidates"] == ["u_1", "u_2"])
        #expect(ambiguous.json["data"]?["field"] == "member")
        #expect(ambiguous.message == "'Mina' could be any of 2 things")
        let people: [JSONValue] = [["id": "u_1"], ["id": "u_2"], ["id": "u_3"]]
        let several = NodeError.ambiguous("Mina", candidates: people, field: "member")
        #expect(several.message == "'Mina' could be any of 3 people")
        let cut = NodeError.ambiguous("Mina", candidates: people, naming: 2, field: "member")
        #expect(cut.message == "'Mina' could be any of 3 people", "all are counted")
        #expect(cut.json["data"]?["candidates"] == [["id": "u_1"], ["id": "u_2"]])
        #expect(NodeError.cursorExpired(oldest: "e1.5").json["data"]?["oldest"] == "e1.5")
    }

    @Test func `tells which field named nothing, if a field did`() {
        let named = NodeError.notFound("channel", "plans", field: "channel")
        #expect(named.fields == [NodeError.Field(name: "channel", reason: "not_found")])
        #expect(named.message == "there is no channel 'plans'")
        #expect(NodeError.notFound("channel", "plans").json["data"]?["field"] == nil)
    }

    @Test(arguments: [
        ("/run/wsx", "'/run/wsx'"), ("", "''"), ("/a\nb", "'/a\\u{a}b'"),
        ("/\u{1B}[2J", "'/\\u{1b}[2J'"), ("/회의", "'/회의'"),
    ])
    func `quotes a path with its control characters spelled out`(_ path: String, _ quoted: String) {
        #expect(NodeError.quotedPath(path) == quoted)
    }

    @Test func `cuts names after 40 scalars and paths after 200`() {
        let exact = String(repeating: "x", count: 40)
        #expect(NodeError.quoted(exact) == "'\(exact)'")
        #expect(NodeError.quoted(exact + "x") == "'\(exact)…'")
        let path = String(repeating: "p", count: 201)
        #expect(NodeError.quotedPath(path) == "'\(path.dropLast())'")
    }
}
