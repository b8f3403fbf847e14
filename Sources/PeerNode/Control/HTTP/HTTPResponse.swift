import WorkspaceModel

/// The response to an HTTP request. It is also the error of parsing one.
struct HTTPResponse: Error, Equatable, Sendable {
    /// Of the table of RFC 9110.
    let status: Int
    /// The media type of the body.
    var contentType = "application/json"
    /// More header fields.
    var fields: [HTTPRequest.Field] = []
    /// Whole; for a stream what it begins with.
    var body: [UInt8] = []
    /// Whether more follows while the connection is open.
    var isStream = false
    /// The length of a file that follows, or would follow, in place of `body`.
    var fileByteCount: Int64?

    static func json(_ status: Int, _ value: JSONValue) -> Self {
        Self(status: status, body: value.bytes + [0x0A])
    }

    static func text(_ status: Int, _ text: String) -> Self {
        Self(status: status, contentType: "text/plain; charset=utf-8", body: Array(text.utf8))
    }

    /// The answer to a failed call outside JSON-RPC.
    static func failure(_ error: NodeError) -> Self {
        json(error.kind.httpStatus, ["error": error.json]).asking(toWaitFor: error)
    }

    /// A refusal of HTTP itself, for which no kind has the status.
    static func refused(
        _ status: Int, _ kind: NodeError.Kind, _ message: String, _ reason: String,
        hint: String? = nil
    ) -> Self {
        json(
            status, ["error": NodeError(kind, message, hint: hint, reason: reason).json])
    }

    static func malformed(_ message: String) -> Self {
        refused(400, .invalidRequest, message, "http.bad_request")
    }

    static let tooSlow = json(408, ["error": NodeError.requestTooSlow.json])

    static let bodyTooLarge = refused(
        413, .tooLarge, "the body is longer than \(Limits.httpBodyBytesMax) bytes", "http.too_long")

    static let bodyTooShort = refused(
        400, .badRequest, "the body is shorter than announced", "file.too_short")

    /// With `Retry-After` where the same request may succeed later.
    func asking(toWaitFor error: NodeError) -> Self {
        guard status == 429 || status == 503, error.kind.isRetryable else { return self }
        var response = self
        let milliseconds = max(0, error.details["retry_ms"]?.integerValue ?? 1_000)
        let seconds = max(1, milliseconds / 1_000 + (milliseconds % 1_000 == 0 ? 0 : 1))
        response.fields.append(.init(name: "Retry-After", value: "\(seconds)"))
        return response
    }

    /// Writes all of it. `hasBody` is false in answers to `HEAD`.
    func append(to output: inout [UInt8], hasBody: Bool = true) {
        var head = "HTTP/1.1 \(status) \(Self.phrase(status))\r\n"
        let hasType = !body.isEmpty || isStream || fileByteCount != nil
        if hasType { head += "Content-Type: \(contentType)\r\n" }
        if !isStream, status != 204, status != 304 {
            head += "Content-Length: \(fileByteCount ?? Int64(body.count))\r\n"
        }
        for field in fields { head += "\(field.name): \(field.value)\r\n" }
        head += "Cache-Control: no-store\r\nConnection: close\r\n\r\n"
        output += head.utf8
        if hasBody { output += body }
    }

    /// What is sent to a client that waits before it sends its body.
    static let proceed = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)

    private static func phrase(_ status: Int) -> String {
        phrases[status] ?? "Status"
    }

    private static let phrases: [Int: String] = [
        200: "OK", 201: "Created", 202: "Accepted", 204: "No Content", 206: "Partial Content",
        304: "Not Modified", 400: "Bad Request", 401: "Unauthorized",
        402: "Payment Required", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
        408: "Request Timeout",
        409: "Conflict", 410: "Gone", 411: "Length Required", 413: "Content Too Large",
        415: "Unsupported Media Type", 416: "Range Not Satisfiable",
        417: "Expectation Failed", 422: "Unprocessable Content", 429: "Too Many Requests",
        431: "Request Header Fields Too Large", 500: "Internal Server Error",
        501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable",
        504: "Gateway Timeout", 505: "HTTP Version Not Supported", 507: "Insufficient Storage",
    ]
}
