import WorkspaceModel

/// The lines before the body of a request, parsed one by one.
struct HTTPHead {
    /// How the end of the body is found.
    enum Framing: Equatable {
        case length(Int)
        case chunks
    }

    private var request: HTTPRequest?
    private var fields: [HTTPRequest.Field] = []

    /// Takes a line without its end. The first one is the request line.
    mutating func take(_ line: ArraySlice<UInt8>) throws(HTTPResponse) {
        if request == nil {
            request = try Self.request(line)
        } else {
            fields.append(try Self.field(line))
        }
    }

    /// What was taken, as a request without a body.
    func finished() throws(HTTPResponse) -> HTTPRequest {
        guard var request else { throw .malformed("there is no request line") }
        request.fields = fields
        return request
    }

    // MARK: Lines

    private static func request(_ line: ArraySlice<UInt8>) throws(HTTPResponse) -> HTTPRequest {
        let parts = line.split(separator: 0x20, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].count <= 16,
            parts[0].allSatisfy({ (0x41...0x5A).contains($0) })
        else { throw .malformed("the request line must be METHOD PATH HTTP/1.1") }
        guard parts[2].elementsEqual("HTTP/1.1".utf8) || parts[2].elementsEqual("HTTP/1.0".utf8)
        else {
            guard parts[2].starts(with: "HTTP/".utf8) else {
                throw .malformed("the request line must be METHOD PATH HTTP/1.1")
            }
            throw .refused(505, .unsupported, "only HTTP/1.1 is supported", "http.version")
        }
        let target = try pathAndQuery(parts[1])
        let path = target.prefix { $0 != UInt8(ascii: "?") }
        var segments: [String] = []
        for part in path.split(separator: UInt8(ascii: "/")) {
            guard
                let text = HTTPText.decoded(part, plusIsSpace: false, allowsControls: false)
            else { throw .malformed("the path is not percent-encoded UTF-8") }
            segments.append(text)
        }
        guard
            let query = HTTPText.pairs(target.dropFirst(path.count + 1), allowsControls: false)
        else { throw .malformed("the query is not percent-encoded UTF-8") }
        return HTTPRequest(
            method: String(decoding: parts[0], as: UTF8.self), path: segments, query: query)
    }

    /// The target without scheme and host: clients that believe in a proxy send them.
    private static func pathAndQuery(
        _ target: ArraySlice<UInt8>
    ) throws(HTTPResponse) -> ArraySlice<UInt8> {
        if target.first == UInt8(ascii: "/") { return target }
        for scheme in ["http://", "https://"] where target.starts(with: scheme.utf8) {
            return target.dropFirst(scheme.utf8.count).drop { $0 != UInt8(ascii: "/") }
        }
        throw .malformed("the path must start with a slash")
    }

    private static func field(_ line: ArraySlice<UInt8>) throws(HTTPResponse) -> HTTPRequest.Field {
        let name = line.prefix { $0 != UInt8(ascii: ":") }
        guard name.count < line.count, HTTPText.isToken(name) else {
            throw .malformed("a header field must be NAME: VALUE on one line")
        }
        let value = HTTPText.trimmed(Array(line.dropFirst(name.count + 1)))
        guard value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }),
            let text = String(validating: value, as: UTF8.self)
        else { throw .malformed("a header field contains bytes that are not text") }
        return .init(name: HTTPText.lowercased(name), value: text)
    }

    // MARK: What follows from them

    /// How much body there is. Two statements that differ are an attack or a fault, so they are
    /// refused (RFC 9112, section 6.3).
    static func framing(of request: HTTPRequest) throws(HTTPResponse) -> Framing {
        let lengths = request.fields.filter { $0.name == "content-length" }.map(\.value)
        let codings = request.fields.filter { $0.name == "transfer-encoding" }.map(\.value)
        if let coding = codings.first {
            guard lengths.isEmpty, codings.count == 1 else {
                throw .malformed("the length of the body is given twice")
            }
            guard HTTPText.lowercased(coding.utf8) == "chunked" else {
                throw .refused(
                    501, .unsupported, "use 'chunked' or no transfer coding", "http.coding")
            }
            return .chunks
        }
        guard let length = lengths.first else { return .length(0) }
        guard lengths.allSatisfy({ $0 == length }), (1...18).contains(length.utf8.count),
            length.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let count = Int(length)
        else { throw .malformed("Content-Length is not a number of bytes") }
        return .length(count)
    }

    /// Whether the client waits for `100 Continue` before it sends the body.
    static func expectsContinue(_ request: HTTPRequest) throws(HTTPResponse) -> Bool {
        guard let expectation = request.field("expect") else { return false }
        guard HTTPText.lowercased(expectation.utf8) == "100-continue" else {
            throw .refused(
                417, .unsupported, "use '100-continue' or no expectation", "http.expect")
        }
        return true
    }
}
