import CRDTStore
import Foundation
import Testing
import WorkspaceModel

@testable import PeerNode

struct `A node's loop and its clients` {
    @Test func `answers calls in their order, and all of one read in one turn`() throws {
        try withLoop { test in
            let client = try test.client()
            for id in 1...3 { client.call("m\(id)", id: id) }
            try test.run { client.lines().count == 3 }
            let lines = client.lines()
            for id in 1...3 {
                #expect(lines[id - 1].contains(#""id":\#(id),"result":{"method":"m\#(id)"}"#))
            }
            let calls = test.host.turns.map { turn in
                turn.count { if case .call = $0 { true } else { false } }
            }
            #expect(calls.filter { $0 > 0 } == [3])
        }
    }

    @Test func `answers what is no request without asking the host, and serves the next line`()
        throws
    {
        try withLoop { test in
            let client = try test.client()
            client.send("{nonsense\n")
            client.call("node.version")
            try test.run { client.lines().count == 2 }
            #expect(client.lines()[0].contains("parse_error"))
            #expect(client.lines()[1].contains("node.version"))
        }
    }

    @Test func `answers all that was asked before the other side finished, then hangs up`() throws {
        try withLoop { test in
            let client = try test.client()
            client.call("a", id: 1)
            client.send(#"{"jsonrpc":"2.0","id":2,"method":"no newline"}"#)
            client.link.finishWriting(now: 0)
            try test.run {
                _ = client.lines()
                return client.end == .finished
            }
            #expect(client.lines().count == 2)
            try test.run { test.loop.clientCount == 0 }
            #expect(
                test.host.inputs.contains { if case .controlClosed = $0 { true } else { false } })
        }
    }

    @Test func `waits with hanging up for an answer that comes later`() throws {
        try withLoop { test in
            var waiting: CallID?
            test.host.onInput = { input in
                guard case .call(let call, let method, _, _) = input else { return [] }
                if method == "later" {
                    waiting = call
                    return []
                }
                return [
                    .answer(call, .success([:])),
                    .answer(waiting ?? call, .success(["late": true])),
                ]
            }
            let patient = try test.client()
            patient.call("later")
            patient.link.finishWriting(now: 0)
            try test.run { waiting != nil }
            _ = try test.loop.step()
            #expect(patient.lines().isEmpty && patient.end == nil)
            let other = try test.client()
            other.call("now")
            try test.run {
                _ = patient.lines()
                return patient.end == .finished
            }
            #expect(patient.lines()[0].contains("late"))
        }
    }

    @Test func `lets 64 clients in and tells the next one that it is busy`() throws {
        try withLoop { test in
            let clients = try (0..<Limits.controlClientsMax).map { _ in try test.client() }
            try test.run { test.loop.clientCount == Limits.controlClientsMax }
            let late = try test.client()
            // Read or not, what it asked for must not take the reason away.
            late.call("node.version")
            try test.run {
                _ = late.lines()
                return late.end != nil
            }
            #expect(late.lines().count == 1)
            #expect(late.lines().first?.contains(#""reason":"control.busy""#) == true)
            clients[0].call("still.served")
            try test.run { clients[0].lines().count == 1 }
            clients[1].link.finishWriting(now: 0)
            try test.run { test.loop.clientCount == Limits.controlClientsMax - 1 }
            let next = try test.client()
            next.call("now.there.is.room")
            try test.run { next.lines().count == 1 }
        }
    }

    @Test func `carries out what was asked by clients that leave before the answer`() throws {
        try withLoop { test in
            for _ in 0..<200 {
                // Its descriptor is closed with it, at once.
                try test.client().call("message.send")
                if try test.loop.step() == false { break }
            }
            try test.run { test.loop.clientCount == 0 && test.host.inputs.count >= 401 }
            let calls = test.host.inputs.count { if case .call = $0 { true } else { false } }
            #expect(calls == 200)
        }
    }

    @Test func `reads no more from a client that reads no answers, and answers in the end`() throws
    {
        try withLoop { test in
            let answer = String(repeating: "x", count: 20_000)
            test.host.onInput = { input in
                guard case .call(let call, _, _, _) = input else { return [] }
                return [.answer(call, .success(["text": .string(answer)]))]
            }
            let greedy = try test.client()
            for id in 1...1_000 { greedy.call("big", id: id) }
            var answered: Int {
                test.host.inputs.count { if case .call = $0 { true } else { false } }
            }
            try test.run { answered > 0 }
            for _ in 0..<50 { _ = try test.loop.step() }
            // 4 MiB of answers, and those to what was handed out before they were full.
            #expect(answered < 600)
            let other = try test.client()
            other.call("small")
            try test.run { other.lines().count == 1 }
            try test.run {
                greedy.receive()
                return greedy.receivedCount > 1_000 * 20_000
            }
            #expect(answered == 1_001)
        }
    }

    @Test func `streams events only as fast as they are read`() throws {
        try withLoop { test in
            test.host.onInput = { input in
                guard case .call(let call, _, _, _) = input else { return [] }
                test.host.subscribers = [call.connection]
                return [.answer(call, .success(["subscription": 1]))]
            }
            let text = JSONValue.string(String(repeating: "y", count: 10_000))
            test.host.pendingEvents = (1...500).map {
                EventObject(sequence: $0, cursor: "e1.\($0)", at: 0, type: "t", data: text)
            }
            let client = try test.client()
            client.call("events.subscribe")
            client.link.finishWriting(now: 0)
            for _ in 0..<50 { _ = try test.loop.step() }
            // What a socket holds and one portion, not all 5 MB.
            #expect(test.host.pendingEvents.count > 300)
            #expect(test.loop.clientCount == 1)
            try test.run { client.lines().count == 501 }
            #expect(client.lines()[0].contains("result"))
            #expect(client.lines()[500].contains(#""seq":500"#))
            // A finished side with an open stream stays until the stream ends.
            #expect(test.loop.clientCount == 1)
            test.host.subscribers = []
            try test.run { test.loop.clientCount == 0 }
        }
    }

    @Test func `gives a new reader the events that are there, with nothing else to wake it`() throws
    {
        try withLoop { test in
            test.host.onInput = { input in
                guard case .call(let call, _, _, _) = input else { return [] }
                test.host.subscribers = [call.connection]
                test.host.pendingEvents = [
                    EventObject(sequence: 1, cursor: "e1.1", at: 0, type: "t", data: [:])
                ]
                return [.answer(call, .success(["subscription": 1]))]
            }
            let client = try test.client()
            client.call("events.subscribe")
            try test.run { !test.host.subscribers.isEmpty }
            // In the step of the answer, since a second one would wait.
            #expect(test.host.pendingEvents.isEmpty)
            #expect(client.lines().count == 2)
        }
    }

    @Test func `hands the last answers out when it is told to stop, and owns up to the others`()
        throws
    {
        try withLoop { test in
            test.host.onInput = { input in
                guard case .call(let call, let method, _, _) = input else { return [] }
                return method == "node.stop" ? [.answer(call, .success([:])), .stop] : []
            }
            let waiting = try test.client()
            waiting.call("events.wait")
            let stopper = try test.client()
            stopper.call("node.stop")
            try test.loop.run()
            #expect(stopper.lines().count == 1)
            #expect(stopper.lines()[0].contains(#""result":{}"#))
            #expect(waiting.lines()[0].contains(#""kind":"stopping""#))
            // Connections end with the process, the socket before.
            #expect(stopper.end == nil)
            #expect(try FileSystem.status(of: test.home.socket).kind == .socket)
            test.loop.closeHost()
            #expect(test.host.checkpoints == [.truncate])
            test.loop.end()
            #expect((try? FileSystem.status(of: test.home.socket)) == nil)
        }
    }

    @Test func `copies a long log between turns`() throws {
        try withLoop { test in
            let client = try test.client()
            test.host.logByteCount = CheckpointSchedule.growthByteCount
            client.call("x")
            try test.run { client.lines().count == 1 }
            #expect(test.host.checkpoints == [.passive])
        }
    }

    @Test func `empties the log of what was erased, as soon as no reader is in the way`() throws {
        try withLoop { test in
            let client = try test.client()
            test.host.mustEmptyLog = true
            test.host.readings = 1
            client.call("x")
            try test.run { !test.host.mustEmptyLog }
            #expect(test.host.checkpoints == [.truncate, .truncate])
        }
    }

    @Test func `refuses a home whose socket is answered or in the way`() throws {
        try withLoop { test in
            let error = #expect(throws: NodeError.self) { try TestLoop(test.home.data) }
            #expect(error?.kind == .inUse)
        }
        try withTemporaryFolder { root in
            try FileSystem.replace(root + "/control.sock", with: [1])
            let error = #expect(throws: NodeError.self) { try TestLoop(root) }
            #expect(error?.kind == .badConfiguration)
        }
    }
}
