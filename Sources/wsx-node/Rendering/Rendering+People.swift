import PeerNode
import WorkspaceModel

/// Channels, members and the session for people.
extension Rendering {
    func channel(_ channel: JSONValue) -> String {
        let isDirect = Self.isDirect(channel)
        var rows = [("name", shown(channel["name"])), ("id", shown(channel["id"]))]
        rows.append(("kind", kind(of: channel)))
        for (title, field) in [("topic", "topic"), ("about", "description"), ("image", "image")] {
            if let text = channel[field]?.stringValue { rows.append((title, sanitised(text))) }
        }
        if isDirect {
            rows.append(("people", names(channel["people"])))
        } else {
            if channel["owner"]?.isNull == false {
                rows.append(("owner", shown(channel["owner"]?["name"])))
            }
            if channel["admins"]?.arrayValue?.isEmpty == false {
                rows.append(("admins", names(channel["admins"])))
            }
            let isIn = channel["joined"] == true
            rows.append(("members", shown(channel["members"]) + (isIn ? ", including you" : "")))
            if !isIn { rows.append(("you are", "not in it")) }
        }
        if channel["archived"] == true { rows.append(("archived", "nobody can write in it")) }
        if let unread = channel["unread"]?.integerValue, unread > 0 {
            rows.append(("unread", String(unread)))
        }
        rows.append(contentsOf: notices(channel))
        if let last = channel["last"], !last.isNull {
            let author = shown(last["author"]?["name"])
            rows.append(
                (
                    "last",
                    "\(moment(last["at"]))  \(author): \(last["text"]?.stringValue.map(oneLine) ?? "-")"
                ))
        }
        if let made = channel["created_at"]?.integerValue, made > 0 {
            rows.append(("created", moment(channel["created_at"])))
        }
        return lines(rows)
    }

    /// Whether it is a direct conversation, with others or with yourself.
    static func isDirect(_ channel: JSONValue?) -> Bool {
        channel?["kind"] == "dm" || channel?["kind"] == "self"
    }

    private func kind(of channel: JSONValue) -> String {
        if channel["kind"] == "self" { return "only for you, on all your devices" }
        if channel["kind"] == "dm" { return "direct message, only for the people in it" }
        if channel["default"] == true { return "public, everyone is in it" }
        guard channel["private"] == true else { return "public" }
        return channel["history"] == "from-join"
            ? "private; new people see only what comes after they are added" : "private"
    }

    private func notices(_ channel: JSONValue) -> [(String, String)] {
        var rows: [(String, String)] = []
        if channel["muted"] == true {
            let isEnding = channel["muted_until"]?.isNull == false
            rows.append(("muted", isEnding ? "until \(moment(channel["muted_until"]))" : "yes"))
        }
        if let level = channel["notify"]?.stringValue, level != "all" {
            rows.append(("notify", level == "none" ? "none" : "\(sanitised(level)) only"))
        }
        return rows
    }

    private func names(_ people: JSONValue?) -> String {
        let names = (people?.arrayValue ?? []).map { shown($0["name"]) }
        return names.isEmpty ? "-" : names.joined(separator: ", ")
    }

    func member(_ member: JSONValue) -> String {
        var rows = [
            (
                "name",
                shown(member["name"]) + (member["self"] == true ? " (you)" : "")
                    + (member["twin"] == true ? " (someone else's name looks like this)" : "")
            ),
            ("id", shown(member["id"])), ("role", shown(member["role"])),
            ("devices", shown(member["devices"])), ("joined", moment(member["joined_at"])),
        ]
        if member["presence"]?.isNull == false {
            rows.append(("status", presenceWords(member["presence"])))
        }
        rows += profileRows(member)
        if member["removed"] == true {
            let isKnown = member["removed_at"]?.isNull == false
            rows.append(("removed", isKnown ? "since \(moment(member["removed_at"]))" : "yes"))
        }
        return lines(rows)
    }

    /// A person's profile, then the parts that only the caller sees.
    func profile(_ profile: JSONValue) -> String {
        let isSelf = profile["self"] == true
        var rows = [
            ("name", shown(profile["name"]) + (isSelf ? " (you)" : "")),
            ("id", shown(profile["id"])),
        ]
        let there = profile["presence"]
        rows.append(("status", there?.isNull == false ? presenceWords(there) : "offline"))
        return lines(rows + profileRows(profile) + accounts(profile))
    }

    private func profileRows(_ person: JSONValue) -> [(String, String)] {
        let titles = [
            ("about", "description"), ("country", "country"), ("phone", "phone"),
            ("email", "email"), ("image", "image"),
        ]
        return titles.compactMap { title, field in
            guard let value = person[field]?.stringValue else { return nil }
            let text = field == "phone" ? ProfileText.shown(phone: value) : value
            let isHidden = person["visible"]?[field] == "nobody"
            let lines = field == "description" ? text.split(separator: "\n") : [Substring(text)]
            let shown = lines.map { sanitised(String($0)) }.joined(separator: "\n")
            let mark = field == "email" ? verified(person) : ""
            return (title, shown + (isHidden ? "  (only you can see it)" : "") + mark)
        }
    }

    /// The presence just set.
    func presence(_ presence: JSONValue) -> String { "you are \(presenceWords(presence))\n" }

    /// What people call a presence.
    func stateWord(_ state: JSONValue?) -> String { state == "absent" ? "away" : shown(state) }

    func presenceWords(_ presence: JSONValue?) -> String {
        var words = stateWord(presence?["state"])
        if let emoji = presence?["emoji"]?.stringValue { words += " " + sanitised(emoji) }
        if let text = presence?["text"]?.stringValue { words += ": " + sanitised(text) }
        if presence?["until"]?.isNull == false {
            words += ", until \(moment(presence?["until"]))"
        }
        return words
    }

    /// Whether the node is unlocked, and how it can be unlocked.
    func session(_ session: JSONValue) -> String {
        if session["wiped"] == true {
            return "this home was wiped: keys, messages, settings and what was set aside in it\n"
                + "  backups that you saved elsewhere still exist\n"
        }
        let isLocked = session["locked"] == true
        let state: String
        switch session["state"]?.stringValue {
        case "open": state = "open"
        case "passcode": state = "locked; unlock with your passcode or passphrase"
        case "locked": state = "locked; unlock with your passphrase"
        case "closed": state = "logged out; unlock with your passphrase"
        default: state = "no identity yet"
        }
        var rows = [("node", state)]
        if isLocked {
            let isRelaying = session["relaying"] == true
            rows.append(("peers", isRelaying ? "still relaying for others" : "not connected"))
            let wait = session["retry_ms"]?.integerValue ?? 0
            if wait > 0 { rows.append(("next try", "in \((wait + 999) / 1_000) s")) }
            rows.append(("next", hints.text("wsx-node session unlock")))
        }
        if session["state"] != "none" {
            rows.append(
                ("passphrase", session["passphrase"] == true ? "protects the keys" : "none"))
            rows.append(("passcode", session["passcode"] == true ? "set" : "none"))
        }
        return lines(rows)
    }
}
