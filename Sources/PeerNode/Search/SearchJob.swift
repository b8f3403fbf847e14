public import CRDTStore
public import WorkspaceModel

/// Where the index is stored.
public enum SearchPlace: Sendable, Equatable {
    /// In a file of the home, for the store with this id.
    case file(StoreID)
    /// In memory, because a passphrase seals the home; it knows the newest operations alone.
    case memory
}

/// Work on the index, done beside the loop, one job after the other, in the order of submission.
public struct SearchJob: Sendable {
    /// Which opening of the index it is for. Results of an earlier one are dropped.
    let generation: UInt64
    let work: Work

    enum Work: Sendable {
        /// - Parameter arrival: the newest arrival number; an index that knows more is another's.
        case open(SearchPlace, arrival: Int64)
        /// Forgets all of it; a file goes too.
        case close
        case write(SearchBatch)
        case find(CallID, SearchQuestion)
    }
}

/// The outcome of a job, given to the core as an input.
public struct SearchOutcome: Sendable {
    let generation: UInt64
    let result: Result

    enum Result: Sendable {
        /// The index is there, and knows what arrived up to this number.
        case opened(through: Int64)
        case closed
        case wrote
        case found(CallID, SearchCandidates)
        /// The index is gone, for a reason that may be logged.
        case failed(String)
    }

    /// The outcome of a job that cannot be run at all.
    static func withoutThread(_ job: SearchJob) -> SearchOutcome {
        SearchOutcome(generation: job.generation, result: .failed("thread"))
    }
}

/// The place of a message in the order of results: descending is newest first.
struct SearchPosition: Hashable, Comparable, Sendable {
    /// When it was written, in milliseconds; of a message that says to be from the future, when
    /// it came.
    let time: Int64
    let arrival: Int64

    static func < (left: Self, right: Self) -> Bool {
        (left.time, left.arrival) < (right.time, right.arrival)
    }

    /// Milliseconds have 47 bits in a row's number.
    static let timeMax: Int64 = (1 << 47) - 1

    init(time: Int64, arrival: Int64) {
        self.time = min(max(time, 0), Self.timeMax)
        self.arrival = arrival
    }

    /// - Parameter sort: the display order, in the units of a hybrid timestamp.
    init(written timestamp: HybridTimestamp, sort: Int64, arrival: Int64) {
        let said = Int64(clamping: timestamp.milliseconds)
        self.init(time: min(said, max(sort, 0) >> 16), arrival: arrival)
    }
}

/// A message, or a note, for the index.
struct SearchRow: Sendable {
    let position: SearchPosition
    let text: String
    /// The short number of its document.
    let document: Int64
    /// The number of its author's grant.
    let grant: Int64
    let workspace: Int64
    /// Whether it is a note, with its title in its first line.
    var isNote = false
    /// The names of a message's files.
    var files: [String] = []
    /// Whether the index may know the message with other words.
    var isAgain = false

    /// Words by which messages are narrowed down, in a column of their own.
    var tags: String {
        var tags = "\(Self.tag(document: document)) \(Self.tag(grant: grant)) "
        tags += Self.tag(workspace: workspace)
        if Self.hasLink(text) { tags += " " + Self.linkTag }
        if isNote { tags += " " + Self.noteTag }
        if !files.isEmpty { tags += " " + Self.fileTag }
        return tags
    }

    static let linkTag = "link"
    static let noteTag = "note"
    static let fileTag = "file"
    /// The indexed text: the names of files follow the message.
    var indexed: String { Self.indexed(text, files) }

    static func indexed(_ text: String, _ files: [String]) -> String {
        files.isEmpty ? text : ([text] + files).joined(separator: "\n")
    }

    static func tag(document: Int64) -> String { "d\(document)" }
    static func tag(grant: Int64) -> String { "g\(grant)" }
    static func tag(workspace: Int64) -> String { "w\(workspace)" }

    /// Whether a text has the address of a page in it.
    static func hasLink(_ text: String) -> Bool {
        let colon = UInt8(ascii: ":")
        guard text.utf8.contains(colon) else { return false }
        let bytes = Array(text.utf8)
        return bytes.indices.contains { place in
            bytes[place] == colon && bytes[place...].starts(with: "://".utf8)
                && ["http", "https"].contains { scheme in
                    let start = place - scheme.utf8.count
                    return start >= 0
                        && bytes[start..<place].elementsEqual(scheme.utf8) { ($0 | 0x20) == $1 }
                }
        }
    }
}

/// Changes of the index.
struct SearchBatch: Sendable {
    var rows: [SearchRow] = []
    /// Messages that must leave no trace.
    var forgotten: [SearchPosition] = []
    /// Documents that must leave none, by short number.
    var forgottenDocuments: [Int64] = []
    /// All that arrived up to here is in the index with this.
    var through: Int64
    /// Whether it is written at once; else it may wait for more.
    var isUrgent = true
    /// Notes among the rows.
    var noteCount: Int { rows.count { $0.isNote } }
    /// Bytes of the text of all rows.
    var byteCount: Int { rows.reduce(0) { $0 + $1.indexed.utf8.count } }
    /// Whether it must survive a loss of power, because the caller will not ask again.
    var isFinal = false
}

/// A query to the index.
struct SearchQuestion: Sendable {
    /// In FTS5 syntax.
    let expression: String
    /// Only what was written at this time or later, and earlier, milliseconds.
    var since: Int64 = 0
    var until: Int64 = SearchPosition.timeMax
    /// Only results before this.
    var before: SearchPosition?
    let limit: Int
}

/// The candidates from the index.
struct SearchCandidates: Sendable {
    /// Newest first.
    let positions: [SearchPosition]
    /// Whether there are no further ones.
    let isEnd: Bool
}

/// The file of the index, as the owner of the disk provides it.
public protocol SearchFiles {
    /// Opens it, and makes it where it is missing.
    func open() throws(StorageError) -> Connection
    /// Removes it with its log; a missing one is not an error.
    func remove()
}
