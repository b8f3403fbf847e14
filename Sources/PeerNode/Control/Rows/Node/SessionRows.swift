import WorkspaceModel

extension Command {
    /// Opening and closing the node.
    static let sessionCommands = [sessionStatus, sessionUnlock, lockNow, sessionLogout]
    /// Four digits that gate a running node.
    static let passcodeCommands = [
        passcodeSet, passcodeChange, passcodeRemove, lockUnlock, lockStatus,
    ]

    /// A secret travels on the socket; on the command line everybody on the machine would see it.
    private static func secret(_ name: String, _ summary: String) -> Parameter<String> {
        Parameter.text(name, summary, bytes: 1...PassphraseRule.bytesMax).hidden()
    }

    /// Where the command line reads a secret from: a file, an open file, the output of a command,
    /// or, without any of these, the terminal.
    static func sources(of name: String, _ what: String) -> [any ListedParameter] {
        [
            Parameter.text(
                name + "_file", "A file with \(what) on its first line.", bytes: 1...4_096
            ).optional().local(),
            Parameter.integer(
                name + "_fd", "A file descriptor to read \(what) from.", 0...1_023
            ).optional().local(),
            Parameter.text(
                name + "_command", "A shell command that prints \(what).",
                bytes: 1...4_096
            ).optional().local(),
        ]
    }

    /// Where a new identity's passphrase, or the one of a locked home, is read from.
    static let passphraseSources: [any ListedParameter] =
        sources(of: "passphrase", "the passphrase") + [
            Parameter.flag(
                "ask_passphrase", "Ask for the passphrase of a new identity on the terminal."
            ).local()
        ]

    /// The passphrase that seals a new identity.
    static let newPassphrase = secret(
        "passphrase",
        "Encrypts the keys on disk: 15 characters, or 8 with lower, upper, digit and symbol."
    ).optional()

    static let identityPassphraseChange = {
        let current = secret("current", "The current passphrase.")
            .called("current passphrase").optional()
        let new = secret("new", "The new passphrase.").called("new passphrase").optional()
        let remove = Parameter.flag(
            "remove", "Store the keys unencrypted, in a file of mode 0600.")
        return Command(
            "identity.passphrase.change",
            line: CommandLineForm(
                "passphrase change",
                examples: [
                    "passphrase change", "passphrase change --new-file secret.txt",
                    "passphrase change --remove",
                ], flow: .changePassphrase, question: .removesPassphrase),
            "Change, set or remove the passphrase of your keys.",
            parameters: [current, new, remove] + sources(of: "current", "the current passphrase")
                + sources(of: "new", "the new passphrase"),
            result: "identity", shape: .identity, effect: .writes, scope: .node,
            failures: [.badRequest, .wrongSecret, .rateLimited, .busy],
            example: ["new": "correct horse battery"],
            run: .outcome { (call) throws(NodeError) in
                try call.node.identity.changePassphrase(
                    PassphraseDraft(current: call[current], new: call[new], removes: call[remove]),
                    call.scope)
            })
    }()

    private static let sessionStatus = Command(
        "session.status", line: CommandLineForm("session status", examples: ["session status"]),
        "Show whether the node is locked, and what unlocks it.",
        result: "session", shape: .session, effect: .reads, scope: .node, whileLocked: .answers,
        needs: .daemon,
        run: .answer { (call) throws(NodeError) in try call.node.session.session(call.scope) })

    private static let sessionUnlock = {
        let passphrase = secret("passphrase", "The passphrase of this home.")
        return Command(
            "session.unlock",
            line: CommandLineForm(
                "session unlock",
                examples: [
                    "session unlock", "session unlock --passphrase-file secret.txt",
                    "session unlock --passphrase-file passcode.txt",
                ], flow: .unlock),
            "Unlock the node with its passphrase. While it asks for its passcode (see 'session "
                + "status'), the same flags, and the prompt on a terminal, take the four digits.",
            parameters: [passphrase] + sources(of: "passphrase", "the passphrase or passcode"),
            result: "session", shape: .session, effect: .writes, scope: .node,
            whileLocked: .answers, failures: [.wrongSecret, .rateLimited, .busy, .notFound],
            example: ["passphrase": "correct horse battery"], needs: .daemon,
            run: .outcome { (call) throws(NodeError) in
                try call.node.identity.unlockSession(passphrase: call[passphrase], call.scope)
            })
    }()

    private static let lockNow = Command(
        "lock.now", line: CommandLineForm("session lock", examples: ["session lock"]),
        """
        Lock the node: behind its passcode, or by dropping the keys. It still stores and forwards \
        what peers send.
        """,
        result: "session", shape: .session, effect: .writesBeside, scope: .node,
        whileLocked: .answers, failures: [.forbidden, .notFound], needs: .daemon,
        run: .answer { (call) throws(NodeError) in try call.node.session.lockNow(call.scope) })

    private static let sessionLogout = {
        let wipe = Parameter.choice(
            "wipe",
            "What to erase besides the keys in memory: nothing; what was written and received; or "
                + "the whole home with its settings, which also stops the daemon.",
            ["none", "messages", "all"]
        ).defaulting(to: "none").writing("messages")
        let force = Parameter.flag("force", "Log out even if something is on no other device.")
        return Command(
            "session.logout",
            line: CommandLineForm(
                "session logout",
                examples: ["session logout", "session logout --wipe all --force"], flow: .logOut,
                question: .logsOut),
            "Drop the keys, go offline, and erase as much of the home as you ask. Backups that "
                + "were written elsewhere stay, and so does what peers have.",
            parameters: [wipe, force], result: "session", shape: .session, effect: .writesBeside,
            scope: .node, whileLocked: .answers,
            failures: [.unsynced, .forbidden, .locked, .notFound], example: ["wipe": "none"],
            needs: .daemon,
            run: .answer { (call) throws(NodeError) in
                try call.node.session.logOut(wiping: call[wipe], isForced: call[force], call.scope)
            })
    }()

    // MARK: Passcode

    private static func passcode(_ name: String, _ summary: String) -> Parameter<String> {
        Parameter.text(name, summary, bytes: 1...64).hidden()
    }

    private static let passcodeSet = {
        let code = passcode("code", "Four digits. They are kept in memory only.")
            .called("passcode")
        return Command(
            "lock.set",
            line: CommandLineForm("passcode set", examples: ["passcode set"], flow: .setPasscode),
            "Set a passcode for locking this node. It lasts until the node stops, and needs a "
                + "passphrase.",
            parameters: [code] + sources(of: "code", "the passcode"), result: "session",
            shape: .session, effect: .writesBeside, scope: .node, whileLocked: .answers,
            failures: [.badRequest, .duplicate, .forbidden], example: ["code": "2580"],
            run: .answer { (call) throws(NodeError) in
                try call.node.session.setPasscode(call[code], call.scope)
            })
    }()

    private static let passcodeChange = {
        let current = passcode("current", "The current passcode.").called("current passcode")
        let new = passcode("new", "Four digits.").called("new passcode")
        return Command(
            "lock.change",
            line: CommandLineForm(
                "passcode change", examples: ["passcode change"], flow: .changePasscode),
            "Change the passcode.",
            parameters: [current, new] + sources(of: "current", "the current passcode")
                + sources(of: "new", "the new passcode"),
            result: "session", shape: .session, effect: .writesBeside, scope: .node,
            whileLocked: .answers, failures: [.badRequest, .wrongSecret, .notFound],
            example: ["current": "2580", "new": "0852"],
            run: .answer { (call) throws(NodeError) in
                try call.node.session.changePasscode(from: call[current], to: call[new], call.scope)
            })
    }()

    private static let passcodeRemove = {
        let code = passcode("code", "The current passcode.").called("passcode")
        return Command(
            "lock.remove",
            line: CommandLineForm(
                "passcode remove", examples: ["passcode remove"], flow: .removePasscode),
            "Remove the passcode.",
            parameters: [code] + sources(of: "code", "the passcode"), result: "session",
            shape: .session, effect: .writesBeside, scope: .node, whileLocked: .answers,
            failures: [.badRequest, .wrongSecret, .notFound], example: ["code": "2580"],
            run: .answer { (call) throws(NodeError) in
                try call.node.session.removePasscode(call[code], call.scope)
            })
    }()

    private static let lockUnlock = {
        let code = passcode("code", "The passcode.")
        return Command(
            "lock.unlock",
            "Unlock the node with its passcode. After three wrong ones it needs its passphrase.",
            parameters: [code], result: "session", shape: .session, effect: .writes, scope: .node,
            whileLocked: .answers, failures: [.badRequest, .wrongSecret, .locked],
            example: ["code": "2580"], needs: .daemon,
            run: .answer { (call) throws(NodeError) in
                try call.node.session.unlock(passcode: call[code], call.scope)
            })
    }()

    private static let lockStatus = Command(
        "lock.status", "Show whether the node is locked, as `session.status` does.",
        result: "session", shape: .session, effect: .reads, scope: .node, whileLocked: .answers,
        needs: .daemon,
        run: .answer { (call) throws(NodeError) in try call.node.session.session(call.scope) })
}
