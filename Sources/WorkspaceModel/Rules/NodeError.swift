/// A failure that a person, or a program outside the node, gets to see.
///
/// It answers three questions: what happened (`message`), what to do now (`hint`), and how a
/// program tells it apart (`kind`, more finely `reason`). It never carries the text of a message,
/// a key or a token, so it may be logged. Quoted names are short and made by `quoted(_:)`.
public struct NodeError: Error, Equatable, Sendable {
    /// One parameter that was not as it must be.
    public struct Field: Equatable, Sendable {
        /// The parameter's name, as the caller wrote it.
        public let name: String
        /// A stable word: `missing`, `unknown`, `type`, `empty`, `too_long`, `range`, `form`.
        public let reason: String

        /// One row of `data.fields`.
        public init(name: String, reason: String) {
            self.name = name
            self.reason = reason
        }
    }

    /// The stable word, from which number, retry and statuses follow.
    public let kind: Kind
    /// What happened: one clause in the reader's words, without a full stop.
    public let message: String
    /// The next step, often a command to run; `nil` where there is none.
    public var hint: String?
    /// A finer word for programs and logs, such as `control.bad_json` or `invite.used`.
    public var reason: String?
    /// Every parameter that failed, the first one first.
    public var fields: [Field]
    /// More for programs: `candidates`, `oldest`, `retry_ms`, `pid`. Members of `data`.
    public var details: JSONObject

    /// A failure in these words. `NodeError+Made.swift` has the ready sentences.
    public init(
        _ kind: Kind, _ message: String, hint: String? = nil, reason: String? = nil,
        fields: [Field] = [], details: JSONObject = JSONObject()
    ) {
        self.kind = kind
        self.message = message
        self.hint = hint
        self.reason = reason
        self.fields = fields
        self.details = details
    }

    /// The status with which the command line ends because of this.
    public var exitStatus: Int32 { kind.exitStatus }

    /// The `error` member of a JSON-RPC answer: `{code, message, data}`.
    ///
    /// `data` has `kind`, `retry` and `hint` always; `reason`, `field`, `fields`, `seed` and the
    /// details where there are any.
    public var json: JSONValue {
        var data: JSONObject = ["kind": .string(kind.rawValue)]
        if let reason { data.append("reason", .string(reason)) }
        data.append("retry", .bool(kind.isRetryable))
        data.append("hint", JSONValue(orNull: hint))
        if let first = fields.first {
            data.append("field", .string(first.name))
            data.append("fields", .array(fields.map(\.json)))
        }
        for detail in details.members { data[detail.key] = detail.value }
        if let seed = kind.seed { data.append("seed", .string(seed)) }
        return [
            "code": .integer(Int64(kind.code)), "message": .string(message), "data": .object(data),
        ]
    }

    /// The failure that `json` is the `error` member of, as a client reads it.
    ///
    /// A kind that this build does not know is taken as `internal`, with the message it came with.
    public init(json: JSONValue) {
        let data = json["data"]
        let word = data?["kind"]?.stringValue ?? ""
        var details = data?.objectValue ?? JSONObject()
        for known in ["kind", "reason", "retry", "hint", "field", "fields", "seed"] {
            details[known] = nil
        }
        self.init(
            Kind(rawValue: word) ?? .internal,
            json["message"]?.stringValue ?? "wsx-node gave an error without a message",
            hint: data?["hint"]?.stringValue, reason: data?["reason"]?.stringValue,
            fields: (data?["fields"]?.arrayValue ?? []).compactMap(Field.init(json:)),
            details: details)
    }
}

extension NodeError.Field {
    var json: JSONValue { ["field": .string(name), "reason": .string(reason)] }

    init?(json: JSONValue) {
        guard let name = json["field"]?.stringValue, let reason = json["reason"]?.stringValue
        else { return nil }
        self.init(name: name, reason: reason)
    }
}

extension NodeError {
    /// A name from outside in single quotes, fit for a message: cut after 40 scalars, and every
    /// control or direction character shown as `\u{…}`.
    public static func quoted(_ name: String) -> String {
        var text = "'"
        for (count, scalar) in name.unicodeScalars.enumerated() {
            if count == 40 {
                text += "…"
                break
            }
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned:
                text += "\\u{" + String(scalar.value, radix: 16) + "}"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text + "'"
    }
}
