import WorkspaceModel

/// A question that somebody waits for, and what was found so far.
struct SearchCall {
    let query: SearchQuery
    /// By its short number.
    let workspace: Int64
    /// Only in these, as `c_…`; `nil` for all.
    let channels: Set<String>?
    let author: MemberID?
    /// Milliseconds, both ends included.
    let times: ClosedRange<Int64>
    let hasLink: Bool
    let limit: Int
    /// In the words of FTS5.
    let expression: String
    /// Channels and members, which come before messages.
    var hits: [SearchHit]
    /// Where to look next.
    var before: SearchPosition?
    /// Where the last message stands that was found.
    var last: SearchPosition?
    var turns = 0
    var byteCount = 0
}

/// Where a list of results goes on. On the socket it is a text that nobody takes apart.
enum SearchCursor: Equatable {
    /// So many channels and members were given.
    case heads(Int)
    /// Messages before this one.
    case messages(before: SearchPosition)

    var text: String {
        switch self {
        case .heads(let count): "n\(count)"
        case .messages(let position):
            "s_"
                + Base32.encode(
                    bigEndianBytes(of: UInt64(position.time))
                        + bigEndianBytes(of: UInt64(position.arrival)))
        }
    }

    /// - Parameter text: from outside.
    init?(_ text: String) {
        if let bytes = PublicID.bytes(text, prefix: "s_") {
            guard bytes.count == 16 else { return nil }
            let numbers = [bytes.prefix(8), bytes.suffix(8)].map { half in
                Int64(clamping: half.reduce(0) { $0 << 8 | UInt64($1) })
            }
            self = .messages(before: SearchPosition(time: numbers[0], arrival: numbers[1]))
            return
        }
        guard text.utf8.first == UInt8(ascii: "n"), let count = Int(text.dropFirst()), count >= 0
        else { return nil }
        self = .heads(count)
    }
}
