import Foundation
import Testing
import WorkspaceModel
import WorkspaceTestKit

extension EndToEnd {
    @Suite struct `Files of messages` {
        private struct Pair {
            let mina = TemporaryNode()
            let joon = TemporaryNode()
            let folder = FileManager.default.temporaryDirectory
                .appendingPathComponent("wsx-files-\(UUID().uuidString)")

            init() throws {
                mina.up(name: "Mina", workspace: "acme")
                let joined = joon.join(mina.invite(), name: "Joon")
                try #require(joined.status == 0, "\(joined.errors)")
                try FileManager.default.createDirectory(
                    at: folder, withIntermediateDirectories: true)
            }

            func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

            func write(_ count: Int, to name: String) throws -> Data {
                let data = Data(FileScene.bytes(count, seed: UInt64(count)))
                try data.write(to: folder.appendingPathComponent(name))
                return data
            }

            func data(_ name: String) -> Data? { FileManager.default.contents(atPath: path(name)) }
        }

        @Test func `are sent with a message, shown under it, and saved by the other`() throws {
            let pair = try Pair()
            defer { try? FileManager.default.removeItem(at: pair.folder) }
            let plan = try pair.write(700_000, to: "plan of summer.pdf")
            let note = try pair.write(90, to: "note.txt")
            let sent = pair.mina.run(
                "send", "general", "the plan", "--file", pair.path("plan of summer.pdf"), "--file",
                pair.path("note.txt"))
            #expect(sent.status == 0, "\(sent.errors)")
            #expect(eventually { pair.joon.texts() == ["the plan"] })
            let shown = pair.joon.run("log", "general").output
            #expect(shown.contains("[plan of summer.pdf  700.0 kB, not here]"), "\(shown)")
            #expect(shown.contains("[note.txt  90 B]"))

            let saved = pair.joon.run(
                "attachment", "save", "last", "--in", "general", pair.path("got.pdf"))
            #expect(saved.status == 0, "\(saved.errors)")
            #expect(pair.data("got.pdf") == plan)
            let second = pair.joon.run(
                "attachment", "save", "last", pair.folder.path + "/", "--index", "2", "--in",
                "general", "--name", "small.txt")
            #expect(second.status == 0, "\(second.errors)")
            #expect(pair.data("small.txt") == note)
            let again = pair.joon.run(
                "attachment", "save", "last", "--in", "general", pair.path("got.pdf"))
            #expect(again.status == 6 && again.errors.contains("already exists"), "\(again.errors)")
            #expect(pair.data("got.pdf") == plan)

            let listed = pair.joon.run("file", "list", "general", "--json").objects
            #expect(listed.count == 1 && listed[0]["complete"] == true)
            let who = pair.joon.run("file", "who", listed[0]["id"]?.stringValue ?? "", "--json")
            #expect(who.objects.count == 2)
            let bad = pair.joon.run("file", "verify", listed[0]["id"]?.stringValue ?? "", "--json")
            #expect(bad.object["bad"] == 0)
        }

        @Test func `that cannot be read are refused by name, and nothing is sent`() throws {
            let pair = try Pair()
            defer { try? FileManager.default.removeItem(at: pair.folder) }
            for name in ["absent.txt", "."] {
                let sent = pair.mina.run("send", "general", "x", "--file", pair.path(name))
                #expect(sent.status != 0)
            }
            #expect(pair.mina.texts() == [])
        }

        /// The receiver is killed again and again; each time it goes on by itself.
        @Test func `arrive although their receiver is killed meanwhile`() throws {
            let pair = try Pair()
            defer { try? FileManager.default.removeItem(at: pair.folder) }
            let film = try pair.write(60_000_000, to: "film.bin")
            #expect(pair.mina.run("send", "general", "--file", pair.path("film.bin")).status == 0)
            #expect(eventually { !pair.joon.run("file", "list", "--json").objects.isEmpty })
            let id = try #require(
                pair.joon.run("file", "list", "--json").objects[0]["id"]?.stringValue)
            #expect(pair.joon.run("file", "fetch", id).status == 0)
            for _ in 0..<3 {
                pair.joon.kill()
                #expect(pair.joon.up().status == 0)
            }
            #expect(
                eventually {
                    pair.joon.run("file", "show", id, "--json").object["complete"] == true
                })
            let saved = pair.joon.run("file", "get", id, "-o", pair.path("copy.bin"))
            #expect(saved.status == 0, "\(saved.errors)")
            #expect(pair.data("copy.bin") == film)
        }
    }
}
