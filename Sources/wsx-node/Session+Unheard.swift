import PeerNode
import WorkspaceModel

/// What is told of a name in a text that mentions nobody.
extension SessionPart {
    /// So many of those whom a name may mean are named.
    private static var fittingMax: Int { 3 }

    /// That a name in a text means nobody: why, and what does where several people fit.
    ///
    /// - Parameter name: with its sign.
    func told(_ name: String, in message: JSONValue) -> String {
        // What cannot be looked up is nothing to fail for: the message is sent.
        let people = try? mentionable(in: message)
        return Self.told(name, among: people ?? [])
    }

    /// - Parameter people: whom a text there can mention: id and name.
    static func told(_ name: String, among people: [JSONValue]) -> String {
        let part = String(name.drop { $0 == "@" })
        let found = people.filter { PartOfName.is(part, in: $0["name"]?.stringValue ?? "") }
        guard found.count > 1 else {
            return "'\(name)' mentions nobody: no one here has that name"
        }
        var ways = found.prefix(fittingMax).map { person -> String in
            let whole = person["name"]?.stringValue ?? ""
            let isShared = found.contains { other in
                other["id"] != person["id"]
                    && NameFolding.matches(other["name"]?.stringValue ?? "", whole)
            }
            // Of two with one name each is meant by the id alone.
            return "'@" + sanitised(isShared ? person["id"]?.stringValue ?? "" : whole) + "'"
        }
        if found.count > fittingMax { ways.append("…") }
        let last = ways.removeLast()
        return "'\(name)' mentions nobody: \(found.count) people fit. To mention one, write "
            + ways.joined(separator: ", ") + " or " + last
    }

    /// Everybody whom a text can mention where a message is: those who are in a private conversation,
    /// or members of the workspace.
    private func mentionable(in message: JSONValue) throws(NodeError) -> [JSONValue] {
        var given = JSONObject()
        given["workspace"] = message["workspace"]
        var place = given
        place["channel"] = message["channel"]
        var client = try client()
        let channel = try client.call("channel.get", place)
        guard channel["kind"] == "channel", channel["private"] != true else {
            return try Asking(self).every("channel.members", place)
        }
        return try Asking(self).every("member.list", given).filter { $0["role"] != "guest" }
    }
}
