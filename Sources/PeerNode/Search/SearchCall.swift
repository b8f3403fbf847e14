import WorkspaceModel

/// A search that a caller waits for, and what was found so far.
struct SearchCall {
    let query: SearchQuery
    /// By its short number.
    let workspace: Int64
    /// Only in these, as `c_…`; `nil` for all.
    let channels: Set<String>?
    let author: MemberID?
    /// Whether messages are asked for, and notes.
    let wantsMessages: Bool
    let wantsNotes: Bool
    /// Milliseconds, both ends included.
    let times: ClosedRange<Int64>
    let hasLink: Bool
    let hasFile: Bool
    let limit: Int
    /// In the words of FTS5.
    let expression: String
    /// Channels and members, which come before messages.
    var hits: [SearchHit]
    /// The results so far, if the best are asked for and not the newest.
    var ranking: SearchRanking?
    /// So many of the best were on the pages before.
    var skipped = 0
    /// Where to look next.
    var before: SearchPosition?
    /// The position of the last message that was found.
    var last: SearchPosition?
    var turns = 0
    var byteCount = 0
    /// The arrival number that the index has to be handed before it is asked: all that there was
    /// when the question came. `nil` once it was asked.
    var awaited: Int64?
    /// Whether too much was missing to be waited for.
    var isBehind = false

    /// Takes a message.
    ///
    /// - Returns: whether there was room: one more than is wanted tells that there is another page.
    mutating func take(_ hit: SearchHit, at position: SearchPosition) -> Bool {
        if ranking != nil {
            ranking?.add(hit, at: position)
            return ranking?.isFull == false
        }
        var size = 512
        switch hit.item {
        case .message(let message): size += message.bytesMax
        case .note: size += hit.json.bytes.count
        case .channel, .member: break
        }
        let isFull = byteCount + size > Limits.searchPageBytesMax
        guard hits.count < limit, !isFull || last == nil else { return false }
        hits.append(hit)
        byteCount += size
        last = position
        return true
    }
}

/// The position at which a list of results continues. On the socket it is opaque text.
enum SearchCursor: Equatable {
    /// So many channels and members were given.
    case heads(Int)
    /// Messages before this one.
    case messages(before: SearchPosition)
    /// So many of the best were given.
    case best(Int)

    /// More is in no list; counted on, it stays a number.
    private static let countMax = 1 << 40

    var text: String {
        switch self {
        case .heads(let count): "n\(count)"
        case .best(let count): "b\(count)"
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
        guard let count = Int(text.dropFirst()), (0...Self.countMax).contains(count) else {
            return nil
        }
        switch text.utf8.first {
        case UInt8(ascii: "n"): self = .heads(count)
        case UInt8(ascii: "b"): self = .best(count)
        default: return nil
        }
    }
}
