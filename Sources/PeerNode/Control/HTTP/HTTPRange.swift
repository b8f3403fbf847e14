import WorkspaceModel

/// Which bytes of a file a request asks for (RFC 9110, section 14).
///
/// A single range is honoured. Anything else, including several ranges, requests the whole file, as
/// the RFC allows.
struct HTTPRange: Equatable {
    /// As `blob.read` takes it: a negative value counts from the end.
    let offset: Int64
    /// The maximum number of bytes; `nil` for all up to the end.
    let length: Int64?

    /// The range that the value of a `Range` field names; `nil` where all is asked for.
    init?(_ field: String) {
        let value = HTTPText.trimmed(Array(field.utf8))
        let unit = value.prefix { $0 != UInt8(ascii: "=") }
        guard unit.count < value.count,
            HTTPText.lowercased(HTTPText.trimmed(Array(unit))) == "bytes"
        else { return nil }
        let range = HTTPText.trimmed(Array(value.dropFirst(unit.count + 1)))
        let ends = range.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard ends.count == 2, let start = ends.first, let end = ends.last else { return nil }
        if start.isEmpty {
            guard let count = Self.number(end) else { return nil }
            // The last 0 bytes are none: no file is long enough to have the byte that is named instead.
            (offset, length) = (count == 0 ? Limits.filePositionMax : -count, nil)
            return
        }
        guard let first = Self.number(start) else { return nil }
        guard !end.isEmpty else {
            (offset, length) = (first, nil)
            return
        }
        guard let last = Self.number(end), last >= first else { return nil }
        (offset, length) = (first, min(last - first + 1, Limits.filePositionMax))
    }

    /// Digits as a number; what is larger than any file counts as the largest.
    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        guard !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        let rest = digits.drop { $0 == 0x30 }
        guard rest.count <= 18 else { return Limits.filePositionMax }
        return min(rest.reduce(0) { $0 * 10 + Int64($1 - 0x30) }, Limits.filePositionMax)
    }
}

/// The entity tag by which caches identify a file. Its bytes never change, so it is the id.
struct HTTPEntityTag: Equatable {
    /// With its quotes.
    let text: String

    /// The tag of a file.
    ///
    /// - Parameter id: `b_…`; anything else makes a tag that matches nothing.
    init(id: String) { text = "\"\(id)\"" }

    /// Whether `If-None-Match` names it.
    func isNamed(in field: String) -> Bool {
        field.utf8.split(separator: UInt8(ascii: ",")).contains { part in
            var tag = HTTPText.trimmed(Array(part))
            if tag.starts(with: "W/".utf8) { tag = tag.dropFirst(2) }
            return tag.elementsEqual(text.utf8) || tag.elementsEqual("*".utf8)
        }
    }
}
