import PeerNode
import Testing
import WorkspaceModel

@testable import wsx_node

struct `An answer for people` {
    private let rendering = Rendering(globals: GlobalFlags(), environment: [:], io: MemoryIO())

    /// A socket may be somebody else's.
    @Test(arguments: [Int64.min, -1, 0, .max])
    func `survives times that no daemon says`(time: Int64) {
        let invite: JSONValue = ["expires_at": .integer(time), "link": "wsx:x", "uses": 1]
        #expect(rendering.text(invite, of: "invite.create").contains("wsx:x"))
    }

    static let workspace: JSONValue = [
        "id": "w_1", "name": "acme", "role": .null, "owner": ["id": "u_1", "name": "Mina"],
        "members": 2, "channels": 1, "selected": true, "created_at": 1_795_190_000_000,
        "digest": "9f", "deleted": false, "address": .null, "successor": .null,
        "acknowledged": .null, "state": "removed",
        "note": "you were removed from 'acme' by Mina; ask for an invite",
    ]

    @Test func `names what a workspace is, and how one stands to it`() {
        let text = rendering.text(Self.workspace, of: "workspace.get")
        #expect(text.contains("owner     Mina\n"))
        #expect(text.hasSuffix("! you were removed from 'acme' by Mina\n  ask for an invite\n"))
        #expect(!text.contains("1795190000000") && !text.contains("{"))
        let list = rendering.text(["items": [Self.workspace]], of: "workspace.list")
        #expect(list.contains("STATE") && list.contains("removed"))
    }

    @Test func `names the picture of a workspace where it has one`() {
        #expect(!rendering.text(Self.workspace, of: "workspace.get").contains("image"))
        var fields = Self.workspace.objectValue ?? [:]
        fields["image"] = "preset:7"
        #expect(
            rendering.text(.object(fields), of: "workspace.get").contains("image     preset:7\n"))
    }

    @Test func `says of an event what was bought, spent or proved`() {
        let rows: [(String, JSONObject, String)] = [
            ("order.created", ["id": "p_1", "label": "Small pack"], "p_1  Small pack"),
            (
                "spend.overturned", ["id": "s_1", "purpose": "a logo", "member": ["name": "Bob"]],
                "s_1  a logo"
            ),
            (
                "attestation.added", ["id": "o_1", "value": "b@x.org", "member": ["name": "Bob"]],
                "o_1  b@x.org"
            ),
            (
                "attestation.ended", ["id": "o_1", "value": .null, "member": ["name": "Bob"]],
                "o_1  Bob"
            ),
        ]
        for (type, data, words) in rows {
            let line = rendering.event(
                ["cursor": "e1.1", "type": .string(type), "data": .object(data)])
            #expect(line == "e1.1  \(type)  \(words)\n")
        }
    }

    @Test func `has no raw field in it`() {
        let identity: JSONValue = [
            "id": "d_1", "name": "Mina", "created_at": 1_795_190_000_000, "passphrase": false,
            "locked": false, "recovery": "unshown",
            "members": [["workspace": "w_1", "member": "u_1", "name": "acme"]],
        ]
        let network: JSONValue = [
            "suspended": false, "listen": ["127.0.0.1:1"], "announce": false,
            "peers": ["connected": 1, "dialing": 0, "waiting": 2, "blocked": 0],
        ]
        let texts = [
            rendering.text(identity, of: "identity.show"),
            rendering.text(identity, of: "device.link"),
            rendering.text(network, of: "net.resume"),
            rendering.text(Self.workspace, of: "identity.recover"),
        ]
        for text in texts {
            for raw in ["{", "created_at", "1795190000000", "dialing"] {
                #expect(!text.contains(raw), "\(text)")
            }
        }
        #expect(texts[0].contains("in          acme as u_1\n"))
        #expect(texts[0].contains("identity show --phrase"))
        #expect(texts[2].contains("peers      1 connected, 2 waiting\n"))
        #expect(texts[3].contains("wsx-node identity recover LINK"))
    }

    @Test func `says where a recovery phrase was replaced, and where not`() {
        let answer: JSONValue = [
            "recovery": "unshown", "done": [["id": "w_1", "name": "acme"]],
            "left": [["id": "w_2", "name": "solo", "message": "no such phrase"]],
        ]
        #expect(
            rendering.text(answer, of: "identity.phrase.new") == """
                your recovery phrase was replaced in acme. The old words no longer work there
                ! not in solo: no such phrase

                """)
    }

    @Test func `says what was set`() {
        var workspace = Self.workspace.objectValue ?? JSONObject()
        workspace["successor"] = ["id": "u_2", "name": "Joon"]
        #expect(
            rendering.text(.object(workspace), of: "workspace.successor.set")
                == "Joon takes over acme when its owner leaves\n")
        #expect(
            rendering.text(Self.workspace, of: "workspace.successor.set")
                == "nobody takes over acme when its owner leaves\n")
        let channel: JSONValue = [
            "name": "plans", "owner": ["name": "Mina"], "admins": [["name": "Joon"]],
        ]
        #expect(
            rendering.text(channel, of: "channel.role") == "#plans: owner Mina, admins Joon\n")
    }

    @Test func `tells what a removal ended and what a widening kept`() {
        var member: JSONObject = [
            "id": "u_1", "name": "Joon", "kept": .null, "ended_invites": ["i_7k3qm2xabc"],
            "kept_invites": ["i_9"],
        ]
        let removed = rendering.text(.object(member), of: "member.remove")
        #expect(removed.contains("which have ended: i_…m2xabc\n"))
        #expect(removed.contains("invites now yours: i_9\n"))
        member["kept"] = 0
        #expect(
            rendering.text(.object(member), of: "member.remove")
                .hasPrefix("all that has arrived from Joon is already kept"))
        member["kept"] = 3
        #expect(
            rendering.text(.object(member), of: "member.remove")
                == "now kept: 3 operations by Joon that had been refused\n")
    }

    @Test func `marks each problem of a check with what was done`() {
        let check: JSONValue = [
            "ok": false, "operations": 5, "rows": 2, "problem_count": 2, "repaired": 2,
            "problems": [
                ["kind": "view", "id": "o_1", "text": "differs", "done": "mended"],
                ["kind": "operation", "id": "o_2", "text": "bad", "done": "asked"],
            ],
        ]
        let text = rendering.text(check, of: "node.check")
        #expect(text.contains("differs  repaired\n"))
        #expect(text.contains("bad  requested from peers\n"))
        #expect(!text.contains("missing"))
        for (count, words) in [(1, "1 text is missing"), (2, "2 texts are missing")] {
            var found = check.objectValue ?? [:]
            found["missing"] = .integer(Int64(count))
            #expect(rendering.text(.object(found), of: "node.check").contains(words))
        }
    }

    @Test func `lists a device in every workspace, with the command for what is left`() {
        let device: JSONValue = [
            "id": "d_1", "name": "phone",
            "workspaces": [
                ["name": "acme", "done": true, "message": .null, "hint": .null],
                ["name": "duo", "done": false, "message": "older", "hint": "wsx-node -w duo x"],
            ],
        ]
        #expect(
            rendering.text(device, of: "device.revoke")
                == "revoked phone in acme  d_1\nnot in duo: older\n  wsx-node -w duo x\n")
    }

    @Test func `says of a device that had been revoked before that it was`() {
        let device: JSONValue = [
            "id": "d_1", "name": "phone", "changed": false,
            "workspaces": [["name": "acme", "done": true, "message": .null, "hint": .null]],
        ]
        #expect(
            rendering.text(device, of: "device.revoke")
                == "already revoked: phone in acme  d_1\n")
    }

    @Test func `says of a device that a phrase vouches for where else it must be revoked`() {
        var device: JSONObject = [
            "id": "d_1", "name": "phone", "certified": true,
            "still_in": [["id": "w_2", "name": "two words"], ["id": "w_3", "name": "duo\u{1B}"]],
            "workspaces": [["name": "acme", "done": true, "message": .null, "hint": .null]],
        ]
        #expect(
            rendering.text(.object(device), of: "device.revoke") == """
                revoked phone in acme  d_1
                  it can still act in: two words, duo\\u{1b}
                  a recovery phrase vouches for this device in every workspace: revoke it in each
                  one it is in, including those this home does not know
                  wsx-node -w 'two words' device revoke d_1

                """)
        device["certified"] = false
        device["still_in"] = []
        #expect(
            rendering.text(.object(device), of: "device.revoke")
                == "revoked phone in acme  d_1\n")
    }
}

struct `A policy in two words` {
    @Test func `is the same as by its flag`() {
        for line in [
            ["policy", "set", "join", "request"], ["policy", "set", "--join", "request"],
            ["policy", "set", "who_may_invite", "admins", "--join", "request"],
            ["policy", "set", "attachments", "20"], ["policy", "set", "--attachments", "1"],
        ] {
            let io = MemoryIO()
            #expect(Program.run(arguments: line, environment: [:], io: io) == 0, "\(line)")
        }
    }

    @Test func `is refused where a word is missing, wrong or twice`() {
        for line in [
            ["policy", "set", "join"], ["policy", "set", "join", "admins"],
            ["policy", "set", "who_may_invite", "open"], ["policy", "set", "name", "x"],
            ["policy", "set", "join", "open", "--join", "closed"],
            ["policy", "set", "attachments", "many"], ["policy", "set", "attachments", "21"],
            ["policy", "set", "attachments", "0"],
        ] {
            let io = MemoryIO()
            #expect(Program.run(arguments: line, environment: [:], io: io) == 2, "\(line)")
        }
    }
}
