import WorkspaceModel

extension RandomLife {
    /// Everything that is wrong with the end of a healed run, in words; nothing when all is well.
    ///
    /// Checked: all nodes show the same channels, members and messages; every acknowledged message
    /// is there once, and nothing else but what was tried; each author's messages are in the order
    /// of writing; every message was told once; what was deleted is there nowhere; and a private
    /// channel is seen by those alone whom somebody added, who see the same.
    public func audit() -> [String] {
        var problems = world.failures
        for (workspace, nodes) in members {
            var views: [String: [Int]] = [:]
            var privates: [String: [String: [Int]]] = [:]
            for index in nodes {
                let view = WorkspaceView(workspace, on: world.nodes[index])
                views[view.summary, default: []].append(index)
                for (channel, summary) in view.privateSummaries {
                    privates[channel, default: [:]][summary, default: []].append(index)
                    if !mayShow(channel, index) { problems.append("node \(index) sees \(channel)") }
                }
                problems += check(view, of: workspace).map { "node \(index): \($0)" }
            }
            problems += blind(in: privates, of: workspace)
            for (channel, seen) in privates.sorted(by: { $0.key < $1.key }) where seen.count > 1 {
                problems.append("\(channel) differs: \(seen.values.map(\.description).sorted())")
                problems += seen.keys.sorted()
            }
            if views.count > 1 {
                problems.append("\(workspace) differs: \(views.values.map(\.description).sorted())")
                problems += views.keys.sorted()
            }
        }
        return problems
    }

    private func isGone(_ channel: String, in view: WorkspaceView) -> Bool {
        (cutsWords || channel.hasPrefix("board-")) && !view.channelNames.contains(channel)
    }

    /// Members of private channels who do not see them. A member who joined twice has a name twice.
    private func blind(
        in privates: [String: [String: [Int]]], of workspace: String
    ) -> [String] {
        guard !hasRemovals else { return [] }
        return privates.sorted { $0.key < $1.key }.compactMap { channel, seen in
            let nodes = Set(seen.values.joined())
            guard let index = nodes.min() else { return nil }
            let people = world.nodes[index].ask(
                "channel.members",
                ["workspace": .string(workspace), "channel": .string(channel), "limit": 100])
            let names = (people?["items"]?.arrayValue ?? []).compactMap { $0["name"]?.stringValue }
            let seeing = nodes.map { "Person \(person(of: $0))" }
            let all = Set(nodes.map(person(of:)).flatMap(self.nodes(of:)))
            return Set(names) == Set(seeing) && nodes == all
                ? nil : "\(channel) of \(names.sorted()) is seen by \(seeing.sorted())"
        }
    }

    private func mayShow(_ channel: String, _ index: Int) -> Bool {
        privateChannels.contains { $0.name == channel && $0.nodes.contains(person(of: index)) }
    }

    private func check(_ view: WorkspaceView, of workspace: String) -> [String] {
        var problems: [String] = []
        var counts: [String: Int] = [:]
        for text in view.texts { counts[text, default: 0] += 1 }
        let mine = sent.filter { $0.workspace == workspace }
        for message in mine {
            let count = counts.removeValue(forKey: message.text) ?? 0
            // A channel whose maker was removed before anybody heard of it is gone with all in it.
            let isExcused =
                isExcused(message) || isGone(message.channel, in: view) || message.isPutBack
                || message.deletion != nil || !isKept(by: message.keepers)
            if count > 0, !self.isExcused(message), isKept(by: message.deletionKeepers),
                message.isDeleted(on: world.nodes[message.author])
            {
                problems.append("\(message.text) was deleted and is there")
            } else if message.isAcknowledged, count != 1, !isExcused || count > 1 {
                problems.append("\(message.text) was acknowledged and is there \(count) times")
            } else if count > 1 {
                problems.append("\(message.text) is there \(count) times")
            }
        }
        problems += counts.keys.sorted().map { "nobody wrote \($0)" }
        problems += view.disorder(sent: mine)
        let told = view.told.sorted()
        if told != Set(told).sorted() { problems.append("a message was told twice") }
        // What is deleted before it comes is told of by nobody, and what came before stays told.
        let deleted = Set(mine.filter { $0.deletion != nil }.compactMap { id(of: $0) })
        let (shown, heard) = (Set(view.ids).subtracting(deleted), Set(told).subtracting(deleted))
        // What was told stays told when its author, or a channel, turns out to have had no right.
        let excused = mine.filter { isExcused($0) || isGone($0.channel, in: view) }
        let former = cutsWords ? Set(excused.compactMap { id(of: $0) }) : []
        let surplus = heard.subtracting(shown).subtracting(former).count
        // What came when it counted no more is told as refused, to its person alone, and as restored once
        // it counts after all.
        let missing = shown.subtracting(heard).subtracting(view.refused)
            .subtracting(view.restored).count
        if surplus > 0 || missing > 0 {
            problems.append("\(missing) messages were not told, \(surplus) told are not there")
        }
        return problems
    }

    private func id(of message: Sent) -> String? {
        world.nodes[message.author].value(message.call)?["id"]?.stringValue
    }
}

/// One node's view of one workspace.
private struct WorkspaceView {
    /// Of all that everybody sees.
    private(set) var summary = ""
    /// By the names of private channels.
    private(set) var privateSummaries: [String: String] = [:]
    private(set) var texts: [String] = []
    private(set) var ids: [String] = []
    /// Those of them that others do not take.
    private(set) var refused: Set<String> = []
    private(set) var told: [String] = []
    /// Told to count after all.
    private(set) var restored: Set<String> = []
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
            guard let name = channel["name"]?.stringValue else { continue }
            channelNames.insert(name)
            let shown = show(channel, of: workspace, on: node)
            if channel["private"] == true {
                privateSummaries[name] = shown.sorted().joined(separator: "\n")
            } else {
                lines += shown
            }
        }
        summary = lines.sorted().joined(separator: "\n")
        told = Self.told("message.created", of: workspace, by: node)
        restored = Set(Self.told("message.restored", of: workspace, by: node))
    }

    private mutating func show(
        _ channel: JSONValue, of workspace: String, on node: SimulatedNode
    ) -> [String] {
        guard let id = channel["id"]?.stringValue else { return [] }
        var lines = ["channel \(id) \(channel["name"]?.stringValue ?? "?")"]
        for field in ["topic", "owner", "archived"] {
            lines.append("\(field) \(id) \(channel[field]?.text ?? "?")")
        }
        let people = node.ask(
            "channel.members",
            ["workspace": .string(workspace), "channel": .string(id), "limit": 100])
        for person in people?["items"]?.arrayValue ?? [] {
            lines.append("in \(id) \(person["id"]?.text ?? "?") \(person["role"]?.text ?? "?")")
        }
        for message in Scenes.messages(of: id, on: node, in: workspace) {
            lines += show(message, in: id)
        }
        return lines
    }

    private mutating func show(_ message: JSONValue, in channel: String) -> [String] {
        let name = message["id"]?.stringValue ?? "?"
        ids.append(name)
        // Its author alone sees what others do not take, and is told so.
        if message["state"] == "refused" {
            refused.insert(name)
            return []
        }
        guard let shown = message["text"]?.stringValue else {
            return ["deleted \(channel) \(name)"]
        }
        // What was edited begins with the text that was sent.
        let text = String(shown.prefix { $0 != "~" })
        texts.append(text)
        textsByChannel[channel, default: []].append(text)
        let signs = (message["reactions"]?.arrayValue ?? []).map {
            "\($0["emoji"]?.text ?? "?")\($0["count"]?.text ?? "?")"
        }
        return [
            "message \(channel) \(name) \(message["author"]?["id"]?.stringValue ?? "?") \(shown)",
            "said \(name) \(signs) \(message["pinned"]?.text ?? "?") "
                + (message["version"]?.text ?? "?"),
        ]
    }

    /// The ids of all messages of which there are events of one type.
    private static func told(
        _ type: JSONValue, of workspace: String, by node: SimulatedNode
    ) -> [String] {
        var told: [String] = []
        var since = "all"
        while true {
            let page = node.ask(
                "events.wait",
                [
                    "since": .string(since), "types": .array([type]), "limit": 100,
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
        for (place, message) in sent.enumerated() where !message.isRepeated {
            places[message.text] = place
        }
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
