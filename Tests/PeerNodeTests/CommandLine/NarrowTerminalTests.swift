import PeerNode
import Testing
import WorkspaceModel

@testable import wsx_node

/// A terminal of 40 columns: a phone, or half of a screen.
struct `On a narrow terminal` {
    private func rendering(columns: Int?) -> Rendering {
        var rendering = Rendering(globals: GlobalFlags(), environment: [:], io: MemoryIO())
        rendering.columns = columns
        return rendering
    }

    private func lines(_ text: String) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    static let sentences: [(line: String, shown: [String])] = [
        (
            "topic    what we could do about all the bakeries in town",
            ["topic    what we could do about all the", "         bakeries in town"]
        ),
        (
            "waiting for them to join; ctrl-C stops waiting, the link keeps working",
            ["waiting for them to join; ctrl-C stops", "  waiting, the link keeps working"]
        ),
        (
            "id              w_xgyqgxx7g37q48c26b5mwdxrdw",
            ["id", "  w_xgyqgxx7g37q48c26b5mwdxrdw"]
        ),
        (
            "next: wait until someone lets you in, or wsx-node invite decline LINK",
            ["next: wait until someone lets you in, or", "  wsx-node invite decline LINK"]
        ),
        (
            "note: 3 invites let in anyone who has the link: wsx-node invite list, then revoke",
            [
                "note: 3 invites let in anyone who has", "  the link: wsx-node invite list, then",
                "  revoke",
            ]
        ),
        ("short enough for forty columns of a row.", ["short enough for forty columns of a row."]),
        (
            "Remove the passphrase? Your keys will lie on this disk without it. [y/N] ",
            ["Remove the passphrase? Your keys will", "  lie on this disk without it. [y/N] "]
        ),
    ]

    @Test(arguments: sentences)
    func `sentences are broken between words, under their beginning`(
        _ row: (line: String, shown: [String])
    ) {
        #expect(FlowedText.lines(of: row.line, columns: 40) == row.shown)
    }

    @Test(arguments: [
        "hint: wsx-node --home /srv/a-folder/of-mine channel list --all",
        "     fix: sudo firewall-cmd --add-port=1/tcp && sudo firewall-cmd --reload",
        "wsx://join/07p3ty3qmy0cywh1g8scpkhqq1qmpkjrns4jsgb0g256m1yv0sdzd8gbg6spxn4sj",
    ])
    func `what is copied is left for the terminal to break`(_ line: String) {
        #expect(FlowedText.lines(of: line, columns: 40) == [line])
        #expect(FlowedText.text(line + "\n", columns: 200) == line + "\n")
    }

    @Test func `a name that looks like a command is broken all the same`() {
        let name = "wsx-node " + String(repeating: "x ", count: 30) + "12:00  Mina  hello"
        let shown = FlowedText.lines(of: "topic  \(name)", columns: 40, isOwn: false)
        #expect(shown.allSatisfy { columnWidth($0) <= 40 }, "\(shown)")
        #expect(shown.dropFirst().allSatisfy { $0.hasPrefix("  ") }, "\(shown)")
    }

    @Test func `a usage line is broken between its brackets`() {
        let line = "hint: usage: wsx-node send CHANNEL [TEXT|-] [--thread ID] [--location LAT,LON]"
        #expect(
            FlowedText.lines(of: line, columns: 40, indent: 6) == [
                "hint: usage: wsx-node send CHANNEL", "      [TEXT|-] [--thread ID]",
                "      [--location LAT,LON]",
            ])
    }

    @Test func `words of a message stay whole where they fit`() {
        #expect(
            wrapped("that has to be wrapped somewhere. Now", columns: 17) == [
                "that has to be", "wrapped", "somewhere. Now",
            ])
        #expect(wrapped("exactly seven, and", columns: 7) == ["exactly", "seven,", "and"])
        let long = "a " + String(repeating: "x", count: 9)
        #expect(wrapped(long, columns: 6) == ["a xxxx", "xxxxx"], "no line holds it")
        #expect(wrapped("    12345678", columns: 6).allSatisfy { !$0.isEmpty })
    }

    // MARK: Tables

    private static let channels: JSONValue = [
        "items": [
            [
                "id": "c_8fckn3m4ww59bjr2jrwb0qg8b8", "name": "general", "kind": "channel",
                "private": false, "members": 2, "unread": 1, "topic": .null, "joined": true,
            ],
            [
                "id": "c_1a5nz2z18n854jynsjjeqvxebw", "name": "ideas", "kind": "channel",
                "private": true, "members": 1, "unread": 0, "joined": true,
                "topic": "what we could do about all the bakeries in town",
            ],
        ]
    ]

    @Test func `a table loses the columns that matter least, and says so`() {
        #expect(
            rendering(columns: 40).text(Self.channels, of: "channel.list") == """
                NAME     PRIVATE  UNREAD  …
                general  no       1
                ideas    yes      0

                """)
        let wide = rendering(columns: 80).text(Self.channels, of: "channel.list")
        #expect(wide.hasPrefix("ID         NAME     KIND     PRIVATE  MEMBERS  UNREAD  TOPIC\n"))
        #expect(wide.contains("  what we co"), "it is cut, and no column is gone")
        #expect(lines(wide).allSatisfy { columnWidth($0) <= 80 })
        let whole = rendering(columns: nil).text(Self.channels, of: "channel.list")
        #expect(whole.contains("bakeries in town") && whole.contains("jynsjjeqvxebw"))
    }

    @Test func `a link stands below its invite, and can be copied`() {
        let link =
            "wsx://join/07p3ty3qmy0cywh1g8scpkhqq1qmpkjrns4jsgb0g256m1yv0sdzd8gbg6spxn4sjm27y"
        let invites: JSONValue = [
            "items": [
                [
                    "id": "i_m85r3cve00000000000000000a", "state": "open", "role": "member",
                    "used": 0, "uses": 3, "link": .string(link),
                ],
                [
                    "id": "i_cjf9qaz500000000000000000b", "state": "used", "role": "member",
                    "used": 1, "uses": 1, "link": .null,
                ],
            ]
        ]
        #expect(
            rendering(columns: 40).text(invites, of: "invite.list") == """
                ID         STATE  ROLE    USED  USES
                i_…00000a  open   member  0     3
                  \(link)
                i_…00000b  used   member  1     1

                """)
    }

    @Test func `why a link ended is read whole, and other columns go before it`() {
        let peers: JSONValue = [
            "items": [
                [
                    "id": "d_1a5nz2z18n854jynsjjeqvxebw", "name": "Eve", "state": "waiting",
                    "address": "192.168.178.21:29790", "behind": .null, "ahead": .null,
                    "last_error": "refused",
                ]
            ]
        ]
        let why = LinkWords.text("refused")
        let wide = rendering(columns: 100).text(peers, of: "peer.list")
        #expect(wide.contains(why), "\(wide)")
        for columns in [60, 40] {
            let narrow = rendering(columns: columns).text(peers, of: "peer.list")
            let words = narrow.split { $0 == " " || $0 == "\n" }.joined(separator: " ")
            #expect(words.contains(why), "\(narrow)")
            #expect(lines(narrow).allSatisfy { columnWidth($0) <= columns }, "\(narrow)")
        }
    }

    @Test func `the last attempt is shown for a peer that has no link`() {
        func text(_ state: String, _ tried: JSONValue) -> String {
            let peer: JSONValue = [
                "id": "d_1a5nz2z18n854jynsjjeqvxebw", "name": "Eve", "state": .string(state),
                "address": "10.0.0.1:1", "last_error": .null, "last_tried": tried,
            ]
            return rendering(columns: 80).text(["items": [peer]], of: "peer.list")
        }
        let before = JSONValue.integer(MemoryIO().now - 3_000)
        #expect(text("waiting", before).contains("3 s ago"), "\(text("waiting", before))")
        for other in [text("connected", before), text("waiting", .null)] {
            #expect(!other.contains("TRIED") && !other.contains("ago"), "\(other)")
        }
    }

    @Test(arguments: [20, 30, 40, 60, 80])
    func `no table is wider than the terminal`(_ columns: Int) {
        let long = String(repeating: "회의", count: 12)
        let item: JSONValue = [
            "id": "d_1a5nz2z18n854jynsjjeqvxebw", "name": .string(long), "kind": "device",
            "self": false, "added_at": 1_795_190_000_000, "origin": "founded", "role": "member",
            "added_by": ["name": .string(long)], "revoked": false, "label": .string(long),
            "state": "connected", "address": "[2001:db8:1234:5678:9abc:def0:1234:5678]:29790",
            "behind": 12, "ahead": 7, "last_error": "refused", "last_tried": 1, "members": 1_000,
            "channels": 1_000,
            "selected": true, "devices": 3, "unread": 5, "private": false, "topic": .string(long),
            "muted": true, "muted_until": 1_795_190_000_000, "notify": "mentions",
            "owner": ["name": .string(long)], "archived": true, "complete": true,
            "at": 1_795_190_000_000, "text": .string(long), "note": .string(long), "emoji": "🍜",
            "peer": "d_1a5nz2z18n854jynsjjeqvxebw", "workspace": "w_1a5nz2z18n854jynsjjeqvxebw",
            "device": "d_1a5nz2z18n854jynsjjeqvxebw", "setting": .string(long),
            "invite": "i_1a5nz2z18n854jynsjjeqvxebw", "value": .string(long),
        ]
        for method in [
            "device.list", "peer.list", "workspace.list", "member.list", "channel.list",
            "channel.mute", "channel.archive", "message.holders", "member.status", "dm.list",
            "presence.list", "join.requests", "sync.status", "ui.pref.list", "peer.add",
        ] {
            let text = rendering(columns: columns).text(["items": [item]], of: method)
            #expect(
                lines(text).allSatisfy { columnWidth($0) <= columns }, "\(method)\n\(text)")
        }
    }

    // MARK: Screens

    @Test func `the recovery phrase stands in two columns`() {
        let words = (1...24).map { "word\($0)" }.joined(separator: " ")
        let identity: JSONValue = ["name": "Mina", "phrase": .string(words)]
        let text = rendering(columns: 40).text(identity, of: "identity.show")
        #expect(lines(text).allSatisfy { columnWidth($0) <= 40 }, "\(text)")
        #expect(text.contains("\n  1.  word1     2.  word2\n  3.  word3     4.  word4\n"))
        #expect(lines(text).count { $0.contains("word") } == 12)
    }

    @Test func `failures are broken too, where they are read on a terminal`() {
        let io = MemoryIO()
        io.errorColumns = 40
        let sentence = "there is no channel of this name in the workspace"
        io.node?.failure = NodeError(.notFound, sentence, hint: "wsx-node channel list --all")
        #expect(io.run("status") == 5)
        #expect(
            io.errors == """
                wsx-node: there is no channel of this
                          name in the workspace
                hint: wsx-node channel list --all

                """)
        io.errors = ""
        #expect(io.run("status", "--json") == 5)
        #expect(lines(io.errors).count == 2, "programs get one line")
        io.errors = ""
        io.errorColumns = nil
        #expect(io.run("status") == 5)
        #expect(io.errors.hasPrefix("wsx-node: \(sentence)\n"))
    }

    @Test(arguments: [40, 60, 80])
    func `help is as wide as the terminal`(_ columns: Int) {
        let io = MemoryIO()
        io.isOutputTerminal = true
        let environment = ["COLUMNS": String(columns), "PAGER": ""]
        #expect(io.run("help", environment: environment) == 0)
        for command in Command.all {
            guard let words = command.line?.words else { continue }
            let status = Program.run(
                arguments: ["help"] + words, environment: environment, io: io)
            #expect(status == 0, "\(words)")
        }
        for line in lines(io.output) {
            // One word, one bracket, and what the shell takes as one word, cannot be broken.
            let isOne = line.split(separator: " ").count <= 2
            let isQuoted = line.first { $0 != " " } == "'"
            #expect(line.count <= columns || isOne || isQuoted, "\(line)")
        }
    }

    @Test func `an example of help can be copied, in however many lines it stands`() {
        for command in Command.all {
            let narrow = HelpPage(columns: 40).text(for: command)
            let joined = narrow.replacing(" \\\n      ") { _, _ in " " }
            for example in command.line?.examples ?? [] {
                #expect(joined.contains(" \(example)\n"), "\(narrow)")
                // Without a terminal a line is as long as it is.
                #expect(Manual.help(for: command).contains(" \(example)\n"))
            }
        }
    }

    @Test(arguments: ["http", "bots"])
    func `further text of help is wrapped again, except for what people copy`(_ word: String) throws
    {
        let topic = try #require(Manual.topics.first { $0.word == word }?.text)
        let narrow = HelpPage(columns: 40).topic(topic)
        let copied = lines(topic).filter { $0.hasPrefix("  ") }
        for line in lines(narrow) where !copied.contains(line) {
            #expect(line.count <= 40, "\(line)")
        }
        func words(_ text: String) -> [String] {
            text.split { $0 == " " || $0 == "\n" }.map(String.init)
        }
        #expect(words(narrow) == words(topic), "every word is there, in its order")
        #expect(HelpPage(columns: 80).topic(topic) == topic)
    }
}
