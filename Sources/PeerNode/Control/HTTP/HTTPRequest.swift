import WorkspaceModel

/// One complete, parsed HTTP request.
struct HTTPRequest: Equatable, Sendable {
    /// A name with its value: of a header, a query or a form.
    struct Field: Equatable, Sendable {
        let name: String
        let value: String
    }

    /// In capitals, as it was sent.
    let method: String
    /// The parts of the target between slashes, without escapes and without empty parts.
    let path: [String]
    /// The fields after the question mark, without escapes.
    let query: [Field]
    /// Header fields in their order, the names in lower case.
    var fields: [Field] = []
    /// At most `Limits.httpBodyBytesMax` bytes, put together from chunks if it came in chunks.
    var body: [UInt8] = []
    /// The length of a body that is a file; then it is not in `body`.
    var fileByteCount: Int?

    /// The value of the first header field of this name, given in lower case.
    func field(_ name: String) -> String? {
        fields.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
    }

    /// The media type of the body in lower case, without parameters; empty if none is given.
    var mediaType: String {
        let value = field("content-type") ?? ""
        let type = value.utf8.prefix { $0 != UInt8(ascii: ";") }
        return HTTPText.lowercased(HTTPText.trimmed(Array(type)))
    }
}

/// The grammar that several parts of a request share.
enum HTTPText {
    /// Without spaces and tabs at both ends.
    static func trimmed(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
        var rest = bytes[...]
        while let first = rest.first, first == 0x20 || first == 0x09 { rest.removeFirst() }
        while let last = rest.last, last == 0x20 || last == 0x09 { rest.removeLast() }
        return rest
    }

    /// In lower case (A to Z only), with U+FFFD for invalid UTF-8.
    static func lowercased(_ bytes: some Sequence<UInt8>) -> String {
        String(
            decoding: bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    /// A token of RFC 9110, section 5.6.2, as names of fields are.
    static func isToken(_ bytes: some Collection<UInt8>) -> Bool {
        !bytes.isEmpty
            && bytes.allSatisfy { byte in
                isAlphanumeric(byte) || "!#$%&'*+-.^_`|~".utf8.contains(byte)
            }
    }

    static func isAlphanumeric(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte)
            || (0x61...0x7A).contains(byte)
    }

    /// Undoes percent-encoding.
    ///
    /// - Returns: `nil` for an invalid escape, for invalid UTF-8 after decoding, and for control
    ///   characters where `allowsControls` is false.
    static func decoded(
        _ bytes: some Sequence<UInt8>, plusIsSpace: Bool, allowsControls: Bool
    ) -> String? {
        var result: [UInt8] = []
        var iterator = bytes.makeIterator()
        while let byte = iterator.next() {
            var plain = byte
            if byte == UInt8(ascii: "%") {
                guard let high = iterator.next().flatMap(Hexadecimal.value(ofDigit:)),
                    let low = iterator.next().flatMap(Hexadecimal.value(ofDigit:))
                else { return nil }
                plain = high << 4 | low
            } else if byte == UInt8(ascii: "+"), plusIsSpace {
                plain = 0x20
            }
            if !allowsControls, plain < 0x20 || plain == 0x7F { return nil }
            result.append(plain)
        }
        return String(validating: result, as: UTF8.self)
    }

    /// `name=value` pairs between `&`, as in queries and forms; `nil` for a broken escape.
    static func pairs(
        _ bytes: some Collection<UInt8>, allowsControls: Bool
    ) -> [HTTPRequest.Field]? {
        var fields: [HTTPRequest.Field] = []
        for part in bytes.split(separator: UInt8(ascii: "&")) {
            let name = part.prefix { $0 != UInt8(ascii: "=") }
            let value = part.dropFirst(name.count + 1)
            guard
                let name = decoded(name, plusIsSpace: true, allowsControls: allowsControls),
                let value = decoded(value, plusIsSpace: true, allowsControls: allowsControls)
            else { return nil }
            fields.append(.init(name: name, value: value))
        }
        return fields
    }
}
