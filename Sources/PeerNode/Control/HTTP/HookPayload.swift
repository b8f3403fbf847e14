import WorkspaceModel

/// A message as other programs post it: as text, as JSON, or as JSON in a form.
struct HookPayload: Equatable {
    /// Why there is no message in a body; the raw value is Slack's word for it.
    enum Problem: String, Error {
        case invalid = "invalid_payload"
        case noText = "no_text"
    }

    /// The text to post: not empty, and not truncated.
    let text: String
    /// The message that it claims to answer, unchanged: a foreign id matches none here, and is
    /// refused like an unknown one.
    let thread: String?
    /// The channel that it asks for, if any.
    let channel: String?

    /// Reads what was posted to `/hooks/CHANNEL`.
    ///
    /// curl labels every body a form unless told otherwise. So a body is a form only if it has
    /// `payload=`; otherwise it is JSON if it is an object with a message, else text.
    init(hook request: HTTPRequest) throws(Problem) {
        switch request.mediaType {
        case "application/x-www-form-urlencoded", "":
            if request.body.starts(with: "payload=".utf8) {
                let fields = HTTPText.pairs(request.body, allowsControls: true) ?? []
                let payload = fields.first { $0.name == "payload" }?.value
                try self.init(Self.object(Array((payload ?? "").utf8)))
            } else if let object = Self.message(request.body) {
                try self.init(object)
            } else {
                try self.init(plain: request.body)
            }
        case let type where Self.isJSON(type): try self.init(Self.object(request.body))
        case "multipart/form-data": throw .invalid
        default: try self.init(plain: request.body)
        }
    }

    /// Reads what was posted to `/api/chat.postMessage`: JSON, or a form in which lists are JSON.
    init(post request: HTTPRequest) throws(Problem) {
        if Self.isJSON(request.mediaType) {
            try self.init(Self.object(request.body))
            return
        }
        guard let fields = HTTPText.pairs(request.body, allowsControls: true), fields.count <= 64
        else { throw .invalid }
        var object = JSONObject()
        for field in fields {
            let isList = field.name == "attachments" || field.name == "blocks"
            let list = isList ? try? JSONValue(parsing: field.value) : nil
            object[field.name] = list ?? .string(field.value)
        }
        try self.init(object)
    }

    private init(plain body: [UInt8]) throws(Problem) {
        guard let text = String(validating: body, as: UTF8.self) else { throw .invalid }
        self.text = try Self.kept(text)
        thread = nil
        channel = nil
    }

    private init(_ object: JSONObject) throws(Problem) {
        text = try Self.kept(
            Self.isAppriseMessage(object)
                ? Self.appriseText(object) : SlackMessage(object).text)
        switch object["thread_ts"] {
        case nil, .null?: thread = nil
        case .string(let id)?: thread = id.isEmpty ? nil : id
        case let other?: thread = other.text
        }
        channel = object["channel"]?.stringValue.flatMap { $0.isEmpty ? nil : $0 }
    }

    // MARK: Forms

    private static func isJSON(_ type: String) -> Bool {
        type.utf8.elementsEqual("application/json".utf8) || type.hasSuffix("+json")
    }

    private static func object(_ body: [UInt8]) throws(Problem) -> JSONObject {
        guard let object = (try? JSONValue(parsing: body))?.objectValue else { throw .invalid }
        return object
    }

    /// The object that a body is, if it is one with a message in it.
    private static func message(_ body: [UInt8]) -> JSONObject? {
        guard let object = (try? JSONValue(parsing: body))?.objectValue else { return nil }
        let names = ["text", "attachments", "blocks", "message"]
        return names.contains { object[$0] != nil } ? object : nil
    }

    /// Whether it is what Apprise posts to `json://`.
    private static func isAppriseMessage(_ object: JSONObject) -> Bool {
        object["message"] != nil && object["text"] == nil && object["blocks"] == nil
    }

    private static func appriseText(_ object: JSONObject) -> String {
        let title = SlackMessage.plain(object["title"])
        let message = SlackMessage.plain(object["message"])
        return [title.isEmpty ? "" : "**\(title)**", message].filter { !$0.isEmpty }
            .joined(separator: "\n")
    }

    /// Without the ends of lines that commands leave at the end of their output.
    private static func kept(_ text: String) throws(Problem) -> String {
        var bytes = Array(text.utf8)
        while let last = bytes.last, last == 0x0A || last == 0x0D { bytes.removeLast() }
        guard bytes.contains(where: { !($0 == 0x20 || (0x09...0x0D).contains($0)) }) else {
            throw .noText
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
