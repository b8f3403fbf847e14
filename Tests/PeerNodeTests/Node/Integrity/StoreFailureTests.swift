import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `A turn whose COMMIT fails` {
    private let bench = CoreBench()
    private let mina: BenchNode

    init() throws { mina = try bench.node("Mina") }

    struct Failure: Sendable, CustomTestStringConvertible {
        let kind: StorageError.Kind
        let word: String
        let exit: Int32
        let isRetryable: Bool
        var testDescription: String { word }
    }

    static let failures = [
        Failure(kind: .full, word: "storage_full", exit: 1, isRetryable: false),
        Failure(kind: .ioFailure, word: "store_failed", exit: 70, isRetryable: false),
        // By then it has been rebuilt.
        Failure(kind: .corrupt, word: "busy", exit: 1, isRetryable: true),
        Failure(kind: .busy, word: "busy", exit: 1, isRetryable: true),
        Failure(kind: .other, word: "busy", exit: 1, isRetryable: true),
    ]

    @Test(arguments: failures)
    func `tells every caller, and nobody else anything`(_ failure: Failure) throws {
        let joon = try bench.guest("Joon", of: mina)
        mina.plant(.commitBefore(0), failure.kind)
        let calls = (1...3).map { CallID(connection: 5, number: $0) }
        let effects = mina.turn(
            calls.map {
                .call(
                    $0, method: "message.send",
                    arguments: ["channel": "general", "text": "lost"])
            })
        var told: [CallID] = []
        for effect in effects {
            switch effect {
            case .answer(let call, .failure(let error)):
                told.append(call)
                #expect(error.kind.rawValue == failure.word)
                #expect(error.exitStatus == failure.exit)
                #expect(error.kind.isRetryable == failure.isRetryable)
            case .answer(_, .success): Issue.record("a success was told")
            case .write: Issue.record("bytes left the node")
            default: break
            }
        }
        #expect(told == calls)
        #expect(effects.contains { if case .close = $0 { true } else { false } })
        bench.settle()
        #expect(try joon.log() == [])
        #expect(try mina.log() == [])
        #expect(try mina.eventTypes().allSatisfy { $0 != "message.created" })
    }

    @Test(arguments: [StorageError.Kind.full, .busy])
    func `is followed by turns that work`(_ kind: StorageError.Kind) throws {
        let joon = try bench.guest("Joon", of: mina)
        bench.advance(5_000)
        for number in 0..<4 {
            // Receipts are on disk, so that the planted failure meets the message.
            bench.advance(6_000)
            mina.plant(.commitBefore(0), kind)
            _ = try mina.refused(
                "message.send", ["channel": "general", "text": .string("lost \(number)")])
            try mina.send("kept \(number)")
        }
        let kept = (0..<4).map { "kept \($0)" }
        #expect(try mina.log() == kept)
        bench.advance(120_000)
        #expect(try joon.log() == kept)
        #expect(try mina.digest() == joon.digest())
        #expect(
            try mina.events(types: ["message.created"]).map { $0["data"]?["text"]?.stringValue }
                == kept)
    }

    @Test func `may have taken place all the same`() throws {
        mina.plant(.commitAfter(0), .full)
        let call: JSONValue = ["channel": "general", "text": "unsure", "key": "k"]
        #expect(try mina.refused("message.send", call).kind == .storageFull)
        #expect(try mina.ok("message.send", call)["replayed"] == true)
        #expect(try mina.log() == ["unsure"])
    }

    /// D03: at every write of a turn, with and without SQLite undoing the transaction by itself.
    @Test(arguments: [false, true], ["message.send", "channel.create", "workspace.create"])
    func `fails whole at whichever write`(_ losesTransaction: Bool, _ method: String) throws {
        let parameters: [String: JSONObject] = [
            "message.send": ["channel": "general", "text": "x"],
            "channel.create": ["name": "plans"], "workspace.create": ["name": "second"],
        ]
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let tables = ["operation", "message", "event", "document", "epoch_key", "workspace"]
        let before = try tables.map { try mina.rowCount($0) }
        var step = 0
        while true {
            mina.plant(.write(step), .full, losesTransaction: losesTransaction)
            let result = mina.call(method, .object(parameters[method] ?? [:]))
            guard case .failure(let error) = result else { break }
            #expect(error.kind == .storageFull)
            #expect(try tables.map { try mina.rowCount($0) } == before, "write \(step)")
            step += 1
            try #require(step < 200)
        }
        #expect(step > 2)
        let findings = try mina.ok("node.doctor").items.filter { $0["id"] != "recovery" }
        #expect(findings.allSatisfy { $0["state"] == "ok" })
    }

    /// Others go on writing, and whatever comes with that cannot be kept.
    @Test func `refuses no reads while the disk is full`() throws {
        try mina.send("before")
        bench.advance(1_000)
        func call(_ number: UInt64, _ method: String, _ given: JSONObject) -> NodeInput {
            .call(CallID(connection: 5, number: number), method: method, arguments: given)
        }
        mina.plant(.commitBefore(0), .full)
        mina.turn([
            call(1, "channel.list", [:]), call(2, "node.status", [:]),
            call(3, "message.history", ["channel": "general"]),
            call(4, "message.send", ["channel": "general", "text": "no room"]),
        ])
        bench.advance(1_000)
        for number in UInt64(1)...3 {
            let answer = mina.answer(to: CallID(connection: 5, number: number))
            let value = try #require(answer, "\(number)").get()
            #expect(number == 2 || !value.items.isEmpty, "\(number)")
        }
        let sent = mina.answer(to: CallID(connection: 5, number: 4))
        guard case .failure(let error)? = sent else { return #expect(Bool(false), "was sent") }
        #expect(error.kind == .storageFull)
        #expect(try mina.log() == ["before"])
    }

    /// They are shown once: not before it is kept that they were.
    @Test func `shows no recovery phrase, where the disk is full`() throws {
        mina.plant(.commitBefore(0), .full)
        #expect(try mina.refused("identity.show", ["phrase": true]).kind == .storageFull)
        try mina.ok("identity.show", ["phrase": true])
        _ = try mina.refused("identity.show", ["phrase": true])
    }

    /// A link made again at once fails again at once.
    @Test func `pauses links while the disk is full, and then takes everything`()
        throws
    {
        let joon = try bench.guest("Joon", of: mina)
        bench.advance(10_000)
        let dialled = mina.dialled.count + joon.dialled.count
        let sent = (0..<20).map { "while it is full \($0)" }
        for text in sent {
            mina.plant(.commitBefore(0), .full)
            try joon.send(text)
            bench.advance(500)
        }
        #expect(mina.dialled.count + joon.dialled.count - dialled < 12)
        bench.advance(120_000)
        #expect(Set(try mina.log()) == Set(sent))
    }

    @Test func `rests twice as long after each turn that fails for want of room`() {
        var rest = FullDiskBackoff()
        #expect(!rest.isOn(at: 0))
        var lengths: [UInt64] = []
        for _ in 0..<7 {
            rest.lengthen(at: 100)
            #expect(rest.isOn(at: rest.until - 1) && !rest.isOn(at: rest.until))
            lengths.append(rest.until - 100)
        }
        #expect(lengths == [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
        rest.end()
        rest.lengthen(at: 0)
        #expect(rest.until == 1_000)
    }

    /// A disk that is full could not take a start that writes.
    @Test func `is recovered from without writing`() throws {
        mina.plant(.commitBefore(0), .full)
        _ = try mina.refused("message.send", ["channel": "general", "text": "x"])
        #expect(mina.connection?.commitCount == 0)
        #expect(mina.host?.core.session.isStopping == false)
        #expect(!mina.hasStopped)
    }

    /// Nothing can be read any more, so no event that is stored reaches anybody.
    @Test func `is told to who listens, though nothing can be read`() throws {
        let listening = CallID(connection: 5, number: 1)
        mina.turn([.call(listening, method: "events.subscribe", arguments: ["since": "latest"])])
        try mina.send("unread")
        try mina.inTurn { core, _ in
            try core.turn.write()
            try core.turn.store.connection.execute("ALTER TABLE event RENAME TO lost")
            core.events.subscriptions.say(.writingStopped, as: .kept(.nodeWarning))
        }
        let host = try #require(mina.host)
        let told = host.events(for: 5, room: 1 << 20).map(\.event.type)
        #expect(told == ["node.warning"])
        #expect(host.events(for: 5, room: 1 << 20).isEmpty)
    }

    @Test func `tells those who waited once`() throws {
        let waiting = CallID(connection: 5, number: 1)
        mina.turn([
            .call(waiting, method: "events.wait", arguments: ["timeout_ms": 60_000])
        ])
        mina.plant(.commitBefore(0), .full)
        var answers = 0
        func count(_ effects: [NodeEffect]) {
            for case .answer(waiting, _) in effects { answers += 1 }
        }
        count(
            mina.turn([
                .call(
                    CallID(connection: 5, number: 2), method: "message.send",
                    arguments: ["channel": "general", "text": "x"])
            ]))
        #expect(answers == 1)
        count(
            mina.turn([
                .call(
                    CallID(connection: 5, number: 3), method: "message.send",
                    arguments: ["channel": "general", "text": "x"])
            ]))
        bench.advance(120_000)
        #expect(answers == 1)
    }

    @Test func `keeps streams open`() throws {
        try mina.ok("events.subscribe", ["types": ["message.created"]], on: 5)
        mina.plant(.commitBefore(0), .full)
        _ = try mina.refused("message.send", ["channel": "general", "text": "lost"])
        try mina.send("kept")
        #expect(mina.host?.subscribers == [5])
        let events = mina.host?.events(for: 5, room: 1 << 20) ?? []
        #expect(events.map(\.event.data["text"]) == ["kept"])
    }

    // MARK: I/O failures

    /// D04: after a failed fsync nothing is written until the process starts again.
    @Test func `by an I/O failure ends all writing, and no reading`() throws {
        let joon = try bench.guest("Joon", of: mina)
        let invite = try mina.ok("invite.create").text("id")
        try mina.send("before")
        mina.plant(.commitBefore(0), .ioFailure)
        #expect(
            try mina.refused("message.send", ["channel": "general", "text": "x"]).reason
                == "store.io")
        let commits = mina.connection?.commitCount
        let writing: [(String, JSONValue)] = [
            ("message.send", ["channel": "general", "text": "x"]),
            ("channel.create", ["name": "x"]), ("workspace.create", ["name": "x"]),
            ("invite.create", [:]), ("invite.revoke", ["id": .string(invite)]),
            ("workspace.select", ["workspace": "acme"]),
            ("events.ack", ["name": "b", "cursor": .string(try mina.cursor())]),
            ("events.wait", ["name": "new"]), ("events.subscribe", ["name": "new"]),
            ("peer.add", ["address": "10.9.9.9"]),
        ]
        for (method, parameters) in writing {
            let error = try mina.refused(method, parameters)
            #expect(error.kind == .storeFailed, "\(method)")
        }
        let reading: [(String, JSONValue)] = [
            ("node.status", [:]), ("node.doctor", [:]), ("identity.show", [:]),
            ("workspace.list", [:]), ("workspace.get", [:]), ("member.list", [:]),
            ("invite.list", [:]), ("channel.list", [:]),
            ("channel.get", ["channel": "general"]),
            ("message.history", ["channel": "general"]), ("events.wait", ["since": "all"]),
            ("events.subscribe", [:]), ("events.names", [:]), ("peer.list", [:]),
            ("sync.status", [:]), ("net.status", [:]), ("rpc.methods", [:]),
            ("node.version", [:]),
        ]
        for (method, parameters) in reading { try mina.ok(method, parameters) }
        try joon.send("not taken")
        bench.advance(600_000)
        #expect(try mina.log() == ["before"])
        #expect(mina.host?.emptyLog() == false, "nor is what was written moved")
        #expect(mina.connection?.commitCount == commits)
        #expect(mina.openCount == 2)
        try mina.restart()
        bench.advance(120_000)
        try mina.send("after")
        #expect(try mina.log() == ["before", "not taken", "after"])
        #expect(try joon.log() == ["before", "not taken", "after"])
    }

    /// Wherever somebody looks, it is said that the disk failed, and when; and that is no matter
    /// of the network.
    @Test func `by an I/O failure is reported everywhere`() throws {
        _ = try mina.ok("events.subscribe", ["types": ["node.*"]], on: 5)
        #expect(StatusObject.isHealthy(try mina.ok("node.status")))
        mina.plant(.commitBefore(0), .ioFailure)
        _ = try mina.refused("message.send", ["channel": "general", "text": "x"])
        let time = UTCMinute.text(mina.time.wall)
        let message =
            "writing has stopped: the disk failed on \(time); restart after checking it"
        // The time is that of the failure.
        bench.advance(600_000)
        let status = try mina.ok("node.status")
        let warnings = status["warnings"]?.arrayValue ?? []
        #expect(warnings.first?["message"] == .string(message))
        #expect(!warnings.contains { $0["kind"] == "net.suspended" })
        #expect(!StatusObject.isHealthy(status))
        #expect(StatusObject.illnesses(of: status) == ["store.stopped"])
        #expect(try mina.ok("net.status")["failure"] == .string(message))
        let findings = try mina.ok("node.doctor").items
        #expect(findings.first?["message"] == .string(message))
        #expect(findings.contains { $0["id"] == "listener" && $0["state"] == "fail" })
        #expect(!findings.contains { $0["message"] == "the network is suspended" })
        let refusal = try mina.refused("message.send", ["channel": "general", "text": "x"])
        #expect(refusal.message == message && refusal.kind == .storeFailed)
        #expect(try mina.ok("node.metrics").text("text").contains("wsx_writing_stopped 1"))
        let told = mina.host?.events(for: 5, room: 1 << 20) ?? []
        #expect(told.map(\.event.type) == ["node.warning"])
        #expect(told.first?.event.data["message"] == .string(message))
        try mina.restart()
        #expect(StatusObject.isHealthy(try mina.ok("node.status")))
    }

    /// One page of the write-ahead log that cannot be read keeps nobody from opening the rest; here
    /// all that is left is what is open.
    @Test func `by an I/O failure that lets nothing be opened again ends no reading`() throws {
        try mina.send("before")
        mina.cannotReopen = true
        mina.plant(.commitBefore(0), .ioFailure)
        let refusal = try mina.refused("message.send", ["channel": "general", "text": "x"])
        #expect(refusal.kind == .storeFailed)
        #expect(!mina.hasStopped)
        #expect(try mina.log() == ["before"])
        #expect(StatusObject.illnesses(of: try mina.ok("node.status")) == ["store.stopped"])
    }

    /// Any page may be unreadable: status is answered all the same.
    @Test(arguments: ["FROM operation", "count(*) FROM evidence"])
    func `of an unreadable page ends no process, and is reported everywhere`(
        table: String
    ) throws {
        _ = try bench.guest("Joon", of: mina)
        try mina.send("before")
        let operations = try mina.ok("node.status")["store"]?["ops"]
        _ = try mina.ok("events.subscribe", ["types": ["node.*"]], on: 5)
        mina.cannotReopen = true
        mina.plant(.read(of: table), .ioFailure)
        // Whatever meets it first.
        _ = mina.call("message.history", ["channel": "general"])
        for _ in 0..<2 {
            let status = try mina.ok("node.status")
            #expect(StatusObject.illnesses(of: status).contains("store.stopped"))
            #expect(status["store"]?["ops"] == operations)
            #expect(status["identity"]?["name"] == "Mina")
        }
        #expect(!mina.hasStopped)
        let findings = try mina.ok("node.doctor").items
        #expect(findings.contains { $0["id"] == "writing" && $0["state"] == "fail" })
        #expect(findings.contains { $0["id"] == "store" && $0["state"] == "fail" })
        #expect(try mina.ok("net.status")["failure"]?.stringValue?.contains("disk failed") == true)
        #expect(try mina.ok("node.metrics").text("text").contains("wsx_writing_stopped 1"))
        try mina.ok("node.version")
        #expect(
            try mina.refused("message.send", ["channel": "general", "text": "x"]).kind
                == .storeFailed)
        let told = mina.host?.events(for: 5, room: 1 << 20) ?? []
        #expect(told.map(\.event.type) == ["node.warning"])
        bench.advance(600_000)
        try mina.ok("node.stop")
        #expect(mina.hasStopped)
    }

    /// A check reads all of the store, and writes a copy of it.
    @Test func `of what a check reads stops writing, and of what it makes does not`() throws {
        try mina.send("before")
        mina.cannotCopy = true
        let refusal = try mina.refused("node.check")
        #expect(refusal.kind == .storeFailed && refusal.reason == "check.io")
        #expect(StatusObject.isHealthy(try mina.ok("node.status")))
        try mina.send("after")
        mina.cannotCopy = false
        #expect(try mina.ok("node.check")["ok"] == true)
        mina.cannotReopen = true
        #expect(try mina.refused("node.check").reason == "store.io")
        #expect(StatusObject.illnesses(of: try mina.ok("node.status")) == ["store.stopped"])
        #expect(try mina.log() == ["before", "after"])
    }

    /// Where it is no failure of the disk, nothing is known of what is open either.
    @Test func `after which the store cannot be opened ends the process, which says so`() throws {
        mina.cannotReopen = true
        mina.plant(.commitBefore(0), .corrupt)
        let effects = mina.turn([
            .call(
                CallID(connection: 5, number: 1), method: "message.send",
                arguments: ["channel": "general", "text": "x"])
        ])
        #expect(effects.contains { if case .fail = $0 { true } else { false } })
    }

    @Test func `while others bring operations loses none of them`() throws {
        let joon = try bench.guest("Joon", of: mina)
        bench.advance(5_000)
        for number in 0..<6 {
            mina.plant(number.isMultiple(of: 2) ? .commitBefore(0) : .commitAfter(0), .full)
            try joon.send("\(number)")
            bench.advance(30_000)
        }
        bench.advance(120_000)
        #expect(try mina.log() == (0..<6).map(String.init))
        #expect(try mina.digest() == joon.digest())
    }
}
