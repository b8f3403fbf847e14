import WorkspaceModel

extension RandomLife {
    /// Everything that is wrong with the end of a healed run, in words; nothing when all is well.
    ///
    /// Checked: all nodes show the same channels, members and messages; every acknowledged message
    /// is there once, and nothing else but what was tried; each author's messages are in the order
    /// of writing; every message was told once.
    public func audit() -> [String] {
        var problems = world.failures
        for (workspace, nodes) in members {
            var views: [String: [Int]] = [:]
            for index in nodes {
                let view = WorkspaceView(workspace, on: world.nodes[index])
                views[view.summary, default: []].append(index)
                problems += check(view, of: workspace).map { "node \(index): \($0)" }
            }
            if views.count > 1 {
                problems.append("\(workspace) differs: \(views.values.map(\.description).sorted())")
                problems += views.keys.sorted()
            }
        }
        return problems
    }

    private func isGone(_ channel: String, in view: WorkspaceView) -> Bool {
        hasRemovals && !view.channelNames.contains(channel)
    }

    private func check(_ view: WorkspaceView, of workspace: String) -> [String] {
        var problems: [String] = []
        var counts: [String: Int] = [:]
        for text in view.texts { counts[text, default: 0] += 1 }
        let mine = sent.filter { $0.workspace == workspace }
        for message in mine {
            let count = counts.removeValue(forKey: message.text) ?? 0
            // A channel whose maker was removed before anybody heard of it is gone with all in it.
            let isExcused = isExcused(message) || isGone(message.channel, in: view)
            if message.isAcknowledged, count != 1, !isExcused || count > 1 {
                problems.append("\(message.text) was acknowledged and is there \(count) times")
            } else if count > 1 {
                problems.append("\(message.text) is there \(count) times")
            }
        }
        problems += counts.keys.sorted().map { "nobody wrote \($0)" }
        problems += view.disorder(sent: mine)
        let told = view.told.sorted()
        if told != Set(told).sorted() { problems.append("a message was told twice") }
        if Set(told) != Set(view.ids) {
            let missing = Set(view.ids).subtracting(told).count
            let surplus = Set(told).subtracting(view.ids).count
            problems.append("\(missing) messages were not told, \(surplus) told are not there")
        }
        return problems
    }
}

/// What one node shows of one workspace.
private struct WorkspaceView {
    private(set) var summary = ""
    private(set) var texts: [String] = []
    private(set) var ids: [String] = []
    private(set) var told: [String] = []
    private(set) var channelNames: Set<String> = []
    private var textsByChannel: [String: [String]] = [:]

    init(_ workspace: String, on node: SimulatedNode) {
        var lines: [String] = []
        let members = node.ask("member.list", ["workspace": .string(workspace), "limit": 100])
        for member in members?["items"]?.arrayValue ?? [] {
            let (id, name) = (member["id"]?.stringValue, member["name"]?.stringValue)
            lines.append("member \(id ?? "?") \(name ?? "?")")
        }
        let channels = node.ask(
            "channel.list", ["workspace": .string(workspace), "scope": "all", "limit": 100])
        for channel in channels?["items"]?.arrayValue ?? [] {
            guard let id = channel["id"]?.stringValue else { continue }
            channel["name"]?.stringValue.map { _ = channelNames.insert($0) }
            lines.append("channel \(id) \(channel["name"]?.stringValue ?? "?")")
            for field in ["topic", "owner", "archived"] {
                lines.append("\(field) \(id) \(channel[field]?.text ?? "?")")
            }
            let people = node.ask(
                "channel.members",
                ["workspace": .string(workspace), "channel": .string(id), "limit": 100])
            for person in people?["items"]?.arrayValue ?? [] {
                lines.append(
                    "in \(id) \(person["id"]?.text ?? "?") \(person["role"]?.text ?? "?")")
            }
            for message in Scenes.messages(of: id, on: node, in: workspace) {
                let shown = message["text"]?.stringValue ?? "?"
                // What was edited begins with the text that was sent.
                let text = String(shown.prefix { $0 != "~" })
                let author = message["author"]?["id"]?.stringValue ?? "?"
                let messageID = message["id"]?.stringValue ?? "?"
                texts.append(text)
                ids.append(messageID)
                textsByChannel[id, default: []].append(text)
                lines.append("message \(id) \(messageID) \(author) \(shown)")
                let signs = (message["reactions"]?.arrayValue ?? []).map {
                    "\($0["emoji"]?.text ?? "?")\($0["count"]?.text ?? "?")"
                }
                lines.append(
                    "said \(messageID) \(signs) \(message["pinned"]?.text ?? "?") "
                        + (message["version"]?.text ?? "?"))
            }
        }
        summary = lines.sorted().joined(separator: "\n")
        told = Self.told(workspace, by: node)
    }

    /// The ids of all messages of which there are events.
    private static func told(_ workspace: String, by node: SimulatedNode) -> [String] {
        var told: [String] = []
        var since = "all"
        while true {
            let page = node.ask(
                "events.wait",
                [
                    "since": .string(since), "types": ["message.created"], "limit": 100,
                    "timeout_ms": 0,
                ])
            let items = page?["items"]?.arrayValue ?? []
            told += items.compactMap { item in
                let message = item["data"]
                guard message?["workspace"]?.stringValue == workspace else { return nil }
                return message?["id"]?.stringValue
            }
            guard !items.isEmpty, let next = page?["next"]?.stringValue else { return told }
            since = next
        }
    }

    /// Pairs of one author's messages in one channel that are shown the wrong way round.
    func disorder(sent: [RandomLife.Sent]) -> [String] {
        var places: [String: Int] = [:]
        for (place, message) in sent.enumerated() { places[message.text] = place }
        var problems: [String] = []
        for texts in textsByChannel.values {
            var last: [Substring: (Int, String)] = [:]
            for text in texts {
                guard let place = places[text] else { continue }
                let author = text.prefix { $0 != "-" }
                if let (other, before) = last[author], other > place {
                    problems.append("\(before) is shown before \(text)")
                }
                last[author] = (place, text)
            }
        }
        return problems.sorted()
    }
}
