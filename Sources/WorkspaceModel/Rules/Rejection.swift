/// Why an operation from outside was not taken.
///
/// A rejection is a pure function of the operation's own bytes and of what it cites, so every
/// node that sees the same operation gives the same one. What merely cites something unknown is
/// not rejected; it waits.
public enum Rejection: Error, Hashable, Sendable {
    /// Bytes that no author of this version would write.
    case malformed(Malformed)
    /// A header or a payload above its limit.
    case tooLarge
    /// More dependencies than an operation of its kind may cite.
    case tooManyDependencies
    /// No signature that covers the operation verifies.
    case badSignature
    /// It cites something of another document.
    case wrongScope
    /// Its hybrid timestamp is not after the one before it in its log.
    case outOfOrder
    /// A root operation whose id is not the document's name.
    case wrongRoot
    /// It can never have an effect: its author may not do this.
    case unauthorised

    /// The stable word for logs and for `data.reason`.
    public var word: String {
        switch self {
        case .malformed(let malformed):
            malformed.reason == .depthExceeded ? "op.too_deep" : "op.malformed"
        case .tooLarge: "op.too_large"
        case .tooManyDependencies: "op.too_many_deps"
        case .badSignature: "op.bad_signature"
        case .wrongScope: "op.wrong_scope"
        case .outOfOrder: "op.malformed"
        case .wrongRoot: "op.wrong_scope"
        case .unauthorised: "auth.fault"
        }
    }
}
