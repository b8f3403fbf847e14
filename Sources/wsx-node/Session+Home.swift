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
        let status = try client.call("node.status", [:])
        guard status["locked"] != true else {
            io.print("\(rendering.shortID(status["identity"]?["id"]))  locked\n")
            io.print("next: wsx-node session unlock\n")
            return 0
        }
        var given = JSONObject()
        if let workspace { given["workspace"] = .string(workspace) }
        let home = try client.call("home.get", given)
        guard let identity = home["identity"], !identity.isNull else {
            io.print("no identity yet\nnext: wsx-node up --name NAME --workspace WORKSPACE\n")
            return 0
        }
        let peers = try client.call("peer.list", given)["items"]?.arrayValue ?? []
        io.print("\(rendering.shown(identity["name"]))  \(rendering.shortID(identity["id"]))\n")
        io.print(homeWorkspaces(home) + homePeers(peers))
        for warning in status["warnings"]?.arrayValue ?? [] {
            io.print("warn  \(rendering.shown(warning["message"]))\n")
        }
        io.print("next: \(homeStep(status, home, peers))\n")
        return 0
    }

    /// So many conversations of each kind fit on a screen.
    private static let homeRowsMax = 12

    /// The workspaces, and under the one that is shown its channels and conversations.
    private func homeWorkspaces(_ home: JSONValue) -> String {
        let channels = home["channels"]?.arrayValue ?? []
        let directs = (home["dms"]?.arrayValue ?? []).filter { $0["last"]?.isNull == false }
        let shown = channels.first?["workspace"] ?? home["selected"]
        var text = ""
        for workspace in home["workspaces"]?.arrayValue ?? [] {
            let isShown = workspace["id"] == shown
            let members = workspace["members"]?.integerValue ?? 1
            text += "\n\(rendering.shown(workspace["name"]))  "
            text += "\(members) member\(members == 1 ? "" : "s")"
            if workspace["state"]?.stringValue ?? "member" != "member" {
                text += ", \(rendering.shown(workspace["state"]))"
            }
            guard isShown else {
                text +=
                    workspace["selected"] == true
                    ? "\n" : "  (wsx-node workspace use to go there)\n"
                continue
            }
            text += unreadWords(home["unread"]) + "\n"
            text += rows(channels, sign: "#", more: "wsx-node channel list")
            text += rows(directs, sign: "@", more: "wsx-node dm list")
        }
        return text
    }

    private func unreadWords(_ unread: JSONValue?) -> String {
        let count = unread?["unread"]?.integerValue ?? 0
        let mentions = unread?["mentions"]?.integerValue ?? 0
        guard count > 0 else { return "" }
        let named = mentions == 0 ? "" : ", \(mentions) mention\(mentions == 1 ? "" : "s") you"
        return "  \(count) new\(named)"
    }

    private func rows(_ channels: [JSONValue], sign: String, more: String) -> String {
        let listed = channels.prefix(Self.homeRowsMax).map { channel in
            (
                name: sign + rendering.shown(channel["name"]),
                new: unreadWords(channel).trimmedBlanks, last: preview(channel["last"])
            )
        }
        let names = listed.map { columnWidth($0.name) }.max() ?? 0
        let news = listed.map { columnWidth($0.new) }.max() ?? 0
        var text = ""
        for row in listed {
            text += "  " + rendering.padded(row.name, names) + "  "
            if news > 0 { text += rendering.padded(row.new, news) + "  " }
            text += row.last + "\n"
        }
        return text + (channels.count > listed.count ? "  … \(more)\n" : "")
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
        _ status: JSONValue, _ home: JSONValue, _ peers: [JSONValue]
    ) -> String {
        let workspaces = home["workspaces"]?.arrayValue ?? []
        if workspaces.isEmpty { return "wsx-node up --workspace NAME, or wsx-node join LINK" }
        let warnings = status["warnings"]?.arrayValue ?? []
        // Everything that is written meanwhile says the wrong time for ever.
        if let clock = warnings.first(where: { $0["kind"] == "clock.wrong" }) {
            return "put the clock right: \(rendering.shown(clock["hint"]))"
        }
        if !warnings.isEmpty { return "wsx-node doctor" }
        if home["unread"]?["unread"]?.integerValue ?? 0 > 0 { return "wsx-node unread" }
        let members = workspaces.map { $0["members"]?.integerValue ?? 1 }.max() ?? 1
        if members == 1 { return "wsx-node invite create" }
        return peers.contains { $0["state"] == "connected" }
            ? "wsx-node tail" : "wsx-node doctor"
    }
}

extension String {
    /// Without the blanks at its beginning.
    fileprivate var trimmedBlanks: String { String(drop { $0 == " " }) }
}
