import PeerNode
import WorkspaceModel

/// Which conversations a stream shows that names none: those that one is in.
struct FollowedChannels {
    /// Whether one is in a conversation, by its id, as far as that was asked for.
    private var known: [String: Bool] = [:]

    /// Events that change who is in a channel.
    private static let memberships: [EventName] = [
        .kept(.channelMemberAdded), .kept(.channelMemberRemoved),
    ]

    /// Whether an event is of a conversation that one is in, or was until just now; one of a whole
    /// workspace always is.
    ///
    /// - Parameters:
    ///   - channel: the `c_…` that it belongs to, or `nil` for one of a workspace.
    ///   - ask: tells whether one is in that channel now.
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
