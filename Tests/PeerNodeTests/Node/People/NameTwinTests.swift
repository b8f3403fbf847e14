import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode
@testable import wsx_node

/// T03: names that look like others'.
struct `A name that looks like another's` {
    @Test(arguments: [
        ("Mina", "Міnа"), ("Mina", "Mi\u{200B}na"), ("Mina", "Mlna"),
        ("\u{C9}va", "E\u{301}va"), ("Mina", "mina"), ("Mina", "Ｍｉｎａ"), ("Paypal", "PaypaI"),
        ("Ada Lovelace", "Ada  Lovelace"), ("barn", "bam"), ("Οscar", "Oscar"), ("user1", "userl"),
        ("Mina", "Mina\u{FE0F}"), ("Mina", "Mına"),
    ])
    func `is found to be`(_ left: String, _ right: String) {
        #expect(NameLikeness.areAlike(left, right))
    }

    @Test(arguments: [
        ("Mina", "Mira"), ("Joon", "June"), ("Ada", "Eva"), ("민아", "민지"), ("e", "é"),
        ("Ann", "Anna"),
    ])
    func `is told from one that does not`(_ left: String, _ right: String) {
        #expect(!NameLikeness.areAlike(left, right))
    }

    @Test func `is flagged wherever somebody is named, with the id beside`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let other = try bench.guest("Міna", of: mina)
        _ = try mina.ok("message.send", ["channel": "general", "text": "I am she"])
        for node in [mina, other] {
            let members = try node.ok("member.list").items
            #expect(members.count == 2)
            #expect(members.allSatisfy { $0["twin"] == true })
            let said = try node.ok("message.history", ["channel": "general"]).items
            #expect(said.last?["author"]?["twin"] == true)
        }
        let io = MemoryIO()
        io.isOutputTerminal = true
        let rendering = Rendering(globals: GlobalFlags(), environment: [:], io: io)
        let members = rendering.text(try mina.ok("member.list"), of: "member.list")
        #expect(members.components("(look-alike)") == 2)
        var day: Int64?
        let lines = rendering.messages(
            try mina.ok("message.history", ["channel": "general"]).items, lastDay: &day,
            namesChannel: false)
        let id = try mina.ok("member.list").items.first { $0["self"] == true }?["id"]?.stringValue
        #expect(lines.contains("(u_…\((id ?? "").suffix(6)))"))
    }

    @Test func `is flagged in a list of channels`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        for name in ["plans", "рlans", "ideas"] {
            try mina.ok("channel.create", ["name": .string(name)])
        }
        func twins() throws -> [String] {
            try mina.ok("channel.list").items.filter { $0["twin"] == true }
                .compactMap { $0["name"]?.stringValue }.sorted()
        }
        #expect(try twins() == ["plans", "рlans"])
        let io = MemoryIO()
        io.isOutputTerminal = true
        let rendering = Rendering(globals: GlobalFlags(), environment: [:], io: io)
        let list = rendering.text(
            try mina.ok("channel.list", ["scope": "all"]), of: "channel.list")
        #expect(list.components("(look-alike)") == 2)
        try mina.ok("channel.edit", ["channel": "рlans", "name": "other"])
        #expect(try twins().isEmpty)
    }

    /// What somebody wrote stands after a removal, and their name is known from the admission alone.
    @Test func `is found beside one who is out`() throws {
        let bench = CoreBench()
        let ada = try bench.node("Ada")
        let mina = try bench.guest("Mina", of: ada)
        try mina.send("I was here")
        #expect(try ada.log() == ["I was here"])
        try ada.ok("member.remove", ["member": "@Mina", "force": true])
        let other = try bench.guest("Міna", of: ada)
        try other.send("and so am I")
        let said = try ada.ok("message.history", ["channel": "general"]).items
        #expect(said.map { $0["author"]?["name"] } == ["Mina", "Міna"])
        #expect(said.map { $0["author"]?["twin"] } == [true, true])
        let members = try ada.ok("member.list").items
        #expect(members.filter { $0["twin"] == true }.map { $0["name"] } == ["Міna"])
    }

    @Test func `is no matter while names differ`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        _ = try bench.guest("Joon", of: mina)
        #expect(try mina.ok("member.list").items.allSatisfy { $0["twin"] == nil })
    }
}

extension String {
    fileprivate func components(_ part: String) -> Int {
        var count = 0
        var rest = self[...]
        while let range = rest.firstRange(of: part) {
            count += 1
            rest = rest[range.upperBound...]
        }
        return count
    }
}
