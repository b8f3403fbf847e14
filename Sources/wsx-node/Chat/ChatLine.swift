import PeerNode
import WorkspaceModel

/// A parsed line of a conversation: a message, or a command after `/`.
enum ChatLine: Equatable {
    case nothing
    case say(String)
    case help
    case join(String)
    case direct(String)
    /// The holders of a message; without one, the members of the channel.
    case who(String?)
    case answer(message: String, text: String)
    /// A message and its replies.
    case thread(String)
    case older
    case react(message: String, emoji: String)
    case edit(String)
    case delete(String)
    case unread
    /// An action on this conversation, the workspace or you.
    case more(ChatAction)
    case quit
    /// An error in the line, as a sentence.
    case mismatch(String)

    /// Whether it needs the daemon now: messages are kept for it instead.
    var asksDaemon: Bool {
        switch self {
        case .join, .direct, .who, .thread, .older, .react, .edit, .delete, .unread, .more: true
        case .nothing, .say, .help, .answer, .quit, .mismatch: false
        }
    }

    /// A command that can follow a `/`.
    struct Word {
        let word: String
        /// Its arguments, as help shows them.
        let form: String
        let summary: String
    }

    /// All commands, in the order of the help.
    static let words: [Word] = [
        Word(word: "help", form: "", summary: "list these commands"),
        Word(word: "join", form: "#CHANNEL", summary: "switch to another channel"),
        Word(word: "dm", form: "@NAME[,@NAME]", summary: "switch to a direct message"),
        Word(word: "older", form: "", summary: "show older messages; repeat it for more"),
        Word(
            word: "thread", form: "MSG [TEXT]",
            summary: "reply to a message; without TEXT, show its thread"),
        Word(word: "react", form: "MSG EMOJI", summary: "react to a message"),
        Word(word: "edit", form: "TEXT", summary: "edit your last message"),
        Word(
            word: "delete", form: "[MSG]",
            summary: "delete your last message, or that one; type it twice"),
        Word(
            word: "who", form: "[MSG]",
            summary: "show who is in the channel, or which devices hold MSG"),
        Word(word: "unread", form: "", summary: "show unread messages elsewhere"),
        Word(word: "next", form: "", summary: "go to the next unread conversation; also ctrl-G"),
        Word(word: "search", form: "TEXT", summary: "search messages everywhere"),
        Word(word: "pin", form: "MSG", summary: "pin a message for everyone"),
        Word(word: "unpin", form: "MSG", summary: "unpin a message"),
        Word(word: "pins", form: "", summary: "show pinned messages"),
        Word(word: "star", form: "MSG", summary: "star a message; only you see that"),
        Word(word: "unstar", form: "MSG", summary: "remove your star"),
        Word(word: "stars", form: "", summary: "show the messages that you starred"),
        Word(
            word: "remind", form: "MSG WHEN",
            summary: "remind yourself of MSG, or of 'here'; text after WHEN is included"),
        Word(word: "reminders", form: "", summary: "show your reminders"),
        Word(word: "dismiss", form: "", summary: "dismiss the reminders that are due"),
        Word(word: "topic", form: "[TEXT]", summary: "show or set the topic of the channel"),
        Word(word: "list", form: "", summary: "list channels"),
        Word(word: "msg", form: "@NAME TEXT", summary: "send a direct message and stay here"),
        Word(word: "me", form: "TEXT", summary: "say what you are doing, in italics"),
        Word(word: "invite", form: "", summary: "print an invite link to the workspace"),
        Word(word: "mute", form: "[2h]", summary: "mute this conversation; 0s unmutes it"),
        Word(word: "away", form: "[TEXT]", summary: "set your status to away"),
        Word(word: "back", form: "", summary: "set your status to online"),
        Word(word: "leave", form: "", summary: "leave the channel"),
        Word(word: "quit", form: "", summary: "quit the chat; so do /exit, /q and ctrl-D"),
    ]

    /// Commands by the names that they have in other chats, and the command that each means.
    static let otherNames: [(typed: String, word: String)] = [
        ("exit", "quit"), ("q", "quit"), ("bye", "quit"), ("part", "leave"), ("names", "who"),
        ("query", "dm"), ("h", "help"), ("?", "help"),
    ]

    /// - Parameter line: the whole line as typed.
    init(_ line: String) {
        guard line.unicodeScalars.contains(where: { !$0.properties.isWhitespace }) else {
            self = .nothing
            return
        }
        guard line.utf8.first == UInt8(ascii: "/") else {
            self = .say(line)
            return
        }
        let rest = line.dropFirst()
        if rest.utf8.first == UInt8(ascii: "/") {
            self = .say(String(rest))
            return
        }
        let (typed, arguments) = ArgumentText.parted(String(rest))
        let word = Self.otherNames.first { $0.typed == typed }?.word ?? typed
        self = Self.command(word, arguments)
    }

    /// Whether a line looks more like a shell command than a message.
    static func isForShell(_ text: String) -> Bool {
        let (first, rest) = ArgumentText.parted(String(text.drop { $0 == " " }))
        return first == "wsx-node" && !rest.isEmpty && !text.contains("\n")
    }

    private static func command(_ word: String, _ given: String) -> ChatLine {
        let (first, rest) = ArgumentText.parted(given)
        let trimmed = withoutEnd(given)
        switch word {
        case "help": return .help
        case "quit": return .quit
        case "unread": return .unread
        case "older": return .older
        case "who": return .who(trimmed.isEmpty ? nil : trimmed)
        case "delete": return .delete(trimmed.isEmpty ? "" : trimmed)
        case "join" where !trimmed.isEmpty: return .join(trimmed)
        case "dm" where !trimmed.isEmpty:
            return .direct(trimmed.utf8.first == UInt8(ascii: "@") ? trimmed : "@" + trimmed)
        case "edit" where !trimmed.isEmpty: return .edit(given)
        case "thread" where !rest.isEmpty: return .answer(message: first, text: rest)
        case "thread" where !first.isEmpty: return .thread(first)
        case "me" where !trimmed.isEmpty: return .say("_\(trimmed)_")
        case "react" where !rest.isEmpty:
            return .react(message: first, emoji: withoutEnd(rest))
        default:
            return ChatAction(word, trimmed).map { .more($0) } ?? .mismatch(complaint(word))
        }
    }

    private static func complaint(_ word: String) -> String {
        if let known = words.first(where: { $0.word == word }) {
            return "usage: /\(known.word) \(known.form)"
        }
        // A mistyped `/exit` is no `/edit`, which rewrites a message.
        let names = words.map(\.word) + otherNames.map(\.typed).filter { $0.utf8.count > 3 }
        let near = Similarity.nearest(to: word, in: names)
        let advice = near.map { "did you mean /\($0)?" } ?? "/help lists them."
        return
            "unknown command \(NodeError.quoted("/" + word)); \(advice) "
            + "To send text that starts with \"/\", type \"//\""
    }

    private static func withoutEnd(_ text: String) -> String {
        let scalars = text.unicodeScalars
        guard let last = scalars.lastIndex(where: { !$0.properties.isWhitespace }) else {
            return ""
        }
        return String(scalars[...last])
    }

    /// The output of `/help`, in lines of at most this many columns.
    static func helpText(columns: Int) -> String {
        let forms = words.map { "/\($0.word) \($0.form)" }
        let widest = forms.map(columnWidth).max() ?? 0
        let lines = zip(forms, words).flatMap { form, word in
            let gap = String(repeating: " ", count: widest - columnWidth(form) + 2)
            let line = "  " + form + gap + word.summary
            let indent = min(widest + 4, columns / 2)
            return FlowedText.lines(of: line, columns: columns, indent: indent)
        }
        let about = wrapped(explanation, columns: max(columns - 2, 8)).map { "  " + $0 }
        return (lines + about).joined(separator: "\n") + "\n"
    }

    private static let explanation = """
        MSG is 'last', '@NAME' (their last message), a number counted from the bottom (1 is the \
        newest), or at least six letters from the start or end of an id. To send text that starts \
        with a slash, type // instead. Tab completes @names, #channels and /commands. ctrl-C \
        clears the line; on an empty one, press it twice to quit. ctrl-D also quits.
        """
}
