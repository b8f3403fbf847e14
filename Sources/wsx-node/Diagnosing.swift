import PeerNode
import WorkspaceModel

/// Findings of `doctor` that only the command line can make, after those of the node.
struct Diagnosing: SessionPart {
    var scan: ArgumentScan
    let environment: [String: String]
    let io: any ProgramIO

    func doctor(_ command: Command) throws(NodeError) -> Int32 {
        let parameters = try parameters(for: command)
        var items: [JSONValue]
        var local: [FindingObject]
        var failure: Int32 = 1
        do throws(NodeError) {
            var client = try client()
            items = try client.call(command.name, parameters)["items"]?.arrayValue ?? []
            let daemon = try client.call("node.version", [:])["version"]?.stringValue ?? ""
            local = [versionFinding(daemon)]
        } catch {
            // `doctor` is needed most when the node does not run; then the findings that need no
            // node are shown.
            guard [.notRunning, .stopping, .timeout].contains(error.kind) else { throw error }
            items = []
            failure = error.exitStatus
            local = [socketFinding(error), localVersion]
            if let disk = try diskFinding() { local.append(disk) }
        }
        local += try homeFindings() + [settingsFinding()]
        items += local.map(\.json)
        show(
            rendering.text(["items": .array(items), "next": .null], of: command.name),
            isLong: false)
        return items.contains { $0["state"] == "fail" } ? failure : 0
    }

    private func socketFinding(_ error: NodeError) -> FindingObject {
        FindingObject(
            id: "socket", state: "fail", message: error.message,
            hint: error.kind == .timeout ? "wsx-node down; wsx-node up" : "wsx-node up")
    }

    private var localVersion: FindingObject {
        FindingObject(
            id: "version", state: "ok", message: "the command line is \(Release.version)")
    }

    private func diskFinding() throws(NodeError) -> FindingObject? {
        guard let free = io.freeBytes(at: try paths().data) else { return nil }
        return DiskSpace(freeBytes: free).finding
    }

    /// Whether the next start will accept the settings.
    private func settingsFinding() throws(NodeError) -> FindingObject {
        let path = try paths().configuration
        do throws(NodeError) {
            try NodeCommand.check(ConfigFile(io.readFile(path) ?? []))
        } catch {
            return FindingObject(
                id: "settings", state: "fail",
                message: "\(NodeError.quotedPath(path)): \(error.message)",
                hint: error.hint ?? "correct that line")
        }
        return FindingObject(id: "settings", state: "ok", message: "the settings are valid")
    }

    /// After an upgrade the old daemon keeps running until it is stopped.
    private func versionFinding(_ daemon: String) -> FindingObject {
        guard daemon != Release.version else {
            return FindingObject(
                id: "version", state: "ok", message: "daemon and command line are \(daemon)")
        }
        return FindingObject(
            id: "version", state: "warn",
            message: "the daemon is \(daemon), the command line is \(Release.version)",
            hint: "wsx-node down; wsx-node up")
    }

    /// Whether others on this machine can read the owner's private files.
    private func homeFindings() throws(NodeError) -> [FindingObject] {
        let folder = try paths().data
        guard let mode = io.permissions(of: folder) else {
            return [
                FindingObject(
                    id: "folder", state: "warn",
                    message: "there is no home at \(NodeError.quotedPath(folder)) yet",
                    hint: "wsx-node up --name NAME")
            ]
        }
        return [folderFinding(folder, mode), filesFinding(in: folder)]
    }

    /// The folder of keys and store, which protects everything in it.
    private func folderFinding(_ folder: String, _ mode: UInt32) -> FindingObject {
        let shown = NodeError.quotedPath(folder)
        guard mode & 0o077 != 0 else {
            return FindingObject(
                id: "folder", state: "ok", message: "only you can access \(shown)")
        }
        return FindingObject(
            id: "folder", state: "fail", message: "others can access \(shown)",
            hint: "chmod 700 \(shown)")
    }

    /// Files that are also private by themselves, so that a copy of one is not
    /// readable by everybody.
    private static let ownFiles = [
        "identity", "identity/device.key", "node.db", "node.db-wal", "search.db", "daemon.log",
    ]

    private func filesFinding(in folder: String) -> FindingObject {
        let open = Self.ownFiles.map { folder + "/" + $0 }
            .filter { (io.permissions(of: $0) ?? 0) & 0o077 != 0 }
            .map(NodeError.quotedPath)
        guard !open.isEmpty else {
            return FindingObject(
                id: "files", state: "ok", message: "only you can access your keys and store")
        }
        return FindingObject(
            id: "files", state: "warn",
            message: "others can access: \(open.joined(separator: ", "))",
            hint: "chmod go= \(open.joined(separator: " "))")
    }
}
