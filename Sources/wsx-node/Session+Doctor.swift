import PeerNode
import WorkspaceModel

/// What `doctor` can only see from the command line, behind what the node says of itself.
extension Session {
    func doctor(_ command: Command) throws(NodeError) -> Int32 {
        var client = try client()
        let result = try client.call(command.name, try parameters(for: command))
        let daemon = try client.call("node.version", [:])["version"]?.stringValue ?? ""
        let local = try [versionFinding(daemon), folderFinding()].compactMap { $0?.json }
        let items = (result["items"]?.arrayValue ?? []) + local
        show(
            rendering.text(["items": .array(items), "next": .null], of: command.name),
            isLong: false)
        return items.contains { $0["state"] == "fail" } ? 1 : 0
    }

    /// After an upgrade the old daemon goes on until it is stopped.
    private func versionFinding(_ daemon: String) -> FindingObject? {
        guard daemon != Release.version else {
            return FindingObject(
                id: "version", state: "ok", message: "daemon and command line are \(daemon)")
        }
        return FindingObject(
            id: "version", state: "warn",
            message: "the daemon is \(daemon), the command line is \(Release.version)",
            hint: "wsx-node down; wsx-node up")
    }

    /// Whether others on this machine can look into the folder of keys and store.
    private func folderFinding() throws(NodeError) -> FindingObject? {
        let folder = try paths().data
        guard let mode = io.permissions(of: folder) else { return nil }
        let shown = NodeError.quotedPath(folder)
        guard mode & 0o077 != 0 else {
            return FindingObject(
                id: "folder", state: "ok", message: "only you can look into \(shown)")
        }
        return FindingObject(
            id: "folder", state: "fail", message: "others can look into \(shown)",
            hint: "chmod 700 \(shown)")
    }
}
