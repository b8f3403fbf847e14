/// The meaning of the codes of links and dials, for people: why a link ended (`LinkEnding`), or why
/// nobody could be reached. Programs and logs use the codes.
public enum LinkWords {
    /// The meaning of a code, as part of a sentence about a peer; a code from a later version, and
    /// other text, unchanged.
    public static func text(_ code: String) -> String { table[code] ?? code }

    static let table: [String: String] = links.merging(dials) { word, _ in word }
        .merging(mistakes) { word, _ in word }

    /// Why nobody could be reached.
    private static let dials = [
        "refused": "the connection was refused",
        "timeout": "no answer in time",
        "no_route": "no route to that address",
        "not_permitted": "this machine does not allow the connection",
        "no_descriptor": "this node has too many open connections",
        "failed": "the connection failed",
        "no_address": "no address to connect to",
        "bad_address": "that address is not valid",
        "no_such_name": "that host name was not found",
        "stopping": "this node was shutting down",
        "suspended": "the network is suspended",
        "unreachable": "no address could be reached",
    ]

    /// Why a link ended, where nobody did anything wrong.
    private static let links = [
        "handshake.unknown": "no workspace in common",
        "handshake.short": "the other side closed the connection at once",
        "handshake.timeout": "no answer in time",
        "handshake.crowded": "too many were connecting at once",
        "handshake.version": "the other side runs an incompatible version",
        "auth.unknown": "another device answered there",
        "auth.blocked": "you removed this peer",
        "link.self": "that address is this device",
        "link.closed": "the other side closed the connection",
        "link.crowded": "too many connections at once",
        "link.doubled": "another connection to the same device was kept",
        "link.ended": "the connection was no longer needed",
        "link.farewell": "the other side is no longer a member",
        "link.other_device": "another device answered there",
        "link.over": "linking has ended",
        "join.busy": "someone else is joining right now",
        "join.over": "joining has ended",
        "removed": "the other side says you are no longer a member",
        "net.suspended": "the network is suspended",
        "peer.removed": "you removed this peer",
        "session.locked": "this node was locked",
        "session.closed": "you logged out",
        "transport.exhausted": "the connection had to be renewed",
        "transport.stalled": "the other side stopped reading",
        "transport.dead": "the other side stopped sending",
    ]

    /// Why a link ended, where what came was not as it must be.
    private static let mistakes = [
        "handshake.bad": "no compatible node runs at that address",
        "handshake.bad_key": "the other side has a key that is not valid",
        "handshake.bad_mac": "the other side did not prove that it is in your workspace",
        "handshake.replayed": "an earlier connection was repeated",
        "auth.binding": "the other side did not prove which device it is",
        "auth.budget": "the other side sent more than it may",
        "auth.fault": "the other side sent something its author may not write",
        "join.protocol": "the other side did not join as it must",
        "link.protocol": "the other side did not link as it must",
        "frame.bad_length": "the other side sent something unreadable",
        "frame.bad_fragment": "the other side sent something unreadable",
        "frame.unfinished": "the other side left a message unfinished",
        "transport.bad_mac": "the data was changed on its way",
        "op.malformed": "the other side sent something that is not valid",
        "op.too_deep": "the other side sent something that is not valid",
        "op.too_large": "the other side sent something too large",
        "op.too_many_deps": "the other side sent something that is not valid",
        "op.bad_signature": "the other side sent something with a wrong signature",
        "op.wrong_scope": "the other side sent something that belongs elsewhere",
        "sync.malformed": "the other side sent something unreadable",
        "sync.too_deep": "the other side sent something unreadable",
        "sync.unsupported": "the other side sent something this version does not know",
        "sync.too_large": "the other side sent something too large",
        "sync.unasked": "the other side sent something nobody asked for",
        "sync.out_of_turn": "the other side answered out of turn",
        "sync.too_many": "the other side asked for too much",
        "sync.unresponsive": "the other side left requests unanswered",
        "sync.violation": "the other side asked for too much",
    ]
}
