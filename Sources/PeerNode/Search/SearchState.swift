import CRDTStore
import WorkspaceModel

/// The loop's view of the index: how much it was given, what it has to index again, and who waits
/// for an answer.
struct SearchState {
    /// Whether there is an index.
    enum Standing {
        /// None, and none is wanted: no keys are at hand.
        case off
        /// It is being opened.
        case opening
        case open
        /// It failed. The next query rebuilds it.
        case broken
    }

    var standing = Standing.off
    /// Counts openings. Results of an earlier index are dropped.
    var generation: UInt64 = 0
    /// The first arrival number that the index knows, or will.
    var first: Int64 = 1
    /// The last one that it was handed.
    var through: Int64 = 0
    /// The newest that it may know: in a file, or handed to it before its turn.
    var reached: Int64 = 0
    /// Bytes of text in each batch that the index was handed and has not answered, the first first.
    var handed: [Int] = []
    /// The newest arrival number when it was last looked at.
    var arrivalBefore: Int64 = 0
    /// Until when, on the monotonic clock, a sync in bulk goes before the index.
    var quietAfter: UInt64 = 0
    /// Messages to be looked at again: what is shown of them has changed, or is gone.
    var again: [SearchPosition] = []
    /// Notes to be looked at again before the next question, or after a while: people write on in them.
    var notesAgain: Set<SearchPosition> = []
    /// When that is at the latest, on the monotonic clock.
    var notesDue: UInt64 = 0
    /// Messages that should not wait for those that arrived before them.
    var live: [SearchPosition] = []
    /// Rows for the newest arrival numbers, prepared on arrival, since their content was decrypted
    /// then. All are prepared again when something earlier changes.
    var prepared: [Int64: SearchRow?] = [:]
    /// The last operation of each log that was read for the index: what comes next there is opened
    /// with its id.
    var lastRead = LastPlaces()
    /// Documents that were erased, by short number.
    var erased: [Int64] = []
    /// What `again` and `erased` held since the index was last known to be complete: after a crash
    /// it is done once more.
    var unsettled = SearchTodo()
    /// Whether the store says the same.
    var isTodoStored = true
    /// Questions that wait for the index.
    var calls: [CallID: SearchCall] = [:]

    /// Whether questions are taken, now or soon.
    var isUsed: Bool { standing == .open || standing == .opening }

    /// Whether the index may be handed another batch before it has answered those that it has.
    var hasRoom: Bool {
        handed.count < Limits.searchBatchesMax
            && handed.reduce(0, +) < Limits.searchHandedBytesMax
    }
}

/// What the index has to do besides indexing new operations, as a home stores it across starts.
struct SearchTodo: Equatable {
    /// Messages to be looked at again.
    var again: [SearchPosition] = []
    /// Documents that were erased.
    var erased: [Int64] = []
    /// From where on all is taken once more, for that is more than is worth a list.
    var from: Int64?
    /// Whether the index has to be rebuilt.
    var isAll = false

    /// Entries that are kept one by one: 64 KiB.
    static let countMax = 4_096

    var isEmpty: Bool { again.isEmpty && erased.isEmpty && from == nil && !isAll }

    init() {}

    /// Records of 17 bytes: a tag and two numbers, big endian.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        func add(_ tag: UInt8, _ first: Int64, _ second: Int64) {
            bytes.append(tag)
            bytes += bigEndianBytes(of: UInt64(bitPattern: first))
            bytes += bigEndianBytes(of: UInt64(bitPattern: second))
        }
        if let from { add(0, from, 0) }
        if isAll { add(3, 0, 0) }
        for position in again { add(1, position.arrival, position.time) }
        for document in erased { add(2, document, 0) }
        return bytes
    }

    /// Decodes a stored value; empty where that is malformed.
    init(stored bytes: [UInt8]?) {
        guard let bytes, bytes.count.isMultiple(of: 17) else { return }
        for start in stride(from: 0, to: bytes.count, by: 17) {
            let numbers = [start + 1, start + 9].map { place in
                Int64(
                    bitPattern: bytes[place..<place + 8].reduce(0) { $0 << 8 | UInt64($1) })
            }
            switch bytes[start] {
            case 0: from = numbers[0]
            case 1: again.append(SearchPosition(time: numbers[1], arrival: numbers[0]))
            case 2: erased.append(numbers[0])
            case 3: isAll = true
            default: break
            }
        }
    }
}
