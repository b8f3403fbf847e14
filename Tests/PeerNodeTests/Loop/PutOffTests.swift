import CRDTStore
import Foundation
import SyncProtocol
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// How much a client may request at once, and leave unread.
struct `A client that asks for very much` {
    private static let long = JSONValue.string(String(repeating: "x", count: 200 * 1024))

    /// Answers like a node: long ones, and no more in a turn than a node gives.
    private func answerLong(_ host: ScriptedHost) {
        host.onTurn = { inputs in
            var answers = TurnAnswers()
            var effects: [NodeEffect] = []
            for input in inputs {
                guard !answers.putsOff(input) else {
                    effects.append(.putOff(input))
                    continue
                }
                guard case .call(let call, let method, _, _) = input else { continue }
                let value = method == "short" ? JSONValue.string(method) : Self.long
                let effect = NodeEffect.answer(call, .success(["method": value]))
                answers.note([effect])
                effects.append(effect)
            }
            return effects
        }
    }

    private func answered(_ effects: [NodeEffect]) -> [CallID] {
        effects.compactMap { if case .answer(let call, _) = $0 { call } else { nil } }
    }

    @Test func `is answered in parts, all of it, in its order`() throws {
        try withLoop { test in
            answerLong(test.host)
            let client = try test.client()
            let count = 60
            for id in 1...count { client.call("long", id: id) }
            try test.run { client.lines().count == count }
            for (index, line) in client.lines().enumerated() {
                #expect(line.contains(#""id":\#(index + 1),"#))
            }
            // Those that were put off came again: never more than two answers in a turn.
            #expect(test.host.turns.count >= count / 2)
        }
    }

    @Test func `and reads nothing is asked for no more than it may leave unread`() throws {
        try withLoop { test in
            answerLong(test.host)
            let greedy = try (0..<20).map { _ in try test.client() }
            for client in greedy {
                for id in 1...200 { client.call("long", id: id) }
            }
            var answered = 0
            let other = try test.client()
            // Somebody else is answered all the while: at first in its turn, then within a few.
            for id in 1...60 {
                let before = test.host.turns.count
                other.call("short", id: id)
                try test.run { other.lines().count == id }
                #expect(test.host.turns.count - before <= (id == 1 ? 10 : 3))
            }
            try test.run {
                let before = answered
                answered = test.loop.unsentControlBytes
                return before == answered && before > 0
            }
            let most =
                Limits.controlUnsentTotalBytesMax
                + (greedy.count + 1) * (Limits.answersPerClientBytesMax + 220 * 1024)
            #expect(test.loop.unsentControlBytes <= most)
            // The bound of all was reached, and not those of each.
            #expect(test.loop.unsentControlBytes >= Limits.controlUnsentTotalBytesMax)
            // Who reads after all is answered again.
            try test.run { greedy[0].lines().count >= 50 }
        }
    }

    @Test func `and hangs up has had carried out what it asked for, before its end`() throws {
        try withLoop { test in
            var carriedOut: [String] = []
            test.host.onTurn = { inputs in
                var effects: [NodeEffect] = []
                var isFirst = true
                for input in inputs {
                    switch input {
                    case .call(_, let method, _, _) where isFirst:
                        carriedOut.append(method)
                        isFirst = false
                    case .controlClosed where isFirst: carriedOut.append("closed")
                    case .call, .controlClosed: effects.append(.putOff(input))
                    default: break
                    }
                }
                return effects
            }
            do {
                // Its descriptor is closed with it.
                let client = try test.client()
                for number in 1...5 { client.call("m\(number)", id: number) }
                _ = try test.loop.step()
            }
            try test.run { carriedOut.count == 6 }
            #expect(carriedOut == ["m1", "m2", "m3", "m4", "m5", "closed"])
        }
    }

    @Test func `and hangs up has had carried out also what nobody has read from the socket yet`()
        throws
    {
        try withLoop { test in
            let count = 3 * Limits.controlRequestsPendingMax
            do {
                // Its descriptor is closed with it, and the answers go nowhere.
                let client = try test.client()
                _ = try test.loop.step()
                let line = #"{"jsonrpc":"2.0","id":1,"method":"m"}"# + "\n"
                // In one piece: the kernel takes few small ones.
                client.send(String(repeating: line, count: count))
                _ = try test.loop.step()
            }
            func calls() -> Int {
                test.host.inputs.count { if case .call = $0 { true } else { false } }
            }
            try test.run {
                test.host.inputs.contains { if case .controlClosed = $0 { true } else { false } }
            }
            #expect(calls() == count)
        }
    }

    @Test func `is put off by a node in the order of its calls, and its end with them`() throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let host = try #require(mina.host)
        let count: UInt64 = 40
        var waiting: [NodeInput] = (1...count).map {
            .call(
                CallID(connection: 7, number: $0), method: "rpc.discover", arguments: JSONObject())
        }
        waiting.append(.controlClosed(connection: 7))
        var told: [UInt64] = []
        var turns = 0
        while !waiting.isEmpty, turns < 60 {
            turns += 1
            let effects = host.turn(waiting, at: bench.time)
            var bytes = 0
            for case .answer(let call, .success(let value)) in effects {
                told.append(call.number)
                bytes += value.bytes.count
            }
            #expect(bytes <= Limits.answersPerClientBytesMax + Limits.controlLineBytesMax)
            waiting = effects.compactMap { if case .putOff(let input) = $0 { input } else { nil } }
        }
        #expect(told == Array(1...count))
        #expect(turns > 1)
    }

    @Test func `gets no long answer to what waited, where it reads nothing`() throws {
        var connection = ControlConnection(id: 1)
        let line = #"{"jsonrpc":"2.0","id":1,"method":"events.wait"}"# + "\n"
        connection.receive(Array(String(repeating: line, count: 100).utf8))
        var calls: [CallID] = []
        while let request = connection.nextRequest() { calls.append(request.call) }
        #expect(calls.count == 100)
        for call in calls { connection.answer(call, .success(["items": Self.long])) }
        #expect(connection.unsentCount < 2 * Limits.controlUnsentBytesMax + 300 * 1024)
        let text = String(decoding: connection.unsent, as: UTF8.self)
        #expect(text.contains(#""reason":"control.unread""#))
    }
}

/// The size estimate of answers.
struct `The size of a value` {
    @Test func `is about what is written`() throws {
        let value: JSONValue = [
            "text": "some words, and some more", "number": 12_345, "list": [true, .null, "x"],
            "object": ["key": "value"],
        ]
        let written = value.bytes.count
        #expect(abs(value.approximateByteCount - written) * 3 < written)
        let long = JSONValue.string(String(repeating: "é", count: 10_000))
        #expect(long.approximateByteCount >= 20_000 && long.approximateByteCount < 20_010)
    }
}
