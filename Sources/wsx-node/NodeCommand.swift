import PeerNode
import WorkspaceModel

/// `daemon run`: this process becomes the node.
enum NodeCommand {
    /// Runs the node until it is told to stop, and then ends the process.
    ///
    /// - Throws: why there is no node, such as `in_use`.
    static func run(
        paths: Paths, scan: ArgumentScan, environment: [String: String], io: any ProgramIO
    ) throws(NodeError) -> Int32 {
        // Commands run by the node have another working directory, and reach it by these paths.
        let paths = try paths.absolute(io)
        let file = try ConfigFile(io.readFile(paths.configuration) ?? [])
        var settings = settings(paths)
        settings.loop = try loopOptions(scan, file)
        settings.logLevel = try logLevel(scan, file, environment)
        settings.notices = try notices(file)
        settings.fileDefaults = try fileDefaults(file)
        let mail = try? file.text(of: "mail.command")
        settings.mailCommand = mail?.isEmpty == true ? nil : mail
        settings.deviceName = HostName.device(io.hostName)
        settings.journal = environment["JOURNAL_STREAM"]
        settings.notifySocket = environment["NOTIFY_SOCKET"]
        settings.passphrase = try Session(scan: scan, environment: environment, io: io)
            .secret("passphrase")
        try NodeProcess.run(settings) { log in
            do throws(NodeError) { try keep(scan, in: paths.configuration, io: io) } catch {
                // A read-only settings file is no reason not to run.
                log.write(.warning, "config.not_kept")
            }
        }
    }

    /// The node's paths, and its name.
    private static func settings(_ paths: Paths) -> NodeProcess.Settings {
        var settings = NodeProcess.Settings(
            home: HomeFolder(data: paths.data, socket: paths.socket),
            homeName: paths.home ?? paths.data)
        settings.home.configuration = paths.configuration
        return settings
    }

    /// Whether a daemon could start with these settings, and a new identity have the name in them.
    static func check(_ file: ConfigFile) throws(NodeError) {
        if let name = try? file.text(of: "name") {
            do throws(NodeError) { _ = try NewNames.person(name, field: "name") } catch {
                throw .badConfiguration(error.message, hint: error.hint)
            }
        }
        _ = try loopOptions(nil, file)
        _ = try logLevel(nil, file, [:])
        _ = try notices(file)
        _ = try fileDefaults(file)
    }

    /// Writes the network flags into the settings, so that the next start needs no flags. Existing
    /// settings are not changed.
    static func keep(
        _ scan: ArgumentScan, in path: String, io: any ProgramIO
    ) throws(NodeError) {
        var file = try ConfigFile(io.readFile(path) ?? [])
        var isChanged = false
        for (setting, flag) in [("net.listen", "listen"), ("net.announce", "announce")] {
            guard let word = scan.values[flag]?.stringValue else { continue }
            let value = flag == "announce" ? String(word == "on") : word
            if (try? file.text(of: setting)) == value { continue }
            try file.set(setting, to: value)
            isChanged = true
        }
        if isChanged { try io.replaceFile(path, with: file.bytes) }
    }

    /// From the command line, else the settings, else the defaults.
    static func loopOptions(
        _ scan: ArgumentScan?, _ file: ConfigFile
    ) throws(NodeError) -> NodeLoop.Options {
        var options = NodeLoop.Options()
        if let text = scan?.values["listen"]?.stringValue {
            options.listen = try ListenAddress(text)
        } else if let text = try? file.text(of: "net.listen") {
            do { options.listen = try ListenAddress(text) } catch {
                throw .badConfiguration("net.listen: \(error.message)", hint: error.hint)
            }
        }
        if let word = scan?.values["announce"]?.stringValue {
            options.announces = word == "on"
        } else if let word = try? file.text(of: "net.announce") {
            options.announces = word == "true"
        }
        return options
    }

    /// The notification defaults from the settings, used unless `notify` was used.
    static func notices(_ file: ConfigFile) throws(NodeError) -> NoticeDefaults {
        let level = try? file.text(of: "notify.level")
        guard
            let notices = NoticeDefaults(
                level: level, command: try? file.text(of: "notify.command"))
        else {
            throw .badConfiguration(
                "notify.level: unknown level \(NodeError.quoted(level ?? ""))",
                hint: "use all, mentions or none")
        }
        return notices
    }

    /// The cache limits from the settings, used unless `cache` was used.
    static func fileDefaults(_ file: ConfigFile) throws(NodeError) -> FileDefaults {
        var defaults = FileDefaults()
        if let bytes = try size("store.quota", in: file, from: Limits.quotaBytesMin) {
            defaults.quota = UInt64(clamping: bytes)
        }
        if let bytes = try size("limits.attachment_bytes", in: file, from: 1) {
            defaults.attachmentBytes = UInt64(clamping: bytes)
        }
        if let word = try? file.text(of: "store.cache_keep") {
            guard let period = CachePeriod(rawValue: word) else {
                throw .badConfiguration(
                    "store.cache_keep: unknown period \(NodeError.quoted(word))",
                    hint: "use 7d, 30d or forever")
            }
            defaults.period = period
        }
        if let word = try? file.text(of: "net.metered") {
            guard ["yes", "no", "auto"].contains(word) else {
                throw .badConfiguration(
                    "net.metered: unknown word \(NodeError.quoted(word))",
                    hint: "use yes, no, or auto to ask NetworkManager")
            }
            defaults.isMetered = word == "auto" ? nil : word == "yes"
        }
        return defaults
    }

    private static func size(
        _ name: String, in file: ConfigFile, from least: Int64
    ) throws(NodeError) -> Int64? {
        guard let text = try? file.text(of: name) else { return nil }
        guard let bytes = SizeText.bytes(text), bytes >= least else {
            throw .badConfiguration(
                "\(name): \(NodeError.quoted(text)) is not a size, or too small",
                hint: "such as 500MB, 20GB or 1TiB")
        }
        return bytes
    }

    private static func logLevel(
        _ scan: ArgumentScan?, _ file: ConfigFile, _ environment: [String: String]
    ) throws(NodeError) -> LogLevel {
        if let scan, scan.globals.verbose > 0 { return .debug }
        let word = environment["WSX_NODE_LOG"] ?? (try? file.text(of: "log.level")) ?? "info"
        guard let level = LogLevel(word: word) else {
            throw .badConfiguration(
                "unknown log level \(NodeError.quoted(word))",
                hint: "use error, warn, info or debug")
        }
        return level
    }
}
