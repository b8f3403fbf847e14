import PeerNode
import WorkspaceModel

/// What a bare `wsx-node` shows on a terminal: where one stands, and one next step.
extension Session {
    func homeScreen() throws(NodeError) -> Int32 {
        var client: ControlClient
        do { client = try self.client() } catch {
            guard error.kind == .notRunning else { throw error }
            io.print(Manual.shortHelp + "\nwsx-node is not running\n")
            let paths = try paths()
            let isNew = !io.exists(HomeFolder(data: paths.data, socket: paths.socket).identity)
            tell(next: "wsx-node up" + (isNew ? " --name NAME --workspace WORKSPACE" : ""))
            return 0
        }
        let status = try client.call("node.status", [:])
        guard status["locked"] != true else {
            io.print("\(rendering.shortID(status["identity"]?["id"]))  locked\n")
            tell(next: "wsx-node session unlock")
            return 0
        }
        var given = JSONObject()
        if let workspace { given["workspace"] = .string(workspace) }
        let home: JSONValue
        do throws(NodeError) { home = try client.call("home.get", given) } catch {
            guard error.kind == .storeFailed else { throw error }
            tellFailedStore(status)
            return 0
        }
        guard let identity = home["identity"], !identity.isNull else {
            io.print("no identity yet\n")
            tell(next: "wsx-node up --name NAME --workspace WORKSPACE")
            return 0
        }
        let peers = try client.call("peer.list", given)["items"]?.arrayValue ?? []
        let labels = deviceLabels(
            peers, id: "id", beside: Self.ownMembers(identity),
            shown: Array(peers.prefix(Self.peersMax)), &client)
        tell("\(rendering.shown(identity["name"]))  \(rendering.shortID(identity["id"]))")
        homeWorkspaces(home, &client)
        tellPeers(peers, labels, since: io.now - (status["uptime_ms"]?.integerValue ?? 0))
        let requests = waitingRequests(home, &client)
        if requests > 0 {
            tell("note  \(requests) \(requests == 1 ? "person is" : "people are") asking to join")
        }
        tellNewDevices(given, &client)
        tellWarnings(status)
        tell(next: requests > 0 ? "wsx-node request list" : homeStep(status, home, peers))
        return 0
    }

    /// Whose node it is, and that the disk does not give back what would be shown.
    private func tellFailedStore(_ status: JSONValue) {
        let identity = status["identity"]
        tell("\(rendering.shown(identity?["name"]))  \(rendering.shortID(identity?["id"]))")
        tellWarnings(status)
        tell(next: "wsx-node doctor")
    }

    private func tellWarnings(_ status: JSONValue) {
        for warning in status["warnings"]?.arrayValue ?? [] {
            tell("warn  \(rendering.shown(warning["message"]))")
        }
    }

    /// For so long a device is new to its person.
    private static let newDeviceMilliseconds: Int64 = 3 * 86_400_000

    /// Devices of the reader that came after this one: whoever stole a key comes by one, too.
    private func tellNewDevices(_ given: JSONObject, _ client: inout ControlClient) {
        let devices = (try? client.call("device.list", given))?["items"]?.arrayValue ?? []
        let own = devices.first { $0["self"] == true }?["added_at"]?.integerValue ?? .max
        for device in devices where device["self"] == false && device["recovery"] == false {
            guard let added = device["added_at"]?.integerValue, added > own,
                added > io.now - Self.newDeviceMilliseconds, device["revoked"] == false
            else { continue }
            let when = rendering.momentInSentence(device["added_at"])
            tell("note  a device of yours was added \(when): \(rendering.shown(device["name"]))")
        }
    }

    /// How many wait to be let in, where that is for the reader to decide.
    private func waitingRequests(_ home: JSONValue, _ client: inout ControlClient) -> Int {
        guard let shown = shownWorkspace(home), let id = shown["id"],
            shown["role"] == "owner" || shown["role"] == "admin",
            let page = try? client.call("join.requests", ["workspace": id, "limit": 1_000])
        else { return 0 }
        return (page["items"]?.arrayValue ?? []).count { $0["state"] == "pending" }
    }

    /// A line, cut where the terminal ends.
    private func tell(_ line: String) { io.print(rendering.fitted(line) + "\n") }

    /// A line with a command to copy, which is never cut.
    private func tell(whole line: String) { io.print(line + "\n") }

    /// A command to copy, likewise.
    private func tell(next command: String) {
        io.print("next: \(rendering.hints.text(command))\n")
    }

    /// So many conversations of each kind fit on a screen.
    private static let homeRowsMax = 12
    /// So many peers fit.
    private static let peersMax = 8

    private static func isFormer(_ workspace: JSONValue) -> Bool {
        workspace["state"]?.stringValue ?? "member" != "member"
    }

    /// The workspace whose channels are shown.
    private func shownWorkspace(_ home: JSONValue) -> JSONValue? {
        let conversations = (home["channels"]?.arrayValue ?? []) + (home["dms"]?.arrayValue ?? [])
        let id = conversations.first?["workspace"] ?? home["selected"]
        return home["workspaces"]?.arrayValue?.first { $0["id"] == id }
    }

    /// The workspaces, and under the one that is shown its channels and conversations.
    private func homeWorkspaces(_ home: JSONValue, _ client: inout ControlClient) {
        let channels = home["channels"]?.arrayValue ?? []
        let directs = (home["dms"]?.arrayValue ?? []).filter { $0["last"]?.isNull == false }
        let shown = shownWorkspace(home)?["id"]
        for workspace in home["workspaces"]?.arrayValue ?? [] {
            let isShown = workspace["id"] == shown
            let members = workspace["members"]?.integerValue ?? 1
            var text = rendering.fitting(rendering.shown(workspace["name"]))
            text += "  \(members) member\(members == 1 ? "" : "s")"
            if Self.isFormer(workspace) { text += ", \(rendering.shown(workspace["state"]))" }
            io.print("\n")
            guard isShown else {
                if let new = newWords(of: workspace, &client) { text += "  " + new }
                let name = NodeError.shellWord(sanitised(workspace["name"]?.stringValue ?? ""))
                let way = rendering.hints.text("  (wsx-node workspace use \(name))")
                tell(whole: text + (workspace["selected"] == true ? "" : way))
                continue
            }
            tell(text + (rendering.newWords(home["unread"]).map { "  " + $0 } ?? ""))
            if Self.isFormer(workspace) {
                tell("  you can still read here what was said before")
                tellRefused(home["refused"]?.integerValue ?? 0)
            }
            tellRows(channels, more: "wsx-node channel list")
            tellRows(directs, more: "wsx-node dm list")
        }
    }

    /// How much is new in a workspace that is not shown.
    private func newWords(of workspace: JSONValue, _ client: inout ControlClient) -> String? {
        let given: JSONObject = ["workspace": workspace["id"] ?? .null, "limit": 1_000]
        guard !Self.isFormer(workspace), let page = try? client.call("unread.get", given) else {
            return nil
        }
        let items = page["items"]?.arrayValue ?? []
        func sum(_ field: String) -> JSONValue {
            .integer(items.reduce(0) { $0 + ($1[field]?.integerValue ?? 0) })
        }
        return rendering.newWords(["unread": sum("unread"), "mentions": sum("mentions")])
    }

    /// How many of one's own messages do not count, in a workspace that one is out of.
    private func tellRefused(_ count: Int64) {
        guard count > 0 else { return }
        tell(
            whole: "  \(count) of your messages \(count == 1 ? "was" : "were") refused: "
                + rendering.hints.text("wsx-node log")
                + " marks \(count == 1 ? "it" : "them")")
    }

    private func tellRows(_ channels: [JSONValue], more: String) {
        let listed = channels.prefix(Self.homeRowsMax).map { channel in
            (
                name: rendering.fitting(sanitised(ChannelNames.shown(channel) ?? "-"))
                    + rendering.states(of: channel, isAmongOthers: false),
                new: rendering.newWords(channel) ?? "", last: preview(channel["last"])
            )
        }
        let names = listed.map { columnWidth($0.name) }.max() ?? 0
        let news = listed.map { columnWidth($0.new) }.max() ?? 0
        for row in listed {
            var line = "  " + rendering.padded(row.name, names) + "  "
            if news > 0 { line += rendering.padded(row.new, news) + "  " }
            tell(line + row.last)
        }
        if channels.count > listed.count { tell(whole: "  … \(rendering.hints.text(more))") }
    }

    private func preview(_ last: JSONValue?) -> String {
        guard let last, !last.isNull else { return "nothing yet" }
        let (day, clock) = TimeText.local(last["at"]?.integerValue ?? 0, zone: io.zoneMinutes)
        let today = TimeText.local(io.now, zone: io.zoneMinutes).day
        let when = day == today ? clock : TimeText.dayLine(day, today: today)
        let text = TerminalText.truncated(rendering.preview(last), toColumns: 64)
        return "\(when)  \(text)"
    }

    /// The peers beside one another, in as many lines as they need.
    ///
    /// - Parameter start: when the node started, milliseconds since 1970. Who was linked since then
    ///   and is not any more is offline; of others the node does not know.
    private func tellPeers(_ peers: [JSONValue], _ labels: DeviceLabels, since start: Int64) {
        let words = peers.prefix(Self.peersMax).map { peer in
            let label =
                peer["id"]?.stringValue.flatMap { labels[$0] }
                ?? peer["address"]?.stringValue
            let name = rendering.fitting(label.map(sanitised) ?? "-")
            if peer["state"] == "connected" {
                guard let behind = peer["behind"]?.integerValue,
                    let ahead = peer["ahead"]?.integerValue
                else { return "\(name) connected, comparing" }
                if behind > 0 { return "\(name) connected, \(behind) to fetch" }
                return ahead > 0 ? "\(name) connected, \(ahead) to send" : "\(name) in sync"
            }
            guard let seen = peer["last_seen"]?.integerValue else { return "\(name) unknown" }
            let ago = TimeText.ago(io.now - seen)
            return seen < start ? "\(name) unknown, seen \(ago) ago" : "\(name) offline \(ago)"
        }
        io.print("\n")
        var line = "peers  " + (words.first ?? "none yet")
        for word in words.dropFirst() {
            let longer = line + " · " + word
            if let columns = rendering.columns, columnWidth(longer) > columns {
                tell(line)
                line = "       " + word
            } else {
                line = longer
            }
        }
        tell(line)
    }

    private func homeStep(
        _ status: JSONValue, _ home: JSONValue, _ peers: [JSONValue]
    ) -> String {
        let workspaces = home["workspaces"]?.arrayValue ?? []
        let warnings = status["warnings"]?.arrayValue ?? []
        if workspaces.isEmpty {
            return warnings.contains { $0["kind"] == "join.pending" }
                ? Self.waitingStep
                : "wsx-node up --workspace NAME, or wsx-node join LINK"
        }
        // Everything that is written meanwhile says the wrong time for ever.
        if let clock = warnings.first(where: { $0["kind"] == "clock.wrong" }) {
            return "set the clock: \(rendering.shown(clock["hint"]))"
        }
        if warnings.contains(where: { $0["kind"] == "store.stopped" }) {
            return "wsx-node doctor"
        }
        if warnings.contains(where: { $0["kind"] == "net.suspended" }) {
            return "wsx-node net resume"
        }
        if let shown = shownWorkspace(home), Self.isFormer(shown) {
            let other = workspaces.first { !Self.isFormer($0) }?["name"]?.stringValue
            return other.map { "wsx-node workspace use \(NodeError.shellWord(sanitised($0)))" }
                ?? "wsx-node join LINK, with an invite from a member"
        }
        if !warnings.isEmpty { return "wsx-node doctor" }
        if home["unread"]?["unread"]?.integerValue ?? 0 > 0 { return "wsx-node unread" }
        let members = workspaces.map { $0["members"]?.integerValue ?? 1 }.max() ?? 1
        if members == 1 { return "wsx-node invite create" }
        return peers.contains { $0["state"] == "connected" }
            ? "wsx-node tail" : "wsx-node doctor"
    }
}
