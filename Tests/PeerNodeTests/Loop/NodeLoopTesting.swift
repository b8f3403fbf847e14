import CRDTStore
import Foundation
import PeerNode
import Testing
import WorkspaceModel
import WorkspaceTestKit

/// A host that plays a node: it records its inputs and does what the test says.
final class ScriptedHost: TurnHost {
    /// What every turn was given, ticks left out.
    var turns: [[NodeInput]] = []
    /// What to do about each input.
    var onInput: (NodeInput) -> [NodeEffect] = { _ in [] }
    /// What to do about all inputs of a turn, in the place of `onInput`.
    var onTurn: (([NodeInput]) -> [NodeEffect])?
    /// Events for subscribers, returned at most `eventsAtATime` per call.
    var pendingEvents: [EventObject] = []
    var eventsAtATime = 10
    var subscribers: [UInt64] = []
    /// How often streams are still to say that they look on.
    var looks = 0
    var checkpoints: [Connection.CheckpointMode] = []
    var logByteCount = 0
    /// Whether something was erased.
    var mustEmptyLog = false
    /// How often a reader still keeps the log from being emptied.
    var readings = 0

    /// Whether it notes that all of what was written to a link has left, and of which links it did.
    var notesAllSent = false
    var linksThatSentAll: [LinkID] = []

    func noteAllSent(on links: [LinkID], at monotonic: UInt64) -> Bool {
        guard notesAllSent else { return false }
        linksThatSentAll += links
        return true
    }

    /// Lets `step` return soon when nothing happens, so that a test can give up.
    var nextDeadline: UInt64? { MonotonicClock.milliseconds() + 20 }
    var hasMoreToDo: Bool { false }

    func turn(_ inputs: [NodeInput], at time: TurnTime) -> [NodeEffect] {
        let real = inputs.filter { if case .tick = $0 { false } else { true } }
        if !real.isEmpty { turns.append(real) }
        return onTurn?(real) ?? real.flatMap(onInput)
    }

    func events(
        for connection: UInt64, room: Int
    ) -> [(subscription: Int64, event: EventObject)] {
        let next = pendingEvents.prefix(eventsAtATime)
        pendingEvents.removeFirst(next.count)
        return next.map { (1, $0) }
    }

    /// Whether it says when there are no more events, as a node does.
    var saysWhatIsLeft = false

    func mayHaveEvents(for connection: UInt64) -> Bool {
        !saysWhatIsLeft || !pendingEvents.isEmpty
    }

    func looksForEvents(for connection: UInt64) -> Bool {
        looks -= 1
        return looks >= 0
    }

    func checkpoint(_ mode: Connection.CheckpointMode) { checkpoints.append(mode) }

    func emptyLog() -> Bool {
        checkpoints.append(.truncate)
        guard readings == 0 else {
            readings -= 1
            return false
        }
        mustEmptyLog = false
        return true
    }

    var inputs: [NodeInput] { turns.flatMap { $0 } }

    /// Answers every call with its method's name.
    func echo() {
        onInput = { input in
            guard case .call(let call, let method, _, _) = input else { return [] }
            return [.answer(call, .success(["method": .string(method)]))]
        }
    }
}

/// A loop with its own home, stepped by the test.
final class TestLoop {
    let host = ScriptedHost()
    let home: HomeFolder
    let loop: NodeLoop

    init(_ root: String, listen: ListenAddress? = ListenAddress(host: .loopbackV4, port: 0)) throws
    {
        home = HomeFolder(data: root, socket: root + "/control.sock")
        try home.prepare()
        var options = NodeLoop.Options()
        options.listen = listen
        options.announces = false
        loop = try NodeLoop(
            host: host, home: home, options: options, log: NodeLog(level: .error))
        host.echo()
    }

    /// Steps until `isDone`.
    func run(
        until isDone: () throws -> Bool, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let deadline = MonotonicClock.milliseconds() + patienceMilliseconds
        while try !isDone() {
            try #require(
                MonotonicClock.milliseconds() < deadline, "not within the time",
                sourceLocation: sourceLocation)
            _ = try loop.step()
        }
    }

    func client() throws -> TestClient { try TestClient(home.socket) }

    var peerAddress: SocketAddress {
        get throws { try #require(loop.listenAddress) }
    }
}

/// A client of the control socket that never blocks.
final class TestClient {
    let link: UnixLink
    private let buffer = ReadBuffer()
    private var received: [UInt8] = []
    private var whole: [String] = []
    private var everything: [UInt8] = []
    /// How many bytes were read in all.
    private(set) var receivedCount = 0
    private(set) var end: StreamLink.End?

    init(_ path: String) throws { link = try `A Unix listener`.makeClient(path) }

    func send(_ text: String) {
        link.write([UInt8](text.utf8), now: 0)
        link.flush(now: 0)
    }

    func call(_ method: String, id: Int = 1) {
        send(#"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)"}"# + "\n")
    }

    /// Reads what is there.
    func receive() {
        link.flush(now: 0)
        guard end == nil else { return }
        let more = link.receive(byteCountMax: 1 << 20, into: buffer)
        received += more.bytes
        everything += more.bytes
        receivedCount += more.bytes.count
        end = more.end
        whole += ByteLines.take(from: &received)
    }

    /// Reads what is there and returns the whole lines so far.
    func lines() -> [String] {
        receive()
        return whole
    }

    /// Reads what is there and returns all of it so far.
    func text() -> String {
        receive()
        return String(decoding: everything, as: UTF8.self)
    }
}

func withLoop(
    listen: ListenAddress? = ListenAddress(host: .loopbackV4, port: 0),
    _ body: (TestLoop) throws -> Void
) throws {
    try withTemporaryFolder { root in try body(TestLoop(root, listen: listen)) }
}
