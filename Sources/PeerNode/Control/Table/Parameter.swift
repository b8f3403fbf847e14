public import WorkspaceModel

/// What documentation, command line and validation know about a parameter.
public struct ParameterDefinition: Sendable {
    /// Its name on the socket, such as `expires_ms`.
    public let name: String
    /// What it is for, in one sentence.
    public let summary: String
    /// Which values it takes.
    public let shape: ParameterShape
    /// Whether a call without it is refused.
    public internal(set) var isRequired = true
    /// Its default, as documentation shows it.
    public internal(set) var defaultText: String?
    /// Its flag on the command line, without the dashes.
    public internal(set) var flag: String
    /// Its one-letter flag.
    public internal(set) var shortFlag: Character?
    /// The value of the flag when it takes none itself.
    public internal(set) var flagValue: JSONValue?
    /// Whether it stays on the command line and never travels on the socket.
    public internal(set) var isLocal = false
    /// Whether programs alone give it, on the socket: the command line has no flag for it.
    public internal(set) var isForPrograms = false
    /// Whether it is one of the flags that every command takes.
    public internal(set) var isGlobal = false
    /// Whether a time is one to come, so that `2h` on the command line is in two hours.
    public internal(set) var isAhead = false
    /// The minute of the day that a day without a time means on the command line.
    public internal(set) var dayMinute: Int64 = 0
    /// Whether `-` on the command line means standard input.
    public internal(set) var readsStandardInput = false
    /// Whether the command line takes nothing but `-` for it: other words are there for everybody
    /// on the machine to read.
    public internal(set) var isSecret = false
    /// Whether it is the text of a message: too much of it is `too_large`, and no slip in the call.
    public internal(set) var isMessageText = false
    /// The parameter that gets the id of a picture, where this one may be a path to it.
    public internal(set) var pictureTarget: String?
    /// What to do where its value does not fit, if help for the command does not say it.
    public internal(set) var mismatchHint: String?
    /// What a sentence calls it, if its shape and its name do not tell (`noun`).
    public internal(set) var givenNoun: String?
    /// What a person is asked where it is missing, if that is not the usual question (`question`).
    var givenQuestion: String?
    /// The effect of a call with this parameter, where it does more than without it.
    public internal(set) var heavier: HeavierEffect?

    /// 9:00, when a day begins for people: minutes.
    public static let morning: Int64 = 9 * 60

    init(_ name: String, _ summary: String, _ shape: ParameterShape) {
        self.name = name
        self.summary = summary
        self.shape = shape
        self.flag = String(name.map { $0 == "_" ? "-" : $0 })
    }

    /// Whether somebody may be named in it.
    var namesPeople: Bool {
        switch shape {
        case .member, .channel, .list(.member, _), .list(.channel, _): true
        default: false
        }
    }
}

/// An entry in a command's list of parameters.
protocol ListedParameter: Sendable {
    var definition: ParameterDefinition { get }
}

/// A named argument with a type: it documents, validates and reads the same value.
public struct Parameter<Value: Sendable>: Sendable, ListedParameter {
    /// Everything about it but the type.
    public internal(set) var definition: ParameterDefinition
    /// Reads a value that has passed the check of the shape; `nil` for one left out.
    let read: @Sendable (JSONValue?) -> Value

    /// - Parameter read: gives `nil` for a value of another shape, which the check excludes.
    init(
        _ name: String, _ summary: String, _ shape: ParameterShape,
        read: @escaping @Sendable (JSONValue) -> Value?
    ) {
        definition = ParameterDefinition(name, summary, shape)
        self.read = { json in
            guard let json, let value = read(json) else {
                preconditionFailure("'\(name)' was read without having been checked")
            }
            return value
        }
    }

    private init(_ definition: ParameterDefinition, read: @escaping @Sendable (JSONValue?) -> Value)
    {
        self.definition = definition
        self.read = read
    }

    /// The same parameter, which may be left out or be `null`.
    func optional() -> Parameter<Value?> {
        let read = read
        var definition = definition
        definition.isRequired = false
        return Parameter<Value?>(definition) { json in json.map { read($0) } }
    }

    /// The same parameter, with a default.
    ///
    /// - Parameter shown: how documentation writes the value, if not as it describes itself.
    func defaulting(to value: Value, shown: String? = nil) -> Parameter<Value> {
        let read = read
        var definition = definition
        definition.isRequired = false
        definition.defaultText = shown ?? String(describing: value)
        return Parameter(definition) { json in json.map { read($0) } ?? value }
    }

    private func changed(_ change: (inout ParameterDefinition) -> Void) -> Parameter {
        var changed = self
        change(&changed.definition)
        return changed
    }

    /// The same parameter under another flag.
    func flag(_ flag: String) -> Parameter { changed { $0.flag = flag } }
    /// The same parameter with a one-letter flag as well.
    func short(_ letter: Character) -> Parameter { changed { $0.shortFlag = letter } }
    /// The same parameter, whose flag takes no value and means `value`.
    func standing(for value: JSONValue) -> Parameter { changed { $0.flagValue = value } }
    /// The same parameter, for a time to come.
    func ahead() -> Parameter { changed { $0.isAhead = true } }
    /// The same parameter, whose days begin when people do.
    func fromMorning() -> Parameter { changed { $0.dayMinute = ParameterDefinition.morning } }
    /// The same parameter, for the command line alone.
    func local() -> Parameter { changed { $0.isLocal = true } }
    /// The same parameter, for programs on the socket alone.
    func forPrograms() -> Parameter { changed { $0.isForPrograms = true } }
    /// The same parameter, listed with the flags that every command takes.
    func global() -> Parameter { changed { $0.isGlobal = true } }
    /// The same parameter, for which the command line takes nothing but `-`.
    func hidden() -> Parameter {
        changed {
            $0.readsStandardInput = true
            $0.isSecret = true
        }
    }
    /// The same parameter, which on the command line may be a path to a picture. The picture is
    /// added, and its id becomes the value of `target`.
    func picture(for target: String) -> Parameter { changed { $0.pictureTarget = target } }
    /// The same parameter, for the text of a message.
    func messageText() -> Parameter {
        changed {
            $0.isMessageText = true
            $0.givenNoun = "message"
            $0.givenQuestion = "which text?"
        }
    }
    /// The same parameter, with what to do where its value does not fit.
    func hinting(_ hint: String) -> Parameter { changed { $0.mismatchHint = hint } }
    /// The same parameter, which sentences call `noun`, such as `file`.
    func called(_ noun: String) -> Parameter { changed { $0.givenNoun = noun } }
    /// The same parameter, with another question where it is missing, such as `to whom?`.
    func asked(_ question: String) -> Parameter { changed { $0.givenQuestion = question } }
    /// The same parameter, for which `-` means standard input.
    func standardInput() -> Parameter { changed { $0.readsStandardInput = true } }
}

/// The arguments of one call, all validated before the command starts.
public struct Arguments: Sendable {
    /// The given arguments, validated and without members that were `null`.
    public let given: JSONObject

    /// - Precondition: the command lists `parameter` among its parameters.
    subscript<Value>(parameter: Parameter<Value>) -> Value {
        parameter.read(given[parameter.definition.name])
    }

    /// What in a workspace they name.
    let named: [NamedThing]

    init(checked: JSONObject, named: [NamedThing] = []) {
        given = checked
        self.named = named
    }
}

extension Parameter where Value == String {
    /// Text of a length in bytes of UTF-8.
    static func text(_ name: String, _ summary: String, bytes: ClosedRange<Int>) -> Self {
        Self(name, summary, .text(bytes: bytes)) { $0.stringValue }
    }

    /// A name for something new.
    static func name(_ name: String, _ summary: String) -> Self {
        text(name, summary, bytes: 1...Limits.nameBytesMax)
    }

    /// The id of a thing whose ids start with `prefix`, such as `i_`.
    static func identifier(_ name: String, _ summary: String, prefix: String) -> Self {
        Self(name, summary, .identifier(prefix: prefix)) { $0.stringValue }
    }

    /// One of a few words.
    static func choice(_ name: String, _ summary: String, _ words: [String]) -> Self {
        Self(name, summary, .choice(words)) { $0.stringValue }
    }
}

extension Parameter where Value == Int64 {
    /// An exact integer.
    static func integer(_ name: String, _ summary: String, _ range: ClosedRange<Int64>) -> Self {
        Self(name, summary, .integer(range)) { $0.integerValue }
    }

    /// A length of time in milliseconds, which the command line writes as `30s` or `24h`.
    static func duration(_ name: String, _ summary: String, _ range: ClosedRange<Int64>) -> Self {
        Self(name, summary, .duration(range)) { $0.integerValue }
    }

    /// A number of bytes, which the command line writes as `20GB` or `512MiB`.
    static func byteCount(
        _ name: String, _ summary: String, _ range: ClosedRange<Int64>
    ) -> Self {
        Self(name, summary, .byteCount(range)) { $0.integerValue }
    }

    /// A point in time in milliseconds since 1970.
    static func time(_ name: String, _ summary: String) -> Self {
        Self(name, summary, .time) { $0.integerValue }
    }
}

extension Parameter where Value == Bool {
    /// Yes or no; no when left out.
    static func flag(_ name: String, _ summary: String) -> Self {
        Self(name, summary, .flag) { $0.boolValue }.defaulting(to: false)
    }
}

extension Parameter where Value == ChannelReference {
    /// A channel or a direct conversation.
    static func channel(_ name: String, _ summary: String) -> Self {
        Self(name, summary, .channel) { $0.stringValue.flatMap(ChannelReference.init) }
    }
}

extension Parameter where Value == MemberReference {
    /// A person of the workspace.
    static func member(_ name: String, _ summary: String) -> Self {
        Self(name, summary, .member) { $0.stringValue.flatMap(MemberReference.init) }
    }
}

extension Parameter where Value == WorkspaceReference {
    /// A workspace of this home.
    static func workspace(_ name: String, _ summary: String) -> Self {
        Self(name, summary, .workspace) { $0.stringValue.flatMap(WorkspaceReference.init) }
    }
}

extension Parameter where Value == JSONValue {
    /// Any value.
    static func json(_ name: String, _ summary: String) -> Self {
        Self(name, summary, .json) { $0 }
    }
}

extension Parameter {
    /// A list of what `element` takes; empty when left out.
    static func list<Element>(
        of element: Parameter<Element>, count: ClosedRange<Int>
    ) -> Self where Value == [Element] {
        let read = element.read
        let definition = element.definition
        return Self(
            definition.name, definition.summary, .list(definition.shape, count: count)
        ) { $0.arrayValue?.map(read) }.flag(definition.flag)
    }
}
