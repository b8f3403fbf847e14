import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Which messages the owner is notified about, and what the notice contains.
struct `A notice` {
    private typealias Table = `Private channels`.Table

    /// Ada, Bob and Cleo; Bob has a command.
    private func table() throws -> Table {
        let table = try Table()
        try table.bob.ok("notify.command", ["command": "show it"])
        return table
    }

    private func texts(_ node: BenchNode) -> [String] {
        node.notices.compactMap { notice in
            notice.variables.first { $0.name == "WSX_TEXT" }?.value
        }
    }

    @Test func `is given of what others say, once it is on the disk, and says who and where`()
        throws
    {
        let table = try table()
        let sent = try table.ada.send("hello")
        try table.bob.send("mine")
        #expect(texts(table.bob) == ["hello"])
        #expect(table.ada.notices.isEmpty && table.cleo.notices.isEmpty)
        let notice = try #require(table.bob.notices.first)
        #expect(notice.command == "show it")
        let message = try JSONValue(parsing: notice.input)
        #expect(message["id"] == sent["id"] && message["text"] == "hello")
        #expect(message["self"] == false && notice.input.last == UInt8(ascii: "\n"))
        let pairs = Dictionary(
            uniqueKeysWithValues: notice.variables.map { ($0.name, $0.value) })
        let workspace = try table.bob.ok("workspace.get")
        #expect(
            pairs == [
                "WSX_EVENT_TYPE": "message.created", "WSX_AUTHOR": "Ada",
                "WSX_CHANNEL": try sent.text("channel"), "WSX_CHANNEL_NAME": "general",
                "WSX_MESSAGE": try sent.text("id"), "WSX_TEXT": "hello",
                "WSX_WORKSPACE": try workspace.text("id"), "WSX_WORKSPACE_NAME": "acme",
                "WSX_NODE_SOCKET": table.bob.environment.socket, "WSX_BOT": "notify",
                "WSX_AUTHOR_BOT": "",
            ])
        // Nothing is left in the core, and nothing is told twice.
        table.bench.advance(60_000)
        #expect(table.bob.notices.count == 1)
    }

    @Test func `is given as the settings say, until its owner says otherwise`() throws {
        let table = try Table()
        let bob = table.bob
        bob.noticeDefaults = try #require(NoticeDefaults(level: "mentions", command: "usual"))
        try bob.restart()
        table.bench.advance(60_000)
        let usual = try bob.ok("notify.get")
        #expect(usual["level"] == "mentions" && usual["command"] == "usual")
        try table.ada.send("to nobody")
        try table.ada.send("@Bob one")
        #expect(bob.notices.map(\.command) == ["usual"] && texts(bob) == ["@Bob one"])
        try bob.ok("notify.set", ["level": "all"])
        try bob.ok("notify.command", ["command": "own"])
        try table.ada.send("two")
        #expect(bob.notices.map(\.command) == ["usual", "own"])
        #expect(try bob.ok("notify.command", ["command": ""])["command"] == .null)
        #expect(NoticeDefaults(level: "loud", command: nil) == nil)
        #expect(NoticeDefaults(level: nil, command: "")?.command == nil)
    }

    @Test func `has no command that each message looks for in the store`() throws {
        let table = try Table()
        let events = try #require(table.bob.host).core.events
        let connection = try #require(table.bob.connection)
        func cost() throws -> Int {
            let before = connection.statementCount
            _ = try events.noticeCommand()
            return connection.statementCount - before
        }
        try table.ada.send("to nobody")
        #expect(try cost() == 0)
        try table.bob.ok("notify.command", ["command": "show it"])
        #expect(try cost() == 1)
        try table.ada.send("one")
        #expect(texts(table.bob) == ["one"])
    }

    struct Wish: Sendable, CustomTestStringConvertible {
        let workspace: String?
        let channel: String?
        /// Of "plain", "@Bob" and a direct "psst".
        let told: [String]
        var testDescription: String { "\(workspace ?? "-") \(channel ?? "-")" }
    }

    @Test(arguments: [
        Wish(workspace: nil, channel: nil, told: ["plain", "@Bob", "psst"]),
        Wish(workspace: "all", channel: nil, told: ["plain", "@Bob", "psst"]),
        Wish(workspace: "mentions", channel: nil, told: ["@Bob", "psst"]),
        Wish(workspace: "none", channel: nil, told: []),
        Wish(workspace: "none", channel: "all", told: ["plain", "@Bob"]),
        Wish(workspace: "none", channel: "mentions", told: ["@Bob"]),
        Wish(workspace: "all", channel: "none", told: ["psst"]),
        Wish(workspace: nil, channel: "mentions", told: ["@Bob", "psst"]),
    ])
    func `follows the level of its channel, else the workspace's`(_ wish: Wish) throws {
        let table = try table()
        if let level = wish.workspace {
            let set = try table.bob.ok("notify.set", ["level": .string(level)])
            #expect(set["level"] == .string(level) && set["command"] == "show it")
            #expect(try table.bob.ok("notify.get") == set)
            // What a channel says of itself, or the workspace for it.
            let shown = try table.bob.ok("channel.get", ["channel": "general"])
            #expect(shown["notify"] == .string(level))
        }
        if let level = wish.channel {
            try table.bob.ok("channel.notify", ["channel": "general", "level": .string(level)])
        }
        try table.ada.send("plain")
        try table.ada.send("@Bob")
        try table.ada.ok("message.send", ["channel": "@Bob", "text": "psst"])
        #expect(texts(table.bob) == wish.told)
        #expect(try table.ada.ok("notify.get")["level"] == "all")
    }

    @Test func `is wanted as in the whole workspace again, where a channel had a word of its own`()
        throws
    {
        let table = try table()
        try table.bob.ok("channel.notify", ["channel": "general", "level": "none"])
        let back = try table.bob.ok("channel.notify", ["channel": "general", "level": "default"])
        #expect(back["notify"] == "all")
        try table.ada.send("one")
        try table.bob.ok("notify.set", ["level": "mentions"])
        #expect(try table.bob.ok("channel.get", ["channel": "general"])["notify"] == "mentions")
        try table.ada.send("two")
        #expect(texts(table.bob) == ["one"])
        #expect(try table.bob.refused("notify.set", ["level": "default"]).kind == .badRequest)
    }

    @Test func `of an answer is wanted by who began the thread, like a mention`() throws {
        let table = try table()
        try table.bob.ok("notify.set", ["level": "mentions"])
        let own = try table.bob.send("mine")["id"] ?? .null
        let other = try table.ada.send("another's")["id"] ?? .null
        for (root, text) in [(own, "to Bob"), (other, "to Ada")] {
            try table.ada.ok(
                "message.send", ["channel": "general", "text": .string(text), "thread": root])
        }
        #expect(texts(table.bob) == ["to Bob"])
        try table.bob.ok("notify.set", ["level": "none"])
        try table.ada.ok(
            "message.send", ["channel": "general", "text": "again", "thread": own])
        #expect(texts(table.bob) == ["to Bob"])
    }

    @Test func `says that it mentions one`() throws {
        let table = try table()
        try table.ada.send("hello @Bob")
        let type = table.bob.notices.first?.variables.first { $0.name == "WSX_EVENT_TYPE" }
        #expect(type?.value == "mention.received")
    }

    @Test func `is not shown for what is muted, read, old or not meant for you`() throws {
        let table = try table()
        try table.bob.ok("channel.mute", ["channel": "general", "for_ms": 60_000])
        try table.ada.send("while muted")
        #expect(texts(table.bob).isEmpty)
        table.bench.advance(61_000)
        try table.ada.send("again")
        #expect(texts(table.bob) == ["again"])
        // A public channel that one is not in, and its history on joining.
        try table.ada.ok("channel.create", ["name": "plans"])
        try table.ada.send("@Bob come", to: "plans")
        #expect(texts(table.bob) == ["again"])
        // What comes with a first sync.
        try table.ada.send("before Dora")
        let dora = try table.bench.bareNode("Dora")
        try dora.ok("identity.create", ["name": "Dora"])
        try dora.ok("notify.command", ["command": "x"])
        let invite = try table.ada.ok("invite.create")
        try dora.ok("workspace.join", ["link": invite["link"] ?? .null, "name": "Dora"])
        #expect(try dora.log().contains("before Dora"))
        #expect(dora.notices.isEmpty)
        try table.ada.send("for all")
        #expect(texts(dora) == ["for all"])
    }

    @Test func `is not shown for what another device of yours has read already`() throws {
        let table = try table()
        let phone = try table.bench.bareNode("Phone")
        try table.bob.link(phone)
        table.bench.cut(table.cleo, table.ada)
        table.bench.cut(table.cleo, table.bob)
        table.bench.cut(table.bob, phone)
        try table.cleo.send("older, and still on its way")
        table.bench.cut(table.cleo, phone)
        table.bench.cut(table.bob, table.ada)
        table.bench.advance(1_000)
        try table.ada.send("read on the phone")
        try phone.ok("read.mark", ["channel": "general"])
        table.bench.heal(table.bob, phone)
        table.bench.advance(120_000)
        // The marker may come a turn later than the message that it marks; what is older comes
        // when it is known.
        table.bench.heal(table.bob, table.cleo)
        table.bench.advance(120_000)
        #expect(
            try table.bob.log() == ["older, and still on its way", "read on the phone"])
        #expect(!texts(table.bob).contains("older, and still on its way"))
        table.bench.heal(table.bob, table.ada)
        try table.ada.send("new")
        table.bench.advance(1_000)
        #expect(texts(table.bob).last == "new")
        #expect(texts(phone).isEmpty)
    }

    @Test func `has a level that all your devices share, and a command that they do not`()
        throws
    {
        let table = try table()
        let phone = try table.bench.bareNode("Phone")
        try table.bob.link(phone)
        try table.bob.ok("notify.set", ["level": "mentions"])
        #expect(try phone.ok("notify.get")["level"] == "mentions")
        #expect(try phone.ok("notify.get")["command"] == .null)
        #expect(try phone.ok("notify.command")["command"] == .null)
        try phone.ok("notify.command", ["command": "on the phone"])
        #expect(try table.bob.ok("notify.command")["command"] == "show it")
        // Another workspace of the same person has a level of its own.
        try table.bob.ok("workspace.create", ["name": "other"])
        #expect(try table.bob.ok("notify.get", ["workspace": "other"])["level"] == "all")
        #expect(try table.bob.ok("notify.get", ["workspace": "acme"])["level"] == "mentions")
    }

    @Test func `ends with an empty command, and comes back after a restart`() throws {
        let table = try table()
        try table.bob.restart()
        table.bench.advance(60_000)
        try table.ada.send("one")
        #expect(texts(table.bob) == ["one"])
        #expect(try table.bob.ok("notify.command", ["command": ""])["command"] == .null)
        try table.ada.send("two")
        #expect(texts(table.bob) == ["one"])
        let failure = try table.bob.refused("notify.command", ["command": "a\0b"])
        #expect(failure.kind == .badRequest)
    }

    @Test func `has a command that does not lie readable on the disk, and nobody can plant`() throws
    {
        let table = try table()
        try table.bob.ok("notify.command", ["command": "curl -H canarycommand"])
        let image = try table.bob.image
        #expect(!image.contains(sequence: Array("canarycommand".utf8)))
        // Write access to the file, without a key, is not enough to run anything.
        try table.bob.connection?.execute(
            "UPDATE meta SET value = CAST('touch me' AS BLOB) WHERE name = 'notify.command'")
        try table.ada.send("hello")
        #expect(table.bob.notices.isEmpty)
        #expect(try table.bob.ok("notify.command")["command"] == .null)
    }

    @Test func `is not given while the node is locked, and those that wait are dropped`() throws {
        let bench = CoreBench()
        let mina = try bench.sealedNode("Mina")
        let joon = try bench.guest("Joon", of: mina)
        try mina.ok("notify.command", ["command": "x"])
        try joon.send("one")
        #expect(texts(mina) == ["one"])
        try mina.ok("lock.now")
        #expect(mina.notices.isEmpty)
        try joon.send("two")
        bench.advance(60_000)
        #expect(mina.notices.isEmpty)
        try mina.ok("session.unlock", ["passphrase": .string(goodPassphrase)])
        #expect(try mina.log() == ["one", "two"])
        #expect(!texts(mina).contains("one"))
    }

    @Test func `says whether a program wrote it`() throws {
        let table = try table()
        try table.ada.ok(
            "message.send", ["channel": "general", "text": "build failed", "bot": true])
        try table.ada.send("I am on it")
        #expect(texts(table.bob) == ["build failed", "I am on it"])
        let marks = table.bob.notices.map { notice in
            notice.variables.filter { $0.name.hasSuffix("BOT") }.map { "\($0.name)=\($0.value)" }
        }
        #expect(
            marks == [
                ["WSX_BOT=notify", "WSX_AUTHOR_BOT=1"], ["WSX_BOT=notify", "WSX_AUTHOR_BOT="],
            ])
    }

    @Test func `names its conversation as people see it`() throws {
        let table = try table()
        try table.ada.ok("message.send", ["channel": "@Bob", "text": "psst"])
        func name() -> String? {
            table.bob.notices.last?.variables.first { $0.name == "WSX_CHANNEL_NAME" }?.value
        }
        #expect(name() == "Ada")
        for maker in [table.ada, table.cleo] {
            try maker.ok("channel.create", ["name": "board", "private": true, "history": "all"])
            let shown = try maker.ok("channel.get", ["channel": "board"])
            try maker.ok(
                "channel.add", ["channel": shown["id"] ?? .null, "members": ["@Bob"]])
            try maker.ok("message.send", ["channel": shown["id"] ?? .null, "text": "x"])
            table.bench.advance(1_000)
            #expect(
                try table.bob.ok("channel.get", ["channel": shown["id"] ?? .null])["name"]
                    == name().map { .string($0) })
        }
    }

    @Test func `drops the oldest of very many that come at once`() throws {
        let table = try table()
        table.bench.cut(table.bob, table.ada)
        table.bench.cut(table.bob, table.cleo)
        let count = Limits.noticesWaitingMax + 10
        for number in 1...count { try table.ada.send("m\(number)") }
        table.bench.heal(table.bob, table.ada)
        table.bench.advance(120_000)
        #expect(
            try table.bob.ok("channel.get", ["channel": "general"])["unread"]
                == .integer(Int64(count)))
        // They come in one turn.
        #expect(
            texts(table.bob) == (11...count).map { "m\($0)" })
        let page = try table.bob.ok("node.metrics").text("text")
        #expect(page.contains("wsx_notices_total{result=\"dropped\"} 10\n"))
    }

    // MARK: Foreign text

    @Test(arguments: [
        ("plain", "plain"), ("a\u{1b}[2Jb", "a\\u{1b}[2Jb"),
        ("two\nlines\tand tab", "two\nlines\tand tab"),
        ("\u{202e}gnp", "\\u{202e}gnp"), ("$(exit 9) `x` \"; rm", "$(exit 9) `x` \"; rm"),
        ("a\0b", "a\\u{0}b"),
    ])
    func `shows what could steer a terminal`(_ text: String, _ shown: String) {
        #expect(PeerNode.Events.variable(text) == shown)
    }

    @Test func `shows the beginning of a long text, and cuts no character`() {
        let long = String(repeating: "\u{20ac}", count: 5_000)
        let shown = PeerNode.Events.variable(long)
        #expect(shown.utf8.count == Limits.noticeVariableBytesMax / 3 * 3)
        #expect(long.hasPrefix(shown))
    }

    // MARK: Failures

    @Test func `that cannot be shown again and again is warned of, once`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        func give(_ outcome: NoticeOutcome) {
            bench.give(.noticed(outcome), to: mina)
            bench.settle()
        }
        func warnings() throws -> [JSONValue] { try mina.events(types: ["node.warning"]) }
        give(.ended(status: 3))
        give(.ended(status: nil))
        give(.ended(status: 0))
        give(.ended(status: 3))
        give(.ended(status: 3))
        #expect(try warnings().isEmpty)
        give(.ended(status: 127))
        give(.ended(status: 127))
        give(.dropped)
        let told = try warnings()
        #expect(told.count == 1)
        #expect(told[0]["data"]?["kind"] == "notify.failed")
        #expect(told[0]["data"]?["status"] == 127)
        // Another command is another try.
        try mina.ok("notify.command", ["command": "other"])
        for _ in 0..<Limits.noticeFailuresMax { give(.ended(status: nil)) }
        #expect(try warnings().count == 2)
        let page = try mina.ok("node.metrics").text("text")
        #expect(page.contains("wsx_notices_total{result=\"failed\"} 9\n"))
        #expect(page.contains("wsx_notices_total{result=\"shown\"} 1\n"))
        #expect(page.contains("wsx_notices_total{result=\"dropped\"} 1\n"))
    }
}

extension Array<UInt8> {
    /// Whether these bytes stand in it side by side.
    fileprivate func contains(sequence: [UInt8]) -> Bool {
        guard let first = sequence.first, count >= sequence.count else { return false }
        return indices.dropLast(sequence.count - 1).contains {
            self[$0] == first && self[$0..<$0 + sequence.count].elementsEqual(sequence)
        }
    }
}

struct `An overview of what was not read` {
    @Test func `has the conversations that mention one first, then the newest`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        for name in ["one", "two", "three"] {
            try mina.ok("channel.create", ["name": .string(name)])
            try joon.ok("channel.join", ["channel": .string(name)])
            bench.advance(10)
        }
        try mina.send("@Joon and again @Joon", to: "one")
        bench.advance(10)
        try mina.send("@Joon", to: "two")
        try mina.send("@Joon", to: "two")
        bench.advance(10)
        try mina.send("nothing for you", to: "three")
        bench.advance(10)
        try mina.ok("message.send", ["channel": "@Joon", "text": "psst"])
        let items = try joon.ok("unread.get").items
        #expect(items.map { $0["name"] } == ["two", "one", "Mina", "three"])
        #expect(items.map { $0["mentions"] } == [2, 1, 0, 0])
        #expect(items.map { $0["unread"] } == [2, 1, 1, 1])
    }
}
