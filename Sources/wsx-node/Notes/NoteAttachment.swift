import PeerNode
import WorkspaceModel

/// A note in an external editor: lines of JSON on standard input and output, as
/// docs/EDITORS.md specifies.
///
/// The daemon may go and come back meanwhile. The editor's changes are kept until it is back, and
/// saved to a file if it does not come back.
final class NoteAttachment {
    let session: NoteEditing
    private let live: any LiveInput
    var client: ControlClient?
    /// The parameters that name the note: as given, then by its id.
    var named: JSONObject
    var text: AttachedText?
    /// An incomplete line from the editor.
    private var partial: [UInt8] = []
    /// Complete lines that were not handled yet.
    private var waiting: [[UInt8]] = []
    /// Why it ends, once it does.
    private(set) var ending: Ending?
    /// When the daemon is tried again, the delay after that, and why it is away.
    var retry: (due: Int64, delay: Int64, reason: NodeError)?
    private var end: Int64?

    /// The end of the session, which only waits for earlier changes to be written.
    struct Ending {
        let status: Int32
        /// The editor's error.
        var failure: NodeError?
        /// Until when to wait for a daemon that is away, milliseconds since 1970.
        let until: Int64
    }

    /// The default timeout of a call, and the wait for the daemon at the end.
    static let patience: Int64 = 15_000
    /// Bytes of one line from the editor: the largest note with every letter escaped.
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

    /// Exchanges changes until the editor closes its side.
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

    /// How long there is nothing to do, in milliseconds.
    private var waitMilliseconds: Int64? {
        // Polling does not report data that was already read.
        if client?.hasMore == true { return 0 }
        return [end, ending?.until, retry?.due].compactMap { $0 }.min().map { max(0, $0 - io.now) }
    }

    // MARK: The end

    /// The exit status if nobody reads the output any more.
    private static let unread: Int32 = 141

    /// Ends the session as soon as the note has all changes.
    private func finish(_ status: Int32, within milliseconds: Int64) {
        ending = Ending(
            status: status, failure: ending?.failure, until: io.now &+ milliseconds)
        // A daemon that is away is tried at once, and only for that long.
        if retry != nil { retry?.due = io.now }
    }

    /// A failure that names the file with the unsaved text.
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

    /// Takes the complete lines, up to an invalid one: nothing after it is handled.
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

    /// - Returns: whether the output is still read.
    private func tell() -> Bool {
        for line in text?.takeLines() ?? [] where !live.write(line.text + "\n") { return false }
        return true
    }
}

extension NoteEditing {
    /// `note attach`: synchronises a note with an editor.
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
