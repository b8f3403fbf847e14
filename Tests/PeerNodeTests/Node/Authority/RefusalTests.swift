import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `A refused call` {
    /// Who calls, in the world that `world()` makes.
    enum Caller: String { case owner, member, nobody }

    struct Refusal: Sendable, CustomTestStringConvertible {
        let method: String
        let parameters: JSONValue
        let kind: String
        let code: Int64
        let exit: Int32
        var field: String?
        var caller = Caller.owner
        var testDescription: String { "\(method) \(parameters.text.prefix(60)) by \(caller)" }

        init(
            _ method: String, _ parameters: JSONValue, _ kind: String, _ code: Int64,
            exit: Int32, field: String? = nil, by caller: Caller = .owner
        ) {
            self.method = method
            self.parameters = parameters
            self.kind = kind
            self.code = code
            self.exit = exit
            self.field = field
            self.caller = caller
        }

        static func bad(_ method: String, _ parameters: JSONValue, _ field: String?) -> Self {
            Self(method, parameters, "bad_request", -32602, exit: 2, field: field)
        }

        static func nobody(_ method: String, _ parameters: JSONValue, _ field: String) -> Self {
            Self(method, parameters, "unknown_user", -32002, exit: 5, field: field)
        }

        static func missing(
            _ method: String, _ parameters: JSONValue, _ field: String?, by caller: Caller = .owner
        ) -> Self {
            Self(method, parameters, "not_found", -32001, exit: 5, field: field, by: caller)
        }
    }

    static let unknownPeople: [Refusal] = [
        .nobody("channel.get", ["channel": "@Nobody"], "channel"),
        .nobody("message.send", ["channel": "@Nobody", "text": "x"], "channel"),
        .nobody("dm.open", ["members": ["Joon", "Nobody"]], "members"),
    ]

    static let unknownMessage = "m_" + String(repeating: "0", count: 26)
    static let longText = JSONValue.string(String(repeating: "x", count: 16 * 1024 + 1))

    static let badRequests: [Refusal] = [
        .bad("identity.create", [:], "name"),
        .bad("workspace.create", ["name": 7], "name"),
        .bad("workspace.create", ["name": ""], "name"),
        .bad("workspace.create", ["name": "   "], "name"),
        .bad("workspace.create", ["name": "a\u{7}b"], "name"),
        .bad("workspace.create", ["name": "x", "first_channel": "a\nb"], "first_channel"),
        .bad("workspace.create", ["nam": "x"], "nam"),
        .bad("workspace.list", ["limit": 0], "limit"),
        .bad("workspace.list", ["limit": 1_001], "limit"),
        .bad("workspace.list", ["cursor": "bogus"], "cursor"),
        .bad("workspace.list", ["cursor": "n-1"], "cursor"),
        .bad("workspace.select", [:], "workspace"),
        .bad("workspace.join", ["link": "x", "timeout_ms": 10], "timeout_ms"),
        .bad("channel.create", ["name": "\u{202e}abc"], "name"),
        .bad("channel.create", ["name": "x", "private": 1], "private"),
        .bad("channel.create", ["name": "x", "history": "from-join"], "history"),
        .bad("channel.create", ["name": "x", "history": "some"], "history"),
        .bad("dm.open", ["members": []], "members"),
        .bad("channel.list", ["scope": "some"], "scope"),
        .bad("channel.get", ["channel": "#"], "channel"),
        .bad("invite.create", ["role": "owner"], "role"),
        .bad("invite.create", ["uses": 0], "uses"),
        .bad("invite.create", ["expires_ms": 999], "expires_ms"),
        .bad("invite.create", ["role": "guest"], "channels"),
        .bad("invite.revoke", ["id": "x"], "id"),
        .bad("message.send", ["channel": "general"], "text"),
        .bad("message.send", ["channel": "general", "text": ""], "text"),
        .bad("message.send", ["channel": "general", "text": " \t\n"], "text"),
        .bad("message.send", ["channel": "general", "text": "\u{200b}"], "text"),
        .bad("message.send", ["channel": "general", "text": longText, "thread": "x"], "text"),
        .bad("member.role", ["member": "@Joon", "role": "owner"], "role"),
        Refusal(
            "message.send", ["channel": "general", "text": longText], "too_large", -32012, exit: 1,
            field: "text"),
        Refusal(
            "message.edit", ["message": .string(unknownMessage), "text": longText], "too_large",
            -32012, exit: 1, field: "text"),
        .bad("message.send", ["channel": "general", "text": "a\u{0}b"], "text"),
        .bad("message.send", ["channel": "general", "text": "a\u{fffe}b"], "text"),
        .bad("message.send", ["channel": "general", "text": "a", "format": "html"], "format"),
        .bad("message.send", ["channel": "general", "text": "a", "thread": "x"], "thread"),
        .bad(
            "message.send",
            [
                "channel": "general", "text": "a",
                "key": .string(String(repeating: "k", count: 129)),
            ], "key"),
        .bad("message.history", ["channel": "general", "limit": 101], "limit"),
        .bad("message.history", ["channel": "general", "before": "p_1", "after": "p_2"], "before"),
        .bad("message.history", ["channel": "general", "since": -1], "since"),
        .bad("message.get", ["ids": []], "ids"),
        .bad("events.wait", ["since": "yesterday"], "since"),
        .bad("events.wait", ["since": "e1.x"], "since"),
        .bad("events.wait", ["timeout_ms": 600_001], "timeout_ms"),
        .bad("events.ack", ["name": "bot", "cursor": "nonsense"], "cursor"),
        .bad("peer.add", ["address": "no port here:"], "address"),
        .bad("message.send", ["chanel": "general", "text": "x"], "chanel"),
    ]

    static let absences: [Refusal] = [
        .missing("workspace.get", ["workspace": "nowhere"], "workspace"),
        .missing("workspace.get", ["workspace": "w_000000"], "workspace"),
        .missing("workspace.select", ["workspace": "nowhere"], "workspace"),
        .missing("channel.get", ["channel": "nowhere"], "channel"),
        .missing("channel.get", ["channel": "c_000000"], "channel"),
        .missing("channel.join", ["channel": "nowhere"], "channel"),
        .missing("message.send", ["channel": "nowhere", "text": "x"], "channel"),
        .missing(
            "message.send",
            ["channel": "general", "text": "x", "thread": .string(unknownMessage)], "thread"),
        .missing("message.history", ["channel": "nowhere"], "channel"),
        .missing(
            "message.history", ["channel": "general", "before": .string(unknownMessage)],
            "before"),
        .missing("message.history", ["channel": "general", "around": "zzz"], "around"),
        .missing("message.get", ["ids": [.string(unknownMessage)]], "ids"),
        .missing("invite.revoke", ["id": "i_000000"], "id"),
        .missing("events.subscribe", ["channels": ["nowhere"]], "channels"),
        .missing("events.unsubscribe", ["subscription": 9], "subscription"),
        .missing("peer.remove", ["peer": "10.1.1.1"], "peer"),
        .missing("sync.status", ["channel": "nowhere"], "channel"),
        .missing("identity.show", [:], nil, by: .nobody),
        .missing("workspace.list", [:], nil, by: .nobody),
        .missing("message.send", ["channel": "general", "text": "x"], nil, by: .nobody),
        .missing("invite.create", [:], nil, by: .nobody),
    ]

    static let others: [Refusal] = [
        Refusal("no.such", [:], "unknown_op", -32601, exit: 1),
        Refusal("message.sent", [:], "unknown_op", -32601, exit: 1),
        Refusal("up", [:], "unknown_op", -32601, exit: 1),
        Refusal("identity.create", ["name": "Again"], "duplicate", -32007, exit: 6),
        Refusal(
            "workspace.create", ["name": "ACME"], "duplicate", -32007, exit: 6, field: "name"),
        Refusal(
            "channel.create", ["name": "General"], "duplicate", -32007, exit: 6, field: "name"),
        .bad("invite.create", ["role": "guest", "channels": ["general"]], "channels"),
        Refusal("invite.create", [:], "forbidden", -32004, exit: 4, by: .member),
        Refusal(
            "invite.create", ["role": "admin"], "forbidden", -32004, exit: 4, by: .member),
        Refusal("invite.revoke", ["id": "$invite"], "forbidden", -32004, exit: 4, by: .member),
        Refusal(
            "workspace.join", ["link": "wsx://join/abc"], "invite_invalid", -32019, exit: 1,
            field: "link"),
        Refusal(
            "workspace.join", ["link": "https://example.org"], "invite_invalid", -32019, exit: 1,
            field: "link"),
        Refusal("events.wait", ["since": "e1zzzz.4"], "cursor_expired", -32023, exit: 1),
        Refusal(
            "events.ack", ["name": "b", "cursor": "e1zzzz.4"], "cursor_expired", -32023, exit: 1),
        Refusal("rpc.hello", ["client": "t", "api": 2], "version_mismatch", -32027, exit: 1),
    ]

    private func world() throws -> (CoreBench, [Caller: BenchNode], invite: String) {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        let nobody = try bench.bareNode("Nobody")
        let invite = try mina.ok("invite.create").text("id")
        return (bench, [.owner: mina, .member: joon, .nobody: nobody], invite)
    }

    @Test(arguments: badRequests + absences + unknownPeople + others)
    func `names kind, number, exit status and field, and changes nothing`(
        _ row: Refusal
    ) throws {
        let (bench, callers, invite) = try world()
        let node = try #require(callers[row.caller])
        try node.ok("node.version")
        let before = node.host?.commitCount
        let openings = node.openCount
        var parameters = row.parameters
        if parameters["id"] == "$invite" { parameters = ["id": .string(invite)] }
        let error = try node.refused(row.method, parameters)
        #expect(error.kind.rawValue == row.kind, "\(error.message)")
        #expect(Int64(error.kind.code) == row.code)
        #expect(error.exitStatus == row.exit)
        #expect(error.json["data"]?["field"]?.stringValue == row.field)
        #expect(!error.message.isEmpty)
        #expect(!error.message.hasSuffix("."))
        #expect(node.host?.commitCount == before)
        #expect(node.openCount == openings)
        withExtendedLifetime(bench) {}
    }

    @Test func `lists all failing fields`() throws {
        let (bench, callers, _) = try world()
        let error = try #require(callers[.owner]).refused(
            "message.send", ["channel": "#", "txt": "x", "format": 7])
        #expect(error.fields.map(\.name).sorted() == ["channel", "format", "txt"])
        #expect(error.fields.first?.name == "txt")
        #expect(error.json["data"]?["field"] == "txt")
        withExtendedLifetime(bench) {}
    }

    @Test func `suggests what was meant`() throws {
        let (bench, callers, _) = try world()
        let mina = try #require(callers[.owner])
        try mina.ok("channel.create", ["name": "planning"])
        let rows: [(String, JSONValue, String)] = [
            ("message.sent", [:], "message.send"),
            ("message.send", ["chanel": "general", "text": "x"], "channel"),
            ("channel.get", ["channel": "planing"], "planning"),
            ("workspace.get", ["workspace": "acne"], "acme"),
        ]
        for (method, parameters, expected) in rows {
            let hint = try mina.refused(method, parameters).hint
            #expect(hint?.contains("'\(expected)'") == true, "\(hint ?? "-")")
        }
        withExtendedLifetime(bench) {}
    }

    @Test func `says that no workspace is selected`() throws {
        let bench = CoreBench()
        let node = try bench.node("Mina", workspace: nil)
        for method in ["workspace.get", "channel.list", "member.list", "invite.list"] {
            let error = try node.refused(method)
            #expect(error.kind == .notFound)
            #expect(error.hint == "wsx-node up --workspace NAME")
        }
    }

    @Test func `tells a member of an ended grant why`() throws {
        let ended = try EndedGrant()
        let error = try ended.joiner.refused(
            "message.send", ["channel": "general", "text": "still here?"])
        #expect(error.kind == .forbidden)
        #expect(error.reason == "removed")
        #expect(try ended.joiner.ok("workspace.list").items.count == 1)
        #expect(try ended.joiner.ok("workspace.get")["role"] == .null)
    }

    /// 4.0.6: `retry` for what may succeed later as it is.
    @Test func `says whether to try again`() throws {
        let (bench, callers, _) = try world()
        let mina = try #require(callers[.owner])
        let refused = try mina.refused("channel.get", ["channel": "nowhere"])
        #expect(refused.json["data"]?["retry"] == false)
        try mina.ok("net.suspend")
        let nobody = try #require(callers[.nobody])
        let link = try mina.link()
        let unreachable = try nobody.refused(
            "workspace.join", ["link": .string(link), "name": "Ann"])
        #expect(unreachable.kind == .unreachable)
        #expect(unreachable.json["data"]?["retry"] == true)
        #expect(unreachable.exitStatus == 7)
        withExtendedLifetime(bench) {}
    }
}
