import WorkspaceModel

/// The manual page `wsx-node(1)` in the macros of man(7), generated from the table of commands.
extension Manual {
    /// The whole page: ASCII alone, every line ended.
    public static var page: String {
        var text =
            ".TH WSX\\-NODE 1 \"\(date)\" \"wsx\\-node \(Release.version)\" \"User Commands\"\n"
        text += ".SH NAME\nwsx\\-node \\- a workspace without a server\n"
        text += ".SH SYNOPSIS\n.B wsx\\-node\n[\\fIflags\\fR] \\fIcommand\\fR [\\fIarguments\\fR]\n"
        text += ".SH DESCRIPTION\n" + paragraphs(about)
        text += ".SH COMMANDS\n"
        for group in Command.groups {
            let commands = group.commands.filter { $0.line != nil }
            guard !commands.isEmpty else { continue }
            text += ".SS \(roff(group.title.prefix(1).uppercased() + group.title.dropFirst()))\n"
            for command in commands { text += entry(command) }
        }
        text += ".SH OPTIONS\nThese can stand before or after any command.\n"
        for flag in globalFlags { text += item(flag.form, flag.summary) }
        text += ".SH EXIT STATUS\n" + rows(exitStatuses)
        text += ".SH ENVIRONMENT\n" + rows(environment)
        text += ".SH FILES\n"
        text += "With \\fB\\-\\-home\\fR they are all in the folder that it names.\n"
        return text + rows(files) + ".SH EXAMPLES\n" + examples
    }

    /// The day of the last change that readers of the page have to know of.
    private static let date = "2026-11-21"

    private static let about = [
        """
        A node keeps channels and messages on this machine and exchanges them with the nodes of \
        other members directly; there is no server between them. The program is both the node \
        (a daemon that 'wsx-node up' starts) and the command line that talks to it over a socket.
        """,
        """
        Run without a command on a terminal, it shows an overview and a next step. With --json, \
        every answer is one JSON object per line, and so is an error, on standard error.
        """,
        """
        Write channels as general or c_ID, and people as @Mina or u_ID. Where a channel is \
        expected, @Mina means your direct messages with Mina. The beginning of an id is enough.
        """,
        """
        On a terminal it asks before it does what cannot be undone; --no-input refuses that \
        instead, and --yes answers yes. In a script nothing is asked, and only what destroys \
        something permanently needs --yes: a workspace, what others wrote, a purged note, this \
        home, the passphrase.
        """,
    ]

    /// What the exit status tells, as scripts rely on it.
    public static let exitStatuses: [(name: String, summary: String)] = [
        ("0", "Done."), ("1", "Refused or failed; the error names its kind."),
        ("2", "The command line cannot be understood."), ("3", "wsx-node is not running."),
        ("4", "Not allowed, or locked."), ("5", "Not found, or ambiguous."),
        ("6", "Conflicts with what exists, or exists already."),
        ("7", "Timed out, unreachable, or still pending."),
        ("9", "Nothing was found, and --exit-code was given."), ("70", "An internal error."),
        ("78", "Unusable settings, or a store from a newer version."),
        ("130, 143", "Interrupted or terminated."),
        ("141", "Nothing reads standard output any more."),
    ]

    /// The variables that are read, and those that commands of bots are given.
    public static let environment: [(name: String, summary: String)] = [
        ("WSX_NODE_HOME", "Same as --home."), ("WSX_NODE_SOCKET", "Same as --socket."),
        ("WSX_NODE_WORKSPACE", "Same as --workspace."),
        ("WSX_NODE_LOG", "The level of the daemon's log: error, warn, info or debug."),
        ("WSX_NODE_PAGER, PAGER", "Shows long answers on a terminal; empty for none."),
        ("NO_COLOR, FORCE_COLOR, TERM", "Whether output is in colour."),
        ("XDG_CONFIG_HOME, XDG_DATA_HOME, XDG_STATE_HOME, XDG_RUNTIME_DIR", "Where files go."),
        (
            "WSX_EVENT_TYPE, WSX_CURSOR, WSX_CHANNEL, WSX_MESSAGE, WSX_TEXT",
            """
            Set for the command of 'events --exec', with control characters made visible; the \
            exact event is on standard input.
            """
        ),
        ("WSX_BOT", "Set for it too; 'send' then marks messages as written by a program."),
        (
            "WSX_AUTHOR, WSX_CHANNEL_NAME, WSX_WORKSPACE, WSX_WORKSPACE_NAME",
            """
            Set for the notification command as well as those above, in the same way and with the \
            message on standard input.
            """
        ),
        ("WSX_REMINDER", "Set for it where a reminder is due: the id of the reminder."),
        (
            "WSX_LEDGER",
            """
            Set for it where an order waits for you, coins came, or a spend of yours no longer \
            counts: the id of the ledger. WSX_TEXT then says what happened.
            """
        ),
        (
            "WSX_AUTHOR_BOT",
            "Set for it too: 1 if a program wrote the message; 'send' then refuses to answer."
        ),
    ]

    /// Where a home without `--home` keeps its things.
    static let files: [(name: String, summary: String)] = [
        ("~/.config/wsx-node/config.toml", "Settings."),
        ("~/.local/share/wsx-node/", "Keys, store and log. Nobody else may read it."),
        ("$XDG_RUNTIME_DIR/wsx-node/control.sock", "The control socket."),
    ]

    // MARK: Parts

    private static func entry(_ command: Command) -> String {
        var text = ".TP\n\(marked(command.usage))\n\(roff(command.summary))\n"
        let positions = command.line?.positions ?? []
        let listed =
            command.parameters.filter { positions.contains($0.name) } + command.flags
        guard !listed.isEmpty else { return text }
        text += ".RS\n"
        for parameter in listed {
            let isPosition = positions.contains(parameter.name)
            let short = parameter.shortFlag.map { "-\($0), " } ?? ""
            let form = isPosition ? parameter.positionWord : short + Command.flagForm(parameter)
            text += item(form, parameter.summary)
        }
        return text + ".RE\n"
    }

    /// A usage line with its words in bold type.
    private static func marked(_ usage: String) -> String { "\\fB\(roff(usage))\\fR" }

    private static func item(_ term: String, _ summary: String) -> String {
        ".TP\n\\fB\(roff(term))\\fR\n\(roff(summary))\n"
    }

    private static func rows(_ rows: [(name: String, summary: String)]) -> String {
        rows.map { item($0.name, $0.summary) }.joined()
    }

    private static func paragraphs(_ texts: [String]) -> String {
        texts.map(roff).joined(separator: "\n.PP\n") + "\n"
    }

    private static var examples: String {
        var lines: [String] = []
        for command in Command.all {
            // A copied line must be exactly what is displayed, so examples with emoji are left out.
            for example in command.line?.examples ?? [] where !example.contains(where: isEmoji) {
                lines.append(
                    example.utf8.starts(with: "uptime".utf8) ? example : "wsx-node " + example)
            }
        }
        return ".nf\n" + lines.map { roff($0) + "\n" }.joined() + ".fi\n"
    }

    /// Whether it is an emoji, which most troff devices cannot display.
    private static func isEmoji(_ character: Character) -> Bool {
        character.unicodeScalars.contains { $0.value >= 0x1F000 }
    }

    /// Text as roff takes it: no command by accident, dashes that can be copied, ASCII alone. A
    /// picture is named.
    static func roff(_ text: some StringProtocol) -> String {
        var made = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": made += "\\e"
            case "-": made += "\\-"
            case "'": made += "\\(aq"
            case "`": made += "\\(ga"
            case "^": made += "\\(ha"
            case "~": made += "\\(ti"
            case "\n": made += " "
            case "\u{2026}": made += "..."
            case _ where scalar.isASCII: made.unicodeScalars.append(scalar)
            case _ where isEmoji(Character(scalar)):
                made += "(" + (scalar.properties.name ?? "emoji").lowercased() + ")"
            default:
                let digits = String(scalar.value, radix: 16, uppercase: true)
                made += "\\[u" + String(repeating: "0", count: max(0, 4 - digits.utf8.count))
                made += digits + "]"
            }
        }
        return made.utf8.first == UInt8(ascii: ".") ? "\\&" + made : made
    }
}
