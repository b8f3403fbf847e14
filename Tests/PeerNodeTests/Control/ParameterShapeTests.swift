import Testing
import WorkspaceModel

@testable import PeerNode

struct `The shape of a parameter` {
    struct Row: Sendable, CustomTestStringConvertible {
        let shape: ParameterShape
        let value: JSONValue
        let mismatch: ParameterMismatch?
        let testDescription: String

        init(_ shape: ParameterShape, _ value: JSONValue, _ mismatch: ParameterMismatch?) {
            self.shape = shape
            self.value = value
            self.mismatch = mismatch
            let shown = value.text.prefix(40)
            testDescription = "\(shape.words): \(shown) is \(mismatch?.rawValue ?? "taken")"
        }
    }

    private static func text(_ count: Int) -> JSONValue {
        .string(String(repeating: "x", count: count))
    }

    static let texts = [
        Row(.text(bytes: 2...4), "x", .empty), Row(.text(bytes: 2...4), "xx", nil),
        Row(.text(bytes: 2...4), "xxxx", nil), Row(.text(bytes: 2...4), "xxxxx", .tooLong),
        // Bytes are counted, not letters: a Korean one has three, a family eleven or more.
        Row(.text(bytes: 1...3), "회", nil), Row(.text(bytes: 1...2), "회", .tooLong),
        Row(.text(bytes: 1...7), "👨‍👩‍👧", .tooLong), Row(.text(bytes: 0...4), "", nil),
        Row(.text(bytes: 0...4), .null, .type), Row(.text(bytes: 0...4), 7, .type),
        Row(.text(bytes: 0...4), ["x"], .type), Row(.text(bytes: 0...4), true, .type),
    ]

    static let identifiers = [
        Row(.identifier(prefix: "m_"), "m_000000", nil),
        Row(.identifier(prefix: "m_"), "m_00000", .form),
        Row(.identifier(prefix: "m_"), "u_000000", .form),
        Row(.identifier(prefix: "m_"), "m_00000A", .form),
        Row(.identifier(prefix: "m_"), "m_00000-", .form),
        Row(.identifier(prefix: "m_"), "m_00000\u{e9}", .form),
        Row(.identifier(prefix: "m_"), " m_000000", .form),
        Row(.identifier(prefix: "m_"), "", .empty),
        Row(.identifier(prefix: "m_"), .string("m_" + String(repeating: "0", count: 78)), nil),
        Row(
            .identifier(prefix: "m_"), .string("m_" + String(repeating: "0", count: 79)),
            .tooLong),
        Row(.identifier(prefix: "m_"), 7, .type),
    ]

    static let references = [
        Row(.channel, "general", nil), Row(.channel, "#general", nil), Row(.channel, "@Mina", nil),
        Row(.channel, "#", .form), Row(.channel, "@", .form), Row(.channel, "", .empty),
        Row(.channel, text(257), nil), Row(.channel, text(258), .tooLong),
        Row(.channel, 7, .type), Row(.member, "@Mina", nil), Row(.member, "Mina", nil),
        Row(.member, "#Mina", nil), Row(.member, "@", .form), Row(.member, "", .empty),
        Row(.member, text(258), .tooLong), Row(.member, .null, .type),
        Row(.workspace, "acme", nil), Row(.workspace, "@", nil), Row(.workspace, "", .empty),
        Row(.workspace, text(258), .tooLong), Row(.workspace, [:], .type),
    ]

    static let numbers = [
        Row(.integer(-3...5), -3, nil), Row(.integer(-3...5), 5, nil),
        Row(.integer(-3...5), -4, .range), Row(.integer(-3...5), 6, .range),
        Row(.integer(-3...5), "5", .type), Row(.integer(-3...5), .decimal("5.0"), .type),
        Row(.integer(-3...5), true, .type), Row(.integer(-3...5), .null, .type),
        Row(.integer(Int64.min...Int64.max), .integer(.min), nil),
        Row(.integer(Int64.min...Int64.max), .integer(.max), nil),
        Row(.duration(60...90), 60, nil), Row(.duration(60...90), 90, nil),
        Row(.duration(60...90), 59, .range), Row(.duration(60...90), 91, .range),
        Row(.duration(60...90), "60s", .type),
        Row(.byteCount(1...90), 90, nil), Row(.byteCount(1...90), 0, .range),
        Row(.byteCount(1...90), "9B", .type),
        Row(.time, 0, nil), Row(.time, 9_007_199_254_740_991, nil), Row(.time, -1, .range),
        Row(.time, 9_007_199_254_740_992, .range), Row(.time, .decimal("0.5"), .type),
    ]

    static let others = [
        Row(.flag, true, nil), Row(.flag, false, nil), Row(.flag, 0, .type),
        Row(.flag, "true", .type), Row(.flag, .null, .type),
        Row(.choice(["on", "off"]), "on", nil), Row(.choice(["on", "off"]), "off", nil),
        Row(.choice(["on", "off"]), "On", .form), Row(.choice(["on", "off"]), "", .form),
        Row(.choice(["on", "off"]), " on", .form), Row(.choice(["on"]), text(64), .form),
        Row(.choice(["on"]), text(65), .tooLong), Row(.choice(["on"]), true, .type),
        // The same letter in two spellings is not the same word.
        Row(.choice(["\u{e9}"]), "e\u{301}", .form),
        Row(.json, .null, nil), Row(.json, ["a": [1, .decimal("2.5")]], nil),
    ]

    static let lists = [
        Row(.list(.flag, count: 1...2), [true], nil),
        Row(.list(.flag, count: 1...2), [true, false], nil),
        Row(.list(.flag, count: 1...2), [], .empty),
        Row(.list(.flag, count: 1...2), [true, true, true], .tooLong),
        Row(.list(.flag, count: 1...2), true, .type),
        Row(.list(.flag, count: 1...2), [true, 1], .type),
        Row(.list(.integer(1...5), count: 0...9), [1, 6], .range),
        Row(.list(.integer(1...5), count: 0...9), [], nil),
        // The length is looked at before the elements.
        Row(.list(.integer(1...5), count: 0...1), [6, "x"], .tooLong),
        Row(.list(.text(bytes: 1...2), count: 0...9), ["a", ""], .empty),
        Row(.list(.list(.flag, count: 1...1), count: 1...1), [[true]], nil),
        Row(.list(.list(.flag, count: 1...1), count: 1...1), [[]], .empty),
    ]

    @Test(arguments: texts + identifiers + references)
    func `takes text within its bounds and form`(_ row: Row) {
        #expect(row.shape.mismatch(row.value) == row.mismatch)
    }

    @Test(arguments: numbers + others + lists)
    func `takes what is of its type and within its bounds`(_ row: Row) {
        #expect(row.shape.mismatch(row.value) == row.mismatch)
    }

    @Test func `has stable words for what does not fit`() {
        let words: [(ParameterMismatch, String)] = [
            (.missing, "missing"), (.unknown, "unknown"), (.type, "type"), (.empty, "empty"),
            (.tooLong, "too_long"), (.range, "range"), (.form, "form"),
        ]
        for (mismatch, word) in words { #expect(mismatch.rawValue == word) }
    }

    // MARK: What is written about it

    static let schemas: [(ParameterShape, String, String)] = [
        (.text(bytes: 1...9), #"{"type":"string","minLength":1,"maxLength":9}"#, "TEXT"),
        (.identifier(prefix: "m_"), #"{"type":"string","pattern":"^m_"}"#, "ID"),
        (.channel, #"{"type":"string","minLength":1,"maxLength":257}"#, "CHANNEL"),
        (.member, #"{"type":"string","minLength":1,"maxLength":257}"#, "@U"),
        (.workspace, #"{"type":"string","minLength":1,"maxLength":257}"#, "WORKSPACE"),
        (.integer(-1...9), #"{"type":"integer","minimum":-1,"maximum":9}"#, "N"),
        (.duration(5...9), #"{"type":"integer","minimum":5,"maximum":9}"#, "DUR"),
        (.byteCount(5...9), #"{"type":"integer","minimum":5,"maximum":9}"#, "SIZE"),
        (.time, #"{"type":"integer","minimum":0,"maximum":9007199254740991}"#, "T"),
        (.flag, #"{"type":"boolean"}"#, ""),
        (.choice(["on", "off"]), #"{"type":"string","enum":["on","off"]}"#, "on|off"),
        (
            .list(.flag, count: 1...3),
            #"{"type":"array","items":{"type":"boolean"},"minItems":1,"maxItems":3}"#, ""
        ),
        (.json, "{}", "JSON"),
    ]

    @Test(arguments: schemas.indices)
    func `has a schema and a word for usage lines`(_ index: Int) {
        let (shape, schema, placeholder) = Self.schemas[index]
        #expect(shape.schema.text == schema)
        #expect(shape.placeholder == placeholder)
        #expect(!shape.words.isEmpty && !shape.words.hasSuffix("."))
    }

    @Test func `says its bounds in words`() {
        #expect(ParameterShape.text(bytes: 1...9).words == "text, 1 to 9 bytes")
        #expect(ParameterShape.integer(-1...9).words == "an integer, -1 to 9")
        #expect(ParameterShape.choice(["on", "off"]).words == "one of `on`, `off`")
        #expect(
            ParameterShape.list(.flag, count: 0...4).words == "a list of up to 4: true or false")
    }
}

struct `A parameter` {
    private let count = Parameter.integer("max_count", "How many.", 1...9)

    private func read<Value>(_ parameter: Parameter<Value>, _ given: JSONObject) -> Value {
        Arguments(checked: given)[parameter]
    }

    @Test func `is required and has the flag of its name unless told otherwise`() {
        let definition = count.definition
        #expect(definition.isRequired && definition.defaultText == nil)
        #expect(definition.flag == "max-count")
        #expect(definition.shortFlag == nil && definition.flagValue == nil)
        #expect(!definition.isLocal && !definition.isGlobal && !definition.readsStandardInput)
        #expect(read(count, ["max_count": 4]) == 4)
    }

    @Test func `may be left out once it is optional`() {
        let optional = count.optional()
        #expect(!optional.definition.isRequired)
        #expect(read(optional, [:]) == nil)
        #expect(read(optional, ["max_count": 4]) == 4)
    }

    @Test func `has a value of its own once it has a default`() {
        let defaulted = count.defaulting(to: 3)
        #expect(!defaulted.definition.isRequired)
        #expect(defaulted.definition.defaultText == "3")
        #expect(read(defaulted, [:]) == 3)
        #expect(read(defaulted, ["max_count": 4]) == 4)
        #expect(count.defaulting(to: 3, shown: "a few").definition.defaultText == "a few")
    }

    @Test func `keeps what it was told before`() {
        let parameter = count.flag("n-max").short("n").standing(for: 9).local().global()
            .standardInput().defaulting(to: 2)
        let definition = parameter.definition
        #expect(definition.flag == "n-max" && definition.shortFlag == "n")
        #expect(definition.flagValue == 9)
        #expect(definition.isLocal && definition.isGlobal && definition.readsStandardInput)
        #expect(definition.takesNoValue && definition.impliedValue == 9)
        #expect(count.definition.flag == "max-count", "the first one has not changed")
    }

    @Test func `that is a flag is no when left out`() {
        let flag = Parameter.flag("private", "Hidden.")
        #expect(!read(flag, [:]))
        #expect(read(flag, ["private": true]))
        #expect(flag.definition.takesNoValue && flag.definition.impliedValue == true)
        #expect(!count.definition.takesNoValue)
    }

    @Test func `that is a list reads every element and takes over the flag`() {
        let list = Parameter<[ChannelReference]>.list(
            of: Parameter.channel("channels", "Where.").flag("in"), count: 0...4)
        #expect(list.definition.flag == "in")
        #expect(
            read(list, ["channels": ["#a", "@Mina"]]) == [.name("a"), .direct(.name("Mina"))])
        #expect(read(list, ["channels": []]).isEmpty)
    }

    @Test func `reads each type as what it is`() {
        #expect(read(Parameter.text("t", "", bytes: 0...9), ["t": "x"]) == "x")
        #expect(read(Parameter.name("t", ""), ["t": "x"]) == "x")
        #expect(read(Parameter.choice("t", "", ["x"]), ["t": "x"]) == "x")
        #expect(read(Parameter.identifier("t", "", prefix: "m_"), ["t": "m_1"]) == "m_1")
        #expect(read(Parameter.duration("t", "", 0...9), ["t": 5]) == 5)
        #expect(read(Parameter.time("t", ""), ["t": 5]) == 5)
        #expect(read(Parameter.member("t", ""), ["t": "@x"]) == .name("x"))
        #expect(read(Parameter.workspace("t", ""), ["t": "w_123456"]) == .id("w_123456"))
        #expect(read(Parameter.json("t", ""), ["t": [1]]) == [1])
        guard case .text(let bytes) = Parameter.name("t", "").definition.shape else {
            Issue.record("a name is text")
            return
        }
        #expect(bytes == 1...Limits.nameBytesMax)
    }
}
