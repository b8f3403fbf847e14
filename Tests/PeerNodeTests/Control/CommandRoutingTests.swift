import Testing
import WorkspaceModel

@testable import PeerNode

/// Each method passes its arguments to the node unchanged, with the table's
/// defaults for missing ones.
struct `A method` {
    private let call = CallID(connection: 3, number: 9)

    private func run(_ method: String, _ given: JSONObject, on node: TableNode) throws
        -> CommandOutcome
    {
        try Command.method(method).call(CommandContext(node: node, call: call), given)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let method: String
        let given: JSONObject
        let asked: String
        var testDescription: String { "\(method) \(JSONValue.object(given).text)" }

        init(_ method: String, _ given: JSONObject, _ asked: String) {
            self.method = method
            self.given = given
            self.asked = asked
        }
    }

    static let rows = [
        Row("node.status", [:], "status"), Row("node.doctor", [:], "doctor"),
        Row("node.stop", [:], "stop"), Row("identity.show", [:], "identity"),
        Row("identity.create", ["name": "Mina"], "createIdentity Mina"),
        Row(
            "identity.create", ["name": "Mina", "no_recovery": true],
            "createIdentity Mina without recovery"),
        Row("identity.show", ["phrase": true], "identity and phrase"),
        Row("identity.show", ["phrase": true, "keep": true], "identity and phrase, kept"),
        Row("identity.show", ["keep": true], "identity"),
        Row("identity.show", ["seen": "abacus abdomen"], "identity, seen abacus abdomen"),
        Row(
            "identity.create", ["name": "Mina", "passphrase": "secret words"],
            "createIdentity Mina under secret words"),
        Row(
            "identity.passphrase.change", ["current": "a", "new": "b"],
            "changePassphrase a b "),
        Row("identity.passphrase.change", ["remove": true], "changePassphrase none none removed"),
        Row("session.status", [:], "session"), Row("lock.status", [:], "session"),
        Row("session.unlock", ["passphrase": "secret"], "unlock secret"),
        Row("session.logout", [:], "logOut none"),
        Row("session.logout", ["wipe": "all", "force": true], "logOut all forced"),
        Row("lock.now", [:], "lock"), Row("lock.set", ["code": "2580"], "passcode 2580"),
        Row("lock.change", ["current": "1", "new": "2"], "passcode 1 to 2"),
        Row("lock.remove", ["code": "2580"], "passcode 2580 removed"),
        Row("lock.unlock", ["code": "2580"], "unlock by 2580"),
        Row(
            "identity.recover", ["link": "wsx://join/x", "phrase": "a b"],
            "recover wsx://join/x 30000"),
        Row("identity.phrase.new", [:], "renewPhrase"),
        Row("identity.phrase.new", ["phrase": "a b"], "renewPhrase by phrase"),
        Row("device.list", [:], "devices 100"), Row("device.list", ["limit": 2], "devices 2"),
        Row("device.link", [:], "issueDeviceLink"),
        Row("device.link", ["code": "wsx://device/x"], "linkDevice wsx://device/x 30000"),
        Row("device.revoke", ["device": "d_7k3qm2xa"], "revokeDevice d_7k3qm2xa"),
        Row(
            "device.revoke", ["device": "d_7k3qm2xa", "phrase": "a b"],
            "revokeDevice d_7k3qm2xa by phrase"),
        Row(
            "device.revoke", ["device": "d_7k3qm2xa", "force": true],
            "revokeDevice d_7k3qm2xa forced"),
        Row(
            "device.rename", ["device": "d_7k3qm2xa", "name": "phone"],
            "renameDevice d_7k3qm2xa phone"),
        Row("profile.get", [:], "profile -"),
        Row("profile.get", ["member": "@Joon"], #"profile name("Joon")"#),
        Row("profile.of", ["member": "u_7k3qm2xa"], #"profile id("u_7k3qm2xa")"#),
        Row("profile.set", ["name": "Min"], "editProfile Min -"),
        Row(
            "profile.set",
            ["nickname": "Min", "phone": "", "email": "x", "show": ["phone"], "hide": ["email"]],
            "editProfile - Min phone= email=x +phone -email"),
        Row("profile.image.set", ["preset": 7], "image preset:7"),
        Row("profile.image.clear", [:], "image "),
        Row("presence.set", ["state": "busy"], "presence busy - - -1"),
        Row(
            "presence.set", ["state": "absent", "text": "lunch", "emoji": "+", "until": 5],
            "presence absent lunch + 5"),
        Row("presence.clear", [:], "clearPresence"),
        Row("presence.list", ["limit": 5], "presences 5"),
        Row("typing.send", ["channel": "general"], #"typing name("general")"#),
        Row("workspace.create", ["name": "acme"], "createWorkspace acme general"),
        Row(
            "workspace.create", ["name": "acme", "first_channel": "lobby"],
            "createWorkspace acme lobby"),
        Row("workspace.list", [:], "workspaces 100"),
        Row("workspace.list", ["limit": 1], "workspaces 1"),
        Row("workspace.list", ["limit": 1_000], "workspaces 1000"),
        Row("workspace.select", ["workspace": "acme"], #"select name("acme")"#),
        Row("workspace.select", ["workspace": "w_123456"], #"select id("w_123456")"#),
        Row("workspace.join", ["link": "wsx://join/x"], "join wsx://join/x 30000"),
        Row(
            "workspace.join", ["link": "wsx://join/x", "timeout_ms": 1_000],
            "join wsx://join/x 1000"),
        Row("invite.create", [:], "createInvite 1 86400000"),
        Row("invite.create", ["uses": 1_000, "expires_ms": 60_000], "createInvite 1000 60000"),
        Row(
            "invite.create", ["email": "a@b.co", "role": "admin"], "invite 1 admin to a@b.co"),
        Row("identity.email.check", ["email": "a@b.co"], "email check a@b.co"),
        Row("email.verify.send", ["email": "a@b.co"], "email verify a@b.co -"),
        Row(
            "email.verify.send", ["email": "a@b.co", "verifier": "@Joon"],
            #"email verify a@b.co name("Joon")"#),
        Row("email.verify.resend", [:], "email resend -"),
        Row("email.verify.confirm", ["code": "123456"], "email confirm 123456 -"),
        Row(
            "email.verify.confirm", ["code": "123456", "email": "a@b.co"],
            "email confirm 123456 a@b.co"),
        Row("attestation.list", [:], "attestations - 100"),
        Row("attestation.withdraw", ["member": "@Joon"], #"withdraw name("Joon")"#),
        Row("account.link", ["provider": "lab"], "account link lab -"),
        Row("account.link", ["provider": "lab", "id_token": "a.b.c"], "account link lab a.b.c"),
        Row("account.unlink", ["provider": "lab"], "account unlink lab -"),
        Row("account.links", ["member": "@Joon"], #"account links name("Joon") 100"#),
        Row(
            "account.provider.add", ["name": "lab", "issuer": "https://a.b", "client_id": "c"],
            "provider add lab https://a.b c -"),
        Row(
            "account.provider.update", ["name": "lab", "jwks": "/k"],
            "provider update lab - - /k"),
        Row(
            "account.provider.update",
            ["name": "lab", "login_url": "https://a.b/l", "token_url": "https://a.b/t"],
            "provider update lab - - - https://a.b/l https://a.b/t"),
        Row("account.provider.list", [:], "providers 100"),
        Row("account.provider.remove", ["name": "lab"], "provider remove lab"),
        Row("mail.command", [:], "mail command -"),
        Row("mail.command", ["command": "x"], "mail command x"),
        Row("policy.set", ["who_may_attest": "members"], "setPolicy - - members"),
        Row("invite.list", [:], "invites"),
        Row("invite.revoke", ["id": "i_7k3qm2xa"], "revoke i_7k3qm2xa"),
        Row("member.list", [:], "members false"),
        Row("member.list", ["removed": true], "members true"),
        Row("channel.list", [:], "channels false"),
        Row("channel.list", ["scope": "all"], "channels true"),
        Row("channel.create", ["name": "plans"], "createChannel plans false"),
        Row(
            "channel.create", ["name": "plans", "private": true], "createChannel plans true"),
        Row("channel.get", ["channel": "#general"], #"channel name("general")"#),
        Row("channel.join", ["channel": "c_123456"], #"joinChannel id("c_123456")"#),
        Row(
            "message.send", ["channel": "general", "text": "x", "format": "code"],
            #"send name("general") x code"#),
        Row("message.history", ["channel": "a"], "history latest 30"),
        Row("message.history", ["channel": "a", "before": "p_1"], #"history before("p_1") 30"#),
        Row("message.history", ["channel": "a", "after": "p_1"], #"history after("p_1") 30"#),
        Row(
            "message.history", ["channel": "a", "around": "p_1", "limit": 100],
            #"history around("p_1") 100"#),
        Row(
            "message.get", ["ids": ["m_000000", "m_111111"]], #"messages ["m_000000", "m_111111"]"#),
        Row("message.delete", ["message": "m_000000"], "deleteMessage m_000000 false"),
        Row(
            "message.delete", ["message": "m_000000", "undo": true], "deleteMessage m_000000 true"),
        Row("message.star", ["message": "m_000000"], "star m_000000 true"),
        Row("message.unstar", ["message": "m_000000"], "star m_000000 false"),
        Row("message.list", ["starred": true, "limit": 5], "starred 5"),
        Row("message.list", [:], "starred 100"),
        Row(
            "reminder.create", ["message": "m_000000", "at": 5],
            "remind message m_000000 5 -"),
        Row(
            "reminder.create", ["channel": "general", "at": 5, "text": "notes"],
            #"remind channel name("general") 5 notes"#),
        Row("reminder.list", [:], "reminders 100"),
        Row(
            "note.create", ["channel": "general", "title": "List", "text": "milk"],
            "note create name(\"general\") List milk false"),
        Row("note.list", [:], "note list nil false 100"),
        Row(
            "note.list", ["channel": "general", "deleted": true],
            "note list name(\"general\") true 100"),
        Row(
            "note.get", ["note": "List", "in": "general", "markdown": true],
            "note get List name(\"general\") true false false nil"),
        Row(
            "note.edit", ["note": "n_01hx9t4c", "text": "milk", "base": "v_1"],
            "note edit n_01hx9t4c nil milk nil v_1 false"),
        Row(
            "note.edit",
            [
                "note": "List", "ops": [["insert": ["at": 0, "text": "x"]]], "base": "v_1",
                "brief": true,
            ], #"note step List nil [{"insert":{"at":0,"text":"x"}}] v_1"#),
        Row(
            "note.watch", ["note": "List", "in": "general"],
            "note watch List name(\"general\")"),
        Row("note.cursor", ["note": "List", "at": 4], "note cursor List nil 4 0 nil"),
        Row(
            "note.cursor", ["note": "List", "at": 4, "length": 2, "base": "v_1"],
            "note cursor List nil 4 2 v_1"),
        Row("note.lock", ["note": "List"], "note lock List nil"),
        Row("note.unlock", ["note": "List"], "note unlock List nil"),
        Row("note.rename", ["note": "List", "title": "Food"], "note rename List nil Food"),
        Row("note.delete", ["note": "List"], "note delete List nil hiding"),
        Row("note.delete", ["note": "List", "undo": true], "note delete List nil undoing"),
        Row("note.delete", ["note": "List", "purge": true], "note delete List nil purging"),
        Row("note.history", ["note": "List"], "note history List nil 100"),
        Row("reminder.cancel", ["id": "y_7k3qm2xa"], "cancelReminder y_7k3qm2xa"),
        Row("events.subscribe", ["types": ["a.*", "b"]], #"subscribe ["a.*", "b"]"#),
        Row("events.subscribe", [:], "subscribe []"),
        Row("events.unsubscribe", ["subscription": 4], "unsubscribe 4"),
        Row("events.ack", ["name": "bot", "cursor": "e1.4"], "ack bot e1.4"),
        Row(
            "events.ack", ["name": "bot", "cursor": "e1.4", "warning": "w"], "ack bot e1.4 w"),
        Row("events.names", [:], "readers"),
        Row("notify.get", [:], "notices"),
        Row("notify.set", ["level": "none"], "setNotices none"),
        Row("notify.command", ["command": "x"], "setNoticeCommand x"),
        Row("notify.command", [:], "setNoticeCommand -"),
        Row("peer.add", ["address": "h:1"], "addPeer h:1"),
        Row("peer.remove", ["peer": "h:1"], "removePeer h:1"),
        Row("net.status", [:], "network"), Row("net.suspend", [:], "suspend"),
        Row("net.resume", [:], "resume"),
    ]

    @Test(arguments: rows)
    func `asks the node for just that`(_ row: Row) throws {
        let node = TableNode()
        _ = try run(row.method, row.given, on: node)
        #expect(node.asked == [row.asked])
        #expect(node.keys.isEmpty)
    }

    @Test func `hands the node's refusal on unchanged`() {
        let node = TableNode()
        let failure = NodeError.forbidden("not here", reason: "removed")
        node.failure = failure
        // These know their answers by themselves.
        let own: Set<String> = ["node.version", "rpc.hello", "rpc.discover", "rpc.methods"]
        for command in Command.methods where !own.contains(command.name) {
            let error = #expect(throws: NodeError.self, "\(command.name)") {
                _ = try run(command.name, command.example.objectValue ?? [:], on: node)
            }
            #expect(error == failure, "\(command.name)")
        }
        #expect(node.asked.isEmpty)
    }

    @Test func `asks nothing when an argument does not fit`() {
        let node = TableNode()
        for command in Command.methods {
            #expect(throws: NodeError.self) {
                _ = try run(command.name, ["no_such_parameter": 1], on: node)
            }
        }
        #expect(node.asked.isEmpty && node.promised.isEmpty)
    }

    @Test func `acts in the workspace that is named, by name or id`() throws {
        for (text, expected) in [("acme", #"name("acme")"#), ("w_123456", #"id("w_123456")"#)] {
            let node = TableNode()
            _ = try run("workspace.get", ["workspace": .string(text)], on: node)
            #expect(node.asked.first?.contains(expected) == true)
        }
        let node = TableNode()
        _ = try run("workspace.get", [:], on: node)
        #expect(node.asked == ["workspace nil"])
    }

    @Test func `that creates takes a key, and no other does`() {
        let creating: Set<String> = [
            "identity.create", "workspace.create", "invite.accept", "workspace.join",
            "invite.create", "identity.recover", "device.link",
            "channel.create", "message.send", "reminder.create", "note.create", "ledger.open",
            "store.buy", "coin.spend",
        ]
        let taking = Command.methods.filter { $0.parameters.contains { $0.name == "key" } }
        #expect(Set(taking.map(\.name)) == creating)
    }

    @Test func `with a key is the same call only with the same parameters`() throws {
        let node = TableNode()
        let calls: [(String, JSONObject)] = [
            ("channel.create", ["name": "a", "key": "k"]),
            ("channel.create", ["key": "k", "name": "a", "topic": .null]),
            ("channel.create", ["name": "a", "key": "k", "private": false]),
            ("channel.create", ["name": "a", "key": "l"]),
            ("workspace.create", ["name": "a", "key": "k"]),
        ]
        for (method, given) in calls { _ = try run(method, given, on: node) }
        #expect(node.keys.count == calls.count)
        #expect(node.keys[1] == node.keys[0])
        for other in node.keys[2...] { #expect(other != node.keys[0]) }
        #expect(String(decoding: node.keys[0].parameters, as: UTF8.self) == #"{"name":"a"}"#)
        #expect(node.keys[0].word == "k")
    }

    @Test func `promises an answer under its own call`() throws {
        for (method, given) in [
            ("events.wait", [:]), ("workspace.join", ["link": "wsx://join/x"]),
        ] as [(String, JSONObject)] {
            let node = TableNode()
            guard case .later = try run(method, given, on: node) else {
                Issue.record("answered at once")
                continue
            }
            #expect(node.promised == [call])
        }
    }

    @Test func `lists messages that are starred, and reminds of one thing`() throws {
        let node = TableNode()
        let refusal = #expect(throws: NodeError.self) {
            _ = try run("message.list", ["starred": false], on: node)
        }
        #expect(
            refusal?.fields == [.init(name: "starred", reason: ParameterMismatch.form.rawValue)])
        for given: JSONObject in [
            ["at": 5], ["at": 5, "message": "m_000000", "channel": "general"],
        ] {
            let error = #expect(throws: NodeError.self) {
                _ = try run("reminder.create", given, on: node)
            }
            #expect(error?.fields == [.init(name: "message", reason: "missing")])
        }
        #expect(node.asked.isEmpty)
    }

    @Test func `makes no invite for a guest without a channel`() throws {
        let node = TableNode()
        for channels: JSONValue in [[], .null] {
            let error = #expect(throws: NodeError.self) {
                _ = try run("invite.create", ["role": "guest", "channels": channels], on: node)
            }
            #expect(error?.fields == [.init(name: "channels", reason: "missing")])
        }
        _ = try run("invite.create", ["role": "guest", "channels": ["general"]], on: node)
        #expect(node.asked.count == 1)
    }
}

struct `The interface about itself` {
    private func run(_ method: String, _ given: JSONObject = [:]) throws -> JSONValue {
        let context = CommandContext(
            node: TableNode(), call: CallID(connection: 1, number: 1))
        guard case .reply(let value) = try Command.method(method).call(context, given) else {
            return .null
        }
        return value
    }

    @Test func `greets who knows its version, or no version`() throws {
        #expect(try run("rpc.hello", ["client": "bot"]) == Release.json)
        #expect(
            try run("rpc.hello", ["client": "bot", "api": .integer(Release.apiMajor)])
                == Release.json)
        #expect(try run("node.version") == Release.json)
    }

    @Test(arguments: [Release.apiMajor + 1, 1_000])
    func `refuses who knows another, and says which it has`(_ major: Int64) {
        let error = #expect(throws: NodeError.self) {
            try run("rpc.hello", ["client": "bot", "api": .integer(major)])
        }
        #expect(error?.kind == .versionMismatch)
        #expect(error?.reason == "control.version")
        #expect(error?.json["data"]?["api"] == Release.api)
    }

    @Test func `lists its methods, each with a name and a summary`() throws {
        let list = try run("rpc.methods")
        let items = try #require(list["items"]?.arrayValue)
        #expect(items.map { $0["name"]?.stringValue } == Command.methods.map(\.name))
        #expect(items.map { $0["summary"]?.stringValue } == Command.methods.map(\.summary))
        #expect(list["next"] == .null)
        #expect(items.allSatisfy { $0.objectValue?.members.count == 2 })
        #expect(try run("rpc.discover") == Manual.openRPC)
    }

    @Test func `keeps what only the command line does off the socket`() {
        let local = Command.all.filter { !$0.isMethod }
        #expect(
            Set(local.map(\.name)) == [
                "tail", "chat", "note.attach", "up", "daemon.run", "socket", "rpc", "config.get",
                "config.set",
                "config.list", "config.path", "help", "backup.restore", "completion", "man",
            ])
        for command in local {
            let error = #expect(throws: NodeError.self) { try Command.method(command.name) }
            #expect(error?.kind == .unknownOperation, "\(command.name)")
            #expect(command.line != nil, "nobody could call it")
            let context = CommandContext(
                node: TableNode(), call: CallID(connection: 1, number: 1))
            #expect(throws: NodeError.self) { _ = try command.call(context, [:]) }
        }
    }

    @Test func `needs a daemon exactly where the daemon does the work`() {
        for command in Command.all where command.name != "node.version" {
            if case .nothing = command.needs {
                #expect(!command.isMethod, "\(command.name)")
            } else {
                #expect(
                    command.isMethod || ["tail", "chat", "note.attach"].contains(command.name),
                    "\(command.name)")
            }
        }
    }

    @Test func `checks the settings' arguments before it looks at the file`() {
        let get = Command.settingCommands.first { $0.name == "config.get" }
        #expect(throws: NodeError.self) { try get?.check([:]) }
        #expect(throws: NodeError.self) { try get?.check(["setting": ""]) }
        #expect(throws: NodeError.self) {
            try get?.check(["setting": .string(String(repeating: "s", count: 129))])
        }
        #expect(throws: Never.self) { try get?.check(["setting": "net.listen"]) }
        let set = Command.settingCommands.first { $0.name == "config.set" }
        #expect(throws: NodeError.self) { try set?.check(["setting": "net.listen"]) }
        #expect(throws: Never.self) { try set?.check(["setting": "a", "value": ""]) }
    }
}
