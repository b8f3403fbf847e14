import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// A former name leads to its person for 30 days, if nobody else has it now.
struct `A former name` {
    private let table: Table

    init() throws { table = try Table() }

    private typealias Table = `Private channels`.Table

    private static func rename(_ node: BenchNode, to names: String..., in table: Table) throws {
        for name in names {
            try node.ok("profile.set", ["name": .string(name)])
            table.bench.advance(2_000)
        }
    }

    private static func name(_ told: JSONValue) -> [JSONValue?] {
        (told["formerly"]?.arrayValue ?? []).flatMap { [$0["name"], $0["member"]?["name"]] }
    }

    private static func days(_ count: UInt64) -> UInt64 { count * 24 * 3_600 * 1_000 }

    @Test func `leads to the person, in commands and in mentions`() throws {
        try Self.rename(table.bob, to: "Robert Kim", in: table)
        let shown = try table.ada.ok("member.get", ["member": "@bob"])
        #expect(shown["name"] == "Robert Kim")
        #expect(Self.name(shown) == ["bob", "Robert Kim"])
        let sent = try table.ada.ok("message.send", ["channel": "@Bob", "text": "hi"])
        #expect(Self.name(sent) == ["Bob", "Robert Kim"])
        table.bench.advance(2_000)
        #expect(try table.bob.log(of: "@Ada") == ["hi"])
        let direct = try table.ada.ok("dm.open", ["members": ["@Bob", "@Cleo"]])
        #expect(Self.name(direct) == ["Bob", "Robert Kim"])
        let mention = try table.ada.send("@Bob, and @BOB again")
        #expect(mention["mentions"] == [shown["id"] ?? .null])
        #expect(Self.name(mention) == ["Bob", "Robert Kim"])
        // Who is called by the present name is told nothing.
        let present = try table.ada.ok("member.get", ["member": "@Robert Kim"])
        #expect(present["formerly"] == nil)
        #expect(try table.ada.send("@Robert look")["formerly"] == nil)
    }

    @Test func `means one person each, however many of them a text has`() throws {
        try Self.rename(table.bob, to: "Robert", "Rupert", in: table)
        try Self.rename(table.cleo, to: "Clara", in: table)
        let ids = try ["Rupert", "Clara"].map {
            try table.ada.ok("member.get", ["member": .string("@" + $0)]).text("id")
        }
        let mention = try table.ada.send("@BOB @Bob @Robert @Cleo @Nobody @bob")
        let meant = mention["mentions"]?.arrayValue?.compactMap(\.stringValue) ?? []
        #expect(meant.count == 2 && Set(meant) == Set(ids))
        let told = mention["formerly"]?.arrayValue?.compactMap { $0["name"]?.stringValue }
        #expect(told == ["BOB", "Robert", "Cleo"])
    }

    @Test func `is the same after a start and on every device`() throws {
        try Self.rename(table.bob, to: "Robert", "Rupert", in: table)
        let late = try table.bench.guest("Late", of: table.ada)
        table.bench.advance(5_000)
        try table.cleo.restart()
        for node in [table.ada, table.cleo, late] {
            for name in ["@Bob", "@Robert"] {
                let shown = try node.ok("member.get", ["member": .string(name)])
                #expect(shown["name"] == "Rupert", "\(node.name) \(name)")
            }
        }
    }

    @Test func `ends after 30 days`() throws {
        try Self.rename(table.bob, to: "Robert", in: table)
        table.bench.letPass(Self.days(29))
        #expect(try table.ada.ok("member.get", ["member": "@Bob"])["name"] == "Robert")
        table.bench.letPass(Self.days(2))
        #expect(try table.ada.refused("member.get", ["member": "@Bob"]).kind == .unknownUser)
        #expect(try table.ada.send("@Bob")["mentions"] == [])
        // The days count from when somebody gave it up, not from when they took it.
        try Self.rename(table.bob, to: "Rupert", in: table)
        #expect(try table.ada.ok("member.get", ["member": "@Robert"])["name"] == "Rupert")
        #expect(try table.ada.refused("member.get", ["member": "@Bob"]).kind == .unknownUser)
    }

    @Test func `gives way to a person who has it now, also as a prefix`() throws {
        try Self.rename(table.bob, to: "Robert", in: table)
        try Self.rename(table.ada, to: "Bobby", in: table)
        #expect(try table.cleo.refused("member.get", ["member": "@Bob"]).kind == .unknownUser)
        #expect(try table.cleo.send("@Bob")["mentions"] == [])
        try Self.rename(table.ada, to: "Ada", in: table)
        #expect(try table.cleo.ok("member.get", ["member": "@Bob"])["name"] == "Robert")
        try Self.rename(table.cleo, to: "Bob", in: table)
        let cleo = try table.cleo.ok("member.list").items.first { $0["self"] == true }?["id"]
        let shown = try table.ada.ok("member.get", ["member": "@Bob"])
        #expect(shown["id"] == cleo && shown["formerly"] == nil)
        #expect(try table.ada.send("@Bob")["mentions"] == [cleo ?? .null])
        // Their own longer name takes nothing from them.
        try Self.rename(table.bob, to: "Robert Kim", in: table)
        #expect(try table.ada.ok("member.get", ["member": "@Robert"])["name"] == "Robert Kim")
    }

    @Test func `of two people leads to neither`() throws {
        try Self.rename(table.bob, to: "Robert", in: table)
        try Self.rename(table.cleo, to: "Bob", "Cleo", in: table)
        let failure = try table.ada.refused("message.send", ["channel": "@Bob", "text": "x"])
        #expect(failure.kind == .ambiguous, "\(failure)")
        let listed = failure.details["candidates"]?.arrayValue ?? []
        #expect(Set(listed.compactMap { $0["name"]?.stringValue }) == ["Robert", "Cleo"])
        #expect(try table.ada.send("@Bob")["mentions"] == [])
    }

    /// A former member's name still means them, and nobody inherits it.
    @Test func `of somebody who has left does not lead to its new holder`() throws {
        try table.ada.ok("member.remove", ["member": "Cleo"])
        table.bench.advance(5_000)
        try Self.rename(table.bob, to: "Cleo", "Bob", in: table)
        let failure = try table.ada.refused("message.send", ["channel": "@Cleo", "text": "x"])
        #expect(failure.kind == .unknownUser, "\(failure)")
        #expect(try table.ada.send("@Cleo")["mentions"] == [])
    }

    @Test func `gives and takes no right, and says whom it would mean`() throws {
        try Self.rename(table.bob, to: "Robert", in: table)
        try table.ada.ok("channel.create", ["name": "vault", "private": true])
        let calls: [(String, JSONValue)] = [
            ("member.role", ["member": "@Bob", "role": "admin"]),
            ("member.remove", ["member": "@Bob"]), ("workspace.transfer", ["member": "@Bob"]),
            ("workspace.successor.set", ["member": "@Bob"]),
            ("channel.add", ["channel": "vault", "members": ["@Bob"]]),
            ("channel.remove", ["channel": "general", "members": ["@Bob"]]),
            ("channel.role", ["channel": "general", "member": "@Bob", "role": "admin"]),
            ("channel.transfer", ["channel": "vault", "member": "@Bob"]),
        ]
        let count = try table.ada.rowCount("operation")
        for (method, given) in calls {
            let failure = try table.ada.refused(method, given)
            #expect(failure.kind == .unknownUser, "\(method): \(failure)")
            #expect(failure.details["formerly"]?[0]?["member"]?["name"] == "Robert", "\(method)")
            #expect(failure.hint == "'Robert' was called so", "\(method)")
        }
        #expect(try table.ada.rowCount("operation") == count)
    }

    @Test func `is one of the last eight, however many somebody had`() throws {
        for number in 0..<12 {
            try Self.rename(table.bob, to: "Name \(number) x", in: table)
        }
        let workspace = try table.ada.workspace()
        let core = try #require(table.ada.host?.core)
        let member = try table.bob.workspace().member
        let names = try core.profiles.formerNames(of: member, in: workspace).map(\.name)
        #expect(names == (3...10).reversed().map { "Name \($0) x" })
        let reads = core.turn.tally.profileReads
        _ = try core.profiles.formerNames(of: member, in: workspace)
        #expect(core.turn.tally.profileReads == reads, "each is opened once")
        #expect(
            try table.ada.refused("member.get", ["member": "@Name 2 x"]).kind == .unknownUser)
    }
}

/// The heads of a register, in any number.
struct `The latest words of a register` {
    private static let place = ProfileRegisters.Place(
        member: MemberID([UInt8](repeating: 7, count: 16)), subject: .name)

    private static func word(_ number: Int, isValid: Bool = true) -> ProfileRegisters.Assertion {
        var bytes = [UInt8](repeating: 0, count: 32)
        (bytes[0], bytes[1]) = (UInt8(number >> 8), UInt8(number & 0xFF))
        return ProfileRegisters.Assertion(
            id: OperationID(bytes), timestamp: HybridTimestamp(rawValue: UInt64(number)),
            arrival: Int64(number), cited: [], hasValue: true, isValid: isValid)
    }

    private static func latest(_ registers: ProfileRegisters) -> [Int] {
        var registers = registers
        return registers.latest(place).assertions.map { Int($0.arrival) }
    }

    @Test func `are the same in every order, and are found again when one goes`() {
        var rising = ProfileRegisters()
        var falling = ProfileRegisters()
        for number in 1...40 {
            rising.take(Self.word(number), at: Self.place)
            falling.take(Self.word(41 - number), at: Self.place)
        }
        #expect(Self.latest(rising) == Array(32...40))
        #expect(Self.latest(falling) == Array(32...40))
        rising.take(Self.word(38, isValid: false), at: Self.place)
        let gone: Set<Int64> = [38, 40]
        _ = falling.remove(storedAt: gone)
        #expect(Self.latest(rising) == [31, 32, 33, 34, 35, 36, 37, 39, 40])
        #expect(Self.latest(falling) == [30, 31, 32, 33, 34, 35, 36, 37, 39])
    }

    @Test func `cost nothing more the more there are`() {
        var registers = ProfileRegisters()
        for number in 1...2_000 { registers.take(Self.word(number), at: Self.place) }
        let before = registers.visitCount(Self.place)
        let count = registers.latest(Self.place).assertions.count
        #expect(count == Limits.formerNamesMax + 1)
        #expect(registers.visitCount(Self.place) == before)
    }
}
