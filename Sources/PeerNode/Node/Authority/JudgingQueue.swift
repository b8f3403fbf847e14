import CRDTStore
import WorkspaceModel

/// Private documents with operations that are not judged yet. Every member can write into them, in
/// many logs and many messages, and each judgement processes the whole document: so there is one
/// judgement per turn, and fewer for a large document.
struct JudgingQueue {
    /// The pending operations of one document.
    struct Work {
        /// Membership operations that were stored, by arrival.
        var arrivals: [Int64] = []
        /// Whether operations that are already there may be judged differently.
        var isAnew = false
        var source: OperationSource
    }

    /// A document by its workspace.
    struct Name: Hashable {
        let workspace: Int64
        let document: DocumentID
    }

    var work: [Name: Work] = [:]
    /// In order of arrival.
    var names: [Name] = []
    /// When the next large document may be judged, on the monotonic clock: by how often its size
    /// can be divided by four, so that a very large one delays only others of its size.
    var nextLarge: [Int: UInt64] = [:]
    /// The pending documents, according to the store.
    var noted: [Note] = []

    /// What a process leaves to the next one when it ends: the views do not contain these
    /// operations yet.
    struct Note: Hashable {
        let name: Name
        /// The first operation that was not judged, by arrival.
        let first: Int64
    }

    var isEmpty: Bool { work.isEmpty }

    func contains(_ name: Name) -> Bool { work[name] != nil }

    /// The pending documents, in the order of arrival.
    var notes: [Note] {
        names.map { Note(name: $0, first: work[$0]?.arrivals.min() ?? .max) }
    }

    mutating func add(_ name: Name, _ new: Work) {
        guard var known = work[name] else {
            work[name] = new
            return names.append(name)
        }
        known.arrivals += new.arrivals
        known.isAnew = known.isAnew || new.isAnew
        // If any of the operations is reported to people, all are.
        if known.source.isBackfill { known.source = new.source }
        work[name] = known
    }

    /// Takes the pending operations of a document that is judged now.
    mutating func take(_ name: Name) -> Work? {
        guard let taken = work.removeValue(forKey: name) else { return nil }
        names.removeAll { $0 == name }
        return taken
    }

    /// Takes the documents to judge now, one after the other, up to the limit of a turn.
    ///
    /// - Parameters:
    ///   - most: the limit; the document that exceeds it is still taken.
    ///   - size: the number of operations in a document, all of which are judged.
    mutating func takeDue(
        at now: UInt64, most: Int = Limits.judgedPerTurnMax, size: (Name) -> Int
    ) -> [(name: Name, work: Work)] {
        var taken: [(name: Name, work: Work)] = []
        var left = most
        var later: [Name] = []
        for name in names {
            let size = size(name)
            guard left > 0, due(size) <= now, let known = work.removeValue(forKey: name) else {
                later.append(name)
                continue
            }
            left -= max(size, 1)
            if size > Limits.judgedAtOnceMax {
                nextLarge[Self.rank(size)] = now &+ UInt64(size / Limits.judgedPerMillisecond)
            }
            taken.append((name, known))
        }
        names = later
        return taken
    }

    /// When the first of the waiting documents is judged.
    func nextDue(size: (Name) -> Int) -> UInt64? { names.map { due(size($0)) }.min() }

    func due(_ size: Int) -> UInt64 {
        size > Limits.judgedAtOnceMax ? nextLarge[Self.rank(size)] ?? 0 : 0
    }

    static func rank(_ size: Int) -> Int { (Int.bitWidth - size.leadingZeroBitCount) / 2 }
}

extension JudgingQueue {
    static let storedName = "private.unjudged"

    static func notes(from bytes: [UInt8]) -> [Note] {
        stride(from: 0, to: bytes.count, by: Note.byteCount).compactMap { start in
            Note(Array(bytes[start..<min(start + Note.byteCount, bytes.count)]))
        }
    }
}

extension JudgingQueue.Note {
    static let byteCount = 8 + DocumentID.byteCount + 8

    var bytes: [UInt8] {
        bigEndianBytes(of: UInt64(bitPattern: name.workspace)) + name.document.bytes
            + bigEndianBytes(of: UInt64(bitPattern: first))
    }

    init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount,
            let document = DocumentID(untrusted: Array(bytes.dropFirst(8).dropLast(8)))
        else { return nil }
        func number(_ part: ArraySlice<UInt8>) -> Int64 {
            Int64(bitPattern: part.reduce(0) { $0 << 8 | UInt64($1) })
        }
        self.init(
            name: .init(workspace: number(bytes.prefix(8)), document: document),
            first: number(bytes.suffix(8)))
    }
}
