import Testing
import WorkspaceModel

@testable import PeerNode
@testable import wsx_node

struct `The home screen` {
    private func terminal() -> MemoryIO {
        let io = MemoryIO()
        io.isInputTerminal = true
        io.isOutputTerminal = true
        return io
    }

    @Test func `tells what is new, and where to read it`() {
        let io = terminal()
        io.node?.unreadMessages = 2
        #expect(io.run() == 0)
        #expect(io.output.contains("\nacme  0 members  2 new\n"))
        #expect(io.output.contains("  #general  2 new  nothing yet\n"))
        #expect(io.output.hasSuffix("next: wsx-node unread\n"))
        #expect(
            io.node?.asked == ["status", "home", "peers", "devices 100", "reminders 100"],
            "one call for all of the home")
    }

    @Test func `shows nothing of a column that would be empty`() {
        let io = terminal()
        #expect(io.run() == 0)
        #expect(io.output.contains("\nacme  0 members\n  #general  nothing yet\n"))
    }

    @Test func `puts a wrong clock first`() {
        let io = terminal()
        io.node?.unreadMessages = 2
        io.node?.warnings = [
            .init(kind: .diskLow, message: "little is free", hint: "free some"),
            .init(kind: .clockWrong, message: "this clock is wrong", hint: "timedatectl"),
        ]
        #expect(io.run() == 0)
        #expect(io.output.contains("warn  this clock is wrong\n"))
        #expect(io.output.hasSuffix("next: set the clock: timedatectl\n"))
    }

    /// Whom nothing links to this node since it started may be linked to others.
    @Test func `says of whom it knows that they are gone, and of whom it does not know`() {
        let io = terminal()
        func peer(_ name: String, seen: Int64?) -> PeerObject {
            var peer = PeerObject(state: "waiting")
            peer.address = name
            peer.lastSeen = seen.map { io.now - $0 }
            return peer
        }
        io.node?.uptimeMilliseconds = 60_000
        io.node?.linked = [
            peer("gone:1", seen: 20_000), peer("old:1", seen: 7_200_000), peer("new:1", seen: nil),
        ]
        #expect(io.run() == 0)
        #expect(io.output.contains("gone:1 offline 20 s"), "\(io.output)")
        #expect(io.output.contains("old:1 unknown, seen 2 h ago"), "\(io.output)")
        #expect(io.output.contains("new:1 unknown\n"), "\(io.output)")
    }

    /// Of a workspace that was deleted nothing can be read, and of others all that was there.
    @Test(arguments: [
        (state: "deleted", says: "was deleted", isRead: false, next: "workspace forget acme"),
        ("left", "you left it", true, "join LINK, with an invite from a member"),
        ("removed", "you are no longer a member", true, "join LINK, with an invite from a member"),
        (
            "device_revoked", "this device was revoked", true,
            "--home NEW-FOLDER device link LINK, made on another device of yours"
        ),
    ])
    func `promises of a workspace that is over what holds`(
        _ row: (state: String, says: String, isRead: Bool, next: String)
    ) {
        let io = terminal()
        io.node?.workspaceState = row.state
        #expect(io.run() == 0)
        #expect(io.output.contains("acme  0 members, \(row.says)\n"), "\(io.output)")
        #expect(io.output.contains("you can still read here") == row.isRead, "\(io.output)")
        #expect(io.output.hasSuffix("next: wsx-node \(row.next)\n"), "\(io.output)")
        // With another one there is somewhere to go on.
        io.node?.listedWorkspaces = [
            WorkspaceObject(id: "w_0ther000", name: "duo", createdAt: 1, digest: "9f")
        ]
        io.output = ""
        #expect(io.run() == 0)
        #expect(io.output.hasSuffix("next: wsx-node workspace use duo\n"), "\(io.output)")
    }

    @Test(arguments: [
        (state: "member", command: "workspace use duo"), ("deleted", "workspace forget duo"),
        ("left", "-w duo"), ("device_revoked", "-w duo"),
    ])
    func `says of another workspace how to see it, if it can be seen`(
        _ row: (state: String, command: String)
    ) {
        let io = terminal()
        var other = WorkspaceObject(id: "w_0ther000", name: "duo", createdAt: 1, digest: "9f")
        other.state = row.state
        io.node?.listedWorkspaces = [other]
        #expect(io.run() == 0)
        #expect(io.output.contains("  (wsx-node \(row.command))\n"), "\(io.output)")
    }

    @Test func `tells of devices that others have added`() {
        let io = terminal()
        let joon = PersonObject(id: "u_joon0000", name: "Joon Kim")
        io.node?.newDevices = ["desk", "phone", "couch", "shelf"].map {
            (joon, DeviceObject(id: "d_\($0)0000", name: $0, addedAt: io.now - 60_000))
        }
        #expect(io.run() == 0)
        #expect(
            io.output.contains("note  Joon Kim added a device today 19:39: desk\n"), "\(io.output)")
        #expect(io.output.split(separator: "\n").count { $0.contains("added a device") } == 3)
    }

    @Test func `asks about the workspace that was named`() {
        let io = terminal()
        #expect(io.run("-w", "acme") == 0)
        #expect(io.output.hasPrefix("Mina  d_device00\n"))
    }

    @Test(arguments: [20, 40, 80])
    func `fits into the terminal, but for the command to copy`(_ columns: Int) {
        let io = terminal()
        io.node?.channelName = String(repeating: "회의", count: 30)
        io.node?.unreadMessages = 3
        #expect(io.run(environment: ["COLUMNS": String(columns)]) == 0)
        let lines = io.output.split(separator: "\n").map(String.init)
        #expect(lines.dropLast().allSatisfy { columnWidth($0) <= columns }, "\(lines)")
        #expect(lines.last == "next: wsx-node unread")
    }

    @Test func `reminds of a backup, once one is due`() {
        let io = terminal()
        #expect(io.run() == 0)
        #expect(!io.output.contains("back"))
        io.node?.isBackupDue = true
        #expect(io.run() == 0)
        #expect(
            io.output.contains(
                "note  this home has never been backed up: wsx-node backup create\n"))
        io.node?.backupAt = io.now - 31 * 86_400_000
        #expect(io.run() == 0)
        #expect(
            io.output.contains("note  your last backup is 31 days old: wsx-node backup create\n"))
    }

    @Test func `has no more lines than the terminal has rows, and says where the rest is`() {
        var screen = HomeScreen()
        var channels = HomeScreen.List(more: "  … channel list")
        channels.entries = (1...12).map { "  #\($0)" }
        var directs = HomeScreen.List(more: "  … dm list")
        directs.entries = ["  @Joon", "  @Mina"]
        var others = HomeScreen.List(more: "  … workspace list")
        others.entries = ["\nduo", "\ntrio"]
        screen.add(["Mina", "", "acme"])
        screen.add(channels)
        screen.add(directs)
        screen.add(others)
        screen.add(["next: wsx-node unread"])
        func lines(_ rows: Int?, columns: Int? = 40) -> [String] {
            screen.text(rows: rows, columns: columns)
                .split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(
                    String.init)
        }
        #expect(lines(nil).count == 22)
        #expect(lines(23) == lines(nil))
        for rows in 9...23 {
            #expect(lines(rows).count <= rows - 1, "\(rows): \(lines(rows))")
        }
        #expect(
            lines(13) == [
                "Mina", "", "acme", "  #1", "  #2", "  … channel list", "  @Joon", "  @Mina", "",
                "duo", "  … workspace list", "next: wsx-node unread",
            ])
        #expect(lines(24, columns: 10).count < 22, "the last line takes three rows")
    }

    @Test func `leaves out peers before it is higher than the terminal`() {
        let io = terminal()
        io.outputRows = 12
        io.node?.linked = (1...8).map { number in
            var peer = PeerObject(state: "waiting")
            peer.address = "machine-\(number).example:4000"
            return peer
        }
        #expect(io.run(environment: ["COLUMNS": "40"]) == 0)
        let lines = io.output.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count <= 12, "\(io.output)")
        #expect(io.output.contains("peers  machine-1.exa… unknown\n"))
        #expect(io.output.contains("  … wsx-node peer list\n"))
    }

    @Test func `repeats a home in the command to copy`() {
        let io = terminal()
        #expect(io.run("--home", "/h") == 0)
        #expect(io.output.contains("next: wsx-node --home /h "))
    }

    @Test func `takes no control of the terminal from a name`() {
        let io = terminal()
        io.node?.channelName = "x\u{1B}[2J\u{7}"
        #expect(io.run() == 0)
        #expect(!io.output.contains("\u{1B}") && !io.output.contains("\u{7}"))
    }

    @Test func `is the short help in a pipe`() {
        let io = MemoryIO()
        #expect(io.run() == 0)
        #expect(io.output == Manual.shortHelp)
        #expect(io.node?.asked.isEmpty == true)
    }
}

struct `A check from the command line` {
    private let io = MemoryIO()

    @Test func `compares versions, and who can look into the folder`() {
        io.modes = ["/h": 0o700, "/h/identity/device.key": 0o600, "/h/node.db": 0o600]
        #expect(io.run("doctor", "--home", "/h") == 0)
        #expect(io.output.hasPrefix("ok   fine\nok   daemon and command line are"))
        #expect(io.output.contains(" are \(Release.version)\n"))
        #expect(
            io.output.hasSuffix(
                """
                ok   only you can access '/h'
                ok   only you can access your keys and store
                ok   the settings are valid

                """))
        io.modes = ["/h": 0o750]
        io.output = ""
        #expect(io.run("doctor", "--home", "/h") == 1)
        #expect(io.output.contains("fail others can access '/h'\n     fix: chmod 700 '/h'\n"))
    }

    @Test func `gives programs the same list`() {
        io.modes = ["/h": 0o755]
        #expect(io.run("doctor", "--json", "--home", "/h") == 1)
        let rows = io.output.split(separator: "\n").compactMap {
            try? JSONValue(parsing: String($0))
        }
        #expect(rows.map { $0["id"] } == ["a.b", "version", "folder", "files", "settings"])
        #expect(rows.map { $0["state"] } == ["ok", "ok", "fail", "ok", "ok"])
    }

    @Test func `warns of keys and store that others may read`() {
        io.modes = ["/h": 0o700, "/h/identity/device.key": 0o644, "/h/node.db": 0o660]
        #expect(io.run("doctor", "--home", "/h") == 0)
        let paths = "'/h/identity/device.key'"
        #expect(io.output.contains("warn others can access: \(paths), '/h/node.db'\n"))
        #expect(io.output.contains("     fix: chmod go= \(paths) '/h/node.db'\n"))
    }

    @Test func `does without a daemon what needs none, and says that there is none`() {
        io.node = nil
        io.modes = ["/h": 0o700, "/h/identity/device.key": 0o644]
        io.freeBytes = 5 << 20
        #expect(io.run("doctor", "--json", "--home", "/h") == 3)
        let rows = io.output.split(separator: "\n").compactMap {
            try? JSONValue(parsing: String($0))
        }
        #expect(
            rows.compactMap { $0["id"]?.stringValue } == [
                "socket", "version", "disk", "folder", "files", "settings",
            ])
        #expect(
            rows.compactMap { $0["state"]?.stringValue } == [
                "fail", "ok", "warn", "ok", "warn", "ok",
            ])
        #expect(rows.first?["hint"] == "wsx-node up")
        #expect(io.errors.isEmpty)
    }

    @Test(arguments: ["nonsense", "[net]\nlisten = \"nowhere\"\n", "[log]\nlevel = \"loud\"\n"])
    func `finds settings with which no daemon starts`(_ settings: String) {
        io.modes = ["/h": 0o700]
        io.files["/h/config.toml"] = Array(settings.utf8)
        #expect(io.run("doctor", "--home", "/h") == 1)
        #expect(io.output.contains("fail '/h/config.toml': "))
    }

    @Test func `tells of a home that is not there`() {
        io.node = nil
        #expect(io.run("doctor", "--home", "/h") == 3)
        #expect(io.output.contains("warn there is no home at '/h' yet\n"))
    }
}

struct `A slip of the hand` {
    @Test(arguments: [
        (["sedn", "general", "x"], "did you mean 'send'?"),
        (["channel", "lst"], "did you mean 'channel list'?"),
        (["chanel", "list"], "did you mean 'channel'?"),
        (["send", "general", "x", "--thraed", "m_1"], "did you mean '--thread'?"),
        (["log", "general", "--josn"], "did you mean '--json'?"),
        (["rpc", "--describe", "mesage.send"], "did you mean 'message.send'?"),
        (["help", "unraed"], "did you mean 'unread'?"),
        (["help", "bot"], "did you mean 'bots'?"), (["help", "htpp"], "did you mean 'http'?"),
        (["rpc", "events.subscribe", "since=all"], "wsx-node events, or call events.wait"),
        (["rpc", "note.watch", "note=List"], "wsx-node note watch NOTE --json"),
        (["rpc", "config.path"], "wsx-node config path"),
    ])
    func `is told what was meant, and runs nothing`(_ row: (words: [String], hint: String)) {
        let io = MemoryIO()
        #expect(Program.run(arguments: row.words, environment: [:], io: io) != 0)
        #expect(io.errors.contains("hint: \(row.hint)\n"), "\(io.errors)")
        #expect(io.node?.asked.isEmpty == true)
        #expect(io.output.isEmpty)
    }

    @Test func `a method is described for people and for programs`() throws {
        let io = MemoryIO()
        io.node = nil
        #expect(io.run("rpc", "--describe", "home.get") == 0)
        #expect(io.output.hasPrefix("### `home.get`\n"))
        io.output = ""
        #expect(io.run("rpc", "--describe", "home.get", "--json") == 0)
        let described = try JSONValue(parsing: String(io.output.dropLast()))
        #expect(described["name"] == "home.get")
        let parameters = (described["params"]?.arrayValue ?? []).map { $0["name"] }
        #expect(parameters.contains("workspace"))
    }

    @Test(arguments: [
        (channel: ChannelNotice(), isSelf: false, isBackfill: false, rings: true),
        (ChannelNotice(), true, false, false), (ChannelNotice(), false, true, false),
        (ChannelNotice(isMuted: true), false, false, false),
        (ChannelNotice(notify: "none"), false, false, false),
        (ChannelNotice(notify: "mentions"), false, false, false),
        (ChannelNotice(notify: "mentions", kind: "dm"), false, false, true),
    ])
    func `a bell rings on a terminal for what others write to us`(
        _ row: (channel: ChannelNotice, isSelf: Bool, isBackfill: Bool, rings: Bool)
    ) {
        for isTerminal in [true, false] {
            let io = MemoryIO()
            io.isOutputTerminal = isTerminal
            io.node?.notice = row.channel
            var event = EventObject(
                sequence: 1, cursor: "e1.1", at: 1, type: "message.created",
                data: [
                    "id": "m_1", "text": "a\u{7}b", "author": ["name": "Mina"],
                    "channel": "c_general0", "self": .bool(row.isSelf),
                ])
            event.isBackfill = row.isBackfill
            io.events = [event]
            io.happensInPause = {
                io.node = nil
                io.now += io.pauses.last ?? 0
            }
            _ = io.run("tail", "--all", "--bell", "--timeout", "1s")
            #expect(
                io.output.filter { $0 == "\u{7}" }.count == (isTerminal && row.rings ? 1 : 0))
        }
    }
}
