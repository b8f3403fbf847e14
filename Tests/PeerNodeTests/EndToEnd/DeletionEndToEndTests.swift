import CRDTStore
import Foundation
import Testing
import WorkspaceModel
import WorkspaceTestKit

extension EndToEnd {
    struct `What was deleted` {
        /// Every byte of a node's database and of the log beside it.
        private static func bytes(of node: TemporaryNode) -> [UInt8] {
            ["node.db", "node.db-wal"].flatMap { name in
                [UInt8](FileManager.default.contents(atPath: node.home + "/" + name) ?? Data())
            }
        }

        private static func holds(_ wanted: [UInt8], _ node: TemporaryNode) -> Bool {
            Data(bytes(of: node)).range(of: Data(wanted)) != nil
        }

        /// The stored bytes of the newest content operation.
        private static func newestPayload(of node: TemporaryNode) throws -> [UInt8] {
            let connection = try Connection(path: node.home + "/node.db", mode: .readOnly)
            let rows = try connection.statement(
                "SELECT payload FROM operation WHERE kind = 1 ORDER BY arr DESC LIMIT 1"
            ).rows { $0.blob(0) }
            return try #require(rows.first)
        }

        @Test func `is in no byte of two homes within a minute`() throws {
            let (mina, joon) = try TemporaryNode.pair()
            for number in 0..<20 {
                #expect(mina.run("send", "general", "filler \(number)").status == 0)
            }
            let word = "xylograph-" + String(repeating: "quartz ", count: 40)
            let sent = mina.run("send", "general", word, "--json").object
            let id = try #require(sent["id"]?.stringValue)
            let payload = try Self.newestPayload(of: mina)
            #expect(mina.run("send", "general", "after").status == 0)
            try #require(eventually { joon.texts("general").count == 22 })
            #expect(Self.holds(payload, mina) && Self.holds(payload, joon))

            let deleted = mina.run("message", "delete", id, "--json")
            #expect(deleted.status == 0, "\(deleted.errors)")
            #expect(deleted.object["text"] == .null)
            #expect(deleted.object["deleted"]?["by"]?["name"] == "Mina")
            #expect(
                eventually { joon.run("log", "general").output.contains("(deleted)") })
            for node in [mina, joon] {
                #expect(eventually { !Self.holds(payload, node) })
                #expect(!Self.holds(Array("xylograph-".utf8), node))
                #expect(node.run("check").status == 0)
            }
            #expect(
                joon.run("message", "delete", id, "--json").status == 0,
                "once more is the same answer")
            let other = try #require(
                joon.run("send", "general", "mine", "--json").object["id"]?.stringValue)
            // Mina owns the workspace: hidden, and taken back.
            try #require(eventually { mina.texts("general").contains("mine") })
            #expect(mina.run("message", "delete", other, "--yes").status == 0)
            #expect(eventually { !joon.texts("general").contains("mine") })
            #expect(mina.run("send", "general", "meanwhile").status == 0)
            // Of what was deleted the last one.
            let undone = mina.run(
                "message", "delete", "last", "--in", "general", "--undo", "--json")
            #expect(undone.object["id"] == .string(other), "\(undone.errors)")
            #expect(eventually { joon.texts("general").contains("mine") })
            for node in [mina, joon] { node.run("down") }
            for node in [mina, joon] { #expect(!Self.holds(payload, node)) }
        }
    }
}
