import PeerNode
import WorkspaceModel

/// The part of the home screen below the conversations: who is online, and what there is to do.
extension HomeShowing {
    /// The node's warnings.
    func warnings(_ status: JSONValue) -> [String] {
        (status["warnings"]?.arrayValue ?? []).map {
            homeLine("warn  \(rendering.shown($0["message"]))")
        }
    }

    /// A reminder to back up: no other machine has the keys of this home.
    func backupReminder(_ home: JSONValue) -> [String] {
        guard home["backup_due"] == true else { return [] }
        let command = rendering.hints.text("wsx-node backup create")
        let what =
            home["backup_at"]?.integerValue.map {
                "your last backup is \(TimeText.ago(io.now &- $0)) old"
            } ?? "this home has never been backed up"
        return [homeLine("note  \(what): \(command)")]
    }

    /// How long a device counts as new to its person.
    private static let newDeviceMilliseconds: Int64 = 3 * 86_400_000
    /// How many new devices of others are shown: `device list` and the events have the rest.
    private static let newDevicesMax = 3

    /// Your devices that are newer than this one: with a stolen key, an attacker gets one too.
    func newDevices(_ given: JSONObject, _ client: inout ControlClient) -> [String] {
        let devices = (try? client.call("device.list", given))?["items"]?.arrayValue ?? []
        let own = devices.first { $0["self"] == true }?["added_at"]?.integerValue ?? .max
        return devices.compactMap { device in
            guard device["self"] == false, device["recovery"] == false,
                let added = device["added_at"]?.integerValue, added > own,
                added > io.now - Self.newDeviceMilliseconds, device["revoked"] == false
            else { return nil }
            let when = rendering.momentInSentence(device["added_at"])
            let name = rendering.shown(device["name"])
            return homeLine("note  a device of yours was added \(when): \(name)")
        }
    }

    /// Recent devices of others: they can read what is written to those people.
    func othersDevices(_ home: JSONValue) -> [String] {
        (home["new_devices"]?.arrayValue ?? []).prefix(Self.newDevicesMax).map { row in
            let when = rendering.momentInSentence(row["device"]?["added_at"])
            let name = rendering.shown(row["device"]?["name"])
            return homeLine(
                "note  \(rendering.person(row["member"])) added a device \(when): \(name)")
        }
    }

    /// How many join requests wait, if the reader may decide.
    func waitingRequests(_ home: JSONValue, _ client: inout ControlClient) -> Int {
        guard let shown = shownWorkspace(home), let id = shown["id"],
            shown["role"] == "owner" || shown["role"] == "admin",
            let page = try? client.call("join.requests", ["workspace": id, "limit": 1_000])
        else { return 0 }
        return (page["items"]?.arrayValue ?? []).count { $0["state"] == "pending" }
    }

    /// The peers side by side, in as many lines as they need.
    ///
    /// - Parameter start: when the node started, milliseconds since 1970. A peer that was connected
    ///   since then and is not any more is offline; of others the node does not know.
    func peerLines(
        _ peers: [JSONValue], _ labels: DeviceLabels, since start: Int64
    ) -> [String] {
        let words = peers.prefix(Self.homePeersMax).map { peer in
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
        var lines: [String] = []
        var line = "peers  " + (words.first ?? "none yet")
        for word in words.dropFirst() {
            let longer = line + " · " + word
            if let columns = rendering.columns, columnWidth(longer) > columns {
                lines.append(line)
                line = "       " + word
            } else {
                line = longer
            }
        }
        let fitting = (lines + [line]).map { rendering.fitted($0) }
        return fitting.enumerated().map { $0.offset == 0 ? "\n" + $0.element : $0.element }
    }

    /// What to do if this device is no longer in the only workspace.
    static func stepAfterEnd(of workspace: JSONValue) -> String {
        switch workspace["state"] {
        case "device_revoked":
            "wsx-node --home NEW-FOLDER device link LINK, made on another device of yours"
        case "deleted": "wsx-node workspace forget \(word(for: workspace))"
        default: "wsx-node join LINK, with an invite from a member"
        }
    }

    /// The next command to suggest.
    func homeStep(
        _ status: JSONValue, _ home: JSONValue, _ peers: [JSONValue]
    ) -> String {
        let workspaces = home["workspaces"]?.arrayValue ?? []
        let warnings = status["warnings"]?.arrayValue ?? []
        let kinds = Set(warnings.compactMap(WarningKind.init(of:)))
        if workspaces.isEmpty {
            return kinds.contains(.joinPending)
                ? Starting.waitingStep
                : "wsx-node up --workspace NAME, or wsx-node join LINK"
        }
        // Everything written meanwhile permanently has the wrong time.
        if let clock = warnings.first(where: { WarningKind(of: $0) == .clockWrong }) {
            return "set the clock: \(rendering.shown(clock["hint"]))"
        }
        if kinds.contains(.storeStopped) { return "wsx-node doctor" }
        if kinds.contains(.netSuspended) { return "wsx-node net resume" }
        if let shown = shownWorkspace(home), Self.isFormer(shown) {
            let other = workspaces.first { !Self.isFormer($0) }
            return other.map { "wsx-node workspace use \(Self.word(for: $0))" }
                ?? Self.stepAfterEnd(of: shown)
        }
        if !warnings.isEmpty { return "wsx-node doctor" }
        if home["unread"]?["unread"]?.integerValue ?? 0 > 0 { return "wsx-node unread" }
        let members = workspaces.map { $0["members"]?.integerValue ?? 1 }.max() ?? 1
        if members == 1 { return "wsx-node invite create" }
        return peers.contains { $0["state"] == "connected" }
            ? "wsx-node tail" : "wsx-node doctor"
    }
}
