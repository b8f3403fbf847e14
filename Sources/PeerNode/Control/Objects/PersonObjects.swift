public import WorkspaceModel

/// A person's profile.
public struct ProfileObject: ControlObject {
    /// `u_…`; for the caller, before joining a workspace, the device's, `d_…`.
    public var id: String
    /// `w_…`; `nil` before joining one.
    public var workspace: String?
    /// The person's name here.
    public var name: String
    /// Whether it is the caller's profile.
    public var isSelf = false
    /// The visible fields; in the caller's profile also the hidden ones.
    public var values: [ProfileChange.Field: String] = [:]
    /// Who sees each field, `workspace` or `nobody`; only in the caller's profile.
    public var visible: [ProfileChange.Field: String] = [:]
    /// Who has verified the address in it.
    public var verified: VerifiedMark?
    /// Why that address does not count as verified although somebody attested it;
    /// `email_unverified` is present only then.
    public var unverified: UnverifiedMark?
    /// The accounts that the person has linked; `accounts` is present only if there are some.
    public var accounts: [AccountMark] = []
    /// How reachable they are, `nil` for who is offline, and for guests.
    public var presence: PresenceObject.Shown?

    /// All fields; `visible` is `null` in profiles of others.
    public var json: JSONValue {
        var object: JSONObject = [
            "id": .string(id), "workspace": JSONValue(orNull: workspace), "name": .string(name),
            "self": .bool(isSelf),
        ]
        for field in ProfileChange.Field.allCases {
            object.append(field.word, JSONValue(orNull: values[field]))
        }
        var shown = JSONObject()
        for field in ProfileChange.Field.allCases {
            if let word = visible[field] { shown.append(field.word, .string(word)) }
        }
        object.append("visible", isSelf ? .object(shown) : .null)
        object.append("presence", presence?.json ?? .null)
        object.append("email_verified", verified?.json ?? .null)
        if let unverified { object.append("email_unverified", unverified.json) }
        if !accounts.isEmpty { object.append("accounts", .array(accounts.map(\.json))) }
        return .object(object)
    }
}

/// The presence of a person.
public struct PresenceObject: ControlObject {
    /// What others see.
    public struct Shown: Equatable, Sendable {
        /// `online`, `absent`, `busy`, `offline`, or `unknown` for members who were not heard of in
        /// this run or are linked only to others.
        public var state: String
        /// With what.
        public var text: String?
        /// A sign for it.
        public var emoji: String?
        /// Until when, milliseconds since 1970.
        public var until: Int64?

        /// For a person whose presence this node does not know.
        public static let unknown = Shown(state: "unknown")

        /// Whether nothing is known.
        var isUnknown: Bool { state == Shown.unknown.state }

        /// All fields.
        public var json: JSONValue {
            [
                "state": .string(state), "text": JSONValue(orNull: text),
                "emoji": JSONValue(orNull: emoji), "until": JSONValue(orNull: until),
            ]
        }
    }

    /// `u_…`.
    public var id: String
    /// What they are called.
    public var name: String
    /// Whether it is the caller.
    public var isSelf = false
    /// How reachable.
    public var shown = Shown(state: "offline")

    /// All fields.
    public var json: JSONValue {
        [
            "id": .string(id), "name": .string(name), "self": .bool(isSelf),
            "state": .string(shown.state), "text": JSONValue(orNull: shown.text),
            "emoji": JSONValue(orNull: shown.emoji), "until": JSONValue(orNull: shown.until),
        ]
    }
}
