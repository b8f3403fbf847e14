import PeerNode
import Testing
import WorkspaceModel

@testable import wsx_node

struct `A message as people read it` {
    private static func message(
        _ number: Int, _ text: String, _ fields: KeyValuePairs<String, JSONValue> = [:]
    ) -> JSONValue {
        var object: JSONObject = [
            "id": .string("m_\(number)"), "author": ["id": "u_1", "name": "Mina"],
            "at": .integer(MemoryIO().now), "text": .string(text), "thread": .null, "replies": 0,
            "edited_at": .null, "deleted": .null, "reactions": [], "location": .null,
            "pinned": false, "state": "local",
        ]
        for (key, value) in fields { object[key] = value }
        return .object(object)
    }

    /// Without the line of the day and the time.
    private func shown(_ items: [JSONValue], of method: String = "message.history") -> [String] {
        let rendering = Rendering(globals: GlobalFlags(), environment: [:], io: MemoryIO())
        let answer: JSONValue = method == "message.history" ? ["items": .array(items)] : items[0]
        return rendering.text(answer, of: method).split(separator: "\n").dropFirst().map { line in
            String(line.dropFirst(7))
        }
    }

    @Test func `says that a program wrote it under somebody's name`() {
        let items = [Self.message(1, "a", ["bot": true]), Self.message(2, "b", ["bot": false])]
        #expect(shown(items) == ["Mina (bot)  a", "Mina        b"])
    }

    @Test func `says that its time cannot be right`() {
        #expect(
            shown([Self.message(1, "a", ["doubtful_time": true])]) == ["Mina  a (clock wrong)"])
    }

    @Test func `says that it was edited, and is pinned`() {
        let fields: KeyValuePairs<String, JSONValue> = ["edited_at": 5, "pinned": true]
        #expect(shown([Self.message(1, "a", fields)]) == ["Mina  a (edited) (pinned)"])
        #expect(
            shown([Self.message(1, "a", fields)], of: "message.edit")
                == ["Mina  a (edited) (pinned)"])
        #expect(
            shown([Self.message(1, "a", ["deleted": ["at": 1], "edited_at": 5])])
                == ["Mina  (deleted)"])
    }

    @Test func `has its reactions under it, your own in brackets`() {
        let reactions: JSONValue = [
            ["emoji": "👍", "count": 2, "self": true], ["emoji": "🎉", "count": 1, "self": false],
            ["emoji": "\u{1B}[2J", "count": 1, "self": false],
        ]
        let lines = shown([Self.message(1, "a\nb", ["reactions": reactions])])
        #expect(lines.count == 3)
        #expect(lines[0] == "Mina  a" && lines[1] == "      b")
        #expect(lines[2].hasPrefix("      [👍 2]  🎉 1  "))
        #expect(!lines[2].contains("\u{1B}"))
    }

    @Test func `folds its thread where both are shown`() {
        let root = Self.message(1, "a", ["replies": 3])
        let reply = Self.message(2, "b", ["thread": "m_1"])
        let other = Self.message(3, "c", ["thread": "m_0"])
        #expect(shown([root, reply, other]) == ["Mina  a", "      ↳ 3 replies", "Mina  ↳ c"])
        #expect(shown([reply]) == ["Mina  ↳ b"])
        #expect(shown([Self.message(1, "a", ["replies": 1])]) == ["Mina  a", "      ↳ 1 reply"])
        let rendering = Rendering(globals: GlobalFlags(), environment: [:], io: MemoryIO())
        var day: Int64?
        let stream = rendering.messages([root, reply], lastDay: &day, namesChannel: false)
        #expect(stream.contains("↳ b"), "what comes is never left out")
    }

    @Test func `shows the place that it points to`() {
        let place: JSONValue = [
            "lat": .decimal("52.52"), "lon": 13, "accuracy": 20, "label": "a\u{1B} pier",
        ]
        let lines = shown([Self.message(1, "", ["location": place])])
        #expect(lines.count == 1)
        #expect(lines[0].hasPrefix("Mina  at 52.52,13  a"))
        #expect(lines[0].hasSuffix("pier  within 20 m"))
        #expect(!lines[0].contains("\u{1B}"))
        #expect(shown([Self.message(1, "here", ["location": place])]).first == "Mina  here")
        #expect(shown([Self.message(1, "")]) == ["Mina  -"])
    }
}
