import CRDTStore
import Foundation
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

extension AttackedEndToEnd {
    /// A backup that is as it was written, of a store that is not as it was signed.
    struct `A backup of a damaged store` {
        /// What somebody does to the store, and what is said of it.
        struct Damage: Sendable, CustomTestStringConvertible {
            let sql: String
            let words: String
            var testDescription: String { sql }
        }

        private static let largest = Int64.max

        static let damages = [
            // Zeros in the place of the newest payload, which no page sum notices.
            Damage(
                sql: """
                    UPDATE operation SET payload = zeroblob(length(payload))
                        WHERE arr = (SELECT max(arr) FROM operation WHERE kind = 1)
                    """, words: "its store: operation "),
            // Numbers that what is added to overflows, or that nobody counts up to.
            Damage(
                sql: "UPDATE log SET tip_seq = \(largest)",
                words: "the end of a log is out of bounds"),
            Damage(
                sql: "UPDATE log SET tip_sort = \(largest)",
                words: "the end of a log is out of bounds"),
            Damage(
                sql: "INSERT OR REPLACE INTO counter VALUES('event', \(largest))",
                words: "a counter is out of bounds"),
            Damage(
                sql: "UPDATE log SET events = \(largest)",
                words: "a counter of a log is out of bounds"),
            Damage(
                sql: """
                    UPDATE operation SET arr = \(largest)
                        WHERE arr = (SELECT max(arr) FROM operation)
                    """, words: "the number of a row is out of bounds"),
            Damage(
                sql: """
                    UPDATE event SET seq = \(largest) WHERE seq = (SELECT max(seq) FROM event)
                    """, words: "the number of a row is out of bounds"),
            // As large as a store that is in use may have, and what it counts next is larger.
            Damage(
                sql: """
                    UPDATE operation SET arr = \(Int64(1) << 48)
                        WHERE arr = (SELECT max(arr) FROM operation)
                    """, words: "the number of a row is out of bounds"),
            Damage(sql: "DROP TABLE reader", words: "no such table"),
            // What does something whenever a row is written.
            Damage(
                sql: """
                    CREATE TRIGGER thief AFTER INSERT ON operation
                        BEGIN DELETE FROM message WHERE arr <> new.arr; END
                    """, words: "it has thief, which no store has"),
            Damage(
                sql: "CREATE VIEW window AS SELECT * FROM operation",
                words: "it has window, which no store has"),
        ]

        /// Somebody's who has said something and stopped. Each case damages a copy, and `Guardian` removes it.
        private static let stopped = Result {
            let mina = TemporaryNode()
            try #require(mina.up(name: "Mina", workspace: "acme").status == 0)
            try #require(mina.run("send", "general", "hello").status == 0)
            try #require(mina.run("down").status == 0)
            return mina
        }

        @Test(arguments: damages)
        func `is restored no more than it is verified, and leaves nothing behind`(
            damage: Damage
        ) throws {
            let mina = TemporaryNode()
            let sound = try Self.stopped.get()
            try FileManager.default.copyItem(atPath: sound.home, toPath: mina.home)
            try Connection(path: mina.home + "/node.db", mode: .main, isDamaged: true)
                .execute(damage.sql)
            let file = (mina.home as NSString).deletingLastPathComponent + "/damaged.bak"
            _ = try BackupWriter.create(
                .init(
                    home: HomeFolder(data: mina.home, socket: mina.home + "/control.sock"),
                    configuration: nil, path: file, passphrase: nil, createdAt: 1),
                using: SystemRandom())
            let fresh = TemporaryNode()
            for command in ["verify", "restore"] {
                let outcome = fresh.run("backup", command, file, "--json")
                #expect(outcome.status != 0, "\(command)")
                #expect(outcome.error.reason == "backup.damaged", "\(command): \(outcome.errors)")
                #expect(outcome.errors.contains(damage.words), "\(outcome.errors)")
            }
            let left = FileManager.default.enumerator(atPath: fresh.home)?.allObjects ?? []
            #expect(
                !left.contains { "\($0)".contains("node.db") || "\($0)".contains("device.key") })
        }

        /// What an earlier version lacks is added, wherever its store comes from.
        @Test func `of an earlier version is verified and restored`() throws {
            let mina = TemporaryNode()
            mina.up(name: "Mina", workspace: "acme")
            mina.run("send", "general", "hello")
            mina.run("down")
            let store = try Connection(path: mina.home + "/node.db", mode: .main)
            try store.execute(
                EarlierStore.schema15 + "DROP TABLE unheard; DROP TABLE following_past; "
                    + "DROP TABLE setting; DROP TABLE setting_past; "
                    + "DROP INDEX annotation_note; DROP TABLE note_edit; DROP TABLE note_snapshot; "
                    + "PRAGMA user_version = 10")
            let file = mina.folder + "/earlier.bak"
            _ = try BackupWriter.create(
                .init(
                    home: HomeFolder(data: mina.home, socket: mina.socket), configuration: nil,
                    path: file, passphrase: nil, createdAt: 1), using: SystemRandom())
            let fresh = TemporaryNode()
            #expect(fresh.run("backup", "verify", file).status == 0)
            #expect(fresh.run("backup", "restore", file).status == 0)
            #expect(fresh.up().status == 0)
            #expect(fresh.run("log", "general").output.contains("hello"))
            #expect(fresh.run("check").status == 0)
        }

        /// Nothing but the hash of a part tells a letter of the settings, or of a free page.
        @Test func `is refused without a passphrase too, with a byte of any part changed`() throws {
            let mina = TemporaryNode()
            mina.up(name: "Mina", workspace: "acme")
            mina.run("down")
            let settings = mina.folder + "/settings.toml"
            try "name = \"Mina\"\n".write(toFile: settings, atomically: true, encoding: .utf8)
            let file = mina.folder + "/open.bak"
            _ = try BackupWriter.create(
                .init(
                    home: HomeFolder(data: mina.home, socket: mina.socket),
                    configuration: settings, path: file, passphrase: nil, createdAt: 1),
                using: SystemRandom())
            #expect(mina.run("backup", "verify", file).status == 0)
            let bytes = try #require(FileManager.default.contents(atPath: file).map { [UInt8]($0) })
            let header = try #require(BackupHeader(Array(bytes.prefix(BackupHeader.byteCount))))
            #expect(header.parts.allSatisfy { $0.storedByteCount > 0 })
            var start = BackupHeader.byteCount
            for part in header.parts {
                let end = start + Int(part.storedByteCount)
                for place in [start, (start + end) / 2, end - 1] {
                    var changed = bytes
                    changed[place] ^= 1
                    try Data(changed).write(to: URL(fileURLWithPath: file))
                    let outcome = mina.run("backup", "verify", file, "--json")
                    #expect(outcome.error.reason == "backup.damaged", "byte \(place)")
                    #expect(
                        outcome.errors.contains("its contents were changed or damaged"),
                        "byte \(place) of \(start)..<\(end): \(outcome.errors)")
                }
                start = end
            }
        }

        /// The header's hash needs no secret, so anyone with the file can recompute it.
        @Test func `is refused where a part of it was left out without the passphrase`() throws {
            let mina = TemporaryNode()
            mina.up(name: "Mina", workspace: "acme")
            mina.run("down")
            let folder = mina.folder
            let (settings, file) = (folder + "/settings.toml", folder + "/whole.bak")
            try "level = \"debug\"\n".write(toFile: settings, atomically: true, encoding: .utf8)
            let passphrase = [UInt8]("correct horse".utf8)
            _ = try BackupWriter.create(
                .init(
                    home: HomeFolder(data: mina.home, socket: mina.socket),
                    configuration: settings, path: file, passphrase: passphrase, createdAt: 1),
                using: SystemRandom())
            let bytes = try #require(FileManager.default.contents(atPath: file))
            #expect(throws: Never.self) {
                try BackupReader(path: file).read(2, BackupReader(path: file).key(passphrase)) {
                    _ in
                }
            }
            var header = try #require(BackupHeader([UInt8](bytes.prefix(BackupHeader.byteCount))))
            let left = Int(header.parts[2].storedByteCount)
            try #require(left > 0)
            header.parts[2] = .init()
            let cut = folder + "/cut.bak"
            let rest = bytes.dropFirst(BackupHeader.byteCount).dropLast(left)
            try (Data(header.bytes) + rest).write(to: URL(fileURLWithPath: cut))
            let error = #expect(throws: NodeError.self) {
                try BackupReader(path: cut).key(passphrase)
            }
            #expect(error?.reason == "backup.damaged")
        }
    }
}
