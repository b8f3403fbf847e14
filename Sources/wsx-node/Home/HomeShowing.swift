import PeerNode
import WorkspaceModel

/// The home screen, shown by a bare `wsx-node` on a terminal: the state, and one next step.
struct HomeShowing: SessionPart {
    var scan: ArgumentScan
    let environment: [String: String]
    let io: any ProgramIO

    func homeScreen() throws(NodeError) -> Int32 {
        var client: ControlClient
        do { client = try self.client() } catch {
            guard error.kind == .notRunning else { throw error }
            io.print(helpPage.short + "\nwsx-node is not running\n")
            let paths = try paths()
            let isNew = !io.exists(HomeFolder(data: paths.data, socket: paths.socket).identity)
            let command = "wsx-node up" + (isNew ? " --name NAME --workspace WORKSPACE" : "")
            io.print(next(command) + "\n")
            return 0
        }
        let status = try client.call("node.status", [:])
        guard status["locked"] != true else {
            io.print("\(rendering.shortID(status["identity"]?["id"]))  locked\n")
            io.print(next("wsx-node session unlock") + "\n")
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
            io.print(next("wsx-node up --name NAME --workspace WORKSPACE") + "\n")
            return 0
        }
        show(try homeLines(status, home, identity, given, &client))
        return 0
    }

    private func homeLines(
        _ status: JSONValue, _ home: JSONValue, _ identity: JSONValue, _ given: JSONObject,
        _ client: inout ControlClient
    ) throws(NodeError) -> HomeScreen {
        let peers = try client.call("peer.list", given)["items"]?.arrayValue ?? []
        let labels = deviceLabels(
            peers, id: "id", beside: Self.ownMembers(identity),
            shown: Array(peers.prefix(Self.homePeersMax)), &client)
        var screen = HomeScreen()
        screen.add([owner(identity)])
        addWorkspaces(of: home, to: &screen, &client)
        let start = io.now - (status["uptime_ms"]?.integerValue ?? 0)
        var listed = HomeScreen.List(more: more("wsx-node peer list"))
        listed.entries = peerLines(peers, labels, since: start)
        listed.isEndless = peers.count > Self.homePeersMax
        screen.add(listed)
        let requests = waitingRequests(home, &client)
        if requests > 0 {
            let people = requests == 1 ? "1 person is" : "\(requests) people are"
            screen.add([homeLine("note  \(people) asking to join")])
        }
        screen.add(newDevices(given, &client))
        var newcomers = HomeScreen.List(more: more("wsx-node device list"))
        newcomers.entries = othersDevices(home)
        screen.add(newcomers)
        screen.add(Reminding(self).dueReminders(given, &client))
        screen.add(backupReminder(home))
        screen.add(warnings(status))
        let step = requests > 0 ? "wsx-node request list" : homeStep(status, home, peers)
        screen.add([next(step)])
        return screen
    }

    private func show(_ screen: HomeScreen) {
        io.print(screen.text(rows: io.outputRows, columns: rendering.columns))
    }

    /// The owner of the node.
    private func owner(_ identity: JSONValue?) -> String {
        rendering.fitted(
            "\(rendering.shown(identity?["name"]))  \(rendering.shortID(identity?["id"]))")
    }

    /// The owner, and a message that the disk fails to return the rest.
    private func tellFailedStore(_ status: JSONValue) {
        var screen = HomeScreen()
        screen.add([owner(status["identity"])] + warnings(status) + [next("wsx-node doctor")])
        show(screen)
    }

    /// A sentence, wrapped.
    func homeLine(_ text: String) -> String { rendering.flowed(text) }

    /// The suggested command, never cut.
    private func next(_ command: String) -> String {
        homeLine("next: \(rendering.hints.text(command))")
    }

    /// How many conversations of each kind are listed at most.
    private static let homeRowsMax = 12
    /// How many peers are listed.
    static let homePeersMax = 8

    static func isFormer(_ workspace: JSONValue) -> Bool {
        workspace["state"]?.stringValue ?? "member" != "member"
    }

    /// The name of a workspace as a shell word.
    static func word(for workspace: JSONValue) -> String {
        NodeError.shellWord(sanitised(workspace["name"]?.stringValue ?? ""))
    }

    /// The workspace whose channels are shown.
    func shownWorkspace(_ home: JSONValue) -> JSONValue? {
        let conversations = (home["channels"]?.arrayValue ?? []) + (home["dms"]?.arrayValue ?? [])
        let id = conversations.first?["workspace"] ?? home["selected"]
        return home["workspaces"]?.arrayValue?.first { $0["id"] == id }
    }

    /// The workspaces, with channels and conversations below the shown one.
    private func addWorkspaces(
        of home: JSONValue, to screen: inout HomeScreen, _ client: inout ControlClient
    ) {
        let channels = home["channels"]?.arrayValue ?? []
        let directs = (home["dms"]?.arrayValue ?? []).filter { $0["last"]?.isNull == false }
        let shown = shownWorkspace(home)?["id"]
        var others = HomeScreen.List(more: more("wsx-node workspace list"))
        for workspace in home["workspaces"]?.arrayValue ?? [] {
            guard workspace["id"] == shown else {
                others.entries.append("\n" + other(workspace, &client))
                continue
            }
            screen.add(others)
            others.entries = []
            screen.add([
                "",
                rendering.fitted(
                    title(of: workspace)
                        + (rendering.newWords(home["unread"]).map { "  " + $0 } ?? "")),
            ])
            if Self.isFormer(workspace), workspace["state"] != "deleted" {
                screen.add([homeLine("  you can still read here what was said before")])
                screen.add(refused(home["refused"]?.integerValue ?? 0))
            }
            screen.add(rows(of: channels, more: "wsx-node channel list"))
            screen.add(rows(of: directs, more: "wsx-node dm list"))
        }
        screen.add(others)
    }

    private func title(of workspace: JSONValue) -> String {
        let members = workspace["members"]?.integerValue ?? 1
        let name = rendering.fitting(rendering.shown(workspace["name"]))
        let state = Rendering.membershipEnd(of: workspace).map { ", \($0)" } ?? ""
        return "\(name)  \(members) member\(members == 1 ? "" : "s")\(state)"
    }

    /// A workspace whose channels are not shown, and the command to show them.
    private func other(_ workspace: JSONValue, _ client: inout ControlClient) -> String {
        var text = title(of: workspace)
        if let new = newWords(of: workspace, &client) { text += "  " + new }
        guard workspace["selected"] != true else { return homeLine(text) }
        let name = Self.word(for: workspace)
        let command =
            switch workspace["state"] {
            case "member", nil: "workspace use \(name)"
            // Nothing in it is readable.
            case "deleted": "workspace forget \(name)"
            default: "-w \(name)"
            }
        return homeLine(text + rendering.hints.text("  (wsx-node \(command))"))
    }

    /// The unread counts of a workspace that is not shown.
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

    /// How many of your messages were rejected, in a workspace that you are no longer in.
    private func refused(_ count: Int64) -> [String] {
        guard count > 0 else { return [] }
        let (were, them) = count == 1 ? ("was", "it") : ("were", "them")
        let command = rendering.hints.text("wsx-node log")
        return [homeLine("  \(count) of your messages \(were) refused: \(command) marks \(them)")]
    }

    private func more(_ command: String) -> String { "  … \(rendering.hints.text(command))" }

    private func rows(of channels: [JSONValue], more command: String) -> HomeScreen.List {
        let listed = channels.prefix(Self.homeRowsMax).map { channel in
            (
                name: rendering.fitting(sanitised(ChannelNames.shown(channel) ?? "-"))
                    + rendering.states(of: channel, isAmongOthers: false),
                new: rendering.newWords(channel) ?? "", last: preview(channel["last"])
            )
        }
        let names = listed.map { columnWidth($0.name) }.max() ?? 0
        let news = listed.map { columnWidth($0.new) }.max() ?? 0
        var list = HomeScreen.List(more: more(command))
        for row in listed {
            var line = "  " + rendering.padded(row.name, names) + "  "
            if news > 0 { line += rendering.padded(row.new, news) + "  " }
            list.entries.append(rendering.fitted(line + row.last))
        }
        list.isEndless = channels.count > listed.count
        return list
    }

    private func preview(_ last: JSONValue?) -> String {
        guard let last, !last.isNull else { return "nothing yet" }
        let (day, clock) = TimeText.local(last["at"]?.integerValue ?? 0, zone: io.zoneMinutes)
        let today = TimeText.local(io.now, zone: io.zoneMinutes).day
        let when = day == today ? clock : TimeText.dayLine(day, today: today)
        let text = TerminalText.truncated(rendering.preview(last), toColumns: 64)
        return "\(when)  \(text)"
    }
}
