import Foundation
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

extension EndToEnd {
    struct `A home with a passphrase` {
        static let passphrase = "correct horse battery"

        /// A file with a secret on its first line, beside the home.
        static func secretFile(
            _ name: String, _ secret: String, beside node: TemporaryNode
        ) throws -> String {
            let path = (node.home as NSString).deletingLastPathComponent + "/" + name
            try Data((secret + "\n").utf8).write(to: URL(fileURLWithPath: path))
            return path
        }

        /// A node with sealed keys, and the file with its passphrase.
        static func sealed(
            _ name: String = "Mina", workspace: String = "acme"
        ) throws -> (node: TemporaryNode, file: String) {
            let node = TemporaryNode()
            let file = try secretFile("secret", passphrase, beside: node)
            let made = node.run(
                ["up", "--name", name, "--workspace", workspace, "--passphrase-file", file]
                    + TemporaryNode.loopback)
            try #require(made.status == 0, "\(made.errors)")
            return (node, file)
        }

        /// Every file of a home, with its bytes.
        static func files(of node: TemporaryNode) throws -> [(path: String, bytes: [UInt8])] {
            let all = try FileManager.default.subpathsOfDirectory(atPath: node.home)
            return try all.sorted().compactMap { name in
                let path = node.home + "/" + name
                let kind = try FileManager.default.attributesOfItem(atPath: path)[.type]
                guard kind as? FileAttributeType == .typeRegular else { return nil }
                return (name, [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))))
            }
        }

        /// The keys of a home, which the test opens as its owner would.
        static func identity(of node: TemporaryNode) throws -> HomeIdentity {
            let bytes = [UInt8](
                try Data(contentsOf: URL(fileURLWithPath: node.home + "/identity/device.key")))
            guard case .sealed(let sealed) = try IdentityFile(fileBytes: bytes) else {
                throw HomeFileError("not sealed")
            }
            let key = try sealed.derivation.key(of: SecretBytes(copying: Array(passphrase.utf8)))
            return try #require(try sealed.opened(under: key))
        }

        @Test func `starts locked without a source, and says so`() throws {
            let (node, file) = try Self.sealed()
            node.run("send", "general", "kept")
            node.run("down")
            let up = node.run(["up"] + TemporaryNode.loopback)
            #expect(up.status == 0, "\(up.errors)")
            #expect(up.output.contains("locked"))
            #expect(up.output.contains("next: wsx-node --home \(node.home) session unlock"))
            let status = node.run("status", "--json").object
            #expect(status["locked"] == true)
            #expect(status["listen"] == [])
            #expect(node.run("status", "--check").status == 1)
            let refused = node.run("send", "general", "no", "--json")
            #expect(refused.status == 4)
            #expect(refused.error.kind == "locked")
            #expect(node.run("session", "unlock").status == 2, "nobody can be asked")
            let opened = node.run("session", "unlock", "--passphrase-file", file, "--json")
            #expect(opened.object["state"] == "open", "\(opened.errors)")
            #expect(node.texts() == ["kept"])
            let listens = eventually {
                node.run("status", "--json").object["listen"]?.arrayValue?.isEmpty == false
            }
            #expect(listens)
            #expect(node.run("send", "general", "again").status == 0)
        }

        @Test func `is opened by a file, an open file, a command and standard input`() throws {
            let (node, file) = try Self.sealed()
            let wrong = try Self.secretFile("wrong", "not the passphrase", beside: node)
            let ways: [(words: [String], input: String?)] = [
                (["--passphrase-file", file], nil),
                (["--passphrase-command", "cat '\(file)'"], nil),
                (["--passphrase-fd", "0"], Self.passphrase + "\n"),
                (["--passphrase", "-"], Self.passphrase + "\n"),
            ]
            for way in ways {
                #expect(node.run("session", "lock").status == 0)
                let opened = node.run(
                    ["session", "unlock", "--json"] + way.words, input: way.input)
                #expect(opened.object["locked"] == false, "\(way.words) \(opened.errors)")
            }
            node.run("session", "lock")
            let refused = node.run("session", "unlock", "--passphrase-file", wrong, "--json")
            #expect(refused.status == 4)
            #expect(refused.error.kind == "wrong_secret")
            // What stands on the command line is seen by everybody.
            for words in [
                ["session", "unlock", "--passphrase", Self.passphrase],
                ["identity", "create", "--name", "M", "--passphrase", Self.passphrase],
                ["passcode", "set", "--code", "2580"],
            ] {
                let visible = node.run(words)
                #expect(visible.status == 2)
                #expect(!visible.errors.contains(Self.passphrase))
            }
            #expect(node.run("up", "--passphrase-file", file).status == 0)
            #expect(node.run("session", "status", "--json").object["state"] == "open")
        }

        @Test func `is opened at its start by up and by daemon run`() throws {
            let (node, file) = try Self.sealed()
            node.run("send", "general", "kept")
            node.run("down")
            let up = node.run(["up", "--passphrase-file", file] + TemporaryNode.loopback)
            #expect(up.status == 0, "\(up.errors)")
            #expect(node.texts() == ["kept"])
            node.run("down")
            let daemon = try node.startForeground("--passphrase-file", file)
            #expect(node.texts() == ["kept"])
            #expect(node.run("status", "--json").object["locked"] == false)
            node.run("down")
            daemon.waitUntilExit()
            let wrong = try Self.secretFile("wrong", "not the passphrase", beside: node)
            let refused = node.run(
                ["daemon", "run", "--passphrase-file", wrong] + TemporaryNode.loopback)
            #expect(refused.status == 4)
        }

        @Test func `gets its passphrase, another one, and none, while it runs`() throws {
            let node = TemporaryNode()
            node.up(name: "Mina", workspace: "acme")
            let first = try Self.secretFile("first", Self.passphrase, beside: node)
            let second = try Self.secretFile("second", "another fine passphrase", beside: node)
            let weak = try Self.secretFile("weak", "short", beside: node)
            #expect(node.run("session", "lock").status == 4)
            let bad = node.run("passphrase", "change", "--new-file", weak, "--json")
            #expect(bad.status == 2)
            #expect(bad.error["data"]?["field"] == "new")
            #expect(node.run("passphrase", "change", "--new-file", first).status == 0)
            #expect(
                node.run(
                    "passphrase", "change", "--current-file", first, "--new-file", second
                ).status == 0)
            #expect(node.run("session", "lock").status == 0)
            #expect(node.run("session", "unlock", "--passphrase-file", first).status == 4)
            #expect(node.run("session", "unlock", "--passphrase-file", second).status == 0)
            #expect(
                node.run("passphrase", "change", "--current-file", second, "--remove", "--yes")
                    .status
                    == 0)
            node.run("down")
            #expect(node.up().status == 0)
            #expect(node.run("status", "--json").object["locked"] == false)
        }

        @Test func `asks for a passcode, and for the passphrase after three wrong ones`() throws {
            let (node, file) = try Self.sealed()
            let code = try Self.secretFile("code", "2580", beside: node)
            let wrong = try Self.secretFile("wrong", "0000", beside: node)
            #expect(node.run("passcode", "set", "--code-file", code).status == 0)
            #expect(
                node.run("session", "lock", "--json").object["state"] == "passcode")
            #expect(
                node.run("session", "unlock", "--passphrase-file", code, "--json")
                    .object["state"] == "open")
            node.run("session", "lock")
            for _ in 1...3 {
                #expect(node.run("session", "unlock", "--passphrase-file", wrong).status == 4)
            }
            #expect(node.run("session", "status", "--json").object["state"] == "locked")
            #expect(node.run("session", "unlock", "--passphrase-file", code).status == 4)
            #expect(node.run("session", "unlock", "--passphrase-file", file).status == 0)
        }

        @Test func `is wiped by a log-out, and is a new home then`() throws {
            let (node, _) = try Self.sealed()
            node.run("send", "general", "gone")
            let refused = node.run("session", "logout", "--wipe", "all", "--yes", "--json")
            #expect(refused.status == 7)
            #expect(refused.error.kind == "unsynced")
            let wiped = node.run("session", "logout", "--wipe", "all", "--force", "--yes", "--json")
            #expect(wiped.status == 0, "\(wiped.errors)")
            #expect(wiped.object["wiped"] == true)
            let left = try Self.files(of: node).map(\.path)
            #expect(!left.contains("node.db") && !left.contains("identity/device.key"))
            #expect(left == ["lock"])
            #expect(node.up(name: "Joon", workspace: "beta").status == 0)
            #expect(node.texts().isEmpty)
        }

        @Test func `is reported as not wiped if something of it stays`() throws {
            let (node, _) = try Self.sealed()
            let listen = node.home + "/listen"
            try FileManager.default.removeItem(atPath: listen)
            try FileManager.default.createDirectory(
                atPath: listen + "/inside", withIntermediateDirectories: true)
            let wiped = node.run("session", "logout", "--wipe", "all", "--force", "--yes", "--json")
            #expect(wiped.status == 70, "\(wiped.errors)")
            #expect(wiped.error.reason == "wipe.failed")
            let left = try Self.files(of: node).map(\.path)
            #expect(left == ["daemon.log", "lock", "wipe"])
            let log = try String(contentsOfFile: node.home + "/daemon.log", encoding: .utf8)
            #expect(log.contains("error wipe.failed"), "\(log)")
            try FileManager.default.removeItem(atPath: listen)
            #expect(node.up(name: "Joon", workspace: "beta").status == 0)
            #expect(node.run("identity", "show", "--json").object["name"] == "Joon")
        }

        @Test func `finishes a wipe that was cut short`() throws {
            let (node, _) = try Self.sealed()
            node.run("down")
            try Data().write(to: URL(fileURLWithPath: node.home + "/wipe"))
            #expect(node.up(name: "Joon", workspace: "beta").status == 0)
            #expect(node.run("identity", "show", "--json").object["name"] == "Joon")
        }

        /// P04.
        @Test func `is refused when its key file is open to others, or cut`() throws {
            let (node, _) = try Self.sealed()
            node.run("down")
            let path = node.home + "/identity/device.key"
            let whole = try Data(contentsOf: URL(fileURLWithPath: path))
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o644], ofItemAtPath: path)
            let loose = node.run(["up", "--json"] + TemporaryNode.loopback)
            #expect(loose.status != 0)
            #expect(loose.errors.contains("0644") || loose.errors.contains("mode 644"))
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o600], ofItemAtPath: path)
            for count in [0, 8, 40, whole.count / 2, whole.count - 1] {
                let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
                try file.truncate(atOffset: 0)
                try file.write(contentsOf: whole.prefix(count))
                try file.close()
                #expect(node.run(["up"] + TemporaryNode.loopback).status != 0, "\(count)")
                #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == whole.prefix(count))
            }
        }
    }
}
