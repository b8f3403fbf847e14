import PeerNode
import WorkspaceModel

/// Handling the daemon's events.
extension Chat {
    /// Handles all events that have arrived.
    func drain() throws(NodeError) {
        while var current = client {
            let event: JSONValue?
            do throws(NodeError) { event = try current.nextEvent(within: 0) } catch {
                guard error.kind == .timeout else { throw error }
                client = current
                return
            }
            client = current
            guard let event else { throw ControlClient.ended }
            if let cursor = event["cursor"]?.stringValue { link.cursor = cursor }
            try take(event)
        }
    }

    private func take(_ event: JSONValue) throws(NodeError) {
        if let workspace = event["workspace"]?.stringValue, let own = workspaceID, workspace != own
        {
            return
        }
        switch EventName(of: event) {
        case .kept(.messageCreated):
            guard let message = event["data"], let id = message["id"]?.stringValue else { return }
            guard message["channel"] == .string(room.id) else {
                return try tellElsewhere(event, onlyDirect: true)
            }
            room.typing.end(message["author"]?["id"]?.stringValue)
            if !outbox.awaited.take(id), !room.has(id) { show(message) }
        case .kept(.mentionReceived):
            if event["data"]?["title"] != nil {
                tellMentionInNote(event)
            } else if event["data"]?["channel"] != .string(room.id) {
                try tellElsewhere(event, onlyDirect: false)
            }
        case .passing(.typing): hearTyping(event["data"])
        case .passing(.messageHeld): hearTick(event["data"])
        case .kept(.peerConnected), .kept(.syncCaughtUp):
            // Somebody may have received the message now.
            if let watch = bottom.watch { bottom.watch = (watch.message, io.now, watch.delay) }
        case .kept(.sessionLocked):
            throw NodeError(.locked, "the node is locked", hint: "wsx-node session unlock")
        case .kept(.messageRefused):
            if let id = event["data"]?["message"]?.stringValue, room.has(id) {
                remark(rendering.hints.text("! your message was refused: wsx-node why \(id)"))
            }
        case .kept(.channelDeleted):
            if event["data"]?["id"] == .string(room.id) {
                remark("── \(room.title) was deleted; /join another channel ──")
            }
        case .kept(.workspaceRemoved), .kept(.workspaceDeleted):
            remark("── you are no longer in this workspace; you can still read what was said ──")
        case .kept(.requestCreated): tellRequest(event)
        case .kept(.reminderDue): tellReminder(event)
        case .kept(.deviceAdded), .kept(.memberKeyChanged): tellDevice(event)
        case .kept(.deviceRenamed): tellDeviceName(event["data"])
        case _ where Rendering.isHappening(event): tellHappening(event)
        default: change(event)
        }
    }

    /// A shown message has changed.
    private func change(_ event: JSONValue) {
        guard let id = Rendering.subject(of: event), let known = room.messages[id],
            !session.globals.json, let line = rendering.change(event, of: known)
        else { return }
        print(line)
        if event["data"]?["text"] != nil, let now = event["data"] {
            room.note(now)
        } else if EventName(of: event) == .kept(.messageDeleted), var fields = known.objectValue {
            fields["deleted"] = ["by": event["data"]?["by"] ?? .null]
            fields["text"] = .null
            room.note(.object(fields))
        }
    }

    /// The conversation or its members have changed.
    private func tellHappening(_ event: JSONValue) {
        let place = Rendering.channel(of: event)
        // People joining or leaving the workspace are shown in the default channel.
        let isHere = place.map { $0 == .string(room.id) } ?? (room.channel["default"] == true)
        guard hasReader, !session.globals.json, isHere else { return }
        if EventName(of: event) == .kept(.channelMemberRemoved), event["backfill"] != true,
            let id = event["data"]?["member"]?["id"]?.stringValue, names.ownNames[id] != nil
        {
            return remark("── you are no longer in \(room.title) ──")
        }
        let line = rendering.happening(event, former: room.channel, channel: nil)
        if let channel = event["data"], channel["kind"] != nil { room.take(channel) }
        if let line { print(line) }
    }

    /// A person has a new device: with a stolen key, an attacker gets one too.
    private func tellDevice(_ event: JSONValue) {
        guard hasReader, event["backfill"] != true, let data = event["data"] else { return }
        let isOther = EventName(of: event) == .kept(.memberKeyChanged)
        let device = isOther ? data["device"] : data
        let person = rendering.person(data["member"])
        if let id = device?["id"]?.stringValue, named(device).isEmpty,
            names.unnamedDevices.count < 16
        {
            names.unnamedDevices[id] = isOther ? "\(person)'s" : "your"
        }
        if isOther { return remark("── \(person) added a device\(named(device)) ──") }
        let id = rendering.shortID(data["id"])
        remark("── a new device of yours is linked\(named(data)) ──")
        remark(rendering.hints.text("   if that was not you: wsx-node device revoke \(id)"))
    }

    /// Shows a new device's name, once; later renames are not shown here.
    private func tellDeviceName(_ device: JSONValue?) {
        guard let device, !Rendering.isNameless(device), let id = device["id"]?.stringValue,
            let whose = names.unnamedDevices.removeValue(forKey: id)
        else { return }
        remark("── \(whose) new device is called \(rendering.shown(device["name"])) ──")
    }

    /// A device's name, if it has sent it: a brand-new one has not yet.
    private func named(_ device: JSONValue?) -> String {
        guard let device, !Rendering.isNameless(device) else { return "" }
        return ": \(rendering.shown(device["name"]))"
    }

    /// Someone asks to join, and the reader may decide.
    private func tellRequest(_ event: JSONValue) {
        guard hasReader, event["backfill"] != true, event["data"]?["state"] == "pending" else {
            return
        }
        let who = rendering.shown(event["data"]?["name"] ?? event["data"]?["member"])
        remark(rendering.hints.text("── \(who) is asking to join: wsx-node request list ──"))
    }

    /// How long the state of another conversation is cached: it may be muted, unmuted
    /// or renamed meanwhile.
    private static let otherMilliseconds: Int64 = 10_000

    private func other(_ id: String) -> JSONValue? {
        let now = io.now
        names.others = names.others.filter {
            $0.value.at <= now && now &- $0.value.at < Self.otherMilliseconds
        }
        if let known = names.others[id] { return known.channel }
        guard let found = try? call("channel.get", ["channel": .string(id)]) else { return nil }
        names.others[id] = (found, now)
        return found
    }

    /// A note mentions the user, who does not see it here.
    private func tellMentionInNote(_ event: JSONValue) {
        guard hasReader, event["backfill"] != true, let note = event["data"],
            let id = note["id"]?.stringValue
        else { return }
        let author = rendering.person(note["by"])
        remark("· \(author) mentions you in the note \(rendering.shown(note["title"]))")
        remark(rendering.hints.text("  wsx-node note show \(sanitised(id))"))
    }

    /// One line about a message for the user in another conversation.
    private func tellElsewhere(_ event: JSONValue, onlyDirect: Bool) throws(NodeError) {
        guard hasReader, event["backfill"] != true, let message = event["data"],
            message["self"] == false, let id = message["channel"]?.stringValue
        else { return }
        guard let other = other(id), other["muted"] != true, other["notify"] != "none",
            onlyDirect == Rendering.isDirect(other)
        else { return }
        let title = ChatRoom(other).title
        let author = rendering.person(message["author"])
        remark("· \(author) in \(title): \(excerpt(message["text"]?.stringValue ?? ""))")
        remark("  /join \(title)")
    }
}
