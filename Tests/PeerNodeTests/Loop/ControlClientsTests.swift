import Foundation
import Testing
import WorkspaceModel

@testable import PeerNode

/// The clients of the control socket on a clock that the test controls.
struct `The clients of a node` {
    private final class Fixture {
        let home: HomeFolder
        let driver: NodeDriver
        let clients: ControlClients
        var now: UInt64 = 1_000
        /// What clients asked, in order.
        var calls: [(call: CallID, method: String)] = []
        /// Connections that ended.
        var closed: [UInt64] = []

        init(_ root: String) throws {
            home = HomeFolder(data: root, socket: root + "/control.sock")
            try home.prepare()
            driver = try NodeDriver()
            clients = try ControlClients(
                home: home, driver: driver, buffer: ReadBuffer(), log: NodeLog(level: .error))
        }

        /// Takes everything that is ready now.
        func takeReady() throws {
            for ready in try driver.poller.wait(timeoutMilliseconds: 0) {
                _ = clients.handle(ready, now: now)
            }
            takeInputs()
            clients.settle(now: now)
            takeInputs()
        }

        func takeInputs() {
            for input in clients.takeInputs() {
                switch input {
                case .call(let call, let method, _, _): calls.append((call, method))
                case .controlClosed(let connection): closed.append(connection)
                default: Issue.record("no input of a client")
                }
            }
        }

        /// Goes on until `isDone`, or until it has taken far too long.
        func work(until isDone: () -> Bool) throws {
            let deadline = MonotonicClock.milliseconds() + patienceMilliseconds
            while !isDone() {
                try #require(MonotonicClock.milliseconds() < deadline, "not within the time")
                try takeReady()
            }
        }
    }

    private func withFixture(_ body: (Fixture) throws -> Void) throws {
        try withTemporaryFolder { root in try body(Fixture(root)) }
    }

    @Test func `are let go when they leave 4 MiB unread for a minute, and not before`() throws {
        try withFixture { fixture in
            let client = try TestClient(fixture.home.socket)
            let text = JSONValue.string(String(repeating: "x", count: 1_000_000))
            for id in 1...12 { client.call("big", id: id) }
            try fixture.work { fixture.calls.count >= 4 }
            #expect(fixture.clients.nextDeadline == nil, "nothing waits yet")
            var answered = 0
            while fixture.clients.nextDeadline == nil, answered < 12 {
                try fixture.work { fixture.calls.count > answered }
                fixture.clients.answer(fixture.calls[answered].call, .success(text))
                answered += 1
                try fixture.takeReady()
            }
            let due = fixture.now + ControlClients.slowReaderMilliseconds
            #expect(fixture.clients.nextDeadline == due)
            fixture.clients.passTime(now: due - 1)
            #expect(fixture.clients.count == 1)
            fixture.clients.passTime(now: due)
            fixture.takeInputs()
            #expect(fixture.clients.count == 0)
            #expect(fixture.closed == [fixture.calls[0].call.connection])
            #expect(fixture.clients.nextDeadline == nil)
        }
    }

    @Test func `restart their minute when they read after all`() throws {
        try withFixture { fixture in
            let client = try TestClient(fixture.home.socket)
            let text = JSONValue.string(String(repeating: "x", count: 1_000_000))
            for id in 1...12 { client.call("big", id: id) }
            var answered = 0
            while fixture.clients.nextDeadline == nil, answered < 12 {
                try fixture.work { fixture.calls.count > answered }
                fixture.clients.answer(fixture.calls[answered].call, .success(text))
                answered += 1
                try fixture.takeReady()
            }
            fixture.now += ControlClients.slowReaderMilliseconds - 1
            let bound = MonotonicClock.milliseconds() + patienceMilliseconds
            while fixture.clients.nextDeadline != nil {
                try #require(MonotonicClock.milliseconds() < bound)
                client.receive()
                fixture.clients.settleAll(now: fixture.now)
            }
            fixture.now += ControlClients.slowReaderMilliseconds
            fixture.clients.passTime(now: fixture.now)
            #expect(fixture.clients.count == 1)
        }
    }

    // MARK: Room

    private static let half = [
        #"{"jsonrpc":"2.0","id":1,"#, "G", "POST /rpc HTTP/1.1\r\nContent-Length: 9\r\n\r\nabc",
        "GET /healthz HTTP/1.1\r\n",
    ]

    @Test(arguments: half)
    func `have half a minute for the rest of a request`(_ begin: String) throws {
        try withFixture { fixture in
            let client = try TestClient(fixture.home.socket)
            try fixture.work { fixture.clients.count == 1 }
            #expect(fixture.clients.nextDeadline == nil, "who says nothing may stay")
            client.send(begin)
            try fixture.work { fixture.clients.nextDeadline != nil }
            let due = fixture.now + Limits.controlRequestMilliseconds
            #expect(fixture.clients.nextDeadline == due)
            // More of it gives no more time.
            fixture.now += 1_000
            client.send(" ")
            try fixture.takeReady()
            #expect(fixture.clients.nextDeadline == due)
            fixture.clients.passTime(now: due - 1)
            #expect(fixture.clients.count == 1)
            fixture.clients.passTime(now: due)
            fixture.takeInputs()
            #expect(fixture.clients.count == 0 && fixture.closed.count == 1)
            try fixture.work {
                client.receive()
                return client.end != nil
            }
            let start = begin.contains("HTTP") ? "HTTP/1.1 408 " : #"{"jsonrpc":"2.0","id":null"#
            #expect(client.text().hasPrefix(start))
            #expect(client.text().contains(#""reason":"control.request_timeout""#))
            #expect(fixture.calls.isEmpty)
        }
    }

    @Test func `restart their half minute with each request`() throws {
        try withFixture { fixture in
            let client = try TestClient(fixture.home.socket)
            for number in 1...4 {
                client.send(#"{"jsonrpc":"2.0","id":1,"#)
                try fixture.work { fixture.clients.nextDeadline != nil }
                #expect(
                    fixture.clients.nextDeadline == fixture.now + Limits.controlRequestMilliseconds)
                fixture.now += Limits.controlRequestMilliseconds - 1
                fixture.clients.passTime(now: fixture.now)
                client.send(#""method":"x"}"# + "\n" + (number == 4 ? "" : " "))
                try fixture.work { fixture.calls.count == number }
                try fixture.takeReady()
            }
            #expect(fixture.clients.nextDeadline == nil)
        }
    }

    @Test func `that have been silent for longest give way when there is no room`() throws {
        try withFixture { fixture in
            // The first two are silent for longest: one waits for an answer, the other listens.
            var clients = try ["waits", "listens"].map { method in
                let client = try TestClient(fixture.home.socket)
                client.call(method)
                try fixture.work { fixture.calls.last?.method == method }
                return client
            }
            let listens = fixture.calls[1].call
            fixture.clients.answer(listens, .success(true))
            let host = ScriptedHost()
            host.subscribers = [listens.connection]
            fixture.clients.deliverEvents(of: host, now: fixture.now)
            try fixture.takeReady()
            try fixture.work { clients[1].lines().count == 1 }
            while clients.count < Limits.controlClientsMax {
                fixture.now += 1
                clients.append(try TestClient(fixture.home.socket))
                try fixture.work { fixture.clients.count == clients.count }
            }
            let silent = fixture.clients.clients.keys.sorted()[2]
            let since = try #require(fixture.clients.clients[silent]?.lastActive)
            fixture.now = since + Limits.controlIdleMilliseconds - 1
            let late = try TestClient(fixture.home.socket)
            late.call("too.early")
            try fixture.work { late.lines().count == 1 }
            #expect(late.text().contains(#""reason":"control.busy""#))
            #expect(fixture.calls.count == 2)
            fixture.now += 1
            let next = try TestClient(fixture.home.socket)
            next.call("in.time")
            try fixture.work { fixture.calls.count == 3 }
            #expect(fixture.calls[2].method == "in.time")
            try fixture.work {
                clients[2].receive()
                return clients[2].end != nil
            }
            #expect(clients[2].text().contains(#""reason":"control.busy""#))
            for client in [clients[0], clients[1], clients[3]] {
                client.receive()
                #expect(client.end == nil)
            }
        }
    }

    @Test func `of four processes more find room, with one connection each`() throws {
        try withFixture { fixture in
            let clients = try (0..<Limits.controlClientsMax).map { _ in
                try TestClient(fixture.home.socket)
            }
            try fixture.work { fixture.clients.count == clients.count }
            #expect(!fixture.clients.hasRoom(for: getpid(), now: fixture.now))
            // No process has such a number: the rest is as if the kernel had said so.
            for number in 1...Limits.controlClientsSpareMax {
                let process = -Int32(number)
                #expect(fixture.clients.hasRoom(for: process, now: fixture.now))
                let id = UInt64(1_000_000 + number)
                let client = UnixListener.Client(
                    link: try `A Unix listener`.makeClient(fixture.home.socket),
                    credentials: .init(process: process, user: geteuid(), group: getegid()))
                fixture.clients.clients[id] = .init(client, id: id, now: fixture.now)
                #expect(!fixture.clients.hasRoom(for: process, now: fixture.now))
            }
            #expect(fixture.clients.count == clients.count + Limits.controlClientsSpareMax)
            #expect(!fixture.clients.hasRoom(for: -1_000, now: fixture.now))
        }
    }

    @Test func `for whom there is no room hear why in their own words`() throws {
        try withFixture { fixture in
            let clients = try (0..<Limits.controlClientsMax).map { _ in
                try TestClient(fixture.home.socket)
            }
            try fixture.work { fixture.clients.count == clients.count }
            let web = try TestClient(fixture.home.socket)
            web.send("POST /rpc HTTP/1.1\r\nContent-Length: 5\r\n\r\n")
            try fixture.takeReady()
            let hook = try TestClient(fixture.home.socket)
            hook.send("POST /hooks/general HTTP/1.1\r\nContent-Length: 2\r\n\r\nhi")
            let silent = try TestClient(fixture.home.socket)
            try fixture.work {
                hook.receive()
                return hook.end != nil
            }
            #expect(hook.text().hasPrefix("HTTP/1.1 503 ") && hook.text().hasSuffix("busy"))
            #expect(hook.text().contains("Retry-After: 1"))
            #expect(fixture.clients.nextDeadline == fixture.now + Limits.controlRefusalMilliseconds)
            fixture.clients.passTime(now: fixture.now + Limits.controlRefusalMilliseconds)
            try fixture.work {
                web.receive()
                silent.receive()
                return web.end != nil && silent.end != nil
            }
            #expect(web.text().hasPrefix("HTTP/1.1 503 "))
            #expect(silent.text().hasPrefix(#"{"jsonrpc":"2.0","id":null,"error""#))
            #expect(fixture.calls.isEmpty && fixture.clients.count == clients.count)
            // Very many of them are told at once.
            let crowd = try (0..<Limits.controlClientsRefusedMax + 5).map { _ in
                try TestClient(fixture.home.socket)
            }
            try fixture.work {
                crowd.forEach { $0.receive() }
                return crowd.count { $0.end != nil } == 5
            }
        }
    }

    /// A call waits for a turn, so a turn must not be as long as the list of subscribers.
    @Test func `get events in turn, no more at once than one turn may take`() throws {
        try withFixture { fixture in
            let readers = try (1...5).map { _ in try TestClient(fixture.home.socket) }
            for reader in readers { reader.call("events.subscribe", id: 1) }
            try fixture.work { fixture.calls.count == 5 }
            let host = ScriptedHost()
            host.subscribers = fixture.calls.map(\.call.connection).sorted()
            host.eventsAtATime = ControlClients.eventsPerTurn / 2
            let count = 5 * host.eventsAtATime
            host.pendingEvents = (1...Int64(count)).map {
                EventObject(sequence: $0, cursor: "e1.\($0)", at: 0, type: "some", data: [:])
            }
            var turns = 0
            repeat {
                let before = host.pendingEvents.count
                fixture.clients.deliverEvents(of: host, now: fixture.now)
                #expect(before - host.pendingEvents.count <= ControlClients.eventsPerTurn)
                turns += 1
                try fixture.takeReady()
            } while fixture.clients.hasMoreEvents && turns < 20
            #expect(host.pendingEvents.isEmpty)
            #expect(turns == 4, "and one that finds that there is no more")
            try fixture.work { readers.allSatisfy { $0.lines().count == host.eventsAtATime } }
        }
    }

    /// A stream that looks for its first event in a long table has found none yet, and nothing else
    /// would wake the loop for it.
    @Test func `come again at once while a stream still looks, and only then`() throws {
        try withFixture { fixture in
            let reader = try TestClient(fixture.home.socket)
            reader.call("events.subscribe", id: 1)
            try fixture.work { fixture.calls.count == 1 }
            let host = ScriptedHost()
            host.subscribers = fixture.calls.map(\.call.connection)
            host.looks = 3
            var visits = 0
            repeat {
                fixture.clients.deliverEvents(of: host, now: fixture.now)
                visits += 1
            } while fixture.clients.hasMoreEvents && visits < 20
            #expect(visits == 4)
        }
    }

    /// A reader that has come to the newest event needs no second look, which would be a wake-up for
    /// each event.
    @Test func `do not come again where there is nothing more to give`() throws {
        try withFixture { fixture in
            let reader = try TestClient(fixture.home.socket)
            reader.call("events.subscribe", id: 1)
            try fixture.work { fixture.calls.count == 1 }
            let host = ScriptedHost()
            host.subscribers = fixture.calls.map(\.call.connection)
            host.saysWhatIsLeft = true
            host.eventsAtATime = 1
            host.pendingEvents = (1...3).map {
                EventObject(sequence: $0, cursor: "e1.\($0)", at: 0, type: "some", data: [:])
            }
            var visits = 0
            repeat {
                fixture.clients.deliverEvents(of: host, now: fixture.now)
                try fixture.takeReady()
                visits += 1
            } while fixture.clients.hasMoreEvents && visits < 20
            #expect(visits == 3 && host.pendingEvents.isEmpty)
        }
    }

    @Test func `get answers only to their own calls, and only while they are there`() throws {
        try withFixture { fixture in
            let left = try TestClient(fixture.home.socket)
            let right = try TestClient(fixture.home.socket)
            left.call("left", id: 1)
            right.call("right", id: 2)
            try fixture.work { fixture.calls.count == 2 }
            #expect(Set(fixture.calls.map(\.call.connection)).count == 2)
            for (call, method) in fixture.calls.reversed() {
                fixture.clients.answer(call, .success(.string(method)))
            }
            fixture.clients.answer(CallID(connection: 999, number: 1), .success("nobody"))
            try fixture.work { left.lines().count == 1 && right.lines().count == 1 }
            #expect(left.lines() == [#"{"jsonrpc":"2.0","id":1,"result":"left"}"#])
            #expect(right.lines() == [#"{"jsonrpc":"2.0","id":2,"result":"right"}"#])
            left.link.finishWriting(now: 0)
            try fixture.work { fixture.clients.count == 1 }
            let gone = fixture.calls.first { $0.method == "left" }?.call.connection
            #expect(fixture.closed == [gone])
        }
    }

    @Test func `that wait for an answer are told that none will come`() throws {
        try withFixture { fixture in
            let waiting = try TestClient(fixture.home.socket)
            let idle = try TestClient(fixture.home.socket)
            waiting.call("events.wait", id: 7)
            try fixture.work { fixture.calls.count == 1 && fixture.clients.count == 2 }
            fixture.clients.beginStopping(now: fixture.now)
            #expect(!fixture.clients.hasUnsent, "the line fits the socket")
            let lines = waiting.lines()
            #expect(lines.count == 1 && lines[0].contains(#""kind":"stopping""#))
            #expect(idle.lines().isEmpty)
            // The file goes last; who is connected stays so until the process ends.
            try fixture.clients.removeSocket()
            #expect(throws: SystemError.self) { try TestClient(fixture.home.socket) }
            #expect(idle.end == nil)
        }
    }

    @Test func `cannot be served on a path that is too long`() throws {
        try withTemporaryFolder { root in
            let home = HomeFolder(
                data: root, socket: root + "/" + String(repeating: "s", count: 120))
            try home.prepare()
            let error = #expect(throws: NodeError.self) {
                _ = try ControlClients(
                    home: home, driver: NodeDriver(), buffer: ReadBuffer(),
                    log: NodeLog(level: .error))
            }
            #expect(error?.kind == .badConfiguration)
            #expect(error?.hint == "give a shorter --home or --socket")
        }
    }
}
