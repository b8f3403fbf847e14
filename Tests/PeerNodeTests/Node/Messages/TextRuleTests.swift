import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `The text of a message` {
    struct Text: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let text: String
        let isTaken: Bool

        init(_ testDescription: String, _ text: String, _ isTaken: Bool) {
            self.testDescription = testDescription
            self.text = text
            self.isTaken = isTaken
        }
    }

    private static func repeated(_ text: String, _ count: Int) -> String {
        String(repeating: text, count: count)
    }

    static let texts = [
        Text("one byte", "x", true),
        Text("nothing", "", false),
        Text("16 KiB less one", repeated("x", 16 * 1024 - 1), true),
        Text("16 KiB", repeated("x", 16 * 1024), true),
        Text("16 KiB and one", repeated("x", 16 * 1024 + 1), false),
        Text("16 KiB of three bytes each, less one", repeated("한", 5_461), true),
        Text("16 KiB of three bytes each, and two", repeated("한", 5_462), false),
        Text("NUL", "a\u{0}b", false),
        Text("NUL at the end", "a\u{0}", false),
        Text("U+FFFE", "a\u{fffe}", false),
        Text("U+10FFFF", "a\u{10ffff}", false),
        Text("line breaks and tabs", "a\n\tb\r\n", true),
        Text("escape sequences, which rendering makes safe", "\u{1b}[31m\u{9b}x", true),
        Text("directions and isolates", "\u{202e}abc\u{2066}", true),
        Text("many marks", "a" + repeated("\u{301}", 4_000), true),
        Text("blanks", "   ", false),
        Text("NFD stays NFD", "e\u{301}", true),
        Text("an emoji of seven scalars", "👩‍👩‍👧‍👦", true),
    ]

    @Test(arguments: texts)
    func `is kept byte for byte or refused`(_ row: Text) throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        switch mina.call(
            "message.send", ["channel": "general", "text": .string(row.text)])
        {
        case .success(let sent):
            #expect(row.isTaken)
            #expect(sent["text"] == .string(row.text))
            for node in [mina, joon] {
                let read = try node.ok("message.get", ["ids": .array([sent["id"] ?? .null])])
                #expect(read.items[0]["text"] == .string(row.text))
            }
        case .failure(let error):
            #expect(!row.isTaken)
            let isLong = row.text.utf8.count > Limits.messageTextBytesMax
            #expect(error.kind == (isLong ? .tooLarge : .badRequest))
            #expect(error.fields.first?.name == "text")
            #expect(try joon.log().isEmpty)
        }
    }

    @Test(arguments: ["text", "code"])
    func `has a form`(_ format: String) throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        let sent = try mina.ok(
            "message.send",
            ["channel": "general", "text": "x", "format": .string(format)])
        #expect(sent["format"] == .string(format))
        #expect(
            try joon.ok("message.get", ["ids": .array([sent["id"] ?? .null])]).items[0]["format"]
                == .string(format))
    }
}

struct `A name` {
    struct Name: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let typed: String
        /// As it is shown; `nil` for one that is refused.
        let shown: String?

        init(_ testDescription: String, _ typed: String, _ shown: String?) {
            self.testDescription = testDescription
            self.typed = typed
            self.shown = shown
        }
    }

    private static func repeated(_ text: String, _ count: Int) -> String {
        String(repeating: text, count: count)
    }

    /// 1-mission 2.7 and 5-trust 5.2.
    static let names = [
        Name("one letter", "x", "x"),
        Name("blanks around it", "  plans \t", "plans"),
        Name("blanks within it", "my plans", "my plans"),
        Name("nothing", "", nil),
        Name("blanks only", " \t ", nil),
        Name("an ideographic blank only", "\u{3000}", nil),
        Name("30 characters", repeated("x", 30), repeated("x", 30)),
        Name("31 characters", repeated("x", 31), nil),
        Name("30 characters between blanks", " " + repeated("x", 30) + " ", repeated("x", 30)),
        Name("30 Korean characters", repeated("한", 30), repeated("한", 30)),
        Name("30 characters of two scalars", repeated("e\u{301}", 30), repeated("e\u{301}", 30)),
        Name(
            "more than 128 scalars", repeated("e\u{301}\u{302}\u{303}\u{304}", 28), nil),
        Name("257 bytes", repeated("x", 257), nil),
        Name(
            "four marks in a row", "a\u{301}\u{302}\u{303}\u{304}", "a\u{301}\u{302}\u{303}\u{304}"),
        Name("five marks in a row", "a\u{301}\u{302}\u{303}\u{304}\u{305}", nil),
        Name("NUL", "a\u{0}b", nil), Name("a line break", "a\nb", nil),
        Name("escape", "a\u{1b}[0m", nil), Name("U+009B", "a\u{9b}b", nil),
        Name("delete", "a\u{7f}", nil), Name("right-to-left override", "a\u{202e}b", nil),
        Name("an isolate", "a\u{2066}b", nil), Name("a line separator", "a\u{2028}b", nil),
        Name("U+FFFF", "a\u{ffff}", nil),
        Name("an emoji family", "👩‍👩‍👧‍👦 team", "👩‍👩‍👧‍👦 team"),
        Name("Arabic", "مرحبا", "مرحبا"), Name("a slash and dots", "../x", "../x"),
        Name("a flag", "--help", "--help"),
    ]

    @Test(arguments: names)
    func `of a channel is checked`(_ name: Name) throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        try check(name, mina.call("channel.create", ["name": .string(name.typed)]), "name")
        let shown = try joon.ok("channel.list", ["scope": "all"]).texts("name")
        #expect(shown == ["general"] + [name.shown].compactMap { $0 })
    }

    @Test(arguments: names)
    func `of a workspace is checked`(_ name: Name) throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina", workspace: nil)
        try check(name, mina.call("workspace.create", ["name": .string(name.typed)]), "name")
        try check(
            name,
            mina.call(
                "workspace.create", ["name": "other", "first_channel": .string(name.typed)]),
            "first_channel", shows: name.shown == nil ? nil : "other")
    }

    @Test(arguments: names)
    func `of a person is checked`(_ name: Name) throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let joon = try bench.bareNode("Joon")
        try check(name, joon.call("identity.create", ["name": .string(name.typed)]), "name")
        #expect((joon.files.identity != nil) == (name.shown != nil))
        guard let shown = name.shown else { return }
        try joon.join(try mina.link())
        #expect(
            try mina.ok("member.list").texts("name").contains { $0.utf8.elementsEqual(shown.utf8) })
    }

    private func check(
        _ name: Name, _ result: Result<JSONValue, NodeError>, _ field: String,
        shows: String? = nil
    ) throws {
        switch result {
        case .success(let made): #expect(made["name"] == .string(shows ?? name.shown ?? "?"))
        case .failure(let error):
            #expect(name.shown == nil)
            #expect(error.kind == .badRequest)
            #expect(error.fields.map(\.name) == [field])
        }
    }
}

struct `A channel` {
    @Test func `shows what it was made with, everywhere`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        let made = try joon.ok(
            "channel.create",
            ["name": "plans", "topic": "the next quarter", "description": "what we want"])
        #expect(made["owner"]?["name"] == "Joon")
        #expect(made["joined"] == true)
        #expect(made["members"] == 1)
        #expect(made["default"] == false)
        #expect(made["topic"] == "the next quarter")
        #expect(made["description"] == "what we want")
        #expect(try made.number("created_at") == Int64(bench.wall))
        #expect(made["archived"] == false)
        let seen = try mina.ok("channel.get", ["channel": "plans"])
        for field in ["id", "topic", "description", "owner", "created_at", "members"] {
            #expect(seen[field] == made[field], "\(field)")
        }
        #expect(seen["joined"] == false)
    }

    @Test func `is joined explicitly, never by reading or writing`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        try mina.ok("channel.create", ["name": "plans"])
        #expect(try joon.ok("channel.list").texts("name") == ["general"])
        #expect(
            try joon.ok("channel.list", ["scope": "all"]).texts("name") == ["general", "plans"])
        _ = try joon.log(of: "plans")
        #expect(try joon.ok("channel.get", ["channel": "plans"])["joined"] == false)
        let count = try joon.rowCount("operation")
        let joined = try joon.ok("channel.join", ["channel": "plans"])
        #expect(joined["joined"] == true)
        #expect(joined["members"] == 2)
        #expect(try joon.rowCount("operation") == count + 1)
        // Again is the same answer, and no operation.
        let again = try joon.ok("channel.join", ["channel": "plans"])
        #expect(again["changed"] == false && again["id"] == joined["id"])
        #expect(try joon.rowCount("operation") == count + 1)
        #expect(try joon.ok("channel.join", ["channel": "general"])["joined"] == true)
        #expect(try joon.rowCount("operation") == count + 1)
        #expect(try mina.ok("channel.get", ["channel": "plans"])["members"] == 2)
        let told = try #require(try mina.events(types: ["channel.member_added"]).last)
        #expect(told["data"]?["member"]?["name"] == "Joon")
        #expect(told["data"]?["role"] == "member")
        #expect(told["data"]?["channel"] == joined["id"])
    }

    @Test func `by default is the first one, and everybody's`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina", workspace: nil)
        let made = try mina.ok(
            "workspace.create", ["name": "acme", "first_channel": "lobby", "description": "us"])
        #expect(made["description"] == "us")
        #expect(made["channels"] == 1)
        let joon = try bench.guest("Joon", of: mina)
        #expect(try joon.ok("workspace.get")["description"] == "us")
        for node in [mina, joon] {
            let lobby = try #require(try node.ok("channel.list").items.first)
            #expect(lobby["name"] == "lobby")
            #expect(lobby["default"] == true)
            #expect(lobby["members"] == 2)
            #expect(lobby["joined"] == true)
        }
    }

    @Test func `shows a short form of its newest message`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        #expect(try mina.ok("channel.get", ["channel": "general"])["last"] == .null)
        try mina.send("first")
        let long = String(repeating: "é", count: 1_000)
        let sent = try mina.send(long)
        let last = try #require(try mina.ok("channel.get", ["channel": "general"])["last"])
        #expect(last["id"] == sent["id"])
        #expect(last["at"] == sent["at"])
        #expect(last["author"] == sent["author"])
        #expect(try last.text("text") == String(repeating: "é", count: 120))
    }
}
