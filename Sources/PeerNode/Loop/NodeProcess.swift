private import CLinux
import CRDTStore
private import Glibc
private import WorkspaceCrypto
public import WorkspaceModel

/// A process that is the node of a home, from start to end.
public enum NodeProcess {
    /// The settings of a node at its start.
    public struct Settings: Sendable {
        /// Where all files are.
        public var home: HomeFolder
        /// The home as its user named it, for `status`.
        public var homeName: String
        /// Where to listen, and whether to send beacons.
        public var loop = NodeLoop.Options()
        /// Less important lines are not logged.
        public var logLevel = LogLevel.info
        /// The value of `JOURNAL_STREAM`, where a service manager set one.
        public var journal: String?
        /// The value of `NOTIFY_SOCKET`, where a service manager waits to hear of the start.
        public var notifySocket: String?
        /// What the settings say of notices.
        public var notices = NoticeDefaults()
        /// What the settings say of files.
        public var fileDefaults = FileDefaults()
        /// The command that sends letters, from the settings.
        public var mailCommand: String?
        /// The name of this device in the workspaces it joins.
        public var deviceName: String?
        /// The passphrase that unlocks the home, if it has one; without it the node starts locked.
        public var passphrase: String?

        /// The usual settings for a home.
        public init(home: HomeFolder, homeName: String) {
            self.home = home
            self.homeName = homeName
        }
    }

    /// SQLite's memory in this process: 8 MiB of pages, and room for large statements.
    private static let databaseByteCountMax: Int64 = 64 * 1024 * 1024

    /// Makes this process a safe place for keys. To be called before anything is opened.
    public static func prepare() {
        HeapMemory.prepare()
        StandardDescriptors.ensureOpen()
        umask(0o077)
        ProcessHardening.silenceCrashes()
        // Refused only by a kernel without the call, and then nothing is lost but a guard.
        try? ProcessHardening.forbidDumps()
        Signals.prepareProcess()
    }

    /// Is the node until it is told to stop, and ends the process with status 0.
    ///
    /// The lock is taken before anything is read, and clients are served only when the store is
    /// open. At the end the store is closed first, then the socket's file goes, then the lock.
    /// The clients' connections are left to the kernel, so that a client that sees its connection
    /// end knows that the process has.
    ///
    /// - Parameter didStart: called once the sockets are open, for what only a start that went
    ///   well should leave behind.
    /// - Throws: why there is no node: `in_use`, `bad_configuration`, `store_failed`.
    public static func run(
        _ settings: Settings, didStart: (NodeLog) -> Void = { _ in }
    ) throws(NodeError) -> Never {
        prepare()
        let home = settings.home
        try home.prepare()
        let lock = try home.takeLock()
        try HomeWipe.finish(home)
        let log = NodeLog(level: settings.logLevel, path: home.log, journal: settings.journal)
        var host: NodeHost? = try makeHost(settings)
        let opening = try host.map { (host) throws(NodeError) in
            try StartUnlocking.unlock(host, settings.passphrase)
        }
        let loop = try makeLoop(&host, settings, log)
        loop.carryOut(opening ?? [])
        log.write(.info, "node.started version=\(Release.version) pid=\(getpid())")
        didStart(log)
        let manager = ServiceManager(named: settings.notifySocket)
        manager?.say(.ready)
        var status: Int32 = 0
        do throws(SystemError) { try loop.run { manager?.say(.stopping) } } catch {
            log.write(.error, "loop.failed call=\(error.call) error=\(error.number)")
            status = 70
        }
        if loop.hasFailed { status = 70 }
        loop.closeHost()
        if loop.wipesHome { status = max(status, wipe(home, log)) }
        loop.end()
        log.write(.info, "node.stopped")
        withExtendedLifetime(lock) {}
        // Not by returning: a job may be waiting for a name server, and nobody waits for it.
        exit(status)
    }

    /// Removes what is in the home.
    ///
    /// - Returns: the exit status, which is not 0 where something is left.
    private static func wipe(_ home: HomeFolder, _ log: NodeLog) -> Int32 {
        do throws(NodeError) { try HomeWipe.begin(home) } catch {
            log.write(.error, "wipe.failed \(TerminalText.forLog(error.message))")
            return error.exitStatus
        }
        return 0
    }

    private static func makeHost(_ settings: Settings) throws(NodeError) -> NodeHost {
        Connection.limitMemory(byteCount: databaseByteCountMax)
        let home = settings.home
        var environment = NodeEnvironment(
            random: SystemRandom(), files: DiskHomeFiles(home: home), home: settings.homeName,
            socket: home.socket, announces: settings.loop.announces)
        // Half of what may be opened is left for people, peers and files, also where it is little.
        let descriptorMax = wsx_want_descriptors(Limits.descriptorsWanted)
        environment.anonymousLinksMax = Int(clamping: descriptorMax / 2)
        environment.surroundings = MachineSurroundings(socket: home.socket)
        environment.notices = settings.notices
        environment.fileDefaults = settings.fileDefaults
        environment.mailCommand = settings.mailCommand
        environment.deviceName = settings.deviceName
        let time = TurnTime(
            wall: WallClock.milliseconds(), monotonic: MonotonicClock.milliseconds())
        do throws(StartError) {
            return try NodeHost(
                environment: environment, at: time,
                openStore: { () throws(StorageError) in try StoreFile.open(home) },
                rebuildStore: { () throws(StorageError) in try StoreFile.rebuild(home) })
        } catch { throw NodeError(start: error, home: home) }
    }

    /// Gives the host away, so that closing it in the loop closes the store.
    private static func makeLoop(
        _ host: inout NodeHost?, _ settings: Settings, _ log: NodeLog
    ) throws(NodeError) -> NodeLoop {
        guard let taken = host.take() else { preconditionFailure("a host was made just before") }
        return try NodeLoop(host: taken, home: settings.home, options: settings.loop, log: log)
    }
}

extension NodeError {
    /// Why a node could not start, for the person who started it.
    init(start error: StartError, home: HomeFolder) {
        let path = NodeError.quotedPath(home.store)
        switch error {
        case .identity(let error):
            self = .badConfiguration(error.message, hint: error.hint)
        case .store(let error):
            switch error.kind {
            case .newerSchema:
                self = .badConfiguration(
                    "\(path) was written by a later version: \(error.message)",
                    hint: "install that version again")
            case .olderSchema:
                self = .badConfiguration(
                    "\(path) was written by an earlier version, before the trust rules changed: \(error.message)",
                    hint: "move that file away, then be invited to your workspaces again; your "
                        + "identity stays, and the old version can still read the old file")
            case .cannotOpen, .readOnly, .notOurs, .busy:
                self = .badConfiguration("cannot use \(path): \(error.message)")
            case .full:
                self.init(
                    .storageFull, "the disk is full", hint: "free some space and start again",
                    reason: "store.full")
            case .empty, .corrupt:
                self.init(
                    .storeFailed, "\(path) is damaged: \(error.message)",
                    hint: "restore a copy, or move the home away and join again",
                    reason: "store.corrupt")
            default:
                self.init(
                    .storeFailed, "cannot open \(path): \(error)", reason: "store.io")
            }
        }
    }
}
