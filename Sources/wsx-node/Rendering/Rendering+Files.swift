import PeerNode
import WorkspaceModel

/// Files for people.
extension Rendering {
    /// A line for each file of a message: `[plan.pdf  1.2 MB]`, with its missing part.
    func files(_ files: JSONValue?) -> [String] {
        (files?.arrayValue ?? []).map { file in
            let size = file["size"]?.integerValue ?? 0
            let have = file["have"]?.integerValue ?? 0
            let state = have >= size ? "" : have > 0 ? ", partly here" : ", not here"
            return "[\(shown(file["name"]))  \(ByteText.text(size))\(state)\(lackingCopies(file))]"
        }
    }

    /// A remark if fewer devices have a file than its channel requires; else empty.
    private func lackingCopies(_ file: JSONValue) -> String {
        guard let wanted = file["copies_wanted"]?.integerValue,
            let copies = file["copies"]?.integerValue, copies < wanted
        else { return "" }
        return ", \(copies) of \(wanted) copies"
    }

    /// All known details of one file.
    func file(_ file: JSONValue) -> String {
        let size = file["size"]?.integerValue ?? 0
        let have = file["have"]?.integerValue ?? 0
        var text = "\(shown(file["name"]))  \(shown(file["id"]))\n"
        text += "  \(ByteText.text(size)), \(shown(file["type"]))\n"
        if file["complete"] == true {
            text += "  all of it is here"
        } else {
            text += "  \(ByteText.text(have)) of it here"
        }
        text += file["wanted"] == true ? ", being fetched" : ""
        text += file["kept"] == true ? ", kept\n" : "\n"
        if let since = file["waiting_since"]?.integerValue {
            text += "  waiting since \(moment(.integer(since))) for a device that has it\n"
        }
        let holders = file["holders"]?.integerValue ?? 0
        text += "  \(holders) \(holders == 1 ? "device is" : "devices are") known to have it\n"
        if let bad = file["bad"]?.integerValue {
            text += bad == 0 ? "  nothing is damaged\n" : "  \(bad) damaged parts were removed\n"
        }
        return text
    }

    /// The space used by files.
    func cache(_ cache: JSONValue) -> String {
        func bytes(_ field: String) -> Int64 { cache[field]?.integerValue ?? 0 }
        let files = bytes("files")
        var text = ""
        if let cleared = cache["cleared_bytes"]?.integerValue {
            text += cleared == 0 ? "nothing to clear\n" : "cleared \(ByteText.text(cleared))\n"
        }
        text += "\(files) \(files == 1 ? "file takes" : "files take") "
        text += "\(ByteText.text(bytes("bytes"))) of at most \(ByteText.text(bytes("quota")))\n"
        for (field, words) in [
            ("own_bytes", "added on this device"), ("kept_bytes", "you chose to keep"),
            ("clearable_bytes", "can be cleared"),
        ] where bytes(field) > 0 {
            text += "  \(ByteText.text(bytes(field))) \(words)\n"
        }
        switch cache["keep"]?.stringValue {
        case "7d": text += "files that other devices have are removed after 7 days unused\n"
        case "30d": text += "files that other devices have are removed after 30 days unused\n"
        default: text += "unused files stay until space is needed\n"
        }
        return text
    }

    func savedFile(_ file: JSONValue) -> String {
        "saved \(shown(file["path"]))  \(ByteText.text(file["size"]?.integerValue ?? 0))\n"
    }
}
