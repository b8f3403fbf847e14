import PeerNode
import WorkspaceModel

/// The remark about a name in a text that mentions nobody.
extension SessionPart {
    /// How many possible people are listed.
    private static var fittingMax: Int { 3 }

    /// Why a name in a text mentions nobody, and what to write if several people fit.
    ///
    /// - Parameter name: with its sign.
    func told(_ name: String, in message: JSONValue) -> String {
        // A failed look-up must not be a failure: the message is sent.
        let people = try? mentionable(in: message)
        return Self.told(name, among: people ?? [])
    }

    /// - Parameter people: the people whom a text there can mention: id and name.
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
            // People with equal names are only distinguished by id.
            return "'@" + sanitised(isShared ? person["id"]?.stringValue ?? "" : whole) + "'"
        }
        if found.count > fittingMax { ways.append("…") }
        let last = ways.removeLast()
        return "'\(name)' mentions nobody: \(found.count) people fit. To mention one, write "
            + ways.joined(separator: ", ") + " or " + last
    }

    /// Everybody whom a message there can mention: the people in a private conversation, or the
    /// members of the workspace.
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
