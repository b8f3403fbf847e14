/// How a call names a channel: `general`, `#general`, `c_…`, or `@Mina` (or `u_…`) for the
/// conversation with her.
public enum ChannelReference: Hashable, Sendable {
    /// The id, `c_…`.
    case id(String)
    /// The name without `#`; `#` in front makes a name of anything, also of `c_list`.
    case name(String)
    /// The direct conversation with a person.
    case direct(MemberReference)

    /// `nil` for text that is empty apart from its sign.
    public init?(_ text: String) {
        switch text.utf8.first {
        case UInt8(ascii: "#"):
            guard text.utf8.count > 1 else { return nil }
            self = .name(String(text.unicodeScalars.dropFirst()))
        case UInt8(ascii: "@"):
            guard let member = MemberReference(text) else { return nil }
            self = .direct(member)
        case nil: return nil
        // The whole id of a person, as candidate lists show it: somebody who pastes it means the
        // conversation with them.
        default:
            if text.utf8.count == 28, isIdentifier(text, prefix: "u_") {
                self = .direct(.id(text))
            } else {
                self = isIdentifier(text, prefix: "c_") ? .id(text) : .name(text)
            }
        }
    }
}

/// How a call names a person: `Mina`, `@Mina`, or `u_…`.
public enum MemberReference: Hashable, Sendable {
    /// The id, `u_…`.
    case id(String)
    /// The name without `@`.
    case name(String)

    /// `nil` for text that is empty apart from its sign.
    public init?(_ text: String) {
        let bare =
            text.utf8.first == UInt8(ascii: "@") ? String(text.unicodeScalars.dropFirst()) : text
        if bare.utf8.isEmpty { return nil }
        self = isIdentifier(bare, prefix: "u_") ? .id(bare) : .name(bare)
    }
}

/// How a call names a workspace: its name, or `w_…`.
public enum WorkspaceReference: Hashable, Sendable {
    /// The id, `w_…`.
    case id(String)
    /// The name.
    case name(String)

    /// `nil` for empty text.
    public init?(_ text: String) {
        if text.utf8.isEmpty { return nil }
        self = isIdentifier(text, prefix: "w_") ? .id(text) : .name(text)
    }
}

/// Whether `text` is `prefix` and then at least 6 lower-case letters and digits, as ids are.
func isIdentifier(_ text: String, prefix: String) -> Bool {
    let bytes = Array(text.utf8)
    guard bytes.count >= prefix.utf8.count + 6, bytes.count <= 80,
        bytes.starts(with: prefix.utf8)
    else { return false }
    return bytes.dropFirst(prefix.utf8.count).allSatisfy {
        (0x30...0x39).contains($0) || (0x61...0x7A).contains($0)
    }
}
