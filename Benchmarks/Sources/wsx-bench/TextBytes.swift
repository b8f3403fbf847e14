import NoteText
import SyncProtocol
import WorkspaceCrypto
import WorkspaceModel

/// What a keystroke in a note costs on the wire: real editing histories that know when each key was
/// struck, in operations as a node makes them of its drafts, sealed, signed and framed.
///
/// The words that show an unpublished draft to who watches the note are not counted: they go to
/// open notes alone, and at most ten times a second.
enum TextBytes {
    /// The histories whose changes have times of a second or finer.
    static let timed = ["seph-blog1", "rustcode", "sveltecomponent", "clownschool_flat"]
    /// Operations that one message carries in bulk.
    private static let batch = 1_000

    static func measure(
        _ trace: TextTrace, _ peer: TextPeer?, _ figures: inout Figures
    ) throws {
        let runs = try sealed(trace)
        let keys = Double(trace.steps.count)
        let live = runs.reduce(0) { $0 + wireBytes(of: $1) }
        var bulk = 0
        for start in stride(from: 0, to: runs.count, by: batch) {
            let part = runs[start..<min(runs.count, start + batch)]
            guard var run = part.first else { continue }
            for other in part.dropFirst() { run.entries += other.entries }
            bulk += wireBytes(of: run)
        }
        figures.add("timed_operations", Double(runs.count))
        figures.add("live_bytes_a_key", Double(live) / keys)
        figures.add("bulk_bytes_a_key", Double(bulk) / keys)
        guard let peer else { return }
        figures.add("floor_yrs_bytes_a_key", peer.updatesBytes / keys)
        figures.add("ratio_live", Double(live) / peer.updatesBytes)
        figures.add("ratio_bulk", Double(bulk) / peer.updatesBytes)
    }

    /// A message of one run in the frames that carry it, each with a length and a tag.
    private static func wireBytes(of run: OperationRun) -> Int {
        let message = SyncMessage.operations(1, request: 0, [run], isComplete: true).encoded()
        let frames = message.count / (Frame.plaintextBytesMax - 3) + 1
        return message.count + frames * (2 + 3 + 16)
    }

    /// The operations of a history, each as a run of one.
    private static func sealed(_ trace: TextTrace) throws -> [OperationRun] {
        let random = SeededRandom(seed: 5)
        let signing = SigningKey(using: random)
        let key = SymmetricKey(using: random)
        let document: DocumentID = Hash.name("benchmark", [1])
        let grant: OperationID = Hash.name("benchmark", [2])
        let name = MessageKey(timestamp: HybridTimestamp(rawValue: 1), idPrefix: 1)
        var previous: OperationID = Hash.name("benchmark", [3])
        var writer = TextWriter(1)
        var sequence: UInt64 = 0
        return try writer.publishing(trace).map { time, edit in
            sequence += 1
            let draft = OperationDraft(
                kind: .content, document: document, incarnation: 1, sequence: sequence,
                previous: previous,
                timestamp: HybridTimestamp(milliseconds: UInt64(time * 1e3), counter: 0),
                grant: grant)
            let content = ContentPayload.note(.edit(edit.encoded, of: name, mentions: .none))
            let signed = draft.sealedAndSigned(
                plaintext: content.encoded, under: key, keyID: key.keyID, with: signing,
                using: random)
            previous = signed.id
            return signed.run(in: document)
        }
    }
}

extension TextWriter {
    /// Writes a history as time goes by: a draft becomes an operation after a pause, some time after
    /// it was begun, or when it is large.
    ///
    /// - Returns: of each operation when it was published, in seconds, and what it says.
    mutating func publishing(_ trace: TextTrace) throws -> [(time: Double, edit: NoteEdit)] {
        let pause = Double(Limits.noteDraftPauseMilliseconds) / 1e3
        let longest = Double(Limits.noteDraftMillisecondsMax) / 1e3
        var published: [(time: Double, edit: NoteEdit)] = []
        var (begun, changed) = (0.0, 0.0)
        for step in trace.steps {
            if note.draft != nil, step.time >= min(changed + pause, begun + longest) {
                let due = min(changed + pause, begun + longest)
                if let operation = publish() { published.append((due, operation.edit)) }
            }
            for patch in step.patches {
                var rest: NotePatch? = patch
                while let more = rest {
                    if note.draft == nil { begun = step.time }
                    rest = try note.edit(more, as: author)
                    if rest != nil || note.draft?.isLarge == true {
                        if let operation = publish() {
                            published.append((step.time, operation.edit))
                        }
                    }
                }
            }
            changed = step.time
        }
        if let operation = publish() { published.append((changed, operation.edit)) }
        precondition(note.text == trace.end)
        return published
    }
}

/// Seconds since 1970 of a time as histories write it: `2021-05-12T04:01:04.000Z`.
func secondsSince1970(_ text: String) -> Double {
    let digits = text.utf8.prefix(23).map { $0 }
    func number(_ range: Range<Int>) -> Int {
        guard range.upperBound <= digits.count else { return 0 }
        return digits[range].reduce(0) { sum, byte in
            0x30...0x39 ~= byte ? sum * 10 + Int(byte) - 0x30 : sum
        }
    }
    // Days by the civil calendar, with years that begin in March.
    let (year, month, day) = (number(0..<4), number(5..<7), number(8..<10))
    let shifted = month > 2 ? year : year - 1
    let days =
        365 * shifted + shifted / 4 - shifted / 100 + shifted / 400
        + (153 * ((month + 9) % 12) + 2) / 5 + day - 719_469
    let seconds = 3_600 * number(11..<13) + 60 * number(14..<16) + number(17..<19)
    let hasThousandths = digits.count > 19 && digits[19] == UInt8(ascii: ".")
    return Double(86_400 * days + seconds) + (hasThousandths ? Double(number(20..<23)) / 1e3 : 0)
}
