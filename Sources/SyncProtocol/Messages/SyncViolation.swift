public import WorkspaceModel

/// How a peer violated the protocol, which closes its link. What it sent before remains valid.
///
/// It contains no bytes of the peer, so it may be logged as it is.
public enum SyncViolation: Error, Hashable, Sendable {
    /// A message that does not parse.
    case malformed(type: UInt8, Malformed)
    /// A type that this version does not know and may not skip.
    case unknownMessage(type: UInt8)
    /// A message without a type.
    case emptyMessage
    /// A fragment whose head or length is impossible.
    case badFragment
    /// A message above its limit.
    case messageTooLarge
    /// Operations of a log that the pull did not request, or an answer without a pull.
    case unasked
    /// A step of a descent without the step before it, or one too many.
    case outOfTurn
    /// More pulls, or more frequent roots, than the rules allow.
    case tooMany
    /// So many unanswered pulls that the peer is useless.
    case unresponsive

    /// The stable word for logs and for the `error` message.
    public var code: String {
        switch self {
        case .malformed(_, let error):
            error.reason == .depthExceeded ? "sync.too_deep" : "sync.malformed"
        case .unknownMessage: "sync.unsupported"
        case .emptyMessage, .badFragment: "frame.bad_fragment"
        case .messageTooLarge: "sync.too_large"
        case .unasked: "sync.unasked"
        case .outOfTurn: "sync.out_of_turn"
        case .tooMany: "sync.too_many"
        case .unresponsive: "sync.unresponsive"
        }
    }
}
