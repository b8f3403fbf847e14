public import WorkspaceModel

/// A type with a JSON form on the socket.
public protocol ControlObject: Sendable {
    /// All fields, the absent ones as `null`.
    var json: JSONValue { get }
}

/// Which part of a list is requested.
public struct PageRequest: Sendable {
    /// The maximum number of items.
    public let limit: Int
    /// `next` of the page before, or `nil` for the first. Comes from outside.
    public let cursor: String?
}

/// Part of a list.
public struct Page<Item: ControlObject>: ControlObject {
    /// In the order of the list.
    public let items: [Item]
    /// Where the next page starts, `nil` after the last.
    public let next: String?
    /// The place of the first item in a list that is counted through; such a page ends early where
    /// it would be too long for a line.
    private var start: Int?

    /// One page.
    public init(_ items: [Item], next: String? = nil) {
        self.items = items
        self.next = next
    }

    /// One page of a list that is counted through.
    init(_ items: [Item], next: PageEnd) {
        self.items = items
        self.next = next.text
        start = next.start
    }

    /// The part of a whole list that is asked for.
    func part(_ request: PageRequest) throws(NodeError) -> Page {
        let (part, end) = try PageEnd.part(of: items.count, request)
        return Page(Array(items[part]), next: end)
    }

    /// `{"items":[…],"next":…}`.
    public var json: JSONValue {
        var shown = items.map(\.json)
        var next = next
        if let start {
            let count = AnswerRoom.count(of: shown)
            if count < shown.count {
                shown.removeLast(shown.count - count)
                next = PageEnd.cursor(start + count)
            }
        }
        return ["items": .array(shown), "next": JSONValue(orNull: next)]
    }
}

/// The bounds of a page of a list with numbered pages.
struct PageEnd {
    let start: Int
    /// `next`, `nil` after the last.
    let text: String?

    static func cursor(_ place: Int) -> String { "n\(place)" }

    /// The part of a list of `count` items that a page has.
    ///
    /// - Throws: `bad_request` for a cursor that no list gave.
    static func part(
        of count: Int, _ request: PageRequest
    ) throws(NodeError) -> (items: Range<Int>, end: PageEnd) {
        var start = 0
        if let cursor = request.cursor {
            guard cursor.utf8.first == UInt8(ascii: "n"),
                let place = Int(cursor.dropFirst()), place >= 0
            else {
                throw NodeError(
                    .badRequest, "'cursor' did not come from a list",
                    hint: "leave it out for the first page", reason: "bad_cursor",
                    fields: [.init(name: "cursor", reason: "form")])
            }
            start = min(place, count)
        }
        let end = min(count, start + request.limit)
        return (start..<end, PageEnd(start: start, text: end < count ? cursor(end) : nil))
    }
}

/// How much still fits into the line of an answer.
struct AnswerRoom {
    /// Bytes for the items of a page, without the rest of the line.
    private var left = Limits.controlLineBytesMax - 4_096
    private var isEmpty = true

    /// Whether there is room for one more; for the first there always is.
    mutating func takes(_ item: JSONValue) -> Bool {
        left -= item.bytes.count + 1
        defer { isEmpty = false }
        return left >= 0 || isEmpty
    }

    /// How many of the items fit, from the first; at least one.
    static func count(of items: some Sequence<JSONValue>) -> Int {
        var room = AnswerRoom()
        return items.prefix { room.takes($0) }.count
    }

    /// Bytes of a text inside a line of JSON, without its quotes.
    static func bytes(of text: String) -> Int { text.utf8.reduce(0) { $0 + bytes(of: $1) } }

    /// The same of one byte of a text.
    static func bytes(of byte: UInt8) -> Int {
        byte < 0x20 || byte == 0x7F ? 6 : byte == 0x22 || byte == 0x5C ? 2 : 1
    }
}
