public import WorkspaceModel

/// Whether an address belongs to a member here (4.8.3).
public struct EmailCheckObject: ControlObject {
    /// The address as it is kept.
    public let email: String
    /// `ok`, `taken_here`, or `unknown` where this node has nobody to compare with.
    public let state: String
    /// The member who shows it, if any.
    public var member: PersonObject?

    /// All fields; the address is the id. Nobody knows all addresses, which `note` says.
    public var json: JSONValue {
        var object: JSONObject = [
            "id": .string(email), "email": .string(email), "state": .string(state),
            "member": member?.json ?? .null,
            "note": "only addresses that members of this workspace show are known here",
        ]
        if state == "taken_here" {
            object.append("seed", JSONValue(orNull: NodeError.Kind.duplicate.seed))
        }
        return .object(object)
    }
}

/// The progress of proving an address.
public struct EmailClaimObject: ControlObject {
    /// The address.
    public var email: String
    /// `pending` before a letter is sent, `sent`, or `verified`.
    public var state: String
    /// Who sent the letter, or has verified the address.
    public var verifier: PersonObject?
    /// When the code ends, milliseconds since 1970; `nil` where none was sent.
    public var expiresAt: Int64?

    /// All fields; the address is the id.
    public var json: JSONValue {
        [
            "id": .string(email), "email": .string(email), "state": .string(state),
            "verifier": verifier?.json ?? .null, "expires_at": JSONValue(orNull: expiresAt),
        ]
    }
}

/// What a verifier attests about a member (11.5).
public struct AttestationObject: ControlObject {
    /// The operation, `o_…`.
    public let id: String
    /// Who has proved it.
    public let member: PersonObject
    /// `email` or `account`.
    public let kind: String
    /// Whose account it is.
    public var provider: String?
    /// What was proved; `nil` for a withdrawn attestation.
    public var value: String?
    /// Who says so.
    public let by: PersonObject
    /// When, milliseconds since 1970.
    public let at: Int64
    /// Until when it counts, milliseconds since 1970.
    public var until: Int64?
    /// `valid`, `withdrawn`, `verifier_gone`, `taken` by somebody else, or `expired`.
    public let state: String

    /// All fields.
    public var json: JSONValue {
        [
            "id": .string(id), "member": member.json, "kind": .string(kind),
            "provider": JSONValue(orNull: provider), "value": JSONValue(orNull: value),
            "by": by.json, "at": .integer(at), "until": JSONValue(orNull: until),
            "state": .string(state),
        ]
    }
}

/// Who attests that an address in a profile is its member's, and since when.
public struct VerifiedMark: Equatable, Sendable {
    /// Who.
    public let by: PersonObject
    /// Since when, milliseconds since 1970.
    public let at: Int64

    /// A mark by somebody.
    public init(by: PersonObject, at: Int64) { (self.by, self.at) = (by, at) }

    /// Both fields.
    var json: JSONValue { ["by": by.json, "at": .integer(at)] }
}

/// Who attested that an address in a profile is its member's, and why that does not count.
public struct UnverifiedMark: Equatable, Sendable {
    /// `verifier_gone`, `taken` or `expired`, as of an attestation.
    public let state: String
    /// Who.
    public let by: PersonObject
    /// When, milliseconds since 1970.
    public let at: Int64

    /// A mark by somebody.
    public init(_ state: String, by: PersonObject, at: Int64) {
        (self.state, self.by, self.at) = (state, by, at)
    }

    /// All fields.
    var json: JSONValue { ["state": .string(state), "by": by.json, "at": .integer(at)] }
}

/// The command that sends letters on this node.
public struct MailCommandObject: ControlObject {
    /// For `/bin/sh -c`, `nil` for nothing.
    public let command: String?

    /// This command.
    public init(command: String?) { self.command = command }

    /// All fields; there is one such object on a node.
    public var json: JSONValue { ["id": "mail", "command": JSONValue(orNull: command)] }
}
