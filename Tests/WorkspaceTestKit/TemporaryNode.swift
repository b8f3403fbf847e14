public import Foundation
import Glibc
public import Testing
public import WorkspaceModel

/// A home in a temporary folder, with the real program.
///
/// Every daemon listens on a free port of the loopback interface and announces nothing. Started
/// daemons are killed when the object is released, since nobody looks at what they leave; and if the
/// tests end without that, by `Guardian`.
public final class TemporaryNode: @unchecked Sendable {
    /// What one run of the program gave.
    public struct Outcome: Sendable {
        /// The exit status; 128 and the signal's number for a process that was killed.
        public let status: Int32
        /// Standard output.
        public let output: String
        /// Standard error.
        public let errors: String

        /// The lines of standard output as JSON; what is no JSON is `null`.
        public var objects: [JSONValue] {
            output.split(separator: "\n").map { (try? JSONValue(parsing: String($0))) ?? .null }
        }
        /// The first object of standard output, or `null`.
        public var object: JSONValue { objects.first ?? .null }
        /// The error object on standard error, or `null`.
        public var error: JSONValue {
            (try? JSONValue(parsing: errors.trimmingCharacters(in: .newlines))) ?? .null
        }
    }

    /// The program, which is built beside the tests.
    public static let program: String = {
        if let named = ProcessInfo.processInfo.environment["WSX_NODE_BINARY"] { return named }
        let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
        let folder = ((tests ?? CommandLine.arguments[0]) as NSString).deletingLastPathComponent
        let beside = folder + "/wsx-node"
        if FileManager.default.isExecutableFile(atPath: beside) { return beside }
        let bundle = (CommandLine.arguments[0] as NSString).deletingLastPathComponent
        return bundle + "/wsx-node"
    }()

    /// The home folder, short enough for a socket in it.
    public let home: String
    /// The folder that holds the home and what a test puts beside it.
    public let folder: String
    private var foreground: Process?

    /// Flags with which every daemon starts, so that no packet leaves this machine.
    public static let loopback = ["--listen", "127.0.0.1:0", "--announce", "off"]

    /// A home that does not exist yet.
    public init() {
        _ = Guardian.ofThisProcess
        var pattern = Array("\(Guardian.prefix)XXXXXX".utf8CString)
        precondition(mkdtemp(&pattern) != nil, "no temporary folder")
        folder = String(decoding: pattern.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        home = folder + "/home"
        LiveHomes.add(folder)
    }

    deinit {
        kill()
        if let foreground, foreground.isRunning {
            Glibc.kill(foreground.processIdentifier, SIGKILL)
        }
        LiveHomes.remove(folder)
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// The control socket.
    public var socket: String { home + "/control.sock" }

    /// The number of the process that holds the home, or held it last.
    public var pid: Int32? { Self.pid(inLock: home + "/lock") }

    /// The number of a process in a lock file.
    static func pid(inLock path: String) -> Int32? {
        let text = try? String(contentsOfFile: path, encoding: .utf8)
        return text.flatMap { Int32($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
    }

    // MARK: Running

    /// Runs one command to its end.
    @discardableResult
    public func run(
        _ arguments: String..., input: String? = nil, environment: [String: String] = [:]
    ) -> Outcome {
        run(arguments, input: input, environment: environment)
    }

    /// Runs one command to its end.
    public func run(
        _ arguments: [String], input: String? = nil, environment: [String: String] = [:]
    ) -> Outcome {
        Self.finish(makeProcess(arguments, environment), input: input)
    }

    /// Runs a process, of this program or another, to its end.
    public static func finish(_ process: Process, input: String? = nil) -> Outcome {
        let output = Pipe()
        let errors = Pipe()
        let given = Pipe()
        process.standardOutput = output
        process.standardError = errors
        if input == nil {
            process.standardInput = FileHandle.nullDevice
        } else {
            process.standardInput = given
        }
        do { try process.run() } catch {
            return Outcome(status: -1, output: "", errors: "\(error)")
        }
        if let input {
            try? given.fileHandleForWriting.write(contentsOf: Data(input.utf8))
            try? given.fileHandleForWriting.close()
        }
        // Small texts: a pipe holds 64 KiB of errors while the output is read.
        let said = output.fileHandleForReading.readDataToEndOfFile()
        let complained = errors.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let status = process.terminationStatus
        return Outcome(
            status: process.terminationReason == .exit ? status : 128 + status,
            output: String(decoding: said, as: UTF8.self),
            errors: String(decoding: complained, as: UTF8.self))
    }

    /// A command that goes on, such as `events`, with its standard output to read from.
    public func start(
        _ arguments: String..., environment: [String: String] = [:]
    ) throws -> (process: Process, lines: LineReader) {
        let process = makeProcess(arguments, environment)
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        return (process, LineReader(output.fileHandleForReading))
    }

    /// The environment in which scripts find the program and this home.
    public var scriptEnvironment: [String: String] {
        let folder = (Self.program as NSString).deletingLastPathComponent
        return [
            "HOME": self.folder, "PATH": folder + ":/usr/local/bin:/usr/bin:/bin",
            "WSX_NODE_HOME": home, "SWIFT_BACKTRACE": "enable=no",
        ]
    }

    private func makeProcess(_ arguments: [String], _ environment: [String: String]) -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Self.program)
        process.arguments = ["--home", home] + arguments
        process.environment = [
            "HOME": folder, "PATH": "/usr/bin:/bin", "SWIFT_BACKTRACE": "enable=no",
        ].merging(environment) { _, new in new }
        return process
    }

    /// `up` with a name and a workspace; a precondition of nearly every test.
    @discardableResult
    public func up(name: String? = nil, workspace: String? = nil) -> Outcome {
        var words = ["up"] + Self.loopback
        if let name { words += ["--name", name] }
        if let workspace { words += ["--workspace", workspace] }
        return run(words)
    }

    /// `join` with a link, on the loopback interface.
    @discardableResult
    public func join(_ link: String, name: String? = nil, timeout: String = "120s") -> Outcome {
        let named = name.map { ["--name", $0] } ?? []
        return run(["join", link, "--json", "--timeout", timeout] + named + Self.loopback)
    }

    /// Mina's home with the workspace acme, and Joon's, who has joined it.
    public static func pair(
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> (mina: TemporaryNode, joon: TemporaryNode) {
        let (mina, joon) = (TemporaryNode(), TemporaryNode())
        let founded = mina.up(name: "Mina", workspace: "acme")
        try #require(founded.status == 0, "\(founded.errors)", sourceLocation: sourceLocation)
        let joined = joon.join(mina.invite(), name: "Joon")
        try #require(joined.status == 0, "\(joined.errors)", sourceLocation: sourceLocation)
        return (mina, joon)
    }

    /// A new invite's link; without flags by the socket, for one process less in most tests.
    public func invite(_ flags: String...) -> String {
        let answer = flags.isEmpty ? ControlSocket(socket)?.call("invite.create") : nil
        let made = answer?["result"] ?? run(["invite", "create", "--json"] + flags).object
        return made["link"]?.stringValue ?? ""
    }

    /// Texts of the newest messages of a channel, oldest first: as `log` shows them, which is asked
    /// itself where the socket does not answer. Tests that wait look very often, and a process for each
    /// look took most of their time.
    public func texts(_ channel: String = "general", limit: Int = 100) -> [String] {
        let answer = ControlSocket(socket)?.call(
            "message.history", ["channel": .string(channel), "limit": .integer(Int64(limit))])
        let shown =
            answer?["result"]?["items"]?.arrayValue
            ?? run("log", channel, "-n", "\(limit)", "--json").objects
        return shown.compactMap { $0["text"]?.stringValue }
    }

    /// Runs the daemon as our child instead of detached, and returns when its socket answers.
    ///
    /// - Parameter errors: its standard error, a `FileHandle` or a `Pipe`; nobody's by default.
    public func startForeground(
        _ flags: String..., environment: [String: String] = [:], errors: Any? = nil
    ) throws -> Process {
        let process = makeProcess(["daemon", "run"] + Self.loopback + flags, environment)
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = errors ?? FileHandle.nullDevice
        try process.run()
        foreground = process
        _ = eventually { ControlSocket(socket) != nil || !process.isRunning }
        return process
    }

    /// Kills the daemon of this home, and returns when it is gone.
    public func kill() {
        guard let pid, isOurs(pid), Glibc.kill(pid, SIGKILL) == 0 else { return }
        if let foreground, foreground.processIdentifier == pid {
            foreground.waitUntilExit()
        } else {
            _ = eventually { Glibc.kill(pid, 0) != 0 || Self.isDead(pid) }
        }
    }

    /// Whether a process is a daemon of this home, and not another one that reused its pid.
    private func isOurs(_ pid: Int32) -> Bool {
        let words = FileManager.default.contents(atPath: "/proc/\(pid)/cmdline") ?? Data()
        return words.split(separator: 0).contains(Data(home.utf8))
    }

    /// Whether a process has ended, though nobody has asked for its status yet.
    private static func isDead(_ pid: Int32) -> Bool {
        guard let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8) else {
            return true
        }
        return text.contains(") Z ")
    }

    /// Open descriptors of the daemon.
    public var descriptorCount: Int {
        let path = "/proc/\(pid ?? 0)/fd"
        return (try? FileManager.default.contentsOfDirectory(atPath: path).count) ?? -1
    }

    /// Resident memory of the daemon, in bytes.
    public var residentBytes: Int {
        let text = (try? String(contentsOfFile: "/proc/\(pid ?? 0)/statm", encoding: .utf8)) ?? ""
        let fields = text.split(separator: " ")
        return fields.count > 1 ? (Int(fields[1]) ?? 0) * Int(getpagesize()) : 0
    }
}

/// Reads lines of a running process.
public final class LineReader: @unchecked Sendable {
    private let handle: FileHandle
    private var received: [UInt8] = []

    init(_ handle: FileHandle) { self.handle = handle }

    /// The next line; `nil` at the end, or when none comes for so long.
    public func next(within seconds: Double = Double(LongestWait.seconds)) -> String? {
        let deadline = Date().addingTimeInterval(seconds)
        while true {
            if let end = received.firstIndex(of: 0x0A) {
                defer { received.removeFirst(end + 1) }
                return String(decoding: received[..<end], as: UTF8.self)
            }
            let left = Int32(max(0, deadline.timeIntervalSinceNow * 1_000))
            var waiting = pollfd(
                fd: handle.fileDescriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&waiting, 1, left) > 0 else { return nil }
            var chunk = [UInt8](repeating: 0, count: 64 * 1024)
            let count = read(handle.fileDescriptor, &chunk, chunk.count)
            guard count > 0 else { return nil }
            received += chunk[..<count]
        }
    }
}
