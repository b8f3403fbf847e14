import Foundation
import Testing
import WorkspaceModel

@testable import PeerNode

struct `A listening address` {
    @Test(
        arguments: [
            ("0.0.0.0:29790", "0.0.0.0", 29_790), ("[::]:0", "::", 0),
            ("127.0.0.1", "127.0.0.1", nil),
            ("localhost:80", "127.0.0.1", 80), ("::1", "::1", nil), ("[::1]:65535", "::1", 65_535),
        ] as [(String, String, UInt16?)])
    func `is read`(_ text: String, _ host: String, _ port: UInt16?) throws {
        let address = try ListenAddress(text)
        #expect(address.host.description == host)
        #expect(address.port == port)
    }

    @Test(arguments: ["", ":80", "example.org:80", "1.2.3.4:65536", "1.2.3.4:+5", "1.2.3:80"])
    func `is refused with the parameter's name`(_ text: String) {
        let error = #expect(throws: NodeError.self) { try ListenAddress(text) }
        #expect(error?.kind == .badRequest)
        #expect(error?.fields.first?.name == "listen")
    }

    @Test func `is remembered by its home`() throws {
        try withTemporaryFolder { root in
            let home = HomeFolder(data: root, socket: root + "/s")
            #expect(ListenAddress(rememberedIn: home) == nil)
            let address = try #require(SocketAddress("[::1]:4711"))
            ListenAddress.remember(address, in: home)
            #expect(
                ListenAddress(rememberedIn: home) == ListenAddress(host: .loopbackV6, port: 4_711))
            for junk in ["", "x", "1.2.3.4", "1.2.3.4:99999"] {
                try FileSystem.replace(home.listen, with: [UInt8](junk.utf8))
                #expect(ListenAddress(rememberedIn: home) == nil, "\(junk)")
            }
        }
    }

    @Test func `that was asked for is taken or fails, one that is remembered gives way`() throws {
        let first = try ListenAddress.listen(
            given: ListenAddress(host: .loopbackV4, port: 0), remembered: nil, seed: 1)
        let taken = ListenAddress(host: .loopbackV4, port: first.address.port)
        let error = #expect(throws: SystemError.self) {
            try ListenAddress.listen(given: taken, remembered: nil, seed: 1)
        }
        #expect(error?.isAddressTaken == true)
        let second = try ListenAddress.listen(given: nil, remembered: taken, seed: 1)
        #expect(second.address.host == .loopbackV4)
        #expect(second.address.port != first.address.port)
    }

    @Test func `of any port is the last one, and another when that is taken`() throws {
        let any = ListenAddress(host: .loopbackV4, port: 0)
        var first: TCPListener? = try ListenAddress.listen(given: any, remembered: nil, seed: 1)
        let port = try #require(first?.address.port)
        let last = ListenAddress(host: .loopbackV4, port: port)
        let second = try ListenAddress.listen(given: any, remembered: last, seed: 1)
        #expect(second.address.port != port)
        first = nil
        let third = try ListenAddress.listen(given: any, remembered: last, seed: 1)
        #expect(third.address.port == port)
    }

    @Test(arguments: [
        ("192.0.2.1:5", ["10.0.0.1"], ["192.0.2.1:5"]),
        ("0.0.0.0:5", ["10.0.0.1", "fd00::1"], ["10.0.0.1:5"]),
        ("[::]:5", ["10.0.0.1", "fd00::1"], ["10.0.0.1:5", "[fd00::1]:5"]),
        ("[::]:5", [], ["127.0.0.1:5"]), ("0.0.0.0:5", ["fd00::1"], ["127.0.0.1:5"]),
    ])
    func `becomes the addresses that others can dial`(
        _ bound: String, _ own: [String], _ expected: [String]
    ) throws {
        let address = try #require(SocketAddress(bound))
        #expect(
            ListenAddress.dialable(address, among: own.compactMap { IPAddress($0) }) == expected)
    }
}

struct `A turn's budget` {
    @Test func `halves while turns are slow and doubles while they are quick`() {
        var budget = TurnBudget()
        #expect(budget.byteCount == 1 << 20)
        budget.didRun(received: 1 << 20, milliseconds: 9)
        #expect(budget.byteCount == 1 << 19)
        // Slow for other reasons: what counts is what came in.
        budget.didRun(received: 300_000, milliseconds: 100)
        #expect(budget.byteCount == 150_000)
        for _ in 0..<10 { budget.didRun(received: budget.byteCount, milliseconds: 50) }
        #expect(budget.byteCount == TurnBudget.byteCountMin)
        for _ in 0..<10 { budget.didRun(received: 1, milliseconds: 8) }
        #expect(budget.byteCount == TurnBudget.byteCountMax)
    }

    @Test func `does not change by turns without bytes of peers`() {
        var budget = TurnBudget()
        budget.didRun(received: 0, milliseconds: 1_000)
        #expect(budget.byteCount == TurnBudget.byteCountMax)
    }
}

struct `The checkpoint schedule` {
    private let step = CheckpointSchedule.growthByteCount

    @Test func `copies a part each time the log has grown by 4 MiB`() {
        var schedule = CheckpointSchedule()
        // The same length again is no growth, and a short log is one that began anew.
        let lengths = [step - 1, step, step, 2 * step - 1, 2 * step, 8_192, step]
        let copies = lengths.map { schedule.didTurn(logByteCount: $0, now: 0) }
        #expect(copies == [false, true, false, false, true, false, true])
    }

    @Test func `empties the log of what was erased soon, whatever else is written`() {
        var schedule = CheckpointSchedule()
        #expect(schedule.erasureDeadline == nil)
        schedule.mustEmpty(now: 100)
        // Further deletions do not put it off.
        schedule.mustEmpty(now: 900)
        _ = schedule.didTurn(logByteCount: 8_192, now: 1_000)
        let due = 100 + Limits.erasedLogMilliseconds
        #expect(schedule.erasureDeadline == due)
        #expect(due <= 60_000)
        #expect(
            [due - 1, due, due + 1].map { schedule.takeErasure(now: $0) } == [false, true, false])
    }

    @Test func `empties the log once, when nothing was written for a while`() {
        var schedule = CheckpointSchedule()
        let quiet = CheckpointSchedule.quietMilliseconds
        #expect(schedule.quietDeadline == nil)
        _ = schedule.didTurn(logByteCount: 8_192, now: 100)
        _ = schedule.didTurn(logByteCount: 16_384, now: 200)
        // A turn that wrote nothing does not put it off.
        _ = schedule.didTurn(logByteCount: 16_384, now: 300)
        #expect(schedule.quietDeadline == 200 + quiet)
        let taken = [199, 200, 900].map { schedule.takeQuiet(now: $0 + quiet) }
        #expect(taken == [false, true, false])
        // An idle node asks for no timer.
        #expect(schedule.quietDeadline == nil)
        _ = schedule.didTurn(logByteCount: 0, now: 900 + quiet)
        #expect(schedule.quietDeadline == nil)
    }

    @Test func `has a quiet time after a start that wrote nothing, too`() {
        var schedule = CheckpointSchedule()
        let quiet = CheckpointSchedule.quietMilliseconds
        for now in [100, 200] as [UInt64] { _ = schedule.didTurn(logByteCount: 0, now: now) }
        #expect(schedule.quietDeadline == 100 + quiet)
        let taken = [99, 100, 101].map { schedule.takeQuiet(now: $0 + quiet) }
        #expect(taken == [false, true, false])
    }
}
