import PeerNode
import Testing
import WorkspaceModel

@testable import wsx_node

struct `Messages that may be spoken of` {
    private func message(_ number: Int, _ text: String = "") -> JSONValue {
        ["id": .string("m_\(number)"), "text": .string(text)]
    }

    @Test func `are in the order of showing, each in its newest state`() {
        var recent = RecentMessages()
        for number in [2, 1, 3] { recent.note(message(number)) }
        recent.note(message(1, "edited"))
        recent.note(["text": "without an id"])
        #expect(recent.order == ["m_2", "m_1", "m_3"])
        #expect(recent["m_1"]?["text"] == "edited")
        #expect(recent["m_4"] == nil)
    }

    @Test func `have no place where they were only looked up`() {
        var recent = RecentMessages()
        recent.know(message(5, "old"))
        recent.note(message(6))
        #expect(recent.order == ["m_6"] && recent.shownCount == 1)
        #expect(recent["m_5"]?["text"] == "old")
        #expect(Set(recent.ids(like: "m_")) == ["m_5", "m_6"])
        // One that is shown is known anew where it stands, and no second time.
        recent.know(message(6, "edited"))
        #expect(recent["m_6"]?["text"] == "edited" && recent.order == ["m_6"])
        recent.note(message(5, "shown"))
        #expect(recent.order == ["m_6", "m_5"] && recent["m_5"]?["text"] == "shown")
        #expect(recent.ids(like: "m_5") == ["m_5"])
        for number in 100...(100 + RecentMessages.countMax) { recent.know(message(number)) }
        #expect(recent.ids(like: "m_1").count <= RecentMessages.countMax)
    }

    @Test func `are so many at most, and the oldest goes first`() {
        var recent = RecentMessages()
        for number in 0...RecentMessages.countMax { recent.note(message(number)) }
        #expect(recent.order.count == RecentMessages.countMax)
        #expect(recent.order.first == "m_1")
        #expect(recent["m_0"] == nil)
        #expect(recent["m_\(RecentMessages.countMax)"] != nil)
    }
}
