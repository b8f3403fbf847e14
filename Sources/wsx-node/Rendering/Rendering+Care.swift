import PeerNode
import WorkspaceModel

/// Backups, and settings of a workspace or a node, in words instead of fields.
extension Rendering {
    /// A backup that was made, verified or restored.
    func backup(_ backup: JSONValue) -> String {
        let size = ByteText.text(backup["bytes"]?.integerValue ?? 0)
        let seal = backup["sealed"] == true ? "sealed with a passphrase" : "not sealed"
        let count = backup["files"]?.integerValue ?? 0
        let files = "\(count) \(count == 1 ? "file" : "files")"
        let path = shown(backup["path"])
        if let home = backup["home"]?.stringValue {
            var text = "restored \(path) into \(sanitised(home))\n"
            text += "  made \(momentInSentence(backup["created_at"])), \(files)\n"
            if let aside = backup["moved_aside"]?.stringValue {
                text += "  what was in that folder is now in \(sanitised(aside))\n"
            }
            return text + "  next: " + hints.text("wsx-node up\n")
        }
        guard let operations = backup["operations"]?.integerValue else {
            return "saved \(path)  \(size)\n  \(seal), \(files)\n"
        }
        return "\(path) is whole  \(size)\n"
            + "  made \(momentInSentence(backup["created_at"])), \(seal)\n"
            + "  \(operations) operations, \(files)\n"
    }

    /// Who may join a workspace, invite and verify.
    func policy(_ policy: JSONValue) -> String {
        var rows = [
            ("join", joinWords(policy["join"])),
            ("may invite", people(policy["who_may_invite"])),
            ("may verify", people(policy["who_may_attest"])),
            ("files", "at most \(shown(policy["attachments"])) in a message"),
        ]
        if let address = policy["address"]?.stringValue {
            rows.append(("address", sanitised(address)))
        }
        return lines(rows)
    }

    /// The word that `policy set join` takes, and what it means.
    private func joinWords(_ rule: JSONValue?) -> String {
        switch rule?.stringValue {
        case "closed": "closed: only with an invite"
        case "request": "request: anyone who has the address may ask"
        case "open": "open: anyone who has the address"
        default: shown(rule)
        }
    }

    private func people(_ right: JSONValue?) -> String {
        switch right?.stringValue {
        case "owner": "the owner"
        case "admins": "the owner and admins"
        case "members": "all members"
        default: shown(right)
        }
    }

    /// What somebody is notified about, and the command that the node runs for it; of other
    /// commands that only.
    func notice(_ notice: JSONValue) -> String {
        let command = ("command", notice["command"]?.stringValue.map(sanitised) ?? "none")
        return switch notice["level"]?.stringValue {
        case nil: lines([command])
        case "mentions": lines([("notify", "mentions and direct messages"), command])
        case "none": lines([("notify", "nothing"), command])
        case let level?: lines([("notify", "\(sanitised(level)) messages"), command])
        }
    }

    /// A part of a file that is here.
    func part(_ have: JSONValue?, of size: JSONValue?) -> JSONValue {
        guard let have = have?.integerValue else { return .null }
        if let size = size?.integerValue, have >= size { return "all" }
        return .string(have == 0 ? "none" : ByteText.text(have))
    }
}
