import PeerNode
import WorkspaceModel

/// The conversations that a stream shows by default: those that the user is in.
struct FollowedChannels {
    /// Whether the user is in a conversation, by id, as far as requested.
    private var known: [String: Bool] = [:]

    /// Events that change who is in a channel.
    private static let memberships: [EventName] = [
        .kept(.channelMemberAdded), .kept(.channelMemberRemoved),
    ]

    /// Whether an event belongs to a conversation that the user is in, or was until now; always
    /// true for events of the workspace.
    ///
    /// - Parameters:
    ///   - channel: the event's `c_…`, or `nil` for an event of the workspace.
    ///   - ask: tells whether the user is in that channel now.
    mutating func include(
        _ event: JSONValue, of channel: String?, _ ask: (String) -> Bool
    ) -> Bool {
        guard let channel else { return true }
        let isMembership = EventName(of: event).map(Self.memberships.contains) == true
        let before = known[channel]
        if isMembership || before == nil { known[channel] = ask(channel) }
        return before == true || known[channel] == true
    }
}
