import PeerNode
import Testing
import WorkspaceModel

@testable import wsx_node

struct `Backups, policies and settings for people` {
    private static func rendering(_ flags: String...) -> Rendering {
        var globals = GlobalFlags()
        globals.plain = flags.contains("--plain")
        globals.home = flags.contains("--home") ? "/srv/wsx" : nil
        return Rendering(globals: globals, environment: [:], io: MemoryIO())
    }

    private static let backup: JSONObject = [
        "path": "/b/acme.bak", "created_at": 1_795_190_000_000, "device": "d_7k3qm2xa",
        "sealed": false, "bytes": 1_087_315,
    ]

    private static func with(_ fields: JSONObject) -> JSONValue {
        var object = backup
        for member in fields.members { object.append(member.key, member.value) }
        return .object(object)
    }

    @Test func `say what a backup is, and what comes next`() {
        let made = Self.with(["phrase_left_out": false, "files": 1])
        #expect(
            Self.rendering().text(made, of: "backup.create")
                == "saved /b/acme.bak  1.0 MB\n  not sealed, 1 file\n")
        let verified = Self.with(["operations": 120, "files": 3])
        #expect(
            Self.rendering().text(verified, of: "backup.verify") == """
                /b/acme.bak is whole  1.0 MB
                  made today 16:53, not sealed
                  120 operations, 3 files

                """)
        let restored = Self.with([
            "home": "/srv/wsx", "files": 0, "moved_aside": "/srv/wsx.before",
        ])
        #expect(
            Self.rendering("--home").text(restored, of: "backup.restore") == """
                restored /b/acme.bak into /srv/wsx
                  made today 16:53, 0 files
                  what was in that folder is now in /srv/wsx.before
                  next: wsx-node --home /srv/wsx up

                """)
        let plain = Self.rendering("--plain").text(made, of: "backup.create")
        #expect(plain.contains("bytes\t1087315\n") && plain.contains("phrase_left_out\tno\n"))
    }

    @Test func `say a policy in sentences`() {
        let policy: JSONValue = [
            "id": "w_1", "who_may_invite": "admins", "who_may_attest": "owner",
            "join": "closed", "address": .null, "attachments": 5,
        ]
        #expect(
            Self.rendering().text(policy, of: "policy.get") == """
                join        closed: only with an invite
                may invite  the owner and admins
                may verify  the owner
                files       at most 5 in a message

                """)
        let plain = Self.rendering("--plain").text(policy, of: "policy.get")
        #expect(plain.contains("who_may_attest\towner\n"))
    }

    @Test func `say what somebody is notified about, and which command runs`() {
        let notice: JSONValue = ["id": "w_1", "level": "mentions", "command": .null]
        #expect(
            Self.rendering().text(notice, of: "notify.get")
                == "notify   mentions and direct messages\ncommand  none\n")
        for method in ["notify.command", "mail.command"] {
            let command: JSONValue = ["id": .string(method), "command": "msmtp -t"]
            #expect(Self.rendering().text(command, of: method) == "command  msmtp -t\n")
        }
    }

    @Test func `show sizes in one form`() {
        func file(_ size: Int64, _ have: Int64) -> JSONValue {
            [
                "id": "b_1", "name": "a.txt", "size": .integer(size), "have": .integer(have),
                "type": "text/plain", "holders": 1, "kept": false,
            ]
        }
        let files: JSONValue = ["items": [file(300_000, 300_000), file(2_500_000, 65_536)]]
        let text = Self.rendering().text(files, of: "blob.list")
        #expect(text.contains("300.0 kB") && text.contains("  all "), "\(text)")
        #expect(text.contains("2.5 MB") && text.contains("65.5 kB"))
        #expect(!text.contains("300000"))
        #expect(Self.rendering("--plain").text(files, of: "blob.list").contains("\t300000\t"))
        let media: JSONValue = [
            "items": [
                ["id": "image", "policy": "always", "up_to": 1_048_576, "metered": false],
                ["id": "video", "policy": "manual", "up_to": .null, "metered": false],
            ]
        ]
        let kinds = Self.rendering().text(media, of: "media.list")
        #expect(kinds.contains("1.0 MB") && kinds.contains("any size"), "\(kinds)")
    }

    @Test func `name the peers and workspaces that are compared`() {
        let io = MemoryIO()
        var peer = PeerObject(state: "connected")
        (peer.id, peer.name) = ("d_other000", "Joon")
        io.node?.linked = [peer]
        #expect(io.run("sync", "status") == 0)
        #expect(io.output.contains("PEER  WORKSPACE  STATE"), "\(io.output)")
        #expect(io.output.contains("Joon  acme"), "\(io.output)")
        #expect(io.output.contains("comparing") && !io.output.contains("d_other000"))
        let row: JSONValue = [
            "peer": "d_7k3qm2xa99", "workspace": "w_1", "state": "in_sync", "behind": 0, "ahead": 0,
        ]
        let text = Self.rendering().text(["items": [row]], of: "sync.status")
        #expect(text.contains("in sync") && text.contains("d_…m2xa99"), "\(text)")
        io.output = ""
        #expect(io.run("sync", "status", "--plain") == 0)
        #expect(io.output.hasPrefix("d_other000\tw_acme0000\tcomparing\t"), "\(io.output)")
    }
}
