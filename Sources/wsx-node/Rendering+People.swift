import PeerNode
import WorkspaceModel

/// Channels, members and the state of the session as people read them.
extension Rendering {
    func channel(_ channel: JSONValue) -> String {
        let isDirect = Self.isDirect(channel)
        var rows = [("name", shown(channel["name"])), ("id", shown(channel["id"]))]
        rows.append(("kind", kind(of: channel)))
        for (title, field) in [("topic", "topic"), ("for", "description")] {
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
            rows.append(("members", shown(channel["members"]) + (isIn ? ", you too" : "")))
            if !isIn { rows.append(("you are", "not in it")) }
        }
        if channel["archived"] == true { rows.append(("archived", "nobody writes in it")) }
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
            rows.append(("made", moment(channel["created_at"])))
        }
        return lines(rows)
    }

    /// Whether it is a direct conversation: with others, or with oneself.
    static func isDirect(_ channel: JSONValue?) -> Bool {
        channel?["kind"] == "dm" || channel?["kind"] == "self"
    }

    private func kind(of channel: JSONValue) -> String {
        if channel["kind"] == "self" { return "for you alone, on all of your devices" }
        if channel["kind"] == "dm" { return "direct conversation, for its people alone" }
        if channel["default"] == true { return "public, and everybody is in it" }
        guard channel["private"] == true else { return "public" }
        return channel["history"] == "from-join"
            ? "private; whoever is added reads what comes after" : "private"
    }

    private func notices(_ channel: JSONValue) -> [(String, String)] {
        var rows: [(String, String)] = []
        if channel["muted"] == true {
            let isEnding = channel["muted_until"]?.isNull == false
            rows.append(("muted", isEnding ? "until \(moment(channel["muted_until"]))" : "yes"))
        }
        if let level = channel["notify"]?.stringValue, level != "all" {
            rows.append(("notices", level == "none" ? "none" : "of \(sanitised(level)) only"))
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
                    + (member["twin"] == true ? " (another's name looks like this)" : "")
            ),
            ("id", shown(member["id"])), ("role", shown(member["role"])),
            ("devices", shown(member["devices"])), ("came", moment(member["joined_at"])),
        ]
        if member["presence"]?.isNull == false {
            rows.append(("there", presenceWords(member["presence"])))
        }
        rows += profileRows(member)
        if member["removed"] == true {
            let isKnown = member["removed_at"]?.isNull == false
            rows.append(("out", isKnown ? "since \(moment(member["removed_at"]))" : "yes"))
        }
        return lines(rows)
    }

    /// What somebody says of himself; behind what only the caller sees, who that is.
    func profile(_ profile: JSONValue) -> String {
        let isSelf = profile["self"] == true
        var rows = [
            ("name", shown(profile["name"]) + (isSelf ? " (you)" : "")),
            ("id", shown(profile["id"])),
        ]
        let there = profile["presence"]
        rows.append(("there", there?.isNull == false ? presenceWords(there) : "no"))
        return lines(rows + profileRows(profile))
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
            return (title, shown + (isHidden ? "  (only you see it)" : ""))
        }
    }

    /// What somebody has just chosen.
    func presence(_ presence: JSONValue) -> String { "you are \(presenceWords(presence))\n" }

    func presenceWords(_ presence: JSONValue?) -> String {
        var words = shown(presence?["state"])
        if let emoji = presence?["emoji"]?.stringValue { words += " " + sanitised(emoji) }
        if let text = presence?["text"]?.stringValue { words += ": " + sanitised(text) }
        if presence?["until"]?.isNull == false {
            words += ", until \(moment(presence?["until"]))"
        }
        return words
    }

    /// Whether the node is open, and by what it opens.
    func session(_ session: JSONValue) -> String {
        if session["wiped"] == true {
            return "the home is wiped: keys, messages, settings and what was set aside in it\n"
                + "  backups that you wrote elsewhere are still there\n"
        }
        let isLocked = session["locked"] == true
        let state: String
        switch session["state"]?.stringValue {
        case "open": state = "open"
        case "passcode": state = "locked, and opens to the passcode or the passphrase"
        case "locked": state = "locked, and opens to the passphrase"
        case "closed": state = "logged out, and opens to the passphrase"
        default: state = "no identity yet"
        }
        var rows = [("node", state)]
        if isLocked {
            rows.append(
                ("peers", session["relaying"] == true ? "go on being served" : "not connected"))
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
