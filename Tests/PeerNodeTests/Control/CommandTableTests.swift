import Testing
import WorkspaceModel

@testable import PeerNode

struct `The table of commands` {
    private func call(_ command: Command, _ given: JSONObject) throws(NodeError) -> CommandOutcome {
        let context = CommandContext(node: TableNode(), call: CallID(connection: 1, number: 1))
        return try command.call(context, given)
    }

    @Test func `has only examples that pass their own checks and run`() throws {
        for command in Command.all {
            let example = try #require(command.example.objectValue, "\(command.name)")
            try command.check(example)
            if command.isMethod { _ = try call(command, example) }
        }
    }

    @Test func `names everything once and in the form of the interface`() {
        #expect(Set(Command.all.map(\.name)).count == Command.all.count)
        let words = Command.all.compactMap { $0.line?.words.joined(separator: " ") }
        #expect(Set(words).count == words.count)
        for command in Command.all {
            let names = command.parameters.map(\.name)
            #expect(Set(names).count == names.count, "\(command.name)")
            let flags =
                command.flags.map(\.flag)
                + command.flags.compactMap { $0.shortFlag.map(String.init) }
            #expect(Set(flags).count == flags.count, "\(command.name)")
            for position in command.line?.positions ?? [] { #expect(names.contains(position)) }
            #expect(command.summary.hasSuffix("."))
            #expect(!command.isMethod || names.contains("workspace"))
        }
    }

    /// Values that a shape refuses, with the word that says why.
    private static func mismatches(_ shape: ParameterShape) -> [(JSONValue, ParameterMismatch)] {
        switch shape {
        case .text(let bytes):
            let long = String(repeating: "x", count: bytes.upperBound + 1)
            return [(7, .type), (.string(long), .tooLong)]
                + (bytes.lowerBound > 0 ? [("", .empty)] : [])
        case .identifier(let prefix): return [(7, .type), ("", .empty), (.string(prefix), .form)]
        case .channel, .member, .workspace:
            let long = String(repeating: "x", count: Limits.nameBytesMax + 2)
            return [([], .type), ("", .empty), (.string(long), .tooLong)]
        case .note:
            let long = String(repeating: "x", count: Limits.noteTitleBytesMax + 1)
            return [(7, .type), ("", .empty), (.string(long), .tooLong)]
        case .integer(let range), .duration(let range), .byteCount(let range):
            return [
                ("7", .type), (.decimal("1.0"), .type), (.decimal("1e2"), .type),
                (.decimal("-0"), .type), (.decimal("18446744073709551616"), .type),
                (.decimal("1e400"), .type), (.integer(range.upperBound + 1), .range),
                (.integer(range.lowerBound - 1), .range),
            ]
        case .time: return [("7", .type), (-1, .range), (9_007_199_254_740_992, .range)]
        case .flag: return [("true", .type), (1, .type)]
        case .choice: return [(1, .type), ("no such word", .form)]
        case .list(let element, let count):
            let long = [JSONValue](repeating: 0, count: count.upperBound + 1)
            return [("x", .type), (.array(long), .tooLong)]
                + mismatches(element).map { ([$0.0], $0.1) }
        case .location: return [(7, .form), ("91,0", .form), (["lat": 1], .form)]
        case .json: return []
        }
    }

    /// K12.
    @Test func `refuses each parameter that is missing, of a wrong type or beyond its limit`() {
        for command in Command.methods {
            for parameter in command.remoteParameters {
                var cases = Self.mismatches(parameter.shape).map { (Optional($0.0), $0.1) }
                if parameter.isRequired { cases += [(nil, .missing), (.null, .missing)] }
                for (value, mismatch) in cases {
                    var given = command.example.objectValue ?? [:]
                    given[parameter.name] = value
                    let error = #expect(throws: NodeError.self, "\(command.name) \(parameter.name)")
                    {
                        _ = try call(command, given)
                    }
                    // What people write has an error of its own.
                    let isText =
                        mismatch == .tooLong && parameter.name == "text"
                        && ["message.send", "message.edit", "note.create", "note.edit"]
                            .contains(command.name)
                    #expect(error?.kind == (isText ? .tooLarge : .badRequest), "\(command.name)")
                    #expect(error?.reason == (isText ? "text.too_long" : "control.bad_param"))
                    #expect(
                        error?.fields == [.init(name: parameter.name, reason: mismatch.rawValue)],
                        "\(command.name) \(parameter.name)")
                }
            }
        }
    }

    @Test func `says of what is about a conversation that it is`() {
        for command in Command.methods {
            let named = command.remoteParameters.filter { parameter in
                switch parameter.shape {
                case .channel, .note, .identifier(prefix: "m_"),
                    .list(.identifier(prefix: "m_"), _):
                    parameter.isRequired
                default: false
                }
            }
            #expect((command.scope == .conversation) == !named.isEmpty, "\(command.name)")
        }
    }

    /// What the words of the documentation say and what an answer is shown by are one thing.
    @Test func `says of lists alone what is told where they are empty`() {
        for command in Command.all where command.emptiness != nil {
            #expect(command.result.hasPrefix("list of "), "\(command.name)")
        }
        #expect(Command.shape(of: "channel.members") == Command.shape(of: "member.list"))
        #expect(Command.shape(of: "lock.now") == .session)
        #expect(Command.shape(of: "no.such") == .fields)
        #expect(Command.emptiness(of: "user.find") == "nothing found")
    }

    @Test func `says with which parameters a call does more`() throws {
        for command in Command.all {
            for parameter in command.parameters {
                guard let heavier = parameter.heavier else { continue }
                #expect(heavier.effect > command.effect, "\(command.name) \(parameter.name)")
            }
        }
        let show = try Command.method("identity.show")
        #expect(show.effect(of: [:]) == .reads)
        #expect(show.effect(of: ["phrase": false]) == .reads)
        #expect(show.effect(of: ["phrase": .null]) == .reads)
        #expect(show.effect(of: ["phrase": true]) == .writes)
        let unread = try Command.method("unread.get")
        #expect(unread.effect(of: ["mark_all": true, "limit": 1]) == .signs)
        let wait = try Command.method("events.wait")
        #expect(wait.effect(of: ["since": "all"]) == .writesBeside)
        #expect(wait.effect(of: ["name": "bot"]) == .writes)
        let logout = try Command.method("session.logout")
        #expect(logout.effect(of: ["wipe": "all"]) == .writesBeside)
        #expect(logout.effect(of: ["wipe": "messages"]) == .writes)
    }

    @Test func `names every failing field and what was meant`() throws {
        let send = try Command.method("message.send")
        let error = #expect(throws: NodeError.self) {
            _ = try call(send, ["chanel": "general", "text": 7, "thread": "x"])
        }
        #expect(error?.message == "unknown parameter 'chanel'")
        #expect(error?.hint == "did you mean 'channel'?")
        #expect(error?.reason == "unknown_parameter")
        #expect(error?.fields.map(\.name) == ["chanel", "text", "thread"])
        #expect(error?.fields.map(\.reason) == ["unknown", "type", "form"])
    }

    @Test func `takes null for an optional parameter as absent`() throws {
        let send = try Command.method("message.send")
        _ = try call(send, ["channel": "general", "text": "x", "thread": .null, "key": .null])
    }

    @Test func `suggests the nearest method and never runs it`() {
        let error = #expect(throws: NodeError.self) { try Command.method("mesage.send") }
        #expect(error?.kind == .unknownOperation)
        #expect(error?.hint == "did you mean 'message.send'?")
        #expect(throws: NodeError.self) {
            try Command.method(String(repeating: "\u{301}", count: 99_999))
        }
    }

    @Test func `gives a key what must be equal when it comes again`() throws {
        let send = try Command.method("message.send")
        let node = TableNode()
        let context = CommandContext(node: node, call: CallID(connection: 1, number: 1))
        _ = try send.call(context, ["channel": "a", "text": "x", "key": "k"])
        _ = try send.call(context, ["key": "k", "text": "x", "channel": "a", "thread": .null])
        _ = try send.call(context, ["channel": "a", "text": "y", "key": "k"])
        #expect(node.keys.count == 3)
        #expect(node.keys[0] == node.keys[1])
        #expect(node.keys[0] != node.keys[2])
        #expect(node.keys[0].method == "message.send")
    }

    @Test func `wants one position of history at most`() throws {
        let history = try Command.method("message.history")
        let error = #expect(throws: NodeError.self) {
            _ = try call(history, ["channel": "a", "before": "p_1", "after": "p_2"])
        }
        #expect(error?.fields.map(\.name) == ["before", "after"])
    }

    static let references: [(String, ChannelReference?)] = [
        ("general", .name("general")), ("#general", .name("general")),
        ("c_9f04t1e", .id("c_9f04t1e")), ("#c_9f04t1e", .name("c_9f04t1e")),
        ("c_list", .name("c_list")), ("@Mina", .direct(.name("Mina"))),
        ("@u_7k3qm2xa", .direct(.id("u_7k3qm2xa"))), ("", nil), ("#", nil), ("@", nil),
        ("/\u{301}", .name("/\u{301}")),
    ]

    @Test(arguments: references)
    func `reads references to channels`(_ row: (text: String, reference: ChannelReference?)) {
        #expect(ChannelReference(row.text) == row.reference)
    }

    static let durations: [(String, Int64?)] = [
        ("250ms", 250), ("30s", 30_000), ("10m", 600_000), ("24h", 86_400_000),
        ("7d", 604_800_000), ("30", nil), ("s", nil), ("-1s", nil), ("1.5h", nil), ("+1s", nil),
        ("999999999999999d", nil), ("", nil),
    ]

    @Test(arguments: durations)
    func `reads lengths of time`(_ row: (text: String, milliseconds: Int64?)) {
        #expect(DurationText.milliseconds(row.text) == row.milliseconds)
        if let milliseconds = row.milliseconds {
            #expect(DurationText.milliseconds(DurationText.text(milliseconds)) == milliseconds)
        }
    }
}
