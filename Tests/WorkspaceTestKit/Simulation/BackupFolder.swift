private import Foundation
import PeerNode
import WorkspaceModel

/// A folder of the real disk, in which backups of simulated homes are made and restored by the code
/// that does both outside of tests. It goes with this object.
///
/// ```swift
/// let folder = BackupFolder()
/// let path = folder.newPath()
/// _ = ada.ask("backup.create", ["path": .string(path)])
/// ada.putBack(to: try folder.restore(path))
/// ```
public final class BackupFolder {
    private let path: String
    private var count = 0

    /// An empty one.
    public init() {
        var pattern = Array("/tmp/wsx-backups-XXXXXX".utf8CString)
        precondition(mkdtemp(&pattern) != nil, "no temporary folder")
        path = String(decoding: pattern.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Where no file is, for a backup.
    public func newPath() -> String {
        count += 1
        return "\(path)/\(count).bak"
    }

    private func newHome() -> HomeFolder {
        count += 1
        let data = "\(path)/home-\(count)"
        return HomeFolder(data: data, socket: data + "/s")
    }

    // MARK: Making

    /// Puts the store and the keys of a machine on the disk, as they lie in a home, and does a job
    /// there.
    ///
    /// - Returns: the answer of the call that the job is for.
    func run(
        _ job: NodeJob, on machine: SimulatedNode.Snapshot
    ) -> Result<JSONValue, NodeError> {
        let home = newHome()
        do {
            try home.prepare()
            try Data(Self.file(of: machine.image)).write(to: URL(fileURLWithPath: home.store))
            let identity = try machine.home.readIdentity() ?? []
            try Data(identity).write(to: URL(fileURLWithPath: home.identity))
        } catch {
            return .failure(NodeError(.storeFailed, "no home on the disk: \(error)"))
        }
        return job.run(in: home)
    }

    /// A database in memory does not say whose it is; a file has to (bytes 68 to 71 of its header).
    private static func file(of image: [UInt8]) -> [UInt8] {
        guard image.count >= 72 else { return image }
        var file = image
        file.replaceSubrange(68..<72, with: Array("WSXN".utf8))
        return file
    }

    // MARK: Restoring

    /// What a home holds into which the backup at `path` was restored: its store and its keys.
    ///
    /// - Throws: what the command says of a backup that cannot be restored.
    public func restore(_ path: String) throws -> SimulatedNode.Snapshot {
        let home = newHome()
        defer { try? FileManager.default.removeItem(atPath: home.data) }
        _ = try BackupRestore.restore(
            path, to: home, configuration: home.data + "/config.toml", passphrase: nil,
            isForced: false, now: 0)
        let files = try [home.store, home.identity].map { path in
            [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        }
        return SimulatedNode.Snapshot(image: files[0], home: SimulatedHome(identity: files[1]))
    }
}
