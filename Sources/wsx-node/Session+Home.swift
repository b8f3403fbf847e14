import PeerNode
import WorkspaceModel

/// What a bare `wsx-node` shows on a terminal: where one stands, and one next step.
extension Session {
    func homeScreen() throws(NodeError) -> Int32 {
        var client: ControlClient
        do { client = try self.client() } catch {
            guard error.kind == .notRunning else { throw error }
            io.print(Manual.shortHelp + "\nno daemon runs for this home\n")
            let paths = try paths()
            let isNew = !io.exists(HomeFolder(data: paths.data, socket: paths.socket).identity)
            io.print("next: wsx-node up\(isNew ? " --name NAME --workspace WORKSPACE" : "")\n")
            return 0
        }
        let identity: JSONValue
        do throws(NodeError) { identity = try client.call("identity.show", [:]) } catch {
            guard error.kind == .notFound else { throw error }
            io.print("no identity yet\nnext: wsx-node up --name NAME --workspace WORKSPACE\n")
            return 0
        }
        let status = try client.call("node.status", [:])
        guard status["locked"] != true else {
            io.print("\(rendering.shortID(identity["id"]))  locked\n")
            io.print("next: wsx-node session unlock\n")
            return 0
        }
        let workspaces = try client.call("workspace.list", [:])["items"]?.arrayValue ?? []
        io.print("\(rendering.shown(identity["name"]))  \(rendering.shortID(identity["id"]))\n")
        for workspace in workspaces { try show(workspace, &client) }
        let peers = try client.call("peer.list", [:])["items"]?.arrayValue ?? []
        io.print(homePeers(peers))
        for warning in status["warnings"]?.arrayValue ?? [] {
            io.print("warn  \(rendering.shown(warning["message"]))\n")
        }
        io.print("next: \(homeStep(status, workspaces, peers))\n")
        return 0
    }

    private func show(_ workspace: JSONValue, _ client: inout ControlClient) throws(NodeError) {
        let isSelected = workspace["selected"]?.boolValue == true
        let members = workspace["members"]?.integerValue ?? 1
        io.print(
            "\n\(rendering.shown(workspace["name"]))  \(members) member\(members == 1 ? "" : "s")"
                + (isSelected ? "" : "  (wsx-node workspace use to go there)") + "\n")
        let id = workspace["id"] ?? .null
        let page = try client.call("channel.list", ["workspace": id, "limit": 20])
        let channels = page["items"]?.arrayValue ?? []
        let widest = channels.map { columnWidth(rendering.shown($0["name"])) }.max() ?? 0
        for channel in channels {
            let name = rendering.shown(channel["name"])
            let gap = String(repeating: " ", count: widest - columnWidth(name))
            io.print("  #\(name)\(gap)  \(preview(channel["last"]))\n")
        }
        if page["next"]?.isNull == false { io.print("  … wsx-node channel list\n") }
    }

    private func preview(_ last: JSONValue?) -> String {
        guard let last, !last.isNull else { return "nothing yet" }
        let (day, clock) = TimeText.local(last["at"]?.integerValue ?? 0, zone: io.zoneMinutes)
        let today = TimeText.local(io.now, zone: io.zoneMinutes).day
        let when = day == today ? clock : TimeText.dayLine(day, today: today)
        let text = TerminalText.truncated(rendering.shown(last["text"]), toColumns: 48)
        return "\(when)  \(rendering.shown(last["author"]?["name"])): \(text)"
    }

    private func homePeers(_ peers: [JSONValue]) -> String {
        let words = peers.prefix(8).map { peer in
            let name = rendering.shown(
                peer["name"]?.isNull == false ? peer["name"] : peer["address"])
            if peer["state"] == "connected" {
                let behind = peer["behind"]?.integerValue ?? 0
                let ahead = peer["ahead"]?.integerValue ?? 0
                if behind > 0 { return "\(name) connected, \(behind) to fetch" }
                return ahead > 0 ? "\(name) connected, \(ahead) to give" : "\(name) in sync"
            }
            let seen = peer["last_seen"]?.integerValue.map { " " + TimeText.ago(io.now - $0) }
            return "\(name) offline\(seen ?? "")"
        }
        return "\npeers  \(words.isEmpty ? "none yet" : words.joined(separator: " · "))\n"
    }

    private func homeStep(
        _ status: JSONValue, _ workspaces: [JSONValue], _ peers: [JSONValue]
    ) -> String {
        if workspaces.isEmpty { return "wsx-node up --workspace NAME, or wsx-node join LINK" }
        if status["warnings"]?.arrayValue?.isEmpty == false { return "wsx-node doctor" }
        let members = workspaces.map { $0["members"]?.integerValue ?? 1 }.max() ?? 1
        if members == 1 { return "wsx-node invite create" }
        return peers.contains { $0["state"] == "connected" }
            ? "wsx-node tail" : "wsx-node doctor"
    }
}
