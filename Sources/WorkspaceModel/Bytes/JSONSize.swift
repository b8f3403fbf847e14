extension JSONValue {
    /// About how many bytes the value is when written, text counted without its escapes.
    ///
    /// - Cost: a walk over its parts, independent of their length.
    public var approximateByteCount: Int {
        switch self {
        case .null, .bool: 5
        case .integer: 10
        case .decimal(let text), .string(let text): text.utf8.count + 3
        case .array(let elements):
            elements.reduce(2) { $0 + $1.approximateByteCount }
        case .object(let object):
            object.members.reduce(2) {
                $0 + $1.key.utf8.count + 4 + $1.value.approximateByteCount
            }
        }
    }
}
