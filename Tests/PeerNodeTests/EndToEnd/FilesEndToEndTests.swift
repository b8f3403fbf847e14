import Foundation
import Testing
import WorkspaceModel
import WorkspaceTestKit

extension EndToEnd {
    struct `Files of messages` {
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
            #expect(listed.count == 2 && listed[0]["complete"] == true)
            let who = pair.joon.run("file", "who", listed[0]["id"]?.stringValue ?? "", "--json")
            #expect(who.objects.count == 2)
            let bad = pair.joon.run("file", "verify", listed[0]["id"]?.stringValue ?? "", "--json")
            #expect(bad.object["bad"] == 0)
        }

        @Test func `that cannot be read are refused by name, and nothing is sent`() throws {
            let pair = try Pair()
            defer { try? FileManager.default.removeItem(at: pair.folder) }
            _ = try pair.write(10, to: "small.txt")
            try FileManager.default.createSymbolicLink(
                atPath: pair.path("link"), withDestinationPath: pair.path("small.txt"))
            for name in ["absent.txt", ".", "link"] {
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

        /// Letters, so that answers can be compared as text.
        private static func letters(_ count: Int) -> String {
            String(decoding: (0..<count).map { UInt8(ascii: "a") + UInt8($0 % 26) }, as: UTF8.self)
        }

        /// Sends `text` to a node and gives all that comes until it hangs up.
        private func exchange(_ text: String, with node: TemporaryNode) throws -> String {
            let socket = try #require(ControlSocket(node.socket))
            socket.send(Array(text.utf8))
            return try #require(socket.text())
        }

        @Test func `are uploaded and read over HTTP, in parts too`() throws {
            let pair = try Pair()
            defer { try? FileManager.default.removeItem(at: pair.folder) }
            let text = Self.letters(2_000_000)
            let made = try exchange(
                "PUT /files?name=big%20plan.txt HTTP/1.1\r\nContent-Length: 2000000\r\n\r\n" + text,
                with: pair.mina)
            #expect(made.hasPrefix("HTTP/1.1 201 "), "\(made)")
            let body = try #require(made.components(separatedBy: "\r\n\r\n").last)
            let id = try #require(try JSONValue(parsing: body)["id"]?.stringValue)
            let socket = try #require(ControlSocket(pair.mina.socket))
            let sent = socket.call(
                "message.send", ["channel": "general", "attachments": [.string(id)]])
            #expect(sent?["result"]?["id"] != nil, "\(String(describing: sent))")
            #expect(eventually { !pair.joon.run("file", "list", "--json").objects.isEmpty })

            // The end of it alone, where nothing of it was before.
            let end = try exchange(
                "GET /files/\(id) HTTP/1.1\r\nRange: bytes=-10\r\n\r\n", with: pair.joon)
            #expect(end.hasPrefix("HTTP/1.1 206 "), "\(end)")
            #expect(end.contains("\r\nContent-Range: bytes 1999990-1999999/2000000\r\n"))
            #expect(end.hasSuffix("\r\n\r\n" + text.suffix(10)))
            let have = pair.joon.run("file", "show", id, "--json").object["have"]?.integerValue
            #expect((have ?? 0) > 0 && (have ?? 0) < 2_000_000)

            let whole = try exchange("GET /files/\(id) HTTP/1.1\r\n\r\n", with: pair.joon)
            #expect(whole.hasPrefix("HTTP/1.1 200 ") && whole.hasSuffix("\r\n\r\n" + text))
            #expect(whole.contains("\r\nX-Content-Type-Options: nosniff\r\n"))
            #expect(whole.contains("filename*=UTF-8''big%20plan.txt\r\n"))
            let head = try exchange("HEAD /files/\(id) HTTP/1.1\r\n\r\n", with: pair.joon)
            #expect(head.contains("\r\nContent-Length: 2000000\r\n"))
            #expect(head.hasSuffix("\r\n\r\n"))
            let behind = try exchange(
                "GET /files/\(id) HTTP/1.1\r\nRange: bytes=2000000-\r\n\r\n", with: pair.joon)
            #expect(behind.hasPrefix("HTTP/1.1 416 "))
            #expect(behind.contains("\r\nContent-Range: bytes */2000000\r\n"))
            let unknown = try exchange(
                "GET /files/b_00000000000000000000000000 HTTP/1.1\r\n\r\n", with: pair.joon)
            #expect(unknown.hasPrefix("HTTP/1.1 404 "), "\(unknown)")
        }

        @Test func `are uploaded and read behind lines of the socket`() throws {
            let pair = try Pair()
            defer { try? FileManager.default.removeItem(at: pair.folder) }
            func script(_ text: String) throws -> String {
                let socket = try #require(ControlSocket(pair.mina.socket))
                socket.send(Array(text.utf8))
                socket.endOutput()
                return try #require(socket.text())
            }
            func line(_ method: String, _ params: JSONValue) -> String {
                let call: JSONValue = [
                    "jsonrpc": "2.0", "id": 1, "method": .string(method), "params": params,
                ]
                return call.text + "\n"
            }
            let text = Self.letters(1_000_000)
            let made = try script(line("blob.put", ["bytes": 1_000_000, "name": "a.txt"]) + text)
            let file = try JSONValue(parsing: made)["result"]
            #expect(file?["size"] == 1_000_000 && file?["name"] == "a.txt", "\(made)")
            let id = file?["id"] ?? .null
            let sent = try script(
                line("message.send", ["channel": "general", "attachments": [id]]))
            #expect(sent.contains("a.txt"))
            let got = try script(line("blob.get", ["blob": id, "offset": -600_000]))
            let head = try JSONValue(parsing: String(got.prefix { $0 != "\n" }))["result"]
            #expect(head?["bytes"] == 600_000 && head?["size"] == 1_000_000)
            #expect(got.hasSuffix("\n" + text.suffix(600_000)))
            let behind = try script(line("blob.read", ["blob": id, "offset": 1_000_000]))
            #expect(behind.contains("file.bad_range"))
            let short = try script(line("blob.put", ["bytes": 1_000_001]) + text)
            #expect(short.contains("file.too_short"))
            let none = try script(line("blob.put", ["name": "a"]) + text)
            #expect(none.contains("file.bad_length"))
            #expect(pair.mina.run("rpc", "blob.read", "blob=b_a").status == 1)
        }

        @Test func `are left out and named where they are too large or there twice`() throws {
            let pair = try Pair()
            defer { try? FileManager.default.removeItem(at: pair.folder) }
            _ = try pair.write(500, to: "note.txt")
            _ = try pair.write(300_000, to: "huge.bin")
            #expect(
                pair.mina.run("config", "set", "limits.attachment_bytes", "100kB").status == 0)
            #expect(pair.mina.run("config", "set", "store.quota", "much").status == 78)
            pair.mina.run("down")
            #expect(pair.mina.up().status == 0)
            let (note, huge) = (pair.path("note.txt"), pair.path("huge.bin"))
            let sent = pair.mina.run(
                "send", "general", "both", "--file", note, "--file", huge, "--file", note)
            #expect(sent.status == 8, "\(sent.errors)")
            #expect(sent.errors.contains("huge.bin") && sent.errors.contains("given twice"))
            let log = pair.mina.run("log", "general").output
            #expect(log.contains("both") && log.contains("note.txt") && !log.contains("huge.bin"))
            let alone = pair.mina.run("send", "general", "--file", huge, "--json")
            #expect(alone.status == 1 && alone.error.kind == "too_large", "\(alone.status)")
            let quota = pair.mina.run("cache", "quota", "50MB", "--json")
            #expect(quota.object["quota"] == 50_000_000 && quota.object["quota_chosen"] == true)
            for number in 0..<7 { _ = try pair.write(10 + number, to: "s\(number)") }
            let many = (0..<7).flatMap { ["--file", pair.path("s\($0)")] }
            let refused = pair.mina.run(["send", "general"] + many)
            #expect(refused.status == 1 && refused.errors.contains("at most 5 files"))
            #expect(pair.mina.run("policy", "set", "attachments", "20").status == 0)
            #expect(pair.mina.run(["send", "general"] + many).status == 0)
        }

        @Test func `come by themselves where their receiver says so`() throws {
            let pair = try Pair()
            defer { try? FileManager.default.removeItem(at: pair.folder) }
            let set = pair.joon.run("media", "set", "all", "always", "--up-to", "1MB", "--json")
            #expect(set.status == 0 && set.objects.count == 4, "\(set.errors)")
            _ = try pair.write(300_000, to: "plan.bin")
            _ = try pair.write(2_000_000, to: "film.bin")
            #expect(pair.mina.run("channel", "edit", "general", "--copies", "5").status == 0)
            for name in ["plan.bin", "film.bin"] {
                #expect(pair.mina.run("send", "general", "--file", pair.path(name)).status == 0)
            }
            // Nobody else is there, so what the channel asks for is told.
            #expect(pair.mina.run("log", "general").output.contains(" of 5 copies"))
            #expect(
                eventually {
                    pair.joon.run("file", "list", "--json").objects.contains {
                        $0["name"] == "plan.bin" && $0["complete"] == true
                    }
                })
        }

        @Test func `come back with a backup that has them, when nobody else does`() throws {
            let pair = try Pair()
            defer { try? FileManager.default.removeItem(at: pair.folder) }
            let plan = try pair.write(700_000, to: "plan.bin")
            #expect(pair.mina.run("send", "general", "--file", pair.path("plan.bin")).status == 0)
            let secret = pair.path("secret.txt")
            try Data("a long secret\n".utf8).write(to: URL(fileURLWithPath: secret))
            func backup(_ name: String, _ words: String...) -> JSONValue {
                pair.mina.run(
                    ["backup", "create", "-o", pair.path(name), "--json"] + words
                ).object
            }
            let without = backup("none.bak", "--files", "none")
            #expect(without["files"] == 0)
            let own = backup("own.bak", "--passphrase-file", secret)
            #expect(own["files"] == 1 && own["sealed"] == true)
            #expect((own["bytes"]?.integerValue ?? 0) > (without["bytes"]?.integerValue ?? 0))
            pair.mina.kill()
            pair.joon.kill()
            let fresh = TemporaryNode()
            let verified = fresh.run(
                "backup", "verify", pair.path("own.bak"), "--passphrase-file", secret, "--json")
            #expect(verified.object["files"] == 1, "\(verified.errors)")
            let restored = fresh.run(
                "backup", "restore", pair.path("own.bak"), "--passphrase-file", secret, "--json")
            #expect(restored.object["files"] == 1, "\(restored.errors)")
            #expect(fresh.up().status == 0)
            let listed = fresh.run("file", "list", "general", "--json").objects
            try #require(listed.count == 1)
            #expect(listed[0]["complete"] == true)
            let id = listed[0]["id"]?.stringValue ?? ""
            #expect(fresh.run("file", "get", id, "-o", pair.path("back.bin")).status == 0)
            #expect(pair.data("back.bin") == plan)
            // Moved aside, it keeps its files.
            fresh.run("down")
            let forced = fresh.run(
                "backup", "restore", pair.path("none.bak"), "--force", "--json")
            let aside = forced.object["moved_aside"]?.stringValue ?? ""
            let kept = try FileManager.default.subpathsOfDirectory(atPath: aside + "/blobs")
            #expect(kept.contains { $0.utf8.count > 60 }, "\(forced.errors)")
            // Without its file the same store knows that it has nothing, and says so.
            let other = TemporaryNode()
            #expect(other.run("backup", "restore", pair.path("none.bak")).status == 0)
            #expect(other.up().status == 0)
            #expect(
                eventually {
                    other.run("file", "show", id, "--json").object["complete"] == false
                })
        }

        @Test func `are pictures of people, workspaces and channels`() throws {
            let pair = try Pair()
            defer { try? FileManager.default.removeItem(at: pair.folder) }
            let face = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + [UInt8](1...200))
            try face.write(to: pair.folder.appendingPathComponent("me.png"))
            _ = try pair.write(90, to: "note.txt")
            for words in [["profile", "picture", "set"], ["profile", "image", "set"]] {
                let set = pair.mina.run(words + [pair.path("me.png"), "--json"])
                #expect(set.status == 0, "\(set.errors)")
                #expect(set.object["image"]?.stringValue?.hasPrefix("b_") == true)
            }
            let edited = pair.mina.run(
                ["workspace", "edit", "--image", pair.path("me.png"), "--json"])
            let id = edited.object["image"]?.stringValue ?? ""
            #expect(id.hasPrefix("b_"), "\(edited.errors)")
            let plans = pair.mina.run(
                ["channel", "edit", "general", "--image", pair.path("me.png"), "--copies", "2"])
            #expect(plans.status == 0, "\(plans.errors)")
            #expect(
                eventually {
                    pair.joon.run("file", "show", id, "--json").object["complete"] == true
                })
            #expect(
                pair.joon.run("file", "get", id, "-o", pair.path("got.png")).status == 0)
            #expect(pair.data("got.png") == face)
            let wrong = pair.mina.run(["profile", "picture", "set", pair.path("note.txt")])
            #expect(wrong.status == 2 || wrong.status == 1, "\(wrong.status)")
            #expect(wrong.errors.contains("is not a picture"), "\(wrong.errors)")
            let made = pair.mina.run(
                ["workspace", "create", "other", "--image", pair.path("me.png"), "--json"])
            #expect(made.object["image"]?.stringValue?.hasPrefix("b_") == true, "\(made.errors)")
        }

        @Test func `that are cut short leave nothing, and the node goes on`() throws {
            let pair = try Pair()
            defer { try? FileManager.default.removeItem(at: pair.folder) }
            let socket = try #require(ControlSocket(pair.mina.socket))
            socket.send(
                Array("PUT /files HTTP/1.1\r\nContent-Length: 900000\r\n\r\n".utf8)
                    + [UInt8](repeating: 7, count: 600_000))
            socket.endOutput()
            let answer = try #require(socket.text())
            #expect(answer.hasPrefix("HTTP/1.1 400 ") && answer.contains("file.too_short"))
            #expect(
                eventually {
                    let drafts = pair.mina.home + "/blobs/new"
                    return (try? FileManager.default.contentsOfDirectory(atPath: drafts)) == []
                })
            #expect(pair.mina.run("send", "general", "hello").status == 0)
        }

        @Test func `come from standard input, and go to standard output`() throws {
            let pair = try Pair()
            defer { try? FileManager.default.removeItem(at: pair.folder) }
            let text = Self.letters(30_000)
            let sent = pair.mina.run(
                ["send", "general", "notes", "--file", "-", "--name", "notes.txt"], input: text)
            #expect(sent.status == 0, "\(sent.errors)")
            #expect(eventually { !pair.joon.run("file", "list", "--json").objects.isEmpty })
            let listed = pair.joon.run("file", "list", "--json").objects
            #expect(listed.first?["name"] == "notes.txt")
            let id = try #require(listed.first?["id"]?.stringValue)
            let printed = pair.joon.run("file", "get", id, "-o", "-")
            #expect(printed.status == 0 && printed.output == text, "\(printed.errors)")

            let put = pair.mina.run(["file", "put", "-", "--name", "a.txt"], input: "abc")
            #expect(put.status == 0 && put.output.hasPrefix("b_"), "\(put.errors)")
            let small = put.output.trimmingCharacters(in: .newlines)
            #expect(pair.mina.run("file", "get", small, "-o", "-").output == "abc")
            _ = try pair.write(90, to: "note.txt")
            let named = pair.mina.run("file", "put", pair.path("note.txt"))
            #expect(named.status == 0 && named.output.hasPrefix("b_"), "\(named.errors)")
            let both = pair.mina.run(["send", "general", "-", "--file", "-"], input: "x")
            #expect(both.status == 2 && both.errors.contains("only one standard input"))
            #expect(both.errors.contains("hint: give '-' once"))
        }
    }
}
