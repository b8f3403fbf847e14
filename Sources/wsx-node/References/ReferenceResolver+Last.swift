import PeerNode
import WorkspaceModel

/// The conversation that somebody is in the middle of, who says `last` and names none.
extension ReferenceResolver {
    /// Conversations that are looked through at most, those in which something was said last.
    private static let usedMax = 50
    /// The newest messages of each that are looked at.
    private static let newestMax = 50

    /// The conversation with the newest message of the caller; `nil` where there is none.
    mutating func lastUsed() throws(NodeError) -> JSONValue? {
        let identity = try client.call("identity.show", [:])
        let own = Set(
            (identity["members"]?.arrayValue ?? []).compactMap { $0["member"]?.stringValue })
        func time(_ channel: JSONValue) -> Int64 { channel["last"]?["at"]?.integerValue ?? 0 }
        let recent = try conversations(["scope": "mine"]).filter { $0["last"]?.isNull == false }
            .sorted { time($0) > time($1) }
        var found: (channel: JSONValue, at: Int64)?
        for channel in recent.prefix(Self.usedMax) {
            // Nothing in what follows is newer.
            if let found, found.at >= time(channel) { break }
            let isOwn = channel["last"]?["author"]?["id"]?.stringValue.map(own.contains) ?? false
            guard let at = isOwn ? time(channel) : try newestOwn(in: channel),
                at > found?.at ?? .min
            else { continue }
            found = (channel, at)
        }
        return found?.channel
    }

    /// When the caller said something in a conversation last, behind which others have.
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
