import PeerNode
import WorkspaceModel

/// A note in an editor of its own: lines of JSON on standard input and output, which
/// docs/EDITORS.md describes.
///
/// The daemon may go and come back meanwhile. What the editor wrote is kept until it is there, and in a
/// file where it does not come.
final class NoteAttachment {
    let session: NoteEditing
    private let live: any LiveInput
    var client: ControlClient?
    /// How the note is named, and once it was found, its id.
    var named: JSONObject
    var text: AttachedText?
    /// What the editor has said of a line so far.
    private var partial: [UInt8] = []
    /// Whole lines that were not looked at.
    private var waiting: [[UInt8]] = []
    /// Why it ends, once it does.
    private(set) var ending: Ending?
    /// When the daemon is looked for again, how long after that, and why it is not there.
    var retry: (due: Int64, delay: Int64, reason: NodeError)?
    private var end: Int64?

    /// The end of it, for which only what was written before is waited for.
    struct Ending {
        let status: Int32
        /// What the editor did wrong.
        var failure: NodeError?
        /// How long a daemon that is away is waited for, milliseconds since 1970.
        let until: Int64
    }

    /// How long the daemon may think about a call, if nobody said otherwise, and be away at the end.
    static let patience: Int64 = 15_000
    /// Bytes of one line of the editor: the largest note, with a sign before each of its letters.
    private static let lineBytesMax = 32 * 1024 * 1024

    /// - Parameters:
    ///   - named: the note, as calls name it.
    ///   - end: when it ends, milliseconds since 1970; `nil` for never.
    init(_ session: NoteEditing, _ live: any LiveInput, named: JSONObject, until end: Int64?) {
        self.session = session
        self.live = live
        self.named = named
        self.end = end
    }

    var io: any ProgramIO { session.io }

    /// Carries changes until the editor has nothing more to say.
    ///
    /// - Returns: the exit status.
    func run() throws(NodeError) -> Int32 {
        try connect()
        while true {
            do throws(NodeError) { try settle() } catch {
                guard Self.isAway(error) else { throw kept(error) }
                lose(error)
            }
            if ending?.status != Self.unread, !tell() {
                finish(Self.unread, within: 0)
                continue
            }
            if let ending, waiting.isEmpty, text?.isSettled ?? true {
                if let failure = ending.failure { throw failure }
                return ending.status
            }
            if let due = end, due <= io.now {
                end = nil
                finish(ending?.status ?? 0, within: 0)
                continue
            }
            if let ending, ending.until <= io.now, let reason = retry?.reason {
                let isDone = ending.failure == nil && waiting.isEmpty && text?.isAtNode ?? true
                guard isDone else { throw kept(ending.failure ?? reason) }
                return ending.status
            }
            do throws(NodeError) { try wait() } catch { throw kept(error) }
        }
    }

    private func wait() throws(NodeError) {
        for wake in live.wait(for: client?.transport, within: waitMilliseconds) {
            switch wake {
            case .typed(let bytes): try hear(bytes)
            case .endOfInput:
                try hear([UInt8(ascii: "\n")])
                if ending == nil { finish(0, within: Self.patience) }
            case .endAsked(let number): finish(128 + number, within: 0)
            case .answered, .resized, .resumed, .suspendAsked: break
            }
        }
    }

    /// How long nothing has to be done, in milliseconds.
    private var waitMilliseconds: Int64? {
        // Nobody is woken for what has come already.
        if client?.hasMore == true { return 0 }
        return [end, ending?.until, retry?.due].compactMap { $0 }.min().map { max(0, $0 - io.now) }
    }

    // MARK: The end

    /// The status where nobody reads what is said any more.
    private static let unread: Int32 = 141

    /// Ends it as soon as the note has what was written.
    private func finish(_ status: Int32, within milliseconds: Int64) {
        ending = Ending(
            status: status, failure: ending?.failure, until: io.now &+ milliseconds)
        // A daemon that is away is looked for at once, and only for so long.
        if retry != nil { retry?.due = io.now }
    }

    /// A failure, with where the text is that the note does not have.
    private func kept(_ error: NodeError) -> NodeError {
        takeWaiting()
        guard let text, !text.isAtNode else { return error }
        var error = error
        do throws(NodeError) {
            return try EditedFile(
                text.editorText, name: "note.txt", session.environment, io
            ).kept(error)
        } catch let failure {
            error.hint = "your text could not be kept: \(failure.message)"
            return error
        }
    }

    // MARK: The editor

    private func hear(_ bytes: [UInt8]) throws(NodeError) {
        for byte in bytes {
            guard byte == UInt8(ascii: "\n") else {
                partial.append(byte)
                continue
            }
            if !partial.isEmpty { waiting.append(partial) }
            partial = []
        }
        guard partial.count <= Self.lineBytesMax else { throw .lineTooLong }
    }

    /// Takes the lines that have come, up to one that is none: what is behind it is not looked at.
    func takeWaiting() {
        let lines = waiting
        waiting = []
        for line in lines where ending?.failure == nil {
            do throws(NodeError) { try text?.take(line: line) } catch {
                if ending == nil { finish(error.kind.exitStatus, within: Self.patience) }
                ending?.failure = error
            }
        }
    }

    /// - Returns: whether somebody reads it.
    private func tell() -> Bool {
        for line in text?.takeLines() ?? [] where !live.write(line.text + "\n") { return false }
        return true
    }
}

extension NoteEditing {
    /// `note attach`: changes between a note and an editor.
    func attachNote(_ command: Command) throws(NodeError) -> Int32 {
        var named = try parameters(for: command)
        named["workspace"] = workspace.map { .string($0) }
        guard !io.isInputTerminal, let live = io.openLive(isRaw: false) else {
            throw .usage(
                "'note attach' talks to an editor, not to a terminal",
                hint: "wsx-node note edit NOTE --editor opens your editor")
        }
        return try NoteAttachment(self, live, named: named, until: Streaming(self).streamEnd).run()
    }
}
