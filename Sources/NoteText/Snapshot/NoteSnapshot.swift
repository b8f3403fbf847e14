public import WorkspaceModel

/// A stored state of a note, so that it need not be rebuilt from all of its operations. A cache
/// of this home: it is sealed, never sent, and rebuilt wherever it does not fit. An
/// inconsistent one is refused.
///
/// - Form:
///
///       page  = Enc array [version, frontier bytes, verdict changes uint, text block, lines bytes]
///       runs  = Enc array of 16 blocks, in the order of `SnapshotColumns.Column`
///       block = byte string: 0, bytes
///               or 1, count, symbols - 1, for each symbol: gap to the one before, bits of its code; codes
///
///   Numbers in byte strings have seven bits a byte, the lowest first, the highest bit where more follow. A
///   *difference* d is written as 2d or -2d - 1; numbers *in a row* as [number, how often]. The codes of a
///   block are canonical: shorter ones first, of one length by symbol, 12 bits at most, the highest bit of a
///   byte first, zeros at the end.
///
///   `lines` of the page: for each line that is no paragraph without marks [plain lines passed, kind, runs,
///   for each run: bytes, marks, for each mark its number, for a link length and bytes].
///
///   `authors`: device 32, incarnation. For each operation, in the order of its arrival: `ids` 8 bytes,
///   `times` the milliseconds of its hlc as difference to the one before, and in a row `counters` of its hlc,
///   `sequences` less the author's last, `writers` the author's number, `states` 0 valid, 1 not, 2 erased.
///   `pieces`: for each range of numbered scalars twice its count, plus 1 and a difference where its
///   operation is not the next in order.
///
///   For each run of text in order, sentinels included: `flags` (`SnapshotColumns.Flag`); `firsts`, where it
///   goes on from none, its first number as difference to the one after the last run; `counts`. Where flags
///   want it `origins` (differences to the last scalar before), `widths` bytes, `depths` steps to the right
///   child that it stands before. An *end* is the last scalar of a run that stands before. A run that goes on
///   from it begins with the next number, has it on the left and the same right origin, and no later end
///   counts any more. Text of runs that are not seen is left out: so a note from a snapshot takes operations
///   and edits, and is made anew when a verdict changes or something is erased.
///
///   `frontier` is `Enc` array of [device, incarnation, operations, sum of hlcs, sum of first 8 bytes of ids]
///   of each log, ascending, the sums modulo 2^64. It says which operations, not what counts of them.
public struct NoteSnapshot: Hashable, Sendable {
    /// The visible part: text, lines and marks. `NotePage` reads it.
    public let page: [UInt8]
    /// What the first change needs in addition: runs and operations in columns.
    public let runs: [UInt8]

    /// A snapshot from its two parts.
    public init(page: [UInt8], runs: [UInt8]) {
        self.page = page
        self.runs = runs
    }
}

/// The visible state of a note, without what editing needs.
public struct NotePage: Hashable, Sendable {
    /// The format version of both parts; others are not read.
    static let version: UInt64 = 2

    /// The frontier of its operations (`Note.frontier`).
    public let frontier: [UInt8]
    /// How often verdicts had changed, as counted by the caller.
    public let verdictChanges: UInt64
    /// The text.
    public let text: String
    /// How its lines differ from plain ones.
    private let column: [UInt8]
    /// Its lines, computed at each call.
    public var lines: [NoteLine] { Self.lines(of: text, ByteColumnReader(column)) ?? [] }

    /// Reads the first part of a snapshot.
    ///
    /// - Throws: `Malformed`, also for another version: then the note is rebuilt.
    public init(decoding bytes: [UInt8]) throws(Malformed) {
        var decoder = CBORDecoder(bytes)
        try decoder.arrayCount(exactly: 5)
        guard try decoder.uint() == Self.version else { throw Malformed(.unsupported, at: 1) }
        frontier = try decoder.byteString()
        verdictChanges = try decoder.uint()
        text = try Self.text(from: &decoder)
        let start = decoder.position
        column = try decoder.byteString()
        try decoder.finish()
        guard column.isEmpty || Self.lines(of: text, ByteColumnReader(column)) != nil else {
            throw Malformed(.inconsistent, at: start)
        }
    }

    /// The text, which is a block of UTF-8.
    static func text(from decoder: inout CBORDecoder) throws(Malformed) -> String {
        let start = decoder.position
        let range = try decoder.byteStringRange()
        guard
            let text = ByteCode.decoded(
                decoder.bytes, in: range, atMost: NoteLimits.historyBytesMax
            ).flatMap({ String(validating: $0, as: UTF8.self) })
        else { throw Malformed(.badText, at: start) }
        return text
    }

    /// The lines of another kind or with marks, as differences to plain ones: [lines passed, kind,
    /// runs, for each run: bytes, number of marks, for each mark: its number, for a link the length
    /// and bytes of the address].
    static func column(of lines: [NoteLine]) -> [UInt8] {
        var column = ByteColumn()
        var passed: UInt32 = 0
        for line in lines {
            let isPlain = line.kind == .paragraph && line.runs.allSatisfy { $0.marks.isEmpty }
            guard !isPlain else {
                passed += 1
                continue
            }
            column.append(passed)
            passed = 0
            column.append(line.kind.rawValue)
            column.append(UInt64(line.runs.count))
            for run in line.runs {
                column.append(UInt64(run.text.utf8.count))
                column.append(UInt64(run.marks.count))
                for mark in run.marks {
                    column.append(mark.kind.rawValue)
                    guard case .link(let address?) = mark else { continue }
                    column.append(UInt64(address.utf8.count))
                    for byte in address.utf8 { column.append(UInt64(byte)) }
                }
            }
        }
        return column.bytes
    }

    private static func lines(of text: String, _ column: ByteColumnReader) -> [NoteLine]? {
        var column = column
        var result: [NoteLine] = []
        // Plain lines before the next other one, if there is another.
        var plain: UInt32?
        if !column.isAtEnd {
            guard let first = column.next32() else { return nil }
            plain = first
        }
        for part in text.utf8.split(separator: 0x0a, omittingEmptySubsequences: false) {
            guard plain == 0 else {
                result.append(NoteLine(.paragraph, text: String(Substring(part))))
                plain = plain.map { $0 - 1 }
                continue
            }
            guard let number = column.next(), let kind = NoteBlockKind(rawValue: number),
                let runs = runs(of: Substring(part), &column)
            else { return nil }
            result.append(NoteLine(kind, runs))
            guard !column.isAtEnd else {
                plain = nil
                continue
            }
            guard let next = column.next32() else { return nil }
            plain = next
        }
        return column.isAtEnd && plain == nil ? result : nil
    }

    private static func runs(
        of line: Substring, _ column: inout ByteColumnReader
    ) -> [NoteLine.Run]? {
        guard let count = column.next() else { return nil }
        var runs: [NoteLine.Run] = []
        var rest = line.utf8[...]
        for _ in 0..<min(count, UInt64(line.utf8.count)) {
            guard let length = column.next(), length > 0, length <= UInt64(rest.count),
                let number = column.next(), number <= 5
            else { return nil }
            var marks: [NoteMark] = []
            for _ in 0..<number {
                guard let mark = mark(&column) else { return nil }
                marks.append(mark)
            }
            let part = rest.prefix(Int(length))
            guard let text = String(part) else { return nil }
            runs.append(NoteLine.Run(text, marks))
            rest = rest.dropFirst(Int(length))
        }
        return rest.isEmpty && UInt64(runs.count) == count ? runs : nil
    }

    private static func mark(_ column: inout ByteColumnReader) -> NoteMark? {
        guard let number = column.next(), let kind = NoteMark.Kind(rawValue: number) else {
            return nil
        }
        switch kind {
        case .bold: return .bold(true)
        case .italic: return .italic(true)
        case .underline: return .underline(true)
        case .code: return .code(true)
        case .link:
            return column.text(bytesMax: NoteLimits.linkBytesMax).map { .link($0) }
        }
    }
}

extension Note {
    /// A snapshot of the current note.
    ///
    /// - Parameter verdictChanges: how often verdicts have changed, as counted by the caller.
    /// - Returns: `nil` while there is a local draft.
    public func snapshot(verdictChanges: UInt64) -> NoteSnapshot? {
        guard writing == nil else { return nil }
        var encoder = CBOREncoder(reservingBytes: tree.visibleBytes + 4_096)
        encoder.array(count: 5)
        encoder.uint(NotePage.version)
        encoder.byteString(frontier)
        encoder.uint(verdictChanges)
        encoder.byteString(ByteCode.encoded(bytes()))
        encoder.byteString(NotePage.column(of: lines()))
        return NoteSnapshot(page: encoder.bytes, runs: SnapshotColumns(of: self).encoded)
    }

    /// The note of a snapshot: it accepts further operations, but has to be rebuilt if a verdict
    /// changes or an operation is erased.
    ///
    /// - Throws: `Malformed` for anything but a snapshot of this version.
    public init(_ snapshot: NoteSnapshot) throws(Malformed) {
        var page = CBORDecoder(snapshot.page)
        try page.arrayCount(exactly: 5)
        guard try page.uint() == NotePage.version else { throw Malformed(.unsupported, at: 1) }
        _ = try page.byteStringRange()
        _ = try page.uint()
        let text = try NotePage.text(from: &page)
        let columns = try SnapshotColumns(decoding: snapshot.runs)
        guard let note = columns.note(text: [UInt8](text.utf8)) else {
            throw Malformed(.inconsistent, at: 0)
        }
        self = note
    }
}
