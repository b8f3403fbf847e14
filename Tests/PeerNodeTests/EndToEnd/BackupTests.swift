import CRDTStore
import Foundation
import Testing
import WorkspaceModel
import WorkspaceTestKit

extension EndToEnd {
    struct `A backup` {
        private func path(_ name: String, beside node: TemporaryNode) -> String {
            (node.home as NSString).deletingLastPathComponent + "/" + name
        }

        private func mode(_ path: String) -> Int? {
            (try? FileManager.default.attributesOfItem(atPath: path))?[.posixPermissions] as? Int
        }

        /// D09: backup, go on writing, lose the machine, restore elsewhere, meet a peer.
        @Test func `brings a home back, and the peer brings the rest`() throws {
            let (mina, joon) = try TemporaryNode.pair()
            mina.run("send", "general", "before")
            let file = path("acme.bak", beside: mina)
            let made = mina.run("backup", "create", "-o", file, "--json")
            try #require(made.status == 0, "\(made.errors)")
            #expect(made.object["sealed"] == false)
            #expect(made.object["path"] == .string(file))
            #expect(made.errors.contains("holds your keys"))
            #expect(mode(file) == 0o600)
            let again = mina.run("backup", "create", "-o", file, "--json")
            #expect(again.status == 6)
            #expect(again.error.kind == "duplicate")
            for number in 0..<5 { mina.run("send", "general", "after \(number)") }
            #expect(eventually { joon.texts().count == 6 })
            mina.kill()

            let verified = mina.run("backup", "verify", file, "--json")
            #expect(verified.status == 0, "\(verified.errors)")
            #expect((verified.object["operations"]?.integerValue ?? 0) > 5)
            let fresh = TemporaryNode()
            let restored = fresh.run("backup", "restore", file, "--json")
            try #require(restored.status == 0, "\(restored.errors)")
            #expect(mode(fresh.home + "/identity/device.key") == 0o600)
            #expect(mode(fresh.home + "/node.db") == 0o600)
            #expect(fresh.up().status == 0)
            // Joon's node is where it was, and the restored one knows that.
            #expect(fresh.run("send", "general", "back again").status == 0)
            let expected = Set(["before", "back again"] + (0..<5).map { "after \($0)" })
            #expect(eventually { Set(fresh.texts()) == expected })
            #expect(eventually { Set(joon.texts()) == expected })
            #expect(fresh.texts().count == expected.count)
            #expect(joon.texts().count == expected.count)
            let warnings = fresh.run("status", "--json").object["warnings"]?.arrayValue ?? []
            #expect(warnings.contains { $0["kind"] == "store.restored" })
            let forks = joon.run("doctor", "--json").objects.first { $0["id"] == "forks" }
            #expect(forks?["state"] == "ok")
            #expect(fresh.run("check").status == 0)
            // A home with an identity is not overwritten.
            fresh.run("down")
            let refused = fresh.run("backup", "restore", file, "--json")
            #expect(refused.error.kind == "duplicate")
            let forced = fresh.run("backup", "restore", file, "--force", "--json")
            #expect(forced.status == 0, "\(forced.errors)")
            let aside = try #require(forced.object["moved_aside"]?.stringValue)
            #expect(FileManager.default.fileExists(atPath: aside + "/device.key"))
            #expect(FileManager.default.fileExists(atPath: aside + "/node.db"))
        }

        /// All bytes of all files of a home.
        private func bytes(of node: TemporaryNode) throws -> [[UInt8]] {
            let manager = FileManager.default
            return try manager.subpathsOfDirectory(atPath: node.home)
                .compactMap { manager.contents(atPath: node.home + "/" + $0).map { [UInt8]($0) } }
        }

        @Test func `leaves the recovery phrase out until its words were shown`() throws {
            let mina = TemporaryNode()
            mina.up(name: "Mina", workspace: "acme")
            mina.run("send", "general", "hello")
            let name = "recovery.seed"
            let kept = try NodeStore(Connection(path: mina.home + "/node.db", mode: .readOnly))
                .registry.value(name)
            let secret = try #require(kept)
            let file = path("early.bak", beside: mina)
            let made = mina.run("backup", "create", "-o", file, "--json")
            try #require(made.status == 0, "\(made.errors)")
            #expect(made.object["phrase_left_out"] == true)
            #expect(made.errors.contains("your recovery phrase is not in the backup"))
            let fresh = TemporaryNode()
            try #require(fresh.run("backup", "restore", file).status == 0)
            #expect(mina.run("down").status == 0)
            #expect(try bytes(of: mina).contains { ByteSearch.finds(secret, in: $0) })
            let image = try #require(FileManager.default.contents(atPath: file).map { [UInt8]($0) })
            for bytes in try bytes(of: fresh) + [image] {
                #expect(!ByteSearch.finds(secret, in: bytes))
                #expect(!ByteSearch.finds(Array(name.utf8), in: bytes))
            }
            #expect(fresh.up().status == 0)
            #expect(try bytes(of: fresh).allSatisfy { !ByteSearch.finds(secret, in: $0) })
            #expect(fresh.texts() == ["hello"])
            let refused = fresh.run("identity", "show", "--phrase", "--json")
            #expect(refused.error.reason == "recovery.none")
            #expect(refused.errors.contains("not been shown when the backup"))
            fresh.run("down")
            // The home that it was made of still has the words, and then there is nothing to leave out.
            mina.up()
            let shown = mina.run("identity", "show", "--phrase", "--json").object
            #expect(shown["phrase"]?.stringValue?.split(separator: " ").count == 24)
            let later = mina.run("backup", "create", "-o", file + "2", "--json")
            #expect(later.object["phrase_left_out"] == false)
            #expect(!later.errors.contains("phrase is not in"))
        }

        @Test func `is sealed by a passphrase, and refused when anything is changed`() throws {
            let mina = TemporaryNode()
            mina.up(name: "Mina", workspace: "acme")
            mina.run("send", "general", "hello")
            let secret = path("secret", beside: mina)
            try "correct horse\n".write(toFile: secret, atomically: true, encoding: .utf8)
            let file = path("sealed.bak", beside: mina)
            let made = mina.run(
                "backup", "create", "-o", file, "--passphrase-file", secret, "--json")
            try #require(made.status == 0, "\(made.errors)")
            #expect(made.object["sealed"] == true)
            #expect(!made.errors.contains("holds your keys"))
            #expect(mina.run("backup", "verify", file).status == 4)
            #expect(
                mina.run("backup", "verify", file, "--passphrase", "-", input: "wrong\n").status
                    == 4)
            #expect(
                mina.run("backup", "verify", file, "--passphrase", "-", input: "correct horse\n")
                    .status == 0)
            #expect(mina.run("backup", "verify", file, "--passphrase-file", secret).status == 0)

            let bytes = try #require(FileManager.default.contents(atPath: file))
            #expect(bytes.range(of: Data("SQLite format".utf8)) == nil)
            let broken = path("broken.bak", beside: mina)
            let fresh = TemporaryNode()
            for place in [0, 100, 250, 400, bytes.count / 2, bytes.count - 1] {
                var changed = bytes
                changed[place] ^= 1
                try changed.write(to: URL(fileURLWithPath: broken))
                let outcome = fresh.run(
                    "backup", "restore", broken, "--passphrase-file", secret, "--json")
                #expect(outcome.status != 0, "byte \(place)")
                #expect(outcome.error.kind == "bad_request", "byte \(place)")
                #expect(outcome.error.reason == "backup.damaged", "byte \(place)")
                #expect(
                    !FileManager.default.fileExists(atPath: fresh.home + "/identity/device.key"))
            }
            for other in ["/etc/passwd", "/etc"] {
                let outcome = fresh.run("backup", "verify", other, "--json")
                #expect(outcome.status == 2 && outcome.error.kind == "bad_request", "\(other)")
            }
            #expect(fresh.run("backup", "verify", broken + ".none").status == 5)
            try bytes.dropLast().write(to: URL(fileURLWithPath: broken))
            #expect(
                fresh.run("backup", "verify", broken, "--passphrase-file", secret).status != 0)
            #expect(
                fresh.run("backup", "restore", file, "--passphrase-file", secret).status == 0)
            #expect(fresh.up().status == 0)
            #expect(fresh.texts() == ["hello"])
            #expect(fresh.run("why", "@Mina").output.contains("created the workspace"))
            // Nothing is left of what was unpacked.
            let folder = (file as NSString).deletingLastPathComponent
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            #expect(
                !names.contains { $0.contains(".wsx-work.") })
        }
    }
}
