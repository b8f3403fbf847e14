import PeerNode
import Testing
import WorkspaceModel

@testable import wsx_node

struct `A channel, a member and a session for people` {
    private static func rendering(_ flags: String..., isTerminal: Bool = false) -> Rendering {
        let io = MemoryIO()
        io.isOutputTerminal = isTerminal
        var globals = GlobalFlags()
        globals.plain = flags.contains("--plain")
        globals.json = flags.contains("--json")
        globals.quiet = flags.contains("--quiet")
        globals.color = "never"
        return Rendering(globals: globals, environment: [:], io: io)
    }

    private static var channel: JSONObject {
        [
            "id": "c_1", "workspace": "w_1", "name": "board", "kind": "channel", "private": true,
            "default": false, "description": .null, "topic": "money",
            "owner": ["id": "u_1", "name": "Mina"], "admins": [["id": "u_2", "name": "Joon"]],
            "members": 3, "people": .null, "joined": true, "archived": false,
            "history": "from-join", "unread": 2, "mentions": 0, "muted": true,
            "muted_until": 1_795_190_000_000, "notify": "mentions",
            "last": [
                "id": "m_1", "author": ["id": "u_2", "name": "Joon"], "at": 1_795_190_000_000,
                "text": "hello",
            ],
            "created_at": 1_795_190_000_000,
        ]
    }

    private static let raw = ["{", "\"", "_at", "_ms", "1795190000000", "false", "true", "null"]

    @Test func `is told in words`() {
        let text = Self.rendering().text(.object(Self.channel), of: "channel.get")
        for line in [
            "name     board\n",
            "kind     private; new people see only what comes after they are added\n",
            "admins   Joon\n", "members  3, including you\n", "unread   2\n",
            "notify   mentions only\n",
            "Joon: hello\n",
        ] {
            #expect(text.contains(line), "\(text)")
        }
        var pictured = Self.channel
        pictured["image"] = "preset:7"
        let shown = Self.rendering().text(.object(pictured), of: "channel.get")
        #expect(shown.contains("image    preset:7\n") && !text.contains("image"))
        let member: JSONValue = [
            "id": "u_1", "name": "Mina", "role": "owner", "self": true, "devices": 2,
            "joined_at": 1_795_190_000_000, "removed": false, "removed_at": .null, "kept": .null,
            "presence": .null,
        ]
        let session: JSONValue = [
            "state": "passcode", "locked": true, "passphrase": true, "passcode": true,
            "relaying": true, "retry_ms": 1_500, "wiped": false,
        ]
        let person = Self.rendering().text(member, of: "member.get")
        #expect(person.contains("name     Mina (you)\n"))
        let state = Self.rendering().text(session, of: "session.status")
        #expect(state.contains("unlock with your passcode or passphrase\n"))
        #expect(state.contains("next try    in 2 s\n"))
        for shown in [text, person, state] {
            for word in Self.raw { #expect(!shown.contains(word), "\(word) in \(shown)") }
        }
    }

    @Test func `is told with a profile, and with what only its owner sees`() {
        var profile: JSONObject = [
            "id": "u_1", "workspace": "w_1", "name": "Mina", "self": true,
            "description": "Paints\u{1b}[2J", "country": .null, "phone": "01012345678",
            "email": "mina@example.org", "image": .null,
            "visible": ["phone": "nobody", "email": "workspace"],
            "presence": [
                "state": "busy", "text": "in a meeting", "emoji": "+",
                "until": 1_795_190_000_000,
            ],
        ]
        var lines = profile
        lines["description"] = "paints\nat \u{1b}night"
        let described = Self.rendering().text(.object(lines), of: "profile.get")
        #expect(described.contains("paints\n        at \\u{1b}night"), "\(described)")
        let own = Self.rendering().text(.object(profile), of: "profile.get")
        #expect(own.contains("name    Mina (you)\n"))
        #expect(own.contains("status  busy +: in a meeting, until "))
        #expect(own.contains("phone   010-1234-5678  (only you can see it)\n"))
        #expect(own.contains("email   mina@example.org\n"))
        #expect(!own.contains("\u{1b}") && !own.contains("country"))
        profile["self"] = false
        profile["visible"] = .null
        profile["presence"] = .null
        let other = Self.rendering().text(.object(profile), of: "profile.of")
        #expect(other.contains("status  offline\n") && !other.contains("only you"))
        #expect(
            Self.rendering("--plain").text(.object(profile), of: "profile.get")
                .contains("phone\t01012345678\n"))
        profile["presence"] = ["state": "unknown", "text": .null, "emoji": .null, "until": .null]
        let unheard = Self.rendering().text(.object(profile), of: "profile.of")
        #expect(unheard.contains("status  unknown\n"))
        let unknown: JSONValue = [
            "id": "u_2", "name": "Joon", "self": false, "state": "unknown", "text": .null,
            "emoji": .null, "until": .null,
        ]
        for rendering in [Self.rendering(), Self.rendering("--plain")] {
            let list = rendering.text(["items": [unknown]], of: "presence.list")
            #expect(list.contains("Joon") && list.contains("unknown"), "\(list)")
        }
        let chosen: JSONValue = [
            "id": "u_1", "name": "Mina", "self": true, "state": "absent", "text": .null,
            "emoji": .null, "until": .null,
        ]
        #expect(Self.rendering().text(chosen, of: "presence.set") == "you are away\n")
        let list = Self.rendering().text(["items": [chosen], "next": .null], of: "presence.list")
        #expect(list.contains("away") && list.contains("Mina"))
        let event: JSONValue = ["cursor": "e1.4", "type": "presence.changed", "data": chosen]
        #expect(
            Self.rendering().event(event) == "e1.4  presence.changed  u_1  Mina is away\n")
        let typing: JSONValue = [
            "cursor": "e1.4", "type": "typing",
            "data": ["channel": "c_1", "member": ["id": "u_1", "name": "Mina"]],
        ]
        #expect(Self.rendering().event(typing) == "e1.4  typing  u_1  Mina\n")
    }

    @Test func `tells who talks in a conversation, and what a wipe left`() {
        var direct = Self.channel
        direct["kind"] = "dm"
        direct["people"] = [["id": "u_1", "name": "Mina"], ["id": "u_2", "name": "Joon"]]
        direct["created_at"] = 0
        let text = Self.rendering().text(.object(direct), of: "channel.get")
        #expect(text.contains("  Mina, Joon\n") && !text.contains("owner"))
        #expect(!text.contains("created"))
        direct["kind"] = "self"
        direct["name"] = "me"
        let own = Self.rendering().text(.object(direct), of: "channel.get")
        #expect(own.contains("only for you, on all your devices") && !own.contains("owner"))
        #expect(ChatRoom(.object(direct)).title == "@me")
        let wiped = Self.rendering().text(
            ["state": "none", "locked": false, "wiped": true], of: "session.logout")
        #expect(wiped.contains("backups that you saved elsewhere still exist\n"))
    }

    @Test func `is as it came for programs`() {
        let plain = Self.rendering("--plain").text(.object(Self.channel), of: "channel.get")
        #expect(plain.contains("created_at\t1795190000000\n"))
        let json = Self.rendering("--json").text(.object(Self.channel), of: "channel.get")
        #expect(json.contains(#""created_at":1795190000000"#))
    }

    @Test func `that one is not in is marked in lists, for people`() {
        var other = Self.channel
        other["joined"] = false
        var open = other
        open["private"] = false
        open["name"] = "plans"
        let list: JSONValue = [
            "items": [.object(Self.channel), .object(other), .object(open)], "next": .null,
        ]
        let text = Self.rendering().text(list, of: "channel.list")
        #expect(text.contains("board (no longer in)") && text.contains("plans (not in)"))
        var quiet = Self.channel
        (quiet["muted"], quiet["archived"]) = (true, true)
        let both = Self.rendering().text(["items": [.object(quiet)]], of: "channel.list")
        #expect(both.contains("board (archived, muted)"))
        #expect(text.split(separator: "\n").filter { $0.contains("board ") }.count == 2)
        #expect(!Self.rendering("--plain").text(list, of: "channel.list").contains("("))
        #expect(!Self.rendering("--json").text(list, of: "channel.list").contains("(no longer in)"))
    }

    @Test func `that are changed or removed are said in a sentence`() {
        for (role, words) in [("member", "a member"), ("admin", "an admin"), ("guest", "a guest")] {
            let answer: JSONValue = ["id": "u_1", "name": "Cho", "role": .string(role)]
            #expect(Self.rendering().text(answer, of: "member.role") == "Cho is now \(words)\n")
        }
        let rows: [(JSONValue, String)] = [
            (["id": .null, "address": "nope:29790", "state": "waiting"], "removed nope:29790\n"),
            (
                ["id": "d_7k3qm2xa", "name": "vm", "address": "10.0.0.2:29790"],
                "removed vm, 10.0.0.2:29790\n"
            ),
            (
                ["id": "d_7k3qm2xa", "name": .null, "member": ["name": "Mina"], "address": .null],
                "removed Mina\n"
            ),
        ]
        for (peer, line) in rows {
            #expect(Self.rendering().text(peer, of: "peer.remove") == line)
        }
    }

    @Test func `that do not exist are reported only on a terminal`() {
        let none: JSONValue = ["items": [], "next": .null]
        let looked = Self.rendering(isTerminal: true)
        for (method, words) in [
            ("channel.list", "no channels\n"), ("channel.members", "no members\n"),
            ("dm.list", "no direct messages\n"), ("message.history", "no messages\n"),
            ("unread.get", "nothing unread\n"),
        ] {
            #expect(looked.text(none, of: method) == words)
            #expect(Self.rendering().text(none, of: method).isEmpty)
            for flag in ["--plain", "--json", "--quiet"] {
                let text = Self.rendering(flag, isTerminal: true).text(none, of: method)
                #expect(text.isEmpty, "\(method) \(flag)")
            }
        }
    }

    @Test func `that was deleted is told as such in events`() {
        let gone: JSONValue = [
            "cursor": "e1.4", "type": "channel.created", "data": .null,
        ]
        let text = Self.rendering().event(gone)
        #expect(text == "e1.4  channel.created  -  (deleted since then)\n")
        let deletion: JSONValue = [
            "cursor": "e1.5", "type": "channel.deleted",
            "data": ["id": "c_1", "by": ["id": "u_1", "name": "Mina"]],
        ]
        #expect(Self.rendering().event(deletion) == "e1.5  channel.deleted  c_1  by Mina\n")
        #expect(Self.rendering("--plain").event(gone) == "e1.4\tchannel.created\t-\t-\n")
    }
}

struct `A request that is called by a name` {
    private func request(_ id: String, by device: String, at: Int64) -> ReferenceResolver.Found {
        .init(
            id: id, candidate: ["id": .string(id), "name": "Joon"], name: "Joon", isWaiting: true,
            member: "u_joon", device: device, at: at)
    }

    /// Who has a phone or the words of somebody asks in that person's name.
    @Test func `is the newest of a device, and another device is for the admin to choose`() {
        let (first, last) = (request("r_1", by: "d_1", at: 5), request("r_2", by: "d_1", at: 7))
        let theft = request("r_3", by: "d_2", at: 9)
        #expect(ReferenceResolver.newestOfEach([first, last]).map(\.id) == ["r_2"])
        #expect(ReferenceResolver.newestOfEach([last, first]).map(\.id) == ["r_2"])
        let found = ReferenceResolver.newestOfEach([first, theft, last])
        #expect(found.map(\.id) == ["r_2", "r_3"])
    }
}
