import CRDTStore
import Foundation
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

extension EndToEnd {
    /// A backup that is as it was written, of a store that is not as it was signed.
    @Suite struct `A backup of a damaged store` {
        @Test func `is restored no more than it is verified, and leaves nothing behind`() throws {
            let mina = TemporaryNode()
            mina.up(name: "Mina", workspace: "acme")
            mina.run("send", "general", "hello")
            mina.run("down")
            try damage(mina.home + "/node.db")
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
                #expect(outcome.errors.contains("its store: operation "), "\(outcome.errors)")
            }
            let left = FileManager.default.enumerator(atPath: fresh.home)?.allObjects ?? []
            #expect(
                !left.contains { "\($0)".contains("node.db") || "\($0)".contains("device.key") })
        }

        /// Puts zeros in the place of the newest payload, which no page sum notices.
        private func damage(_ path: String) throws {
            let connection = try Connection(path: path, mode: .main)
            try connection.execute(
                """
                UPDATE operation SET payload = zeroblob(length(payload))
                    WHERE arr = (SELECT max(arr) FROM operation WHERE kind = 1)
                """)
        }
    }
}
