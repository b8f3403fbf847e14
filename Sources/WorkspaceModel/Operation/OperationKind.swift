/// Header field 1: determines who can read the payload, and which rules apply to it.
public enum OperationKind: UInt64, CaseIterable, Sendable {
    /// Sealed under a document key; what members say.
    case content = 1
    /// Plaintext but for names; who may do what.
    case authority = 2
    /// Authority inside a private document, see `PrivatePayload`: relays read which workspace a
    /// root belongs to, members the rest. Sealed under the authority subkey of an epoch key.
    case privateAuthority = 3
    /// Boxes for single devices, see `MailboxPayload`; sealed under no epoch key.
    case mailbox = 4
    /// Erases payloads; its targets are plaintext so that relays erase too.
    case redact = 5

    /// Bytes a payload of `kind` may have; an unknown kind has the bound of content.
    public static func payloadBytesMax(_ kind: UInt64) -> Int {
        kind == authority.rawValue ? Limits.authPayloadBytesMax : Limits.payloadBytesMax
    }

    /// Dependencies an operation of `kind` may cite. Both kinds of authority cite all heads.
    public static func dependenciesMax(_ kind: UInt64) -> Int {
        kind == authority.rawValue || kind == privateAuthority.rawValue
            ? Limits.authDependenciesMax : Limits.dependenciesMax
    }
}
