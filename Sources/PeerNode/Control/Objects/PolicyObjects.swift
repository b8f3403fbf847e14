public import WorkspaceModel

/// A device that has acknowledged an operation.
public struct AcknowledgementObject: ControlObject {
    /// `d_…`.
    public let device: String
    /// Whose it is; `nil` for a device of nobody.
    public let member: PersonObject?

    /// Both fields.
    public var json: JSONValue {
        ["id": .string(device), "device": .string(device), "member": member?.json ?? .null]
    }
}

/// Who may join a workspace, who may invite, and how many files a message may have.
public struct PolicyObject: ControlObject {
    /// The workspace, `w_…`.
    public let workspace: String
    /// `owner`, `admins` or `members`.
    public let mayInvite: String
    /// Who may verify addresses: `owner`, `admins` or `members`.
    public let mayAttest: String
    /// `closed`, `request` or `open`.
    public let join: String
    /// The link by which people join or ask to; `nil` while joining is closed, or the link is used
    /// up.
    public let address: String?
    /// Files that one message may have.
    public var attachments = Int64(Limits.filesPerMessageUsual)

    /// All fields; the workspace is the id.
    public var json: JSONValue {
        [
            "id": .string(workspace), "who_may_invite": .string(mayInvite),
            "who_may_attest": .string(mayAttest), "join": .string(join),
            "address": JSONValue(orNull: address), "attachments": .integer(attachments),
        ]
    }
}

/// A request to join.
public struct RequestObject: ControlObject {
    /// `r_…`, equal on every node.
    public let id: String
    /// The name that the person gave; `nil` while the key is not held.
    public let name: String?
    /// The member id that the person would have, `u_…`.
    public let member: String
    /// The device that asks, `d_…`.
    public let device: String
    /// By which invite, `i_…`.
    public let invite: String
    /// When it asked first, milliseconds since 1970.
    public let at: Int64
    /// `pending`, `approved`, `rejected`, or `void` when the invite ended first.
    public let state: String
    /// Information for the decision: whether the person was a member before, and how that ended.
    public var note: String?

    /// All fields.
    public var json: JSONValue {
        [
            "id": .string(id), "name": JSONValue(orNull: name), "member": .string(member),
            "device": .string(device), "invite": .string(invite), "at": .integer(at),
            "state": .string(state), "note": JSONValue(orNull: note),
        ]
    }
}

/// An invite that was declined.
public struct DeclinedObject: ControlObject {
    /// The workspace that it was for, `w_…`.
    public let workspace: String
    /// Whether this home was waiting to be let in.
    public let wasPending: Bool

    /// Both fields; the workspace is the id.
    public var json: JSONValue {
        ["id": .string(workspace), "declined": true, "was_pending": .bool(wasPending)]
    }
}
