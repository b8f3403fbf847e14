public import WorkspaceModel

/// A person as others mention them: `{"id":"u_…","name":"Mina"}`.
public struct PersonObject: ControlObject, Equatable {
    /// `u_…`.
    public let id: String
    /// The name they are shown under.
    public let name: String
    /// Whether another's name looks like theirs, so that it takes the id to tell who it is.
    public var isTwin = false

    /// Both fields, and `twin` where it is so.
    public var json: JSONValue {
        isTwin
            ? ["id": .string(id), "name": .string(name), "twin": true]
            : ["id": .string(id), "name": .string(name)]
    }
}

/// A workspace.
public struct WorkspaceObject: ControlObject {
    /// `w_…`.
    public var id: String
    /// As it is shown.
    public var name: String
    /// What it is for.
    public var description: String?
    /// A blob, `b_…`.
    public var image: String?
    /// `owner`, `admin`, `member`, `guest`; `nil` after one was removed.
    public var role: String?
    /// Who owns it.
    public var owner: PersonObject?
    /// How many there are.
    public var members: Int64 = 0
    /// How many there are.
    public var channels: Int64 = 0
    /// How many messages are shown in its channels and conversations, where that is asked for.
    public var messages: Int64?
    /// Whether calls act in it that name none.
    public var isSelected = false
    /// Milliseconds since 1970.
    public var createdAt: Int64
    /// Hex, equal on two full members exactly when both hold the same.
    public var digest: String?
    /// Whether its owner ended it.
    public var isDeleted = false
    /// When one was removed from it, milliseconds since 1970.
    public var removedAt: Int64?
    /// By whom.
    public var removedBy: PersonObject?
    /// `removed`, `device_revoked`, `left` or `other`; `nil` for a member.
    public var removedHow: String?
    /// That as a sentence, with what to do.
    public var note: String?
    /// `member`, `deleted`, or what `removed_how` says.
    public var state = "member"
    /// The link by which anybody may join or ask to, where the policy allows it.
    public var address: String?
    /// To whom an owner who leaves hands it.
    public var successor: PersonObject?
    /// Whether somebody paid for it, where a ledger of this home says so or asks for it. Only of one
    /// workspace that is asked for.
    public var payment: PaymentObject?
    /// The devices that have acknowledged its end; `nil` while it exists.
    public var acknowledged: [AcknowledgementObject]?

    /// All fields, and `payment` where something is known of one.
    public var json: JSONValue {
        var fields: JSONObject = [
            "id": .string(id), "name": .string(name), "description": JSONValue(orNull: description),
            "image": JSONValue(orNull: image), "role": JSONValue(orNull: role),
            "owner": owner?.json ?? .null, "members": .integer(members),
            "channels": .integer(channels), "messages": JSONValue(orNull: messages),
            "selected": .bool(isSelected),
            "created_at": .integer(createdAt), "digest": JSONValue(orNull: digest),
            "deleted": .bool(isDeleted), "state": .string(state),
            "removed_at": JSONValue(orNull: removedAt), "removed_by": removedBy?.json ?? .null,
            "removed_how": JSONValue(orNull: removedHow), "note": JSONValue(orNull: note),
            "address": JSONValue(orNull: address), "successor": successor?.json ?? .null,
            "acknowledged": acknowledged.map { .array($0.map(\.json)) } ?? .null,
        ]
        if let payment { fields.append("payment", payment.json) }
        return .object(fields)
    }
}

/// A member of a workspace.
public struct MemberObject: ControlObject {
    /// `u_…`.
    public var id: String
    /// As they are shown.
    public var name: String
    /// `owner`, `admin`, `member` or `guest`.
    public var role: String
    /// Whether it is the caller.
    public var isSelf = false
    /// Whether another's name looks like theirs; `twin` is there only then.
    public var isTwin = false
    /// How many devices they use.
    public var devices: Int64 = 1
    /// Milliseconds since 1970.
    public var joinedAt: Int64
    /// Whether they were removed.
    public var isRemoved = false
    /// When they were, milliseconds since 1970.
    public var removedAt: Int64?
    /// How many of their operations count since a `--recut`; `nil` in any other answer.
    public var kept: Int64?
    /// Their invites that ended with a removal, `i_…`; `nil` in any other answer.
    public var endedInvites: [String]?
    /// The invites that stay valid, because they were created under a stronger role than the
    /// remover's; `nil` in any other answer.
    public var openInvites: [String]?
    /// The new invites with the links of the removed member's, `i_…`; `nil` in any other answer.
    public var keptInvites: [String]?
    /// What everybody in the workspace may see of their profile.
    public var profile: [ProfileChange.Field: String] = [:]
    /// Who has verified the address in it; `email_verified` is present only then.
    public var verified: VerifiedMark?
    /// How reachable they are, `nil` for who is offline or removed, and for guests.
    public var presence: PresenceObject.Shown?

    /// All fields; `presence` is `null` for who is offline or removed, and for guests.
    public var json: JSONValue {
        var object: JSONObject = [
            "id": .string(id), "name": .string(name), "role": .string(role),
            "self": .bool(isSelf), "devices": .integer(devices), "joined_at": .integer(joinedAt),
            "removed": .bool(isRemoved), "removed_at": JSONValue(orNull: removedAt),
            "kept": JSONValue(orNull: kept),
            "ended_invites": endedInvites.map { JSONValue(texts: $0) } ?? .null,
            "open_invites": openInvites.map { JSONValue(texts: $0) } ?? .null,
            "kept_invites": keptInvites.map { JSONValue(texts: $0) } ?? .null,
            "presence": presence?.json ?? .null,
        ]
        for field in ProfileChange.Field.allCases {
            object.append(field.word, JSONValue(orNull: profile[field]))
        }
        if let verified { object["email_verified"] = verified.json }
        if isTwin { object["twin"] = true }
        return .object(object)
    }
}

/// An invite.
public struct InviteObject: ControlObject {
    /// `i_…`.
    public var id: String
    /// `wsx://join/…` in lower case; `nil` where this home does not know the secret.
    public var link: String?
    /// `admin`, `member` or `guest`.
    public var role: String
    /// How many people may use it.
    public var uses: Int64
    /// How many did.
    public var used: Int64 = 0
    /// Milliseconds since 1970.
    public var expiresAt: Int64
    /// Ids of the channels to be added to.
    public var channels: [String] = []
    /// Whether somebody has to approve.
    public var needsApproval = false
    /// `open`, `used`, `expired` or `revoked`.
    public var state = "open"
    /// Who made it.
    public var createdBy: PersonObject
    /// For whom it was made, in the answer to that alone.
    public var email: String?
    /// How the link went there: as a `message` or by `mail`; `nil` where it is only in the answer.
    public var delivery: String?

    /// All fields; `code` is `null` until codes are built, `qr_text` is the link in capitals.
    public var json: JSONValue {
        var object: JSONObject = [
            "id": .string(id), "link": JSONValue(orNull: link), "code": .null,
            "qr_text": JSONValue(orNull: link.map { $0.uppercased() }), "role": .string(role),
            "uses": .integer(uses), "used": .integer(used), "expires_at": .integer(expiresAt),
            "channels": JSONValue(texts: channels), "approve": .bool(needsApproval),
            "state": .string(state), "created_by": createdBy.json,
        ]
        guard let email else { return .object(object) }
        object.append("email", .string(email))
        object.append("delivery", .string(delivery ?? "none"))
        // Nobody who is known here has proved the address.
        if delivery != "message" {
            object.append("seed", JSONValue(orNull: NodeError.Kind.unknownUser.seed))
        }
        return .object(object)
    }
}

/// The identity of this home.
public struct IdentityObject: ControlObject {
    /// The device, `d_…`.
    public var id: String
    /// The name under which one joins; `nil` while it is locked.
    public var name: String?
    /// Milliseconds since 1970; `nil` while it is locked.
    public var createdAt: Int64?
    /// Whether a passphrase protects the keys.
    public var hasPassphrase = false
    /// Whether the keys are closed now.
    public var isLocked = false
    /// The person's id in each workspace: ids `w_…` and `u_…`, and the workspace's name.
    public var members: [(workspace: String, member: String, name: String)] = []
    /// The recovery phrase: `none`, `unshown`, `shown`, `lost` before it was shown (a restored backup), or `elsewhere`, of a first device;
    /// `nil` while it is locked.
    public var recovery: String? = "none"
    /// The 24 words, in the one answer that shows them.
    public var phrase: String?

    /// All fields; `phrase` only where it is shown.
    public var json: JSONValue {
        let fields: JSONValue = [
            "id": .string(id), "name": JSONValue(orNull: name),
            "created_at": JSONValue(orNull: createdAt),
            "passphrase": .bool(hasPassphrase), "locked": .bool(isLocked),
            "recovery": JSONValue(orNull: recovery),
            "members": .array(
                members.map {
                    [
                        "workspace": .string($0.workspace), "member": .string($0.member),
                        "name": .string($0.name),
                    ]
                }),
        ]
        guard let phrase, var object = fields.objectValue else { return fields }
        object.append("phrase", .string(phrase))
        return .object(object)
    }
}
