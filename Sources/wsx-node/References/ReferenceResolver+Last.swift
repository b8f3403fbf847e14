import PeerNode
import WorkspaceModel

/// The default conversation of `last`: the one that the caller used most recently.
extension ReferenceResolver {
    /// How many conversations are searched at most, by latest message.
    private static let usedMax = 50
    /// How many of the newest messages of each are examined.
    private static let newestMax = 50

    /// The conversation with the caller's newest message; `nil` if there is none.
    mutating func lastUsed() throws(NodeError) -> JSONValue? {
        let identity = try client.call("identity.show", [:])
        let own = Set(
            (identity["members"]?.arrayValue ?? []).compactMap { $0["member"]?.stringValue })
        func time(_ channel: JSONValue) -> Int64 { channel["last"]?["at"]?.integerValue ?? 0 }
        let recent = try conversations(["scope": "mine"]).filter { $0["last"]?.isNull == false }
            .sorted { time($0) > time($1) }
        var found: (channel: JSONValue, at: Int64)?
        for channel in recent.prefix(Self.usedMax) {
            // All following conversations are older.
            if let found, found.at >= time(channel) { break }
            let isOwn = channel["last"]?["author"]?["id"]?.stringValue.map(own.contains) ?? false
            guard let at = isOwn ? time(channel) : try newestOwn(in: channel),
                at > found?.at ?? .min
            else { continue }
            found = (channel, at)
        }
        return found?.channel
    }

    /// The time of the caller's latest message in a conversation where others wrote after it.
    private mutating func newestOwn(in channel: JSONValue) throws(NodeError) -> Int64? {
        let given = scoped([
            "channel": channel["id"] ?? .null, "limit": .integer(Int64(Self.newestMax)),
        ])
        let page = try client.call("message.history", given)
        return (page["items"]?.arrayValue ?? []).last { message in
            message["self"] == true && message["deleted"]?.isNull != false
        }?["at"]?.integerValue
    }
}
