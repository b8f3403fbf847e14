import PeerNode
import WorkspaceModel

/// Backup commands: resolves paths, and reads passphrases from files.
struct BackingUp: SessionPart {
    var scan: ArgumentScan
    let environment: [String: String]
    let io: any ProgramIO

    /// `backup create`: the daemon writes it, so its paths must not depend on
    /// our working directory.
    func createBackup(_ command: Command) throws(NodeError) -> Int32 {
        var session = self
        if scan.values["path"] == nil { session.scan.values["path"] = .string(backupName) }
        var parameters = try session.parameters(for: command)
        parameters["path"] = absolute(parameters["path"])
        let settings = try paths().configuration
        parameters["settings"] =
            io.exists(settings) ? absolute(parameters["settings"] ?? .string(settings)) : nil
        var secret = try passphrase(parameters)
        if secret == nil { secret = try newBackupPassphrase() }
        parameters["passphrase"] = secret.map { .string($0) }
        var client = try client()
        let result = try client.call(command.name, parameters)
        show(rendering.text(result, of: command.name))
        if result["phrase_left_out"]?.boolValue == true {
            let hint = rendering.hints.text("wsx-node identity show --phrase, and write it down")
            io.tell(
                """
                wsx-node: your recovery phrase is not in the backup: you have not seen it yet
                hint: \(hint)

                """)
        }
        if result["sealed"]?.boolValue == false {
            let state = try? client.call("session.status", [:])
            let what =
                state?["passphrase"] == true
                ? "the backup is not sealed; its keys are under the passphrase of this home"
                : "the backup holds your keys, and only its file mode 0600 protects it"
            io.tell("wsx-node: \(what)\nhint: add --passphrase-file FILE to seal it\n")
        }
        return 0
    }

    /// A file name in this folder with today's date.
    private var backupName: String {
        let day = TimeText.local(io.now, zone: io.zoneMinutes).day
        let date = TimeText.date(ofDay: day)
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "wsx-backup-\(date.year)-\(two(date.month))-\(two(date.day)).bak"
    }

    /// Asks for the passphrase of a new backup; `nil` if nobody is there, or none is wanted.
    private func newBackupPassphrase() throws(NodeError) -> String? {
        guard mayAsk, let first = io.askSecret("Passphrase for the backup, empty for none: "),
            !first.isEmpty
        else { return nil }
        guard io.askSecret("Again: ") == first else {
            throw .usage("the two do not match", hint: "no backup was made")
        }
        return first
    }

    /// `backup verify` and `backup restore`, which need no daemon.
    func useBackup(_ command: Command) throws(NodeError) -> Int32 {
        let values = try parameters(for: command)
        let path = absolute(values["path"])?.stringValue ?? ""
        let given = try passphrase(values).map { Array($0.utf8) }
        guard command.flow == .restoreBackup else {
            let (result, secret) = try opened(by: given) { (secret) throws(NodeError) in
                try BackupCheck.verify(path, passphrase: secret, in: home())
            }
            show(rendering.text(result, of: command.name))
            if secret != nil, result["sealed"]?.boolValue == false {
                io.tell(
                    "wsx-node: the backup is not sealed, so the passphrase was not used\n")
            }
            return 0
        }
        let (result, _) = try opened(by: given) { (secret) throws(NodeError) in
            try BackupRestore.restore(
                path, to: home(), configuration: paths().configuration, passphrase: secret,
                isForced: values["force"]?.boolValue == true, now: UInt64(max(io.now, 0)))
        }
        show(rendering.text(result, of: command.name))
        return 0
    }

    /// Verifies or restores a backup; for a sealed one asks for its passphrase at a terminal.
    ///
    /// - Returns: the result, and the passphrase used.
    private func opened(
        by secret: [UInt8]?, _ use: ([UInt8]?) throws(NodeError) -> JSONValue
    ) throws(NodeError) -> (result: JSONValue, secret: [UInt8]?) {
        do throws(NodeError) { return (try use(secret), secret) } catch {
            guard secret == nil, mayAsk, error.isBecause(of: .sealedBackup),
                let answer = io.askSecret("Passphrase of the backup: "), !answer.isEmpty
            else { throw error }
            let bytes = Array(answer.utf8)
            return (try use(bytes), bytes)
        }
    }

    private func home() throws(NodeError) -> HomeFolder {
        let paths = try paths()
        return HomeFolder(data: paths.data, socket: paths.socket)
    }

    /// The passphrase given in one of three ways; the first line of a file.
    private func passphrase(_ values: JSONObject) throws(NodeError) -> String? {
        try secret("passphrase") ?? values["passphrase"]?.stringValue
    }

    private func absolute(_ value: JSONValue?) -> JSONValue? {
        value?.stringValue.map { .string(io.absolutePath($0)) } ?? value
    }
}
