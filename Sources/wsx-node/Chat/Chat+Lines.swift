import PeerNode
import WorkspaceModel

/// Handling the lines that the user enters.
extension Chat {
    func obey(_ line: ChatLine) throws(NodeError) {
        // "Twice" means twice in a row.
        if case .delete = line {} else { outbox.doomed = nil }
        if case .say(let text) = line, hasReader, ChatLine.isForShell(text), outbox.doubted != text
        {
            outbox.doubted = text
            return remark("! that looks like a command for the shell; enter it again to send it")
        }
        outbox.doubted = nil
        switch line {
        case .nothing: break
        case .say(let text): try say(text)
        case .help:
            print(ChatLine.helpText(columns: hasReader ? screen.columns : 80))
        case .join(let name):
            try open(name)
            try join()
        case .direct(let name): try open(name)
        case .who(let message): try tellWho(message)
        case .answer(let message, let text):
            let id = try room.message(message)
            // An answer to an answer belongs to the same thread.
            try say(text, thread: room.messages[id]?["thread"]?.stringValue ?? id)
        case .thread(let message): try tellThread(message)
        case .older: try tellOlder()
        case .react(let message, let emoji):
            let id = try room.message(message)
            _ = try call("message.react", ["message": .string(id), "emoji": .string(emoji)])
        case .edit(let text):
            _ = try call(
                "message.edit", ["message": .string(try lastOwn()), "text": .string(text)])
        case .delete(let message):
            try delete(message.isEmpty ? try lastOwn() : try room.message(message))
        case .unread: try tellUnread()
        case .more(let action): try carryOut(action)
        case .quit: status = 0
        case .mismatch(let sentence): throw .usage(sentence)
        }
    }

    /// Deletes a message. The yes that this needs (`consent`) is the same line once more.
    private func delete(_ id: String) throws(NodeError) {
        let message = room.messages[id]
        let isOwn = message?["self"] == true
        switch session.consent(isSevere: !isOwn) {
        case .refused: throw session.unconfirmed
        case .asked where outbox.doomed != id:
            outbox.doomed = id
            let what = message.map { rendering.summary($0) } ?? "a message"
            return remark("! this deletes \(what) for everyone; repeat it to confirm")
        case .asked, .given: outbox.doomed = nil
        }
        _ = try call("message.delete", ["message": .string(id)])
        guard !isOwn else { return }
        remark(rendering.hints.text("undo: wsx-node message delete \(id) --undo"))
    }

    private func lastOwn() throws(NodeError) -> String {
        guard let id = room.lastOwn?["id"]?.stringValue else {
            throw NodeError(.notFound, "you have no messages here", hint: nil)
        }
        return id
    }

    private func tellWho(_ message: String?) throws(NodeError) {
        guard let message else {
            let answer = try call("channel.members", ["channel": .string(room.id)])
            return print(rendering.text(answer, of: "channel.members"))
        }
        let id = try room.message(message)
        var answer = try call("message.holders", ["message": .string(id)])
        let workspace = workspaceID.map { JSONValue.string($0) }
        asking { client in
            answer = session.labelled(answer, of: "message.holders", in: workspace, &client)
        }
        print(rendering.text(answer, of: "message.holders"))
    }

    private func tellUnread() throws(NodeError) {
        let answer = try call("unread.get", [:])
        var rendering = rendering
        asking { client in
            let home = workspaceID.map { JSONValue.string($0) }
            _ = try? session.readNames(home: home, &client, into: &rendering.channelNames)
        }
        print(rendering.text(answer, of: "unread.get"))
    }

    /// Searches messages, and shows each with the name of its conversation.
    func tellFound(_ text: String) throws(NodeError) {
        let answer = try call("search", ["query": .string(text), "limit": 10])
        var rendering = rendering
        asking { client in
            let home = workspaceID.map { JSONValue.string($0) }
            _ = try? session.readNames(home: home, &client, into: &rendering.channelNames)
        }
        print(rendering.text(answer, of: "search"))
    }

    /// Lets the command line request what makes an answer readable, if the daemon is there.
    func asking(_ body: (inout ControlClient) -> Void) {
        guard var current = client else { return }
        body(&current)
        client = current
    }

    // MARK: Conversations

    /// The workspace of the conversation.
    var workspaceID: String? { room.workspace }

    /// The default conversation.
    func defaultChannel() throws(NodeError) -> String {
        let channels = try call("channel.list", ["scope": "mine", "limit": 1_000])
        let items = channels["items"]?.arrayValue ?? []
        guard let id = (items.first { $0["default"] == true } ?? items.first)?["id"]?.stringValue
        else {
            throw NodeError(.notFound, "there are no channels yet", hint: "wsx-node channel create")
        }
        return id
    }

    /// Shows the last page of a conversation and continues in it.
    ///
    /// - Parameter name: as in commands: `general`, `#general`, `@Mina`, `c_…`.
    func open(_ name: String) throws(NodeError) {
        let channel =
            name.utf8.first == UInt8(ascii: "@")
            ? try call(
                "dm.open", ["members": JSONValue(texts: try people(named: name))])
            : try call("channel.get", ["channel": .string(name)])
        var next = ChatRoom(channel)
        let page = try call(
            "message.history",
            ["channel": .string(next.id), "limit": .integer(Int64(pageSize))])
        next.older = page["older"]?.stringValue
        let items = page["items"]?.arrayValue ?? []
        bottom.watch = nil
        bottom.tickDue = nil
        guard hasReader else {
            for item in items { next.note(item) }
            room = next
            return
        }
        let rendering = rendering
        for item in items {
            next.note(item, nameColumns: columnWidth(rendering.author(of: item)))
        }
        room = next
        asking { client in
            var named = rendering
            session.readOwnName(in: channel["workspace"], &client, into: &named, always: true)
            names.ownNames = named.ownNames
        }
        learnRoots(of: items)
        if let own = room.lastOwn {
            beginTick(of: own)
            try askTick(isShown: false)
        }
        showPage(items.map { room.messages[$0["id"]?.stringValue ?? ""] ?? $0 }, of: channel)
    }

    /// The same, with ids in place of parts of names.
    private func people(named text: String) throws(NodeError) -> [String] {
        var people: [String] = []
        for name in Self.people(text) {
            people.append(try session.personNamed(name, in: workspaceID))
        }
        return people
    }

    /// The names in `@Joon`, `@Joon,@Sora`, `@Joon, Sora` or `@Joon @Sora`.
    static func people(_ name: String) -> [String] {
        name.split(separator: ",").flatMap { part -> [String] in
            var names: [String] = []
            // A name may contain blanks; an `@` behind one begins the next name.
            for word in part.split(separator: " ") {
                if let last = names.last, word.first != "@" {
                    names[names.count - 1] = last + " " + word
                } else {
                    names.append(word.first == "@" ? String(word) : "@" + word)
                }
            }
            return names
        }
    }

    /// Joins the channel, if that is allowed.
    private func join() throws(NodeError) {
        guard room.isOutside else { return }
        let channel = try call("channel.join", ["channel": .string(room.id)])
        room.isOutside = channel["joined"] != true
        remark("you are now in \(room.title)")
    }

    private func showPage(_ items: [JSONValue], of channel: JSONValue) {
        let rendering = rendering
        let topic = channel["topic"]?.stringValue.map { ": " + sanitised($0) } ?? ""
        let title = TerminalText.truncated(
            "── \(room.title)\(topic)", toColumns: screen.columns - 3)
        remark(title + " ──")
        let place = UnreadPlace(items, unread: channel["unread"]?.integerValue ?? 0)
        var day = room.lastDay
        // Read replies are folded under their thread's first message; new ones are shown.
        for (part, folds) in [(items[..<place.start], true), (items[place.start...], false)] {
            if !folds, let line = place.line { remark(line) }
            let text = withRoots(rendering, of: part).messages(
                Array(part), lastDay: &day, namesChannel: false, foldsThreads: folds,
                authorColumns: room.authorColumns, mark: room.mark)
            if !text.isEmpty { print(text) }
        }
        room.lastDay = day
        room.lastThread = (items.last?["thread"] ?? .null).stringValue ?? room.newest
        if room.isOutside {
            remark("you are not in \(room.title) and get no notifications; /join \(room.title)")
        }
        if items.isEmpty { remark("no messages here yet; /help lists the commands") }
        bottom.hasUnmarked = !items.isEmpty
    }

    // MARK: Completing

    func complete() throws(NodeError) {
        for start in ChatCompletion.starts(editor) {
            let outcome: ChatCompletion.Outcome
            switch start.kind {
            case .words:
                outcome = ChatCompletion.complete(start.typed, among: ChatLine.words.map(\.word))
            case .channels:
                let channels = try names("channel.list", ["scope": "all"])
                outcome = ChatCompletion.complete(start.typed, among: channels)
            case .people:
                outcome = ChatCompletion.complete(start.typed, among: try names("member.list", [:]))
            }
            switch outcome {
            case .nothing: continue
            case .replace(let text): return editor.replace(from: start.place, with: text)
            case .choose(let names): return remark(names.joined(separator: "  "))
            }
        }
        write("\u{7}")
    }

    private func names(_ method: String, _ given: JSONObject) throws(NodeError) -> [String] {
        guard client != nil else { return [] }
        var given = given
        given["limit"] = 1_000
        let items = try call(method, given)["items"]?.arrayValue ?? []
        return items.compactMap { $0["name"]?.stringValue }
    }
}
