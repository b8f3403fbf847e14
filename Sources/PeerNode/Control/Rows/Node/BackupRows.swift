import WorkspaceModel

extension Command {
    /// Copies of a home, and looking into what is stored.
    static let careCommands = [backupCreate, backupVerify, backupRestore, why, nodeCheck]

    private static let passphraseFile = Parameter.text(
        "passphrase_file", "A file with the backup's passphrase on its first line.",
        bytes: 1...4_096
    ).optional().local()
    private static let passphraseDescriptor = Parameter.integer(
        "passphrase_fd", "A file descriptor to read the passphrase from.", 0...1_023
    ).optional().local()
    /// On the command line everybody on the machine would see it, so it has two files there.
    private static let passphrase = Parameter.text(
        "passphrase", "The backup's passphrase; '-' reads it from standard input.",
        bytes: 1...1_024
    ).optional().standardInput()

    private static let backupCreate = {
        let path = Parameter.text(
            "path",
            "The file to write; it must not exist yet. On the socket, an absolute path. On the "
                + "command line, without it, a file here named after the day.",
            bytes: 1...4_096
        ).flag("output").short("o").called("file")
        let settings = Parameter.text(
            "settings", "The settings file to include: an absolute path.", bytes: 1...4_096
        ).optional()
        let files = Parameter.choice(
            "files", "Which files of messages go with it: those you added here, all, or none.",
            BackupFileChoice.allCases.map(\.rawValue)
        ).defaulting(to: BackupFileChoice.own.rawValue)
        return Command(
            "backup.create",
            line: CommandLineForm(
                "backup create",
                examples: ["backup create -o acme.bak --passphrase-file secret.txt"],
                flow: .createBackup),
            """
            Back up store, identity and settings to one file while the node runs. A recovery \
            phrase that you have not seen yet is left out.
            """,
            parameters: [path, passphrase, passphraseFile, passphraseDescriptor, settings, files],
            result: "backup", shape: .backup, effect: .writesBeside, scope: .node,
            failures: [.duplicate, .storageFull, .badConfiguration],
            example: ["path": "/backups/acme.bak"],
            run: .outcome { (call) throws(NodeError) in
                try call.node.backups.createBackup(
                    BackupDraft(
                        path: call[path], settings: call[settings], passphrase: call[passphrase],
                        files: BackupFileChoice(rawValue: call[files]) ?? .own), call.scope)
            })
    }()

    private static let backupVerify = {
        let path = Parameter.text(
            "path", "The backup file. On the socket, an absolute path.", bytes: 1...4_096
        ).called("backup")
        return Command(
            "backup.verify",
            line: CommandLineForm(
                "backup verify", ["path"], examples: ["backup verify acme.bak"], flow: .verifyBackup
            ),
            "Check a backup: hashes, identity, and every operation in its store.",
            parameters: [path, passphrase, passphraseFile, passphraseDescriptor], result: "backup",
            shape: .backup, effect: .reads, scope: .node,
            failures: [.badRequest, .notFound, .wrongSecret, .badConfiguration],
            example: ["path": "/backups/acme.bak"], needs: .daemon,
            run: .outcome { (call) throws(NodeError) in
                try call.node.backups.verifyBackup(
                    BackupDraft(path: call[path], settings: nil, passphrase: call[passphrase]),
                    call.scope)
            })
    }()

    private static let backupRestore = {
        let path = Parameter.text("path", "The backup file.", bytes: 1...4_096).called("backup")
        let force = Parameter.flag(
            "force", "Move what is in the home to a folder next to it, then restore.")
        return Command(
            "backup.restore",
            line: CommandLineForm(
                "backup restore", ["path"],
                examples: ["backup restore acme.bak --home /home/mina/wsx"], flow: .restoreBackup),
            """
            Restore a backup into a home without an identity. When it starts, the node takes a new \
            store id, and fetches from its peers what it wrote after the backup.
            """,
            parameters: [path, passphrase, passphraseFile, passphraseDescriptor, force],
            result: "backup", shape: .backup, effect: .writesBeside, scope: .node,
            failures: [
                .badRequest, .notFound, .duplicate, .inUse, .wrongSecret, .storeFailed,
                .badConfiguration,
            ],
            example: ["path": "/backups/acme.bak"], needs: .nothing)
    }()

    private static let why = {
        let subject = Parameter.text(
            "subject", "A member, a message or a channel: @name, #name or an id.", bytes: 1...256
        ).asked("who or what?")
        let action = Parameter.text(
            "can", "Whether the member, or otherwise you, may do this: send, invite, remove, …",
            bytes: 1...64
        ).optional()
        return Command(
            "why",
            line: CommandLineForm(
                "why", ["subject"],
                examples: ["why @Joon", "why @Joon --can invite", "why '#general'"]),
            "Explain why someone may or may not do something. Lists the signed operations that "
                + "decide it, one step per line.",
            parameters: [subject, action], result: "why", shape: .explanation, effect: .reads,
            scope: .workspace, failures: [.notFound, .ambiguous, .badRequest],
            example: ["subject": "@Joon"],
            run: .answer { (call) throws(NodeError) in
                try call.node.inspection.why(call[subject], can: call[action], call.scope)
            })
    }()

    private static let nodeCheck = {
        let repair = Parameter.flag(
            "repair", "Rebuild what is shown, and ask peers for what is damaged or lost."
        ).writing(true)
        return Command(
            "node.check",
            line: CommandLineForm("check", examples: ["check", "check --repair"]),
            "Recompute all stored data, from ids and signatures to what is shown.",
            parameters: [repair], result: "check", shape: .check, effect: .writesBeside,
            scope: .node, failures: [.busy],
            run: .outcome { (call) throws(NodeError) in
                try call.node.inspection.check(repairs: call[repair], call.scope)
            })
    }()
}
