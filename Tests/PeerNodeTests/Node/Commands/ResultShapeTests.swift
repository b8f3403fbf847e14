import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `Every method answers with the fields of the contract` {
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
        Call(method: "rpc.hello", parameters: ["client": "t 1"], fields: ResultFields.version),
        Call(method: "rpc.discover", fields: ResultFields.discovery),
        Call(method: "rpc.methods", fields: ResultFields.page, element: ["name", "summary"]),
        Call(method: "node.version", fields: ResultFields.version),
        Call(method: "node.status", fields: ResultFields.status),
        Call(method: "node.metrics", fields: ["text"]),
        Call(
            method: "home.get",
            fields: [
                "identity", "workspaces", "selected", "channels", "dms", "unread", "refused",
                "new_devices", "backup_at", "backup_due", "complete", "next",
            ]),
        Call(method: "node.doctor", fields: ResultFields.page, element: ResultFields.finding),
        Call(method: "node.stop", fields: []),
        Call(method: "identity.show", fields: ResultFields.identity),
        Call(method: "session.status", fields: ResultFields.session),
        Call(method: "lock.status", fields: ResultFields.session),
        Call(
            method: "identity.show", parameters: ["phrase": true],
            fields: ResultFields.identity.union(["phrase"])),
        Call(
            method: "identity.recover", parameters: ["link": "$link", "phrase": "$phrase"],
            fields: ResultFields.workspace),
        Call(method: "device.list", fields: ResultFields.page, element: ResultFields.device),
        Call(method: "device.link", fields: ["link", "qr_text", "expires_at"]),
        Call(
            method: "device.rename", parameters: ["device": "$device", "name": "amber"],
            fields: ResultFields.device),
        Call(
            method: "device.revoke", parameters: ["device": "$other"], fields: ResultFields.device),
        Call(
            method: "workspace.create", parameters: ["name": "second"],
            fields: ResultFields.workspace),
        Call(method: "workspace.list", fields: ResultFields.page, element: ResultFields.workspace),
        Call(method: "workspace.get", fields: ResultFields.workspace),
        Call(
            method: "workspace.select", parameters: ["workspace": "acme"],
            fields: ResultFields.workspace),
        Call(
            method: "workspace.join", parameters: ["link": "$link"], fields: ResultFields.workspace),
        Call(
            method: "workspace.edit", parameters: ["name": "other"], fields: ResultFields.workspace),
        Call(
            method: "workspace.transfer", parameters: ["member": "Joon"],
            fields: ResultFields.workspace),
        Call(
            method: "workspace.successor.set", parameters: ["member": "@Joon"],
            fields: ResultFields.workspace),
        Call(
            method: "workspace.delete", parameters: ["name": "acme"], fields: ResultFields.workspace
        ),
        Call(method: "policy.get", fields: ResultFields.policy),
        Call(method: "policy.set", parameters: ["join": "open"], fields: ResultFields.policy),
        Call(
            method: "invite.accept", parameters: ["link": "$link"], fields: ResultFields.workspace),
        Call(
            method: "invite.decline", parameters: ["link": "$link"], fields: ResultFields.declined),
        Call(method: "join.requests", fields: ResultFields.page, element: ResultFields.request),
        Call(method: "join.approve", parameters: ["id": "$request"], fields: ResultFields.request),
        Call(method: "join.reject", parameters: ["id": "$request"], fields: ResultFields.request),
        Call(method: "invite.create", fields: ResultFields.invite),
        Call(method: "invite.list", fields: ResultFields.page, element: ResultFields.invite),
        Call(method: "invite.revoke", parameters: ["id": "$invite"], fields: ResultFields.invite),
        Call(method: "profile.get", fields: ResultFields.profile),
        Call(method: "profile.of", parameters: ["member": "@Mina"], fields: ResultFields.profile),
        Call(
            method: "profile.set", parameters: ["description": "Paints"],
            fields: ResultFields.profile),
        Call(method: "profile.image.set", parameters: ["preset": 7], fields: ResultFields.profile),
        Call(method: "profile.image.clear", fields: ResultFields.profile),
        Call(method: "presence.set", parameters: ["state": "busy"], fields: ResultFields.presence),
        Call(method: "presence.clear", fields: ResultFields.presence),
        Call(method: "presence.list", fields: ResultFields.page, element: ResultFields.presence),
        Call(method: "typing.send", parameters: ["channel": "general"], fields: []),
        Call(method: "member.list", fields: ResultFields.page, element: ResultFields.member),
        Call(method: "member.get", parameters: ["member": "Joon"], fields: ResultFields.member),
        Call(
            method: "member.role", parameters: ["member": "Joon", "role": "admin"],
            fields: ResultFields.member),
        Call(method: "member.remove", parameters: ["member": "Joon"], fields: ResultFields.member),
        Call(
            method: "member.status", parameters: ["member": "Gone"], fields: ResultFields.page,
            element: ResultFields.holder),
        Call(method: "workspace.rekey", fields: ResultFields.workspace),
        Call(
            method: "workspace.leave", parameters: ["workspace": "other"],
            fields: ResultFields.workspace),
        Call(
            method: "workspace.forget", parameters: ["workspace": "other", "force": true],
            fields: ResultFields.workspace),
        Call(method: "channel.list", fields: ResultFields.page, element: ResultFields.channel),
        Call(method: "channel.create", parameters: ["name": "plans"], fields: ResultFields.channel),
        Call(
            method: "channel.get", parameters: ["channel": "general"], fields: ResultFields.channel),
        Call(
            method: "channel.join", parameters: ["channel": "general"], fields: ResultFields.channel
        ),
        Call(
            method: "search", parameters: ["query": "joon"],
            fields: ["items", "next", "complete"],
            element: ["kind", "id", "channel", "at", "matches", "member"]),
        Call(
            method: "user.find", parameters: ["text": "joon"], fields: ResultFields.page,
            element: ResultFields.member),
        Call(
            method: "channel.find", parameters: ["text": "gen"], fields: ResultFields.page,
            element: ResultFields.channel),
        Call(
            method: "channel.members", parameters: ["channel": "general"],
            fields: ResultFields.page,
            element: ResultFields.member),
        Call(
            method: "channel.edit", parameters: ["channel": "ideas", "topic": "t"],
            fields: ResultFields.channel),
        Call(
            method: "channel.transfer", parameters: ["channel": "ideas", "member": "Joon"],
            fields: ResultFields.channel),
        Call(
            method: "channel.role",
            parameters: ["channel": "ideas", "member": "Joon", "role": "admin"],
            fields: ResultFields.channel),
        Call(
            method: "channel.add", parameters: ["channel": "ideas", "members": ["Joon"]],
            fields: ResultFields.channel),
        Call(
            method: "channel.remove", parameters: ["channel": "ideas", "members": ["Joon"]],
            fields: ResultFields.channel),
        Call(
            method: "channel.leave", parameters: ["channel": "theirs"], fields: ResultFields.channel
        ),
        Call(
            method: "channel.archive", parameters: ["channel": "ideas"],
            fields: ResultFields.channel),
        Call(
            method: "channel.unarchive", parameters: ["channel": "ideas"],
            fields: ResultFields.channel),
        Call(
            method: "channel.delete", parameters: ["channel": "ideas"], fields: ResultFields.channel
        ),
        Call(
            method: "channel.mute", parameters: ["channel": "general"], fields: ResultFields.channel
        ),
        Call(
            method: "channel.notify", parameters: ["channel": "general", "level": "none"],
            fields: ResultFields.channel),
        Call(method: "notify.get", fields: ResultFields.notice),
        Call(method: "notify.set", parameters: ["level": "mentions"], fields: ResultFields.notice),
        Call(method: "notify.command", parameters: ["command": "x"], fields: ["id", "command"]),
        Call(method: "read.mark", parameters: ["channel": "general"], fields: ResultFields.reading),
        Call(method: "read.status", fields: ResultFields.page, element: ResultFields.reading),
        Call(method: "unread.get", fields: ResultFields.page, element: ResultFields.reading),
        Call(
            method: "ui.pref.get", parameters: ["setting": "theme"], fields: ResultFields.preference
        ),
        Call(
            method: "ui.pref.set", parameters: ["setting": "theme", "value": "dark"],
            fields: ResultFields.preference),
        Call(method: "ui.pref.list", fields: ResultFields.page, element: ResultFields.preference),
        Call(method: "dm.open", parameters: ["members": ["Joon"]], fields: ResultFields.channel),
        Call(method: "dm.list", fields: ResultFields.page, element: ResultFields.channel),
        Call(
            method: "message.send", parameters: ["channel": "general", "text": "hi"],
            fields: ResultFields.message),
        Call(
            method: "message.history", parameters: ["channel": "general"],
            fields: ResultFields.history,
            element: ResultFields.message),
        Call(
            method: "message.get", parameters: ["ids": ["$message"]], fields: ResultFields.page,
            element: ResultFields.message),
        Call(
            method: "message.delete", parameters: ["message": "$message"],
            fields: ResultFields.message),
        Call(
            method: "message.edit", parameters: ["message": "$message", "text": "x"],
            fields: ResultFields.message),
        Call(
            method: "message.react", parameters: ["message": "$message", "emoji": "👍"],
            fields: ResultFields.message),
        Call(
            method: "message.pin", parameters: ["message": "$message"], fields: ResultFields.message
        ),
        Call(
            method: "message.unpin", parameters: ["message": "$message"],
            fields: ResultFields.message),
        Call(
            method: "message.holders", parameters: ["message": "$message"],
            fields: ResultFields.page,
            element: ResultFields.holder),
        Call(
            method: "message.star", parameters: ["message": "$message"],
            fields: ResultFields.starredMessage),
        Call(
            method: "message.unstar", parameters: ["message": "$message"],
            fields: ResultFields.message),
        Call(
            method: "message.list", parameters: ["starred": true], fields: ResultFields.page,
            element: ResultFields.starredMessage),
        Call(
            method: "reminder.create",
            parameters: ["message": "$message", "at": 1_795_200_000_000],
            fields: ResultFields.reminder),
        Call(method: "reminder.list", fields: ResultFields.page, element: ResultFields.reminder),
        Call(
            method: "reminder.cancel", parameters: ["id": "$reminder"],
            fields: ResultFields.reminder),
        Call(method: "events.subscribe", fields: ResultFields.subscription),
        Call(
            method: "events.wait", parameters: ["since": "all"], fields: ResultFields.page,
            element: ResultFields.event),
        Call(
            method: "events.ack", parameters: ["name": "bot", "cursor": "$cursor"],
            fields: ResultFields.reader),
        Call(method: "events.names", fields: ResultFields.page, element: ResultFields.reader),
        Call(method: "events.unsubscribe", parameters: ["subscription": 1], fields: []),
        Call(method: "sync.status", fields: ResultFields.page, element: ResultFields.sync),
        Call(method: "peer.list", fields: ResultFields.page, element: ResultFields.peer),
        Call(method: "peer.add", parameters: ["address": "10.9.9.9"], fields: ResultFields.peer),
        Call(method: "peer.remove", parameters: ["peer": "10.8.8.8"], fields: ResultFields.peer),
        Call(method: "net.status", fields: ResultFields.network),
        Call(method: "net.suspend", fields: ResultFields.network),
        Call(method: "net.resume", fields: ResultFields.network),
        Call(
            method: "why", parameters: ["subject": "@Mina"],
            fields: ["id", "name", "role", "can", "answer", "steps"]),
        Call(method: "node.check", fields: ResultFields.check),
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
        let home = try #require(core.session.home)
        let sealed = try core.turn.store.registry.value("recovery.seed") ?? []
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

    @Test(arguments: calls + notesAndFiles + ledgers)
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
        } else if call.method.hasPrefix("blob.") || call.method.hasPrefix("attachment.") {
            mina.blobs.places.files["/home/plan.pdf"] = [UInt8](repeating: 7, count: 20_000)
            let added = try mina.ok("blob.add", ["path": "/home/plan.pdf"])
            names["$blob"] = added["id"]
            let sent = try mina.ok(
                "message.send",
                ["channel": "general", "attachments": .array([added["id"] ?? .null])])
            names["$message"] = sent["id"]
        } else if call.method.hasPrefix("account."), call.method != Self.provider.method {
            try mina.ok(Self.provider.method, Self.provider.parameters)
        } else if call.method == "unread.get" {
            try bench.nodes[1].send("hello")
        } else if call.method == "ui.pref.list" {
            try mina.ok("ui.pref.set", ["setting": "theme", "value": "dark"])
        } else if call.method == "message.list" {
            try mina.ok("message.star", ["message": names["$message"] ?? .null])
        } else if call.method.hasPrefix("note."), call.method != "note.create" {
            let made = try mina.ok(
                "note.create", ["channel": "general", "title": "List", "text": "milk"])
            names["$note"] = made["id"]
        } else if Self.ledgers.contains(where: { $0.method == call.method }) {
            names.merge(try Self.openLedger(for: call.method, on: mina)) { $1 }
        } else if ["reminder.list", "reminder.cancel"].contains(call.method) {
            let made = try mina.ok(
                "reminder.create", ["channel": "general", "at": 1_795_200_000_000])
            names["$reminder"] = made["id"]
        } else if call.method == "dm.list" {
            try mina.ok("dm.open", ["members": ["Joon"]])
        } else if call.method == "member.status" {
            try mina.remove(try bench.guest("Gone", of: mina))
        } else if ["workspace.leave", "workspace.forget"].contains(call.method) {
            let kim = try bench.node("Kim", workspace: "other")
            try mina.join(try kim.link())
            if call.method == "workspace.forget" { try mina.ok("workspace.leave") }
        }
        let answer = try mina.ok(call.method, filled(call.parameters, names))
        // What there was nothing to change in says so besides.
        #expect(answer.fieldNames.subtracting(["changed"]) == call.fields)
        if let element = call.element {
            #expect(!answer.items.isEmpty)
            for item in answer.items { #expect(item.fieldNames == element) }
            #expect(answer["next"]?.isNull == true || call.method == "events.wait")
        }
        withExtendedLifetime(bench) {}
    }

    @Test func `and none is left out of this table`() {
        let tried = Set((Self.calls + Self.notesAndFiles + Self.ledgers).map(\.method)).union([
            // `A receipt` has it: a command of the owner's answers it.
            "store.validate",
            "identity.create", "backup.create", "backup.verify",
            // `device.revoke` with the phrase: `A recovery phrase` has it.
            "device.lost",
            // It takes a verifier: `A verified address` has them.
            "email.verify.send", "email.verify.resend", "email.verify.confirm",
            "attestation.list", "attestation.withdraw", "account.unlink", "account.links",
            // `A recovery phrase that is replaced` has it.
            "identity.phrase.new",
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
        #expect(made.fieldNames == ResultFields.identity)
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
        #expect(status["identity"]?.fieldNames == ResultFields.identity)
        #expect(status["device"] == status["identity"]?["id"])
        #expect(status["home"] == "/bench/Mina")
        #expect(status["socket"] == "/bench/Mina/control.sock")
        #expect(status["listen"] == ["10.0.0.1:29790"])
        #expect(try status.number("uptime_ms") >= 4_200)
        #expect(status["locked"] == false)
        #expect(status["peers"]?.fieldNames == ResultFields.peerCounts)
        #expect(try status["peers"]?.number("connected") == 1)
        let workspace = try #require(status["workspaces"]?[0])
        #expect(workspace.fieldNames == ResultFields.statusWorkspace)
        #expect(try workspace.text("digest") == mina.digest())
        #expect(try workspace.text("digest").utf8.count == 64)
        #expect(try workspace.number("operations") == mina.rowCount("operation"))
        #expect(try workspace.number("behind") == 0)
        #expect(status["store"]?.fieldNames == ResultFields.store)
        #expect(try status["store"]?.number("free_bytes") == mina.files.freeBytes)
        #expect(status["warnings"] == [])
    }

    @Test func `the parts of objects`() throws {
        let (bench, mina, _) = try world()
        // What was pulled is confirmed when it is stored.
        bench.advance(60_000)
        let workspace = try mina.ok("workspace.get")
        #expect(workspace["owner"]?.fieldNames == ResultFields.person)
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
        #expect(message["author"]?.fieldNames == ResultFields.person)
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
