import PeerNode
import WorkspaceModel

/// The command line, from argv to the exit status.
enum Program {
    /// Runs one command line.
    ///
    /// - Parameter arguments: without the program's own name.
    /// - Returns: the exit status, as the manual page lists them.
    static func run(
        arguments: [String], environment: [String: String], io: any ProgramIO
    ) -> Int32 {
        if arguments == ["version"] || arguments == ["--version"] {
            io.print("wsx-node \(Release.version)\n")
            return 0
        }
        if arguments.first == CompletionScript.word {
            return complete(Array(arguments.dropFirst()), environment: environment, io: io)
        }
        let scan: ArgumentScan
        do throws(NodeError) {
            scan = try ArgumentScanner.scan(arguments, against: Command.all)
        } catch {
            report(error, json: wantsJSON(arguments), io: io)
            return error.exitStatus
        }
        do throws(NodeError) {
            return try Session(scan: scan, environment: environment, io: io).run()
        } catch {
            report(error, of: scan, io: io)
            return error.exitStatus
        }
    }

    /// Runs one command line from the system's raw arguments.
    static func run(
        typed words: [[UInt8]], environment: [String: String], io: any ProgramIO
    ) -> Int32 {
        let arguments: [String]
        do throws(NodeError) { arguments = try TypedArguments.texts(words) } catch {
            let shown = words.map { String(decoding: $0, as: UTF8.self) }
            report(error, json: wantsJSON(shown), io: io)
            return error.exitStatus
        }
        return run(arguments: arguments, environment: environment, io: io)
    }

    private static func wantsJSON(_ arguments: [String]) -> Bool {
        arguments.prefix { $0 != "--" }.contains("--json")
    }

    /// Reports a failure of a parsed command line: in its words, and with hints for the same home.
    private static func report(_ error: NodeError, of scan: ArgumentScan, io: any ProgramIO) {
        if scan.globals.json { return report(error, json: true, io: io) }
        var told = error
        if let command = scan.command {
            told = ArgumentWords(command: command, typed: scan.typed).told(error)
        }
        told.hint = told.hint.map(HintText(scan.globals).text)
        report(told, json: false, io: io)
    }

    /// Prints a failure on standard error: as the error object for programs, as
    /// sentences for people.
    static func report(_ error: NodeError, json: Bool, io: any ProgramIO) {
        if json {
            io.printError(error.json.text + "\n")
            return
        }
        io.tell("wsx-node: \(sanitised(error.message))\n", indent: 10, isOwn: false)
        // The message explains the fields that it names.
        for field in error.fields.dropFirst()
        where !ArgumentWords.isNamed(field.name, in: error.message) {
            let text =
                "\(sanitised(field.name)): \(sanitised(ArgumentWords.words(for: field.reason)))"
            io.tell("          \(text)\n", isOwn: false)
        }
        for candidate in error.details["candidates"]?.arrayValue ?? [] {
            let words = [
                candidate["id"]?.stringValue, candidate["name"]?.stringValue,
                candidate["text"]?.stringValue.map { excerpt($0) },
            ].compactMap { $0 }
            io.tell("          \(sanitised(words.joined(separator: "  ")))\n", isOwn: false)
        }
        if let hint = error.hint { io.tell("hint: \(sanitised(hint))\n", indent: 6) }
    }
}

/// A parsed command line with everything needed to run it.
struct Session: SessionPart {
    var scan: ArgumentScan
    let environment: [String: String]
    let io: any ProgramIO

    func run() throws(NodeError) -> Int32 {
        if globals.version {
            return version()
        }
        guard let command = scan.command else { return try withoutCommand() }
        if globals.help {
            io.print(helpPage.text(for: command))
            return 0
        }
        try refuseVisibleSecrets(command)
        return command.needs == .nothing ? try runLocally(command) : try runNamingPeople(command)
    }

    /// Only the beginning of a command, or no words at all.
    private func withoutCommand() throws(NodeError) -> Int32 {
        if scan.words.isEmpty {
            if globals.help {
                show(helpPage.full, isLong: true)
            } else if io.isOutputTerminal {
                return try HomeShowing(self).homeScreen()
            } else {
                io.print(Manual.shortHelp)
            }
            return 0
        }
        if globals.help {
            io.print(helpPage.list(under: scan.words) ?? helpPage.short)
            return 0
        }
        guard !globals.json else {
            throw .usage(
                "several commands begin with '\(scan.words.joined(separator: " "))'",
                hint: "wsx-node help \(scan.words.joined(separator: " "))")
        }
        let page = HelpPage(columns: io.errorColumns)
        io.printError(page.list(under: scan.words) ?? page.short)
        return 2
    }

    private func version() -> Int32 {
        io.print(globals.json ? Release.json.text + "\n" : "wsx-node \(Release.version)\n")
        return 0
    }

    private func runLocally(_ command: Command) throws(NodeError) -> Int32 {
        switch command.flow {
        case .version: return version()
        case .socket: tell("socket", try paths().socket)
        case .help: return try help()
        case .rpc: return try callRaw()
        case .man: page(Manual.page)
        case .completion:
            do { try command.check(scan.values) } catch { throw usage(error, command) }
            page(CompletionScript.text(for: scan.values["shell"]?.stringValue ?? ""))
        case .up: return try Starting(self).up()
        case .restoreBackup: return try BackingUp(self).useBackup(command)
        case .runDaemon:
            return try NodeCommand.run(
                paths: try paths(), scan: scan, environment: environment, io: io)
        default: try settings(command)
        }
        return 0
    }

    private func help() throws(NodeError) -> Int32 {
        let words = scan.values["topic"]?.arrayValue?.compactMap(\.stringValue) ?? []
        let text: String
        if words.isEmpty {
            text = helpPage.full
        } else if let command = Command.all.first(where: { $0.line?.words == words }) {
            text = helpPage.text(for: command)
        } else if let list = helpPage.list(under: words) {
            text = list
        } else if let topic = Manual.topics.first(where: { [$0.word] == words }) {
            text = helpPage.topic(topic.text)
        } else {
            throw ArgumentScanner.unknownCommand(
                words, Command.all, topics: Manual.topics.map(\.word))
        }
        if globals.json {
            let topic = JSONValue.string(words.joined(separator: " "))
            io.print(JSONValue.object(["topic": topic, "text": .string(text)]).text + "\n")
        } else {
            show(text, isLong: true)
        }
        return 0
    }

    /// Prints a text made for another program.
    private func page(_ text: String) {
        io.print(globals.json ? JSONValue.object(["text": .string(text)]).text + "\n" : text)
    }

    private func settings(_ command: Command) throws(NodeError) {
        do { try command.check(scan.values) } catch { throw usage(error, command) }
        let path = try paths().configuration
        if command.flow == .settingsPath { return tell("path", path) }
        var file = try ConfigFile(io.readFile(path) ?? [])
        let setting = scan.values["setting"]?.stringValue ?? ""
        switch command.flow {
        case .getSetting: tell("value", try file.text(of: setting), of: setting)
        case .changeSetting:
            let value = scan.values["value"]?.stringValue ?? ""
            try file.set(setting, to: value)
            // Refused here rather than at the next start.
            try NodeCommand.check(file)
            try io.replaceFile(path, with: file.bytes)
            if globals.json { tell("value", try file.text(of: setting), of: setting) }
            if setting == "name" { try tellNameKept(value) }
        default:
            for (name, value) in file.settings {
                if globals.json {
                    tell("value", try file.text(of: name), of: name)
                } else {
                    io.print("\(name)\t\(sanitised(value))\n")
                }
            }
        }
    }

    /// The setting names a new identity. Says so where there is one already.
    private func tellNameKept(_ name: String) throws(NodeError) {
        let paths = try paths()
        let home = HomeFolder(data: paths.data, socket: paths.socket)
        guard io.exists(home.identity), !globals.json, !globals.plain, !globals.quiet else {
            return
        }
        let how = rendering.hints.text(
            "wsx-node profile set --name \(NodeError.shellWord(sanitised(name)))")
        io.tell("note: that is for a new identity; to change your name: \(how)\n")
    }

    /// Prints one text as the answer: bare for people and shells, as an object with `--json`.
    private func tell(_ what: String, _ text: String, of setting: String? = nil) {
        guard globals.json else { return io.print(sanitised(text) + "\n") }
        var object = JSONObject()
        if let setting { object.append("setting", .string(setting)) }
        object.append(what, .string(text))
        io.print(JSONValue.object(object).text + "\n")
    }
}
