import PeerNode
import WorkspaceModel

@testable import wsx_node

/// An in-memory system, with a daemon that is a `ControlConnection` over a `TableNode`.
final class MemoryIO: ProgramIO {
    var output = ""
    var errors = ""
    var input: [UInt8] = []
    var isInputTerminal = false
    var isOutputTerminal = false
    var outputRows: Int?
    var errorColumns: Int?
    var now: Int64 = 1_795_200_000_000
    var accountHome: String? = "/home/mina"
    var files: [String: [UInt8]] = [:]
    var node: TableNode? = TableNode()
    /// Events that a daemon gives after each subscription, and then ends the connection.
    var events: [EventObject] = []
    /// Events that a daemon gives just before it answers a method, by its name; once.
    var eventsBefore: [String: EventObject] = [:]
    /// Gives the events that a daemon tells just after it answered a method, by its name and answer.
    var eventsAfter: (String, JSONValue) -> [EventObject] = { _, _ in [] }
    /// What stands for keyboard and screen in a conversation.
    var live: (any LiveInput)?
    /// Whether connections stay instead, and are silent.
    var isSilent = false
    /// Milliseconds that each answer takes.
    var delay: Int64 = 0
    var startedWith: [String]?
    /// What was shown through a pager, and by which command.
    var paged: [(text: String, command: String)] = []
    /// Whether pagers can be run.
    var hasPager = true
    /// What somebody types when asked.
    var answer: String?
    var waited: Int64 = 0

    func openLive(isRaw: Bool) -> (any LiveInput)? { live }
    func print(_ text: String) { output += text }
    func printError(_ text: String) { errors += text }
    func page(_ text: String, through command: String) -> Bool {
        if hasPager { paged.append((text, command)) }
        return hasPager
    }
    /// What an editor does with a file, by its path and the command that was meant.
    var editor: (String, String) -> Int32? = { _, _ in 0 }
    func edit(_ path: String, with command: String) -> Int32? { editor(path, command) }
    func makePrivateFolder(in folder: String) throws(NodeError) -> String { folder + "/own" }
    func removePrivateFolder(_ path: String) {
        files = files.filter { !$0.key.hasPrefix(path + "/") }
    }
    func ask(_ question: String) -> String? {
        errors += question
        return answer
    }
    /// What somebody types, one answer after the other, where nothing is shown.
    var secrets: [String] = []
    /// What commands print, by command; others fail.
    var commands: [String: [UInt8]] = [:]
    func askSecret(_ question: String) -> String? {
        errors += question
        return secrets.isEmpty ? nil : secrets.removeFirst()
    }
    func output(of command: String, limit: Int) -> [UInt8]? { commands[command] }
    func pause(milliseconds: Int64) {
        waited += milliseconds
        pauses.append(milliseconds)
        if let happens = happensInPause { happens() }
    }
    /// Every pause, in order.
    var pauses: [Int64] = []
    /// What the world does while the program waits.
    var happensInPause: (() -> Void)?
    /// Whether connections break as soon as something is sent.
    var isBroken = false
    /// What a command of the shell does with an event: its words, its input, its environment.
    var handler: (String, String, [String: String]) -> Int32? = { _, _, _ in 0 }
    func handle(_ command: String, input: [UInt8], environment: [String: String]) -> Int32? {
        handler(command, String(decoding: input, as: UTF8.self), environment)
    }
    /// What a browser brings from a login.
    var token: String?
    /// Where a login was to come back to.
    var loginPort: UInt16?
    func logIn(
        _ claim: JSONValue, port: UInt16?, opens: (String) -> Void
    ) throws(NodeError) -> String {
        loginPort = port
        opens(claim["login_url"]?.stringValue ?? "")
        guard let token else { throw AccountLinking.noToken("nobody logs in here") }
        return token
    }
    func absolutePath(_ path: String) -> String {
        path.utf8.first == UInt8(ascii: "/") ? path : "/here/" + path
    }
    /// Modes of folders.
    var modes: [String: UInt32] = [:]
    func permissions(of path: String) -> UInt32? { modes[path] }
    /// What is free on every disk.
    var freeBytes: Int64? = 1 << 30
    func freeBytes(at path: String) -> Int64? { freeBytes }
    func exists(_ path: String) -> Bool { files[path] != nil }
    func readInput(limit: Int) -> [UInt8] { Array(input.prefix(limit + 1)) }
    func zoneMinutes(at milliseconds: Int64) -> Int64 { 60 }

    func connect(_ path: String) throws(NodeError) -> any ControlTransport {
        guard let node else { throw .notRunning(socket: path) }
        return MemoryTransport(node, self)
    }

    func readFile(_ path: String) throws(NodeError) -> [UInt8]? { files[path] }
    func smallFile(_ path: String, limit: Int) -> [UInt8]? {
        files[path].flatMap { $0.count <= limit ? $0 : nil }
    }
    func replaceFile(_ path: String, with bytes: [UInt8]) throws(NodeError) { files[path] = bytes }
    func startDaemon(_ paths: Paths, options: [String]) throws(NodeError) {
        startedWith = options
        node = TableNode()
        isBroken = false
    }
    /// How long a daemon takes to end, milliseconds.
    var endsAfter: Int64 = 0
    func waitUntilGone(_ paths: Paths, milliseconds: Int64) -> Bool {
        now += min(endsAfter, milliseconds)
        return endsAfter <= milliseconds
    }

    /// Runs a command line in this world.
    func run(_ arguments: String..., environment: [String: String] = [:]) -> Int32 {
        Program.run(arguments: arguments, environment: environment, io: self)
    }
}

/// Serves a connection in memory.
private final class MemoryTransport: ControlTransport {
    private var connection = ControlConnection(id: 1)
    private let node: TableNode
    private let world: MemoryIO

    init(_ node: TableNode, _ world: MemoryIO) {
        self.node = node
        self.world = world
    }

    func send(_ bytes: [UInt8]) throws(NodeError) {
        if world.isBroken { throw .stopping }
        connection.receive(bytes)
        while let request = connection.nextRequest() {
            if let event = world.eventsBefore.removeValue(forKey: request.method) {
                connection.notify(subscription: 1, event)
            }
            do throws(NodeError) {
                switch try request.run(on: node) {
                case .reply(let value):
                    connection.answer(request.call, .success(value))
                    for event in world.eventsAfter(request.method, value) {
                        connection.notify(subscription: 1, event)
                    }
                case .later:
                    guard request.method == "events.wait", let page = nextPage else { continue }
                    connection.answer(request.call, .success(page))
                }
                if request.method == "events.subscribe" {
                    for event in world.events { connection.notify(subscription: 1, event) }
                }
            } catch {
                connection.answer(request.call, .failure(error))
            }
        }
    }

    /// The events after the position that was told last; `nil` when there are no more.
    private var nextPage: JSONValue? {
        // `ack NAME CURSOR`, and behind it a warning.
        let words = node.asked.last { $0.utf8.starts(with: "ack ".utf8) }?.split(separator: " ")
        let position =
            words?.dropFirst(2).first?.split(separator: ".").last
            .flatMap { Int64($0) } ?? 0
        let events = world.events.filter { $0.sequence > position }
        guard let last = events.last else { return nil }
        return ["items": .array(events.map(\.json)), "next": .string(last.cursor)]
    }

    func receive(within milliseconds: Int64?) throws(NodeError) -> [UInt8] {
        let bytes = Array(connection.unsent)
        let wait = bytes.isEmpty ? .max : world.delay
        if let milliseconds, wait > milliseconds, world.isSilent || !bytes.isEmpty {
            world.now += milliseconds
            throw NodeError(.timeout, "nothing came", hint: nil)
        }
        if !bytes.isEmpty { world.now += wait }
        connection.didSend(bytes.count)
        return bytes
    }
}
