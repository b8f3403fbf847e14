import PeerNode
import WorkspaceModel

/// Parses a word of the command line by the type of its parameter.
enum ArgumentText {
    /// The first word, and the rest without the blanks between.
    static func parted(_ text: String) -> (first: String, rest: String) {
        let scalars = text.unicodeScalars
        let end = scalars.firstIndex { $0.properties.isWhitespace } ?? scalars.endIndex
        let rest = scalars[end...].drop { $0.properties.isWhitespace }
        return (String(scalars[..<end]), String(rest))
    }

    /// The value, in the JSON type that the parameter has on the socket.
    ///
    /// Bounds are checked later, for all parameters at once. Times stay text for `resolvedTimes`,
    /// which needs the current time.
    ///
    /// - Parameter name: what a sentence calls it: `'-n'`, or `the duration`.
    static func value(
        _ text: String, _ parameter: ParameterDefinition, shownAs name: String
    ) throws(NodeError) -> JSONValue {
        guard let value = value(text, parameter.shape) else {
            throw NodeError(
                .badRequest,
                "\(name) cannot be \(NodeError.quoted(text))",
                hint: "it takes \(written(parameter.shape))", reason: "usage",
                fields: [
                    NodeError.Field(name: parameter.name, reason: ParameterMismatch.form.rawValue)
                ])
        }
        return value
    }

    static func value(_ text: String, _ shape: ParameterShape) -> JSONValue? {
        switch shape {
        case .text, .identifier, .channel, .member, .workspace, .note, .time, .location:
            .string(text)
        case .choice(let words): .string(words.contains(text) ? text : familiar(text, words))
        case .integer: integer(text).map(JSONValue.integer)
        case .duration: DurationText.milliseconds(text).map(JSONValue.integer)
        case .byteCount: SizeText.bytes(text).map(JSONValue.integer)
        case .flag: text == "true" ? true : text == "false" ? false : nil
        case .list(let element, _): value(text, element)
        case .json: try? JSONValue(parsing: text)
        }
    }

    /// What other programs call a presence.
    private static let familiarWords = ["away": "absent", "dnd": "busy", "back": "online"]

    private static func familiar(_ text: String, _ words: [String]) -> String {
        familiarWords[text].flatMap { words.contains($0) ? $0 : nil } ?? text
    }

    /// Strict: no sign but `-`, no spaces.
    static func integer(_ text: String) -> Int64? {
        text.utf8.first == UInt8(ascii: "+") ? nil : Int64(text)
    }

    private static func written(_ shape: ParameterShape) -> String {
        switch shape {
        case .duration: "a duration such as 250ms, 30s, 10m, 24h or 7d"
        case .byteCount: "a size such as 500MB, 20GB or 1TiB"
        case .flag: "true or false"
        default: shape.words
        }
    }

    /// Replaces the times among `values` by milliseconds since 1970.
    static func resolvedTimes(
        _ values: JSONObject, of command: Command, io: any ProgramIO
    ) throws(NodeError) -> JSONObject {
        var values = values
        for parameter in command.parameters {
            guard case .time = parameter.shape, let text = values[parameter.name]?.stringValue
            else { continue }
            let time = TimeText.milliseconds(
                text, ahead: parameter.isAhead, dayMinute: parameter.dayMinute, now: io.now,
                zone: io.zoneMinutes)
            guard let time else {
                throw NodeError(
                    .badRequest,
                    "'\(parameter.name)' cannot be \(NodeError.quoted(text))",
                    hint: "it takes \(Manual.times(ahead: parameter.isAhead))",
                    reason: "usage",
                    fields: [
                        NodeError.Field(
                            name: parameter.name, reason: ParameterMismatch.form.rawValue)
                    ])
            }
            values[parameter.name] = .integer(time)
        }
        return values
    }
}
