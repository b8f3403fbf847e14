import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// What an owner is told about clocks, their own and others'.
struct `A wrong clock` {
    private let bench = CoreBench()
    private let mina: BenchNode

    init() throws { mina = try bench.node("Mina") }

    private static let minute: Int64 = 60_000
    private static let year: Int64 = 365 * 86_400_000

    private func finding(_ node: BenchNode) throws -> JSONValue {
        try #require(try node.ok("node.doctor").items.first { $0["id"] == "clock" })
    }

    private func warnings(_ node: BenchNode) throws -> [String] {
        let all = try node.ok("node.status")["warnings"]?.arrayValue ?? []
        return all.compactMap { $0["kind"]?.stringValue }.filter { $0.hasPrefix("clock.") }
    }

    private func told(_ node: BenchNode) throws -> [String] {
        try node.events(types: ["node.warning"]).compactMap { $0["data"]?["kind"]?.stringValue }
    }

    /// Every pair shakes hands anew.
    private func meetAgain(_ bench: CoreBench, _ nodes: [BenchNode]) {
        for (place, left) in nodes.enumerated() {
            for right in nodes[(place + 1)...] { bench.cut(left, right) }
        }
        bench.advance(1_000)
        for (place, left) in nodes.enumerated() {
            for right in nodes[(place + 1)...] { bench.heal(left, right) }
        }
        bench.advance(120_000)
    }

    @Test(arguments: [
        (skew: minute, state: "ok", words: "the clock of 1 peer is within 2 min", loud: false),
        (3 * minute, "warn", "Joon is 3 min ahead of this one", false),
        (-3 * minute, "warn", "Joon is 3 min behind this one", false),
        (5 * year, "fail", "Joon is 5 years ahead of this one", true),
        (-5 * year, "fail", "Joon is 5 years behind this one", true),
    ])
    func `of one of two is told to both, who cannot know whose it is`(
        _ row: (skew: Int64, state: String, words: String, loud: Bool)
    ) throws {
        let joon = try bench.guest("Joon", of: mina)
        #expect(try finding(mina)["state"] == "ok")
        joon.clockSkew = row.skew
        meetAgain(bench, [mina, joon])
        let found = try finding(mina)
        #expect(found["state"] == .string(row.state))
        #expect(try found.text("message").contains(row.words), "\(found)")
        #expect(try finding(joon)["state"] == .string(row.state))
        for node in [mina, joon] {
            #expect(try warnings(node) == (row.loud ? ["clock.doubtful"] : []))
            #expect(try told(node) == (row.loud ? ["clock.doubtful"] : []))
        }
        // It was put right: at once where it was wrong, elsewhere with the next handshake.
        joon.clockSkew = 0
        #expect(try finding(joon)["state"] == "ok")
        meetAgain(bench, [mina, joon])
        #expect(try finding(mina)["state"] == "ok")
        #expect(try warnings(mina).isEmpty)
    }

    @Test(arguments: [-5 * year, -3 * minute, 3 * minute, 5 * year])
    func `is told to its owner when two others agree`(_ skew: Int64) throws {
        let others = try ["Joon", "Kim"].map { try bench.guest($0, of: mina) }
        mina.clockSkew = skew
        meetAgain(bench, [mina] + others)
        let found = try finding(mina)
        #expect(found["state"] == (abs(skew) > Self.year ? "fail" : "warn"))
        #expect(try found.text("message").hasPrefix("this clock is wrong: it shows "), "\(found)")
        #expect(try found.text("message").hasSuffix(" 2 peers that agree"))
        #expect(found["hint"] == "timedatectl set-ntp true")
        #expect(try warnings(mina) == ["clock.wrong"])
        meetAgain(bench, [mina] + others)
        #expect(try told(mina).filter { $0 == "clock.wrong" }.count == 1, "once a start")
        for other in others {
            let found = try finding(other)
            #expect(found["state"] == "warn")
            #expect(try found.text("message").hasPrefix("the clock of Mina is "))
            #expect(try warnings(other).isEmpty, "nothing is wrong here")
        }
    }

    /// An answer sorts after what it answers, even if that was written by a clock that runs ahead:
    /// a clock that hears of a moment advances past it.
    @Test func `that runs a minute ahead puts no answer before its question`() throws {
        let joon = try bench.guest("Joon", of: mina)
        joon.clockSkew = 60_000
        bench.advance(5_000)
        for number in 0..<3 {
            try joon.send("question \(number)")
            bench.advance(1_000)
            try mina.send("answer \(number)")
            bench.advance(1_000)
        }
        let order = (0..<3).flatMap { ["question \($0)", "answer \($0)"] }
        for node in [mina, joon] { #expect(try node.log() == order) }
        let core = try #require(mina.host?.core)
        #expect(core.log.clock.last.milliseconds > bench.wall)
    }

    @Test func `that was set forward while a link stands shows by what it writes`() throws {
        let joon = try bench.guest("Joon", of: mina)
        joon.clockSkew = 4 * Self.minute
        try joon.send("clocks that follow each other may be ahead by as much")
        #expect(try finding(mina)["state"] == "ok")
        joon.clockSkew = 6 * Self.minute
        try joon.send("not so much")
        #expect(try finding(mina)["state"] == "warn")
    }
}

struct `A comparison of clocks` {
    private func device(_ number: Int) -> DeviceID {
        var bytes = [UInt8](repeating: 0, count: 32)
        bytes[0] = UInt8(number & 255)
        bytes[1] = UInt8(number >> 8)
        return DeviceID(bytes)
    }

    private func time(_ monotonic: UInt64, wall: UInt64 = 1_000_000_000_000) -> TurnTime {
        TurnTime(wall: wall, monotonic: monotonic)
    }

    static let hour: Int64 = 3_600_000
    static let rows: [(differences: [Int64], verdict: String)] = [
        ([], "unknown"), ([0], "fine 1"), ([0, 60_000], "fine 2"), ([120_000, -120_000], "fine 2"),
        ([120_001], "doubtful 0 120001"), ([-hour], "doubtful 0 -3600000"),
        ([hour, hour], "own 3600000 2"), ([-hour, -hour - 60_000], "own -3600000 2"),
        ([hour, 0], "others 0 3600000 1"), ([hour, hour, 0], "others 1 3600000 2"),
        ([hour, hour, hour, 0], "own 3600000 3"), ([hour, -2 * hour], "doubtful 1 -7200000"),
        ([hour, hour, hour, -hour, -hour], "own 3600000 3"),
        ([hour, -hour, 0], "others 0 3600000 2"),
    ]

    private func words(_ verdict: PeerClocks.Verdict) -> String {
        func number(_ device: DeviceID) -> Int { Int(device.bytes[0]) }
        return switch verdict {
        case .unknown: "unknown"
        case .fine(let count): "fine \(count)"
        case .own(let by, let others): "own \(by) \(others)"
        case .doubtful(let device, let by): "doubtful \(number(device)) \(by)"
        case .others(let device, let by, let count): "others \(number(device)) \(by) \(count)"
        }
    }

    @Test(arguments: rows)
    func `blames whom most do not agree with`(_ row: (differences: [Int64], verdict: String)) {
        var clocks = PeerClocks()
        for (number, difference) in row.differences.enumerated() {
            clocks.note(device(number), showed: UInt64(1_000_000_000_000 + difference), at: 7)
        }
        #expect(words(clocks.verdict(at: time(7))) == row.verdict)
        // As long as both advance alike it stays so; a step of this node's clock shows at once.
        #expect(words(clocks.verdict(at: time(57, wall: 1_000_000_000_050))) == row.verdict)
        if row.differences == [0, 60_000] {
            #expect(words(clocks.verdict(at: time(7, wall: 999_999_000_000))) == "own 1060000 2")
        }
    }

    /// Linking many devices makes nobody more credible.
    @Test func `gives each person one voice, that of the middle device`() {
        var clocks = PeerClocks()
        for number in 0..<9 {
            clocks.note(
                device(number), of: [1], showed: UInt64(1_000_000_000_000 + Self.hour), at: 7)
        }
        #expect(words(clocks.verdict(at: time(7))).hasPrefix("doubtful"))
        clocks.note(device(10), of: [2], showed: 1_000_000_000_000, at: 7)
        #expect(words(clocks.verdict(at: time(7))).hasSuffix("3600000 1"))
        clocks.note(device(11), of: [3], showed: 1_000_000_000_000, at: 7)
        clocks.note(
            device(12), of: [3], showed: UInt64(1_000_000_000_000 - Self.hour), at: 7)
        clocks.note(device(13), of: [3], showed: 1_000_000_000_000, at: 7)
        #expect(words(clocks.verdict(at: time(7))).hasSuffix("3600000 1"))
        clocks.note(
            device(14), of: [4], showed: UInt64(1_000_000_000_000 + Self.hour), at: 7)
        #expect(words(clocks.verdict(at: time(7))).hasSuffix("3600000 2"))
    }

    @Test func `forgets after a day, knows so many devices, and takes any number`() {
        var clocks = PeerClocks()
        for number in 0..<PeerClocks.devicesMax + 10 {
            clocks.note(device(number), showed: number == 500 ? .max : 0, at: UInt64(number))
        }
        #expect(clocks.count == PeerClocks.devicesMax)
        for moment in [5_000, UInt64(Int64.max), .max] {
            _ = clocks.verdict(at: time(moment))
            _ = clocks.verdict(at: time(moment, wall: .max))
            _ = clocks.verdict(at: time(moment, wall: 0))
        }
        let late = 2_000 + PeerClocks.memoryMilliseconds
        #expect(clocks.verdict(at: time(late)) == .unknown)
        // Nobody's operation counts that has shaken no hands.
        let isNews = clocks.note(device(9_999), wroteAt: .max, at: late)
        #expect(!isNews && clocks.count == PeerClocks.devicesMax)
    }
}
