import PeerNode
import WorkspaceModel

/// Stars and reminders in a conversation.
extension Chat {
    func setStar(_ message: String, isOn: Bool) throws(NodeError) {
        let given: JSONObject = ["message": .string(try room.message(message))]
        if isOn {
            _ = try call("message.star", given)
        } else {
            _ = try call("message.unstar", given)
        }
        remark(isOn ? "starred; /stars shows them" : "no longer starred")
    }

    func tellStars() throws(NodeError) {
        let answer = try call("message.list", ["starred": true])
        var rendering = rendering
        asking { client in
            let home = workspaceID.map { JSONValue.string($0) }
            _ = try? session.readNames(home: home, &client, into: &rendering.channelNames)
        }
        print(rendering.text(answer, of: "message.list"))
    }

    /// - Parameters:
    ///   - about: a message reference as in the help, or `here` for the conversation.
    ///   - words: the time, and the text of the reminder.
    func remind(_ about: String, _ words: String) throws(NodeError) {
        let (when, text) = Reminding.parted(words) { Reminding.time($0, io) != nil }
        guard let at = Reminding.time(when, io) else { throw Reminding.noTime(in: words) }
        var given: JSONObject = ["at": .integer(at)]
        if about == "here" {
            given["channel"] = .string(room.id)
        } else {
            given["message"] = .string(try room.message(about))
        }
        if !text.isEmpty { given["text"] = .string(text) }
        print(rendering.text(try call("reminder.create", given), of: "reminder.create"))
    }

    /// Dismisses all that are due.
    func dismissReminders() throws(NodeError) {
        let page = try call("reminder.list", ["limit": 1_000])
        let due = (page["items"]?.arrayValue ?? []).filter { $0["state"] == "due" }
        for reminder in due { _ = try call("reminder.cancel", ["id": reminder["id"] ?? .null]) }
        remark(due.isEmpty ? "no reminder is due" : "dismissed \(due.count)")
    }

    /// One line for a due reminder and its subject.
    func tellReminder(_ event: JSONValue) {
        guard hasReader, event["backfill"] != true, let data = event["data"], !data.isNull,
            data["state"] == "due"
        else { return }
        remark("── reminder: \(excerpt(rendering.reminderText(data), columns: 60)) ──")
        var place = rendering.fitting(rendering.shown(data["channel_name"]))
        if data["text"]?.isNull == false, let preview = data["preview"], !preview.isNull {
            let text = preview["text"]?.stringValue.map { excerpt($0) } ?? "(deleted)"
            place += ", \(rendering.person(preview["author"])): \(text)"
        }
        remark("   in \(place); /dismiss when done")
    }
}
