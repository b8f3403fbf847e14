import WorkspaceModel

/// First messages that were answered, by the ephemeral key in them (PROTOCOL.md, 5.1).
///
/// Whoever has recorded one knows no secret, and cannot change it; sent again it shows nothing, and
/// must not take a place that is kept for those who know one. A dialler makes a new one each time.
struct SeenGreetings {
    /// The first 16 bytes of an ephemeral key.
    typealias Name = Identifier16<SeenGreetings>

    private var names: Set<Name> = []
    /// The same in the order in which they came, a ring when it is full.
    private var order: [Name] = []
    private var oldest = 0

    /// Notes the first message of a connection: hint, length and message, 66 bytes.
    ///
    /// - Returns: whether it is the first time, as far as that is remembered. Nobody but who knows
    ///   a secret can make others forgotten.
    mutating func isNew(_ first: [UInt8]) -> Bool {
        let start = LinkHandshake.hintByteCount + 2
        guard first.count >= start + 16,
            let name = Name(untrusted: Array(first[start..<start + 16]))
        else { return true }
        guard names.insert(name).inserted else { return false }
        guard order.count >= Limits.greetingsMax else {
            order.append(name)
            return true
        }
        names.remove(order[oldest])
        order[oldest] = name
        oldest = (oldest + 1) % order.count
        return true
    }
}
