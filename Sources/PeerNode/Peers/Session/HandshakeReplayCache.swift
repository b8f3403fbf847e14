import WorkspaceModel

/// First messages that were answered, by the ephemeral key in them (PROTOCOL.md, 5.1).
///
/// Somebody who has recorded one knows no secret, and cannot change it; replaying it reveals
/// nothing, and must not take a place that is reserved for those who know one. A dialler makes a
/// new one each time.
struct HandshakeReplayCache {
    /// By the first 16 bytes of the ephemeral keys.
    private var names = RecentNames(max: Limits.greetingsMax)

    /// Notes the first message of a connection: hint, length and message, 66 bytes.
    ///
    /// - Returns: whether it is the first time, as far as that is remembered. Nobody but who knows
    ///   a secret can make others forgotten.
    mutating func isNew(_ first: [UInt8]) -> Bool {
        let start = LinkHandshake.hintByteCount + 2
        guard first.count >= start + 16,
            let name = RecentNames.Name(untrusted: Array(first[start..<start + 16]))
        else { return true }
        return names.insert(name)
    }
}
