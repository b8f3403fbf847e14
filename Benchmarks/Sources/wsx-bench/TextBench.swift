import Foundation
import NoteText
import WorkspaceModel

/// The text of notes on real editing histories: the same steps as `t1_text.py` of the shared data,
/// so that both can be run one after the other on one machine. Times are those of the processor, as
/// there.
///
/// Operations hold 24 changes of the editor each, about what a pause of two seconds makes of typing.
enum TextBench {
    static let sequential = [
        "automerge-paper", "seph-blog1", "rustcode", "sveltecomponent", "friendsforever_flat",
        "clownschool_flat",
    ]
    static let concurrent = ["friendsforever.concurrent", "clownschool.concurrent"]
    static let changesPerOperation = 24

    static func run(_ options: Options) throws {
        for name in sequential + concurrent {
            guard let trace = try TextTrace(name) else {
                print("SKIPPED: no \(name) under WSX_SHARED")
                continue
            }
            var figures = Figures("wsx_text")
            figures.note("trace", name)
            let peer = try TextPeer(trace, options)
            defer { peer?.remove() }
            if peer == nil, trace.writers == 1 { figures.note("yrs", "not installed") }
            for _ in 0..<options.runs {
                if trace.writers > 1 {
                    try together(trace, &figures)
                } else {
                    let own = try alone(trace, &figures)
                    try peer?.compare(own, &figures)
                }
            }
            if TextBytes.timed.contains(name) { try TextBytes.measure(trace, peer, &figures) }
            figures.print()
        }
        growth(options)
    }

    /// What a note with its whole history costs.
    struct Cost {
        let milliseconds: Double
        let heapBytes: Double
        let snapshotBytes: Double
    }

    /// One writer: local replay, the whole history in one go, a snapshot and back.
    static func alone(_ trace: TextTrace, _ figures: inout Figures) throws -> Cost {
        var writer = TextWriter(1)
        var operations: [NoteOperation] = []
        let local = try processorSeconds { operations = try writer.replay(trace) }
        precondition(writer.note.text == trace.end)
        figures.add("local_ms", local * 1e3)
        let signed = operations.map(SignedEdit.init)
        var reader = Note()
        let rest = heapBytes()
        let whole = try processorSeconds {
            var replay = NoteReplay()
            for edit in signed { replay.apply(try edit.read()) }
            reader = replay.finished()
        }
        let heap = heapBytes() - rest
        precondition(reader.text == trace.end)
        figures.add("whole_history_ms", whole * 1e3)
        figures.add("open_heap_bytes", heap)
        figures.add("operations", Double(operations.count))
        figures.add("body_bytes", Double(signed.reduce(0) { $0 + $1.body.count }))
        figures.add("runs", Double(reader.runCount))
        guard let snapshot = reader.snapshot(verdictChanges: 0) else {
            throw BenchError("a note with a draft")
        }
        let size = Double(snapshot.page.count + snapshot.runs.count)
        figures.add("snapshot_bytes", size)
        var shown = ""
        let load = try processorSeconds { shown = try NotePage(decoding: snapshot.page).text }
        precondition(shown == trace.end)
        figures.add("load_ms", load * 1e3)
        let edit = try processorSeconds {
            var note = try Note(snapshot)
            try note.edit(NotePatch(at: 0, deleted: 0, inserted: "x"), as: writer.author)
        }
        figures.add("first_edit_ms", edit * 1e3)
        return Cost(milliseconds: whole * 1e3, heapBytes: heap, snapshotBytes: size)
    }

    /// What is saved of one writer's note.
    static func snapshot(of trace: TextTrace) throws -> NoteSnapshot {
        var writer = TextWriter(1)
        _ = try writer.replay(trace)
        guard let snapshot = writer.note.snapshot(verdictChanges: 0) else {
            throw BenchError("a note with a draft")
        }
        return snapshot
    }

    /// Two writers, an operation for each change: both replay, a third takes them one by one.
    static func together(_ trace: TextTrace, _ figures: inout Figures) throws {
        var writers = (0..<trace.writers).map { TextWriter(UInt64($0 + 1)) }
        var known = writers.map { _ in [Bool](repeating: false, count: trace.steps.count) }
        var operations: [NoteOperation?] = []
        let both = try processorSeconds {
            for (index, step) in trace.steps.enumerated() {
                var open = step.parents
                var missing: [Int] = []
                while let parent = open.popLast() {
                    guard !known[step.writer][parent] else { continue }
                    known[step.writer][parent] = true
                    missing.append(parent)
                    open += trace.steps[parent].parents
                }
                for parent in missing.sorted() {
                    if let other = operations[parent] { writers[step.writer].note.apply(other) }
                }
                let author = writers[step.writer].author
                for patch in step.patches { try writers[step.writer].note.edit(patch, as: author) }
                operations.append(writers[step.writer].publish())
                known[step.writer][index] = true
            }
        }
        figures.add("both_writers_ms", both * 1e3)
        let signed = operations.compactMap { $0 }.map(SignedEdit.init)
        var reader = Note()
        let single = try processorSeconds { for edit in signed { reader.apply(try edit.read()) } }
        precondition(reader.text == trace.end)
        figures.add("one_by_one_ms", single * 1e3)
    }

    /// One edit after a thousand edits at places drawn at random, and after a million.
    static func growth(_ options: Options) {
        var figures = Figures("wsx_text_growth")
        for _ in 0..<options.runs {
            var writer = TextWriter(1)
            var count = 0
            var times: [Double] = []
            for size in [1_000, 1_000_000] {
                while count < size { count += writer.typeSomewhere() }
                let more = 2_000
                let time = processorSeconds {
                    for _ in 0..<more { count += writer.typeSomewhere() }
                }
                times.append(time / Double(more) * 1e6)
                figures.add("edit_us_after_\(size)", times[times.count - 1])
            }
            figures.add("ratio_million_to_thousand", times[1] / times[0])
        }
        figures.print()
    }
}

/// Somebody who writes in a benchmark.
struct TextWriter {
    var note = Note()
    let author: NoteOperation.Author
    private var sequence: UInt64 = 0
    private var state: UInt64 = 1

    init(_ number: UInt64) {
        author = .init(device: DeviceID(words: (number, 0, 0, 0)), incarnation: 1)
        state = number
    }

    /// Writes what a history of one writer says; its operations hold so many changes each.
    mutating func replay(_ trace: TextTrace) throws -> [NoteOperation] {
        var operations: [NoteOperation] = []
        for (index, patch) in trace.patches.enumerated() {
            var rest: NotePatch? = patch
            while let more = rest {
                rest = try note.edit(more, as: author)
                if rest != nil || index % TextBench.changesPerOperation == 0 {
                    if let operation = publish() { operations.append(operation) }
                }
            }
        }
        if let operation = publish() { operations.append(operation) }
        return operations
    }

    /// Makes the draft an operation, as if a few seconds had gone by.
    mutating func publish() -> NoteOperation? {
        guard let draft = note.draft else { return nil }
        sequence += 1
        let time = HybridTimestamp(milliseconds: 1_000_000 + 2_000 * sequence, counter: 0)
        let id = OperationID(words: (next(), next(), next(), next()))
        precondition(note.publishDraft(as: id, timestamp: time, sequence: sequence))
        return NoteOperation(
            author: author, sequence: sequence, timestamp: time, id: id, edit: draft.edit)
    }

    /// Inserts a letter somewhere; publishes what has become much.
    mutating func typeSomewhere() -> Int {
        let at = Int(next() % UInt64(note.scalarCount + 1))
        let patch = NotePatch(at: at, deleted: 0, inserted: "x")
        if (try? note.edit(patch, as: author)) != .some(nil) { return 0 }
        sequence += 1
        if sequence % 64 == 0 { _ = publish() }
        return 1
    }

    /// SplitMix64.
    private mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }
}

/// An operation as it lies in a log: its edit is bytes.
struct SignedEdit {
    let author: NoteOperation.Author
    let sequence: UInt64
    let timestamp: HybridTimestamp
    let id: OperationID
    let body: [UInt8]

    init(_ operation: NoteOperation) {
        author = operation.author
        sequence = operation.sequence
        timestamp = operation.timestamp
        id = operation.id
        body = operation.edit.encoded
    }

    func read() throws -> NoteOperation {
        NoteOperation(
            author: author, sequence: sequence, timestamp: timestamp, id: id,
            edit: try NoteEdit(decoding: body))
    }
}

/// An editing history of the shared data.
struct TextTrace {
    struct Step {
        let parents: [Int]
        let writer: Int
        /// When, in seconds since 1970.
        let time: Double
        let patches: [NotePatch]
    }

    /// Where it lies.
    let path: String
    let steps: [Step]
    let end: String
    let writers: Int

    let patches: [NotePatch]

    init?(_ name: String) throws {
        let shared = ProcessInfo.processInfo.environment["WSX_SHARED"] ?? "../../shared"
        let path = "\(shared)/data/editing-traces/\(name).json.gz"
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        let unpacking = Process()
        unpacking.executableURL = URL(fileURLWithPath: "/bin/gzip")
        unpacking.arguments = ["-dc", path]
        let output = Pipe()
        unpacking.standardOutput = output
        try unpacking.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        unpacking.waitUntilExit()
        guard let file = try JSONSerialization.jsonObject(with: data) as? [String: Any],
            let transactions = file["txns"] as? [[String: Any]],
            let end = file["endContent"] as? String
        else { throw BenchError("\(path) is no editing history") }
        steps = transactions.map { fields in
            let patches = (fields["patches"] as? [[Any]] ?? []).compactMap { patch in
                patch.count == 3
                    ? NotePatch(
                        at: patch[0] as? Int ?? 0, deleted: patch[1] as? Int ?? 0,
                        inserted: patch[2] as? String ?? "")
                    : nil
            }
            return Step(
                parents: fields["parents"] as? [Int] ?? [], writer: fields["agent"] as? Int ?? 0,
                time: secondsSince1970(fields["time"] as? String ?? ""), patches: patches)
        }
        patches = steps.flatMap(\.patches)
        self.path = path
        self.end = end
        writers = file["numAgents"] as? Int ?? 1
    }
}
