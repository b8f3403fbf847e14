import CRDTStore
import Foundation
import Glibc
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

extension EndToEnd {
    @Suite struct `A thief` {
        typealias Home = `A home with a passphrase`

        /// Words that were said, and names that were given, each found nowhere else.
        static let canaries = [
            "canarymina", "canaryacme", "canaryroom", "canarytopic", "canaryabout",
            "canarymessage", "canaryreader", "canaryphone", "canarykey", "canaryjoon",
            "canaryedited", "canarysign", "canarydraft", "canarysetting",
        ]

        /// A home in which all of them were used, switched off.
        private func used() throws -> (node: TemporaryNode, keys: [(String, [UInt8])]) {
            let (node, _) = try Home.sealed("canarymina", workspace: "canaryacme")
            let joon = TemporaryNode()
            try #require(joon.join(node.invite(), name: "canaryjoon").status == 0)
            for words in [
                ["channel", "create", "canaryroom", "--topic", "canarytopic"],
                ["channel", "edit", "canaryroom", "--description", "canaryabout"],
                ["send", "canaryroom", "canarymessage", "--key", "canarykey"],
                ["send", "canaryroom", "a slip"],
                ["message", "edit", "last", "canaryedited", "--in", "canaryroom"],
                ["message", "react", "last", "canarysign", "--in", "canaryroom"],
                ["ui", "pref", "set", "canarysetting", "canarydraft"],
                ["search", "canaryedited"],
                ["events", "--as", "canaryreader", "--count", "0", "--timeout", "1s"],
            ] { _ = node.run(words) }
            node.run("rpc", "events.wait", "name=canaryreader")
            let device = node.run("identity", "show", "--json").object["id"]?.stringValue ?? ""
            node.run("device", "rename", device, "canaryphone")
            #expect(node.texts("canaryroom") == ["canarymessage", "canaryedited"])
            // Locked and opened again, so that what that leaves is looked at, too.
            node.run("session", "lock")
            #expect(
                eventually { joon.run("send", "general", "canarymessage").status == 0 })
            node.run(
                "session", "unlock", "--passphrase", "-", input: Home.passphrase + "\n")
            let backup = node.run("backup", "create", "-o", node.home + "/acme.bak")
            #expect(backup.status == 0, "\(backup.errors)")
            node.run("down")
            return (node, try keys(of: node))
        }

        /// Every key that the home holds, in the clear.
        private func keys(of node: TemporaryNode) throws -> [(String, [UInt8])] {
            let home = try Home.identity(of: node)
            var keys = [
                ("signing", home.signing.exposedSeed()), ("box", home.box.exposedSecret()),
                ("home", home.homeKey.exposedCopy()),
            ]
            let copy = (node.home as NSString).deletingLastPathComponent + "/copy.db"
            try FileManager.default.copyItem(atPath: node.home + "/node.db", toPath: copy)
            defer { try? FileManager.default.removeItem(atPath: copy) }
            let store = try NodeStore(Connection(path: copy, mode: .main))
            for workspace in try store.registry.workspaces() {
                for secret in try store.registry.secrets(of: workspace.number) {
                    if let key = home.open(secret.sealed, name: secret.id) {
                        keys.append(("\(secret.kind)", key))
                    }
                }
            }
            #expect(keys.count >= 5)
            return keys
        }

        @Test func `of a switched-off home finds no word, no name and no key in it`() throws {
            let (node, keys) = try used()
            let files = try Home.files(of: node)
            #expect(files.map(\.path).contains("node.db"))
            #expect(files.map(\.path).contains("daemon.log"))
            #expect(files.map(\.path).contains("acme.bak"))
            for file in files {
                for word in Self.canaries + [Home.passphrase] {
                    #expect(!contains(file.bytes, Array(word.utf8)), "\(word) in \(file.path)")
                }
                for (name, key) in keys {
                    #expect(!contains(file.bytes, key), "\(name) key in \(file.path)")
                }
            }
        }

        @Test func `of a home without a passphrase finds its keys (so that the search can fail)`()
            throws
        {
            let node = TemporaryNode()
            node.up(name: "canarymina", workspace: "acme")
            node.run("down")
            let found = try Home.files(of: node).filter {
                contains($0.bytes, Array("canarymina".utf8))
            }
            #expect(found.map(\.path) == ["identity/device.key"])
        }

        // MARK: Memory

        /// Writable memory of a process, as a core file would hold it; `nil` where the system does
        /// not let us read it.
        private func memory(of pid: Int32) -> [[UInt8]]? {
            guard let maps = Self.text("/proc/\(pid)/maps"),
                case let file = open("/proc/\(pid)/mem", O_RDONLY), file >= 0
            else { return nil }
            defer { close(file) }
            var areas: [[UInt8]] = []
            for line in maps.split(separator: "\n") {
                let fields = line.split(separator: " ", omittingEmptySubsequences: true)
                let ends = fields[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
                guard ends.count == 2, fields[1].hasPrefix("r"), !line.contains("[v") else {
                    continue
                }
                var bytes = [UInt8](repeating: 0, count: Int(ends[1] - ends[0]))
                let count = pread(file, &bytes, bytes.count, off_t(ends[0]))
                if count > 0 { areas.append(Array(bytes[..<count])) }
            }
            return areas.isEmpty ? nil : areas
        }

        private static func holds(_ memory: UnsafeRawBufferPointer, _ key: [UInt8]) -> Bool {
            guard var place = memory.baseAddress, let first = key.first else { return false }
            let end = place + memory.count
            while end - place >= key.count,
                let next = memchr(place, Int32(first), end - place - key.count + 1)
            {
                if memcmp(next, key, key.count) == 0 { return true }
                place = UnsafeRawPointer(next) + 1
            }
            return false
        }

        /// All of a file of the kernel, which does not say how long it is.
        private static func text(_ path: String) -> String? {
            guard let file = FileHandle(forReadingAtPath: path) else { return nil }
            var bytes = Data()
            while let part = try? file.read(upToCount: 4_096), !part.isEmpty { bytes += part }
            return String(decoding: bytes, as: UTF8.self)
        }

        private func found(_ keys: [(String, [UInt8])], in areas: [[UInt8]]) -> Set<String> {
            var found: Set<String> = []
            for area in areas {
                area.withUnsafeBytes { memory in
                    for (name, key) in keys where Self.holds(memory, key) { found.insert(name) }
                }
            }
            return found
        }

        @Test func `of a locked machine finds no key in the memory of the process`() throws {
            let (node, _) = try Home.sealed()
            let joon = TemporaryNode()
            try #require(joon.join(node.invite(), name: "Joon").status == 0)
            node.run("channel", "create", "plans")
            node.run("send", "plans", "canarymessage")
            node.run("backup", "create", "-o", node.home + "/copy.bak")
            node.run("down")
            let all = try keys(of: node)
            // What links need stays: it is what a relay has.
            let secret = all.filter { $0.0 != "discovery" }
            #expect(secret.count >= 4)
            let file = try Home.secretFile("again", Home.passphrase, beside: node)
            let up = node.run(["up", "--passphrase-file", file] + TemporaryNode.loopback)
            #expect(up.status == 0, "\(up.errors)")
            #expect(node.texts("plans") == ["canarymessage"])
            node.run("send", "plans", "canarymessage")
            let pid = try #require(node.pid)
            guard let open = memory(of: pid) else {
                print("SKIPPED: the memory of a process cannot be read here")
                return
            }
            #expect(found(secret, in: open) == Set(secret.map(\.0)), "the search finds keys")
            #expect(node.run("session", "lock").status == 0)
            let locked = try #require(memory(of: pid))
            #expect(found(secret, in: locked) == [])
        }
    }
}
