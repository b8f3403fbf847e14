import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// The fields of section 4.9, with what 4.0.3 and 4.0.7 add, as the design writes them.
private enum Fields {
    static let session: Set<String> = [
        "state", "locked", "passphrase", "passcode", "relaying", "retry_ms", "wiped",
    ]
    static let person: Set<String> = ["id", "name"]
    static let check: Set<String> = [
        "ok", "operations", "rows", "problem_count", "problems", "repaired", "missing",
    ]
    static let workspace: Set<String> = [
        "id", "name", "description", "image", "role", "owner", "members", "channels", "selected",
        "created_at", "digest", "deleted", "removed_at", "address", "successor", "acknowledged",
        "state", "removed_by", "removed_how", "note",
    ]
    static let channel: Set<String> = [
        "id", "workspace", "name", "kind", "private", "default", "description", "topic", "owner",
        "members", "people", "joined", "archived", "history", "unread", "mentions", "last",
        "created_at", "admins", "muted", "muted_until", "notify",
    ]
    static let reading: Set<String> = [
        "id", "name", "unread", "mentions", "message", "last", "first",
    ]
    static let notice: Set<String> = ["id", "level", "command"]
    static let preference: Set<String> = ["id", "setting", "value"]
    static let member: Set<String> = [
        "id", "name", "role", "self", "devices", "joined_at", "removed", "removed_at", "presence",
        "kept", "ended_invites", "open_invites", "kept_invites", "description", "country", "phone",
        "email", "image",
    ]
    static let profile: Set<String> = [
        "id", "workspace", "name", "self", "description", "country", "phone", "email", "image",
        "visible", "presence",
    ]
    static let presence: Set<String> = [
        "id", "name", "self", "state", "text", "emoji", "until",
    ]
    static let message: Set<String> = [
        "id", "workspace", "channel", "author", "at", "text", "format", "thread", "replies",
        "edited_at", "deleted", "reactions", "attachments", "location", "mentions",
        "mentions_channel", "pinned", "self", "bot", "state", "holders", "version",
    ]
    static let invite: Set<String> = [
        "id", "link", "code", "qr_text", "role", "uses", "used", "expires_at", "channels",
        "approve", "state", "created_by",
    ]
    static let request: Set<String> = [
        "id", "name", "member", "device", "invite", "at", "state", "note",
    ]
    static let policy: Set<String> = ["id", "who_may_invite", "join", "address"]
    static let declined: Set<String> = ["id", "declined", "was_pending"]
    static let peer: Set<String> = [
        "id", "member", "name", "address", "state", "behind", "ahead", "last_seen", "last_error",
    ]
    static let event: Set<String> = [
        "seq", "cursor", "at", "type", "workspace", "backfill", "data",
    ]
    static let status: Set<String> = [
        "version", "api", "device", "identity", "home", "socket", "listen", "uptime_ms", "locked",
        "peers", "workspaces", "store", "warnings",
    ]
    static let statusWorkspace: Set<String> = [
        "id", "name", "digest", "operations", "behind", "state",
    ]
    static let store: Set<String> = ["operations", "bytes", "blob_bytes", "free_bytes"]
    static let peerCounts: Set<String> = ["connected", "dialing", "waiting", "blocked"]
    static let identity: Set<String> = [
        "id", "name", "created_at", "passphrase", "locked", "recovery", "members",
    ]
    static let device: Set<String> = [
        "id", "name", "self", "added_at", "origin", "added_by", "revoked", "last_seen", "recovery",
        "certified",
        "still_in", "workspaces",
    ]
    static let sync: Set<String> = [
        "peer", "workspace", "state", "behind", "ahead", "rate", "eta_ms",
    ]
    static let finding: Set<String> = ["id", "state", "message", "hint"]
    static let reader: Set<String> = ["id", "name", "cursor", "at"]
    static let holder: Set<String> = ["device", "member", "have", "complete", "at"]
    static let network: Set<String> = ["suspended", "failure", "listen", "announce", "peers"]
    static let page: Set<String> = ["items", "next"]
    static let history: Set<String> = ["items", "next", "older", "newer"]
    static let version: Set<String> = ["version", "api"]
    static let discovery: Set<String> = ["openrpc", "info", "methods"]
    static let subscription: Set<String> = ["subscription", "cursor"]
}

@Suite struct `Every method answers with the fields of the contract` {
    /// A call in the world of `world()`, where `$message` and its like stand for ids.
    struct Call: Sendable, CustomTestStringConvertible {
        let method: String
        var parameters: JSONValue = [:]
        let fields: Set<String>
        /// The fields of every element of `items`, of which there must be one.
        var element: Set<String>?
        var testDescription: String { method }
    }

    static let calls: [Call] = [
        Call(method: "rpc.hello", parameters: ["client": "t 1"], fields: Fields.version),
        Call(method: "rpc.discover", fields: Fields.discovery),
        Call(method: "rpc.methods", fields: Fields.page, element: ["name", "summary"]),
        Call(method: "node.version", fields: Fields.version),
        Call(method: "node.status", fields: Fields.status),
        Call(method: "node.metrics", fields: ["text"]),
        Call(
            method: "home.get",
            fields: [
                "identity", "workspaces", "selected", "channels", "dms", "unread", "refused",
                "complete", "next",
            ]),
        Call(method: "node.doctor", fields: Fields.page, element: Fields.finding),
        Call(method: "node.stop", fields: []),
        Call(method: "identity.show", fields: Fields.identity),
        Call(method: "session.status", fields: Fields.session),
        Call(method: "lock.status", fields: Fields.session),
        Call(
            method: "identity.show", parameters: ["phrase": true],
            fields: Fields.identity.union(["phrase"])),
        Call(
            method: "identity.recover", parameters: ["link": "$link", "phrase": "$phrase"],
            fields: Fields.workspace),
        Call(method: "device.list", fields: Fields.page, element: Fields.device),
        Call(method: "device.link", fields: ["link", "qr_text", "expires_at"]),
        Call(
            method: "device.rename", parameters: ["device": "$device", "name": "amber"],
            fields: Fields.device),
        Call(
            method: "device.revoke", parameters: ["device": "$other"], fields: Fields.device),
        Call(
            method: "workspace.create", parameters: ["name": "second"], fields: Fields.workspace),
        Call(method: "workspace.list", fields: Fields.page, element: Fields.workspace),
        Call(method: "workspace.get", fields: Fields.workspace),
        Call(
            method: "workspace.select", parameters: ["workspace": "acme"],
            fields: Fields.workspace),
        Call(
            method: "workspace.join", parameters: ["link": "$link"], fields: Fields.workspace),
        Call(
            method: "workspace.edit", parameters: ["name": "other"], fields: Fields.workspace),
        Call(
            method: "workspace.transfer", parameters: ["member": "Joon"],
            fields: Fields.workspace),
        Call(
            method: "workspace.successor.set", parameters: ["member": "@Joon"],
            fields: Fields.workspace),
        Call(
            method: "workspace.delete", parameters: ["name": "acme"], fields: Fields.workspace),
        Call(method: "policy.get", fields: Fields.policy),
        Call(method: "policy.set", parameters: ["join": "open"], fields: Fields.policy),
        Call(method: "invite.accept", parameters: ["link": "$link"], fields: Fields.workspace),
        Call(method: "invite.decline", parameters: ["link": "$link"], fields: Fields.declined),
        Call(method: "join.requests", fields: Fields.page, element: Fields.request),
        Call(method: "join.approve", parameters: ["id": "$request"], fields: Fields.request),
        Call(method: "join.reject", parameters: ["id": "$request"], fields: Fields.request),
        Call(method: "invite.create", fields: Fields.invite),
        Call(method: "invite.list", fields: Fields.page, element: Fields.invite),
        Call(method: "invite.revoke", parameters: ["id": "$invite"], fields: Fields.invite),
        Call(method: "profile.get", fields: Fields.profile),
        Call(method: "profile.of", parameters: ["member": "@Mina"], fields: Fields.profile),
        Call(
            method: "profile.set", parameters: ["description": "Paints"], fields: Fields.profile),
        Call(method: "profile.image.set", parameters: ["preset": 7], fields: Fields.profile),
        Call(method: "profile.image.clear", fields: Fields.profile),
        Call(method: "presence.set", parameters: ["state": "busy"], fields: Fields.presence),
        Call(method: "presence.clear", fields: Fields.presence),
        Call(method: "presence.list", fields: Fields.page, element: Fields.presence),
        Call(method: "typing.send", parameters: ["channel": "general"], fields: []),
        Call(method: "member.list", fields: Fields.page, element: Fields.member),
        Call(method: "member.get", parameters: ["member": "Joon"], fields: Fields.member),
        Call(
            method: "member.role", parameters: ["member": "Joon", "role": "admin"],
            fields: Fields.member),
        Call(method: "member.remove", parameters: ["member": "Joon"], fields: Fields.member),
        Call(
            method: "member.status", parameters: ["member": "Gone"], fields: Fields.page,
            element: Fields.holder),
        Call(method: "workspace.rekey", fields: Fields.workspace),
        Call(
            method: "workspace.leave", parameters: ["workspace": "other"],
            fields: Fields.workspace),
        Call(method: "channel.list", fields: Fields.page, element: Fields.channel),
        Call(method: "channel.create", parameters: ["name": "plans"], fields: Fields.channel),
        Call(method: "channel.get", parameters: ["channel": "general"], fields: Fields.channel),
        Call(method: "channel.join", parameters: ["channel": "general"], fields: Fields.channel),
        Call(
            method: "search", parameters: ["query": "mina"],
            fields: ["items", "next", "complete"],
            element: ["kind", "id", "channel", "at", "matches", "member"]),
        Call(
            method: "user.find", parameters: ["text": "mina"], fields: Fields.page,
            element: Fields.member),
        Call(
            method: "channel.find", parameters: ["text": "gen"], fields: Fields.page,
            element: Fields.channel),
        Call(
            method: "channel.members", parameters: ["channel": "general"], fields: Fields.page,
            element: Fields.member),
        Call(
            method: "channel.edit", parameters: ["channel": "ideas", "topic": "t"],
            fields: Fields.channel),
        Call(
            method: "channel.transfer", parameters: ["channel": "ideas", "member": "Joon"],
            fields: Fields.channel),
        Call(
            method: "channel.role",
            parameters: ["channel": "ideas", "member": "Joon", "role": "admin"],
            fields: Fields.channel),
        Call(
            method: "channel.add", parameters: ["channel": "ideas", "members": ["Joon"]],
            fields: Fields.channel),
        Call(
            method: "channel.remove", parameters: ["channel": "ideas", "members": ["Joon"]],
            fields: Fields.channel),
        Call(method: "channel.leave", parameters: ["channel": "theirs"], fields: Fields.channel),
        Call(method: "channel.archive", parameters: ["channel": "ideas"], fields: Fields.channel),
        Call(
            method: "channel.unarchive", parameters: ["channel": "ideas"], fields: Fields.channel),
        Call(method: "channel.delete", parameters: ["channel": "ideas"], fields: Fields.channel),
        Call(method: "channel.mute", parameters: ["channel": "general"], fields: Fields.channel),
        Call(
            method: "channel.notify", parameters: ["channel": "general", "level": "none"],
            fields: Fields.channel),
        Call(method: "notify.get", fields: Fields.notice),
        Call(method: "notify.set", parameters: ["level": "mentions"], fields: Fields.notice),
        Call(method: "notify.command", parameters: ["command": "x"], fields: ["id", "command"]),
        Call(method: "read.mark", parameters: ["channel": "general"], fields: Fields.reading),
        Call(method: "read.status", fields: Fields.page, element: Fields.reading),
        Call(method: "unread.get", fields: Fields.page, element: Fields.reading),
        Call(
            method: "ui.pref.get", parameters: ["setting": "theme"], fields: Fields.preference),
        Call(
            method: "ui.pref.set", parameters: ["setting": "theme", "value": "dark"],
            fields: Fields.preference),
        Call(method: "ui.pref.list", fields: Fields.page, element: Fields.preference),
        Call(method: "dm.open", parameters: ["members": ["Joon"]], fields: Fields.channel),
        Call(method: "dm.list", fields: Fields.page, element: Fields.channel),
        Call(
            method: "message.send", parameters: ["channel": "general", "text": "hi"],
            fields: Fields.message),
        Call(
            method: "message.history", parameters: ["channel": "general"], fields: Fields.history,
            element: Fields.message),
        Call(
            method: "message.get", parameters: ["ids": ["$message"]], fields: Fields.page,
            element: Fields.message),
        Call(
            method: "message.delete", parameters: ["message": "$message"],
            fields: Fields.message),
        Call(
            method: "message.edit", parameters: ["message": "$message", "text": "x"],
            fields: Fields.message),
        Call(
            method: "message.react", parameters: ["message": "$message", "emoji": "👍"],
            fields: Fields.message),
        Call(
            method: "message.pin", parameters: ["message": "$message"], fields: Fields.message),
        Call(
            method: "message.unpin", parameters: ["message": "$message"], fields: Fields.message),
        Call(
            method: "message.holders", parameters: ["message": "$message"], fields: Fields.page,
            element: Fields.holder),
        Call(method: "events.subscribe", fields: Fields.subscription),
        Call(
            method: "events.wait", parameters: ["since": "all"], fields: Fields.page,
            element: Fields.event),
        Call(
            method: "events.ack", parameters: ["name": "bot", "cursor": "$cursor"],
            fields: Fields.reader),
        Call(method: "events.names", fields: Fields.page, element: Fields.reader),
        Call(method: "events.unsubscribe", parameters: ["subscription": 1], fields: []),
        Call(method: "sync.status", fields: Fields.page, element: Fields.sync),
        Call(method: "peer.list", fields: Fields.page, element: Fields.peer),
        Call(method: "peer.add", parameters: ["address": "10.9.9.9"], fields: Fields.peer),
        Call(method: "peer.remove", parameters: ["peer": "10.8.8.8"], fields: Fields.peer),
        Call(method: "net.status", fields: Fields.network),
        Call(method: "net.suspend", fields: Fields.network),
        Call(method: "net.resume", fields: Fields.network),
        Call(
            method: "why", parameters: ["subject": "@Mina"],
            fields: ["id", "name", "role", "can", "answer", "steps"]),
        Call(method: "node.check", fields: Fields.check),
    ]

    /// Two people with one message, an invite, a reader, a stream and an address.
    private func world() throws -> (CoreBench, BenchNode, [String: JSONValue]) {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        let other = try joon.ok("identity.show")
        let invite = try mina.ok("invite.create")
        let message = try mina.send("first")
        try mina.ok("events.subscribe", ["name": "bot"])
        try mina.ok("peer.add", ["address": "10.8.8.8"])
        return (
            bench, mina,
            [
                "$link": invite["link"] ?? .null, "$invite": invite["id"] ?? .null,
                "$message": message["id"] ?? .null, "$cursor": .string(try mina.cursor()),
                "$device": try mina.ok("identity.show")["id"] ?? .null,
                "$other": other["id"] ?? .null,
                "$phrase": .string(try Self.phrase(of: mina)),
            ]
        )
    }

    /// The phrase of a node, without asking for it: then it would be shown already.
    private static func phrase(of node: BenchNode) throws -> String {
        let core = try #require(node.host?.core)
        let home = try #require(core.home)
        let sealed = try core.store.registry.value("recovery.seed") ?? []
        let seed = home.open(sealed, name: Array("recovery.seed".utf8)) ?? []
        let phrase = try #require(RecoveryPhrase(untrusted: seed))
        return phrase.words.joined(separator: " ")
    }

    private func filled(_ value: JSONValue, _ names: [String: JSONValue]) -> JSONValue {
        switch value {
        case .string(let text): return names[text] ?? value
        case .array(let list): return .array(list.map { filled($0, names) })
        case .object(let object):
            return .object(
                JSONObject(
                    uniqueMembers: object.members.map {
                        JSONObject.Member(key: $0.key, value: filled($0.value, names))
                    }))
        default: return value
        }
    }

    @Test(arguments: calls)
    func `and with no other`(_ call: Call) throws {
        let (bench, mina, known) = try world()
        var names = known
        if call.method.hasPrefix("join.") {
            #expect(try bench.bareNode("Kim").ask(try mina.link(["approve": true])) == "pending")
            names["$request"] = try mina.requests().first?["id"]
        } else if call.method.hasPrefix("channel.") {
            try bench.nodes[1].ok("channel.create", ["name": "theirs"])
            try mina.ok("channel.create", ["name": "ideas"])
            // Nobody is taken out of a channel, or leaves it, who is not in it.
            try mina.ok("channel.add", ["channel": "ideas", "members": ["Joon"]])
            try mina.ok("channel.join", ["channel": "theirs"])
        } else if call.method == "unread.get" {
            try bench.nodes[1].send("hello")
        } else if call.method == "ui.pref.list" {
            try mina.ok("ui.pref.set", ["setting": "theme", "value": "dark"])
        } else if call.method == "dm.list" {
            try mina.ok("dm.open", ["members": ["Joon"]])
        } else if call.method == "member.status" {
            try mina.remove(try bench.guest("Gone", of: mina))
        } else if call.method == "workspace.leave" {
            let kim = try bench.node("Kim", workspace: "other")
            try mina.join(try kim.link())
        }
        let answer = try mina.ok(call.method, filled(call.parameters, names))
        #expect(answer.fieldNames == call.fields)
        if let element = call.element {
            #expect(!answer.items.isEmpty)
            for item in answer.items { #expect(item.fieldNames == element) }
            #expect(answer["next"]?.isNull == true || call.method == "events.wait")
        }
        withExtendedLifetime(bench) {}
    }

    @Test func `and none is left out of this table`() {
        let tried = Set(Self.calls.map(\.method)).union([
            "identity.create", "backup.create", "backup.verify",
            // Of a home with a passphrase: `A session` has them.
            "identity.passphrase.change", "session.unlock", "session.logout", "lock.set",
            "lock.change", "lock.remove", "lock.now", "lock.unlock",
        ])
        #expect(tried == Set(Command.methods.map(\.name)))
    }

    @Test func `identity`() throws {
        let bench = CoreBench()
        let node = try bench.bareNode("Mina")
        let made = try node.ok("identity.create", ["name": "  Mina "])
        #expect(made.fieldNames == Fields.identity)
        #expect(try made.text("id").hasPrefix("d_"))
        #expect(try made.text("name") == "Mina")
        #expect(try made.number("created_at") == Int64(bench.wall))
        #expect(made["passphrase"] == false)
        #expect(made["locked"] == false)
        #expect(made["members"] == [])
        let workspace = try node.ok("workspace.create", ["name": "acme"])
        let member = try #require(try node.ok("identity.show")["members"]?[0])
        #expect(member.fieldNames == ["workspace", "member", "name"])
        #expect(try member.text("workspace") == workspace.text("id"))
        #expect(try member.text("member").hasPrefix("u_"))
    }

    @Test func `status`() throws {
        let (bench, mina, _) = try world()
        bench.advance(4_200)
        let status = try mina.ok("node.status")
        #expect(status["api"] == ["major": 1, "minor": 0])
        #expect(status["identity"]?.fieldNames == Fields.identity)
        #expect(status["device"] == status["identity"]?["id"])
        #expect(status["home"] == "/bench/Mina")
        #expect(status["socket"] == "/bench/Mina/control.sock")
        #expect(status["listen"] == ["10.0.0.1:29790"])
        #expect(try status.number("uptime_ms") >= 4_200)
        #expect(status["locked"] == false)
        #expect(status["peers"]?.fieldNames == Fields.peerCounts)
        #expect(try status["peers"]?.number("connected") == 1)
        let workspace = try #require(status["workspaces"]?[0])
        #expect(workspace.fieldNames == Fields.statusWorkspace)
        #expect(try workspace.text("digest") == mina.digest())
        #expect(try workspace.text("digest").utf8.count == 64)
        #expect(try workspace.number("operations") == mina.rowCount("operation"))
        #expect(try workspace.number("behind") == 0)
        #expect(status["store"]?.fieldNames == Fields.store)
        #expect(try status["store"]?.number("free_bytes") == mina.files.freeBytes)
        #expect(status["warnings"] == [])
    }

    @Test func `the parts of objects`() throws {
        let (bench, mina, _) = try world()
        // What was pulled is confirmed when it is stored.
        bench.advance(60_000)
        let workspace = try mina.ok("workspace.get")
        #expect(workspace["owner"]?.fieldNames == Fields.person)
        #expect(try workspace.text("role") == "owner")
        #expect(try workspace.number("members") == 2)
        #expect(try workspace.number("channels") == 1)
        #expect(workspace["selected"] == true)
        #expect(workspace["deleted"] == false)
        #expect(workspace["removed_at"] == .null)

        let channel = try mina.ok("channel.get", ["channel": "general"])
        #expect(channel["default"] == true)
        #expect(channel["private"] == false)
        #expect(channel["kind"] == "channel")
        #expect(channel["people"] == .null)
        #expect(try channel.number("members") == 2)
        #expect(channel["joined"] == true)
        #expect(channel["last"]?["text"] == "first")
        #expect(channel["history"] == "all")

        let message = try #require(
            try mina.ok("message.history", ["channel": "general"]).items.first)
        #expect(message["author"]?.fieldNames == Fields.person)
        #expect(message["author"]?["name"] == "Mina")
        #expect(message["self"] == true)
        #expect(message["bot"] == false)
        #expect(message["state"] == "held_by_others")
        #expect(message["holders"] == 2)
        for empty in ["reactions", "attachments", "mentions"] { #expect(message[empty] == []) }
        for none in ["thread", "edited_at", "deleted", "location"] {
            #expect(message[none] == .null)
        }
        withExtendedLifetime(bench) {}
    }

    /// 4.1.1: everything that has an id has the prefix of its kind, in lower case.
    @Test func `ids have the letter of their kind`() throws {
        let (bench, mina, _) = try world()
        let prefixes: [(String, JSONValue)] = [
            ("w_", try mina.ok("workspace.get")),
            ("c_", try mina.ok("channel.get", ["channel": "general"])),
            ("m_", try mina.send("x")), ("i_", try mina.ok("invite.create")),
            ("u_", try mina.ok("member.list").items[0]),
            ("d_", try mina.ok("peer.list").items[0]),
        ]
        for (prefix, object) in prefixes {
            let id = try object.text("id")
            #expect(id.hasPrefix(prefix))
            #expect(id.dropFirst(2).utf8.count == 26)
            #expect(id.lowercased() == id)
        }
        withExtendedLifetime(bench) {}
    }

    @Test func `ids are the same on every node`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        try mina.send("one")
        try joon.send("two")
        for (method, parameters) in [
            ("workspace.list", [:]), ("channel.list", ["scope": "all"]), ("member.list", [:]),
            ("invite.list", [:]), ("message.history", ["channel": "general"]),
        ] as [(String, JSONValue)] {
            let left = try mina.ok(method, parameters).texts("id")
            #expect(!left.isEmpty)
            #expect(left == (try joon.ok(method, parameters).texts("id")))
        }
        #expect(try mina.digest() == joon.digest())
    }
}
