import Foundation
import Testing
import WorkspaceModel

@testable import PeerNode

struct `The manual` {
    static let commands = Command.all.map(\.name)

    /// A text without its line ends.
    private func flat(_ text: String) -> String {
        text.split { $0 == " " || $0 == "\n" }.joined(separator: " ")
    }

    private func command(_ name: String) throws -> Command {
        try #require(Command.all.first { $0.name == name })
    }

    @Test(arguments: commands)
    func `explains a command: what, examples, usage, each parameter`(_ name: String) throws {
        let command = try command(name)
        let help = Manual.help(for: command)
        #expect(flat(help).hasPrefix(flat(command.summary)))
        #expect(help.hasSuffix("\n'wsx-node help' lists the flags that every command takes.\n"))
        let lines = help.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count { $0.hasPrefix("usage: wsx-node ") } == 1)
        for parameter in command.parameters where !parameter.isGlobal {
            let isShown = flat(help).contains(flat(parameter.summary))
            #expect(isShown == !parameter.isForPrograms, "\(parameter.name)")
            if let letter = parameter.shortFlag { #expect(help.contains("-\(letter), --")) }
        }
        #expect(!help.contains("\n\n\n"), "no hole where a part is missing")
        #expect(!help.contains("\t") && !help.contains(" \n"))
    }

    /// An example that is longer than that is to be copied whole.
    @Test func `fits into 80 columns, and keeps words and brackets whole`() {
        let examples = Command.all.flatMap { $0.line?.examples ?? [] }.map { "  wsx-node " + $0 }
        let helps =
            Command.all.map(Manual.help(for:)) + Manual.topics.map(\.text)
            + Command.all.compactMap { $0.line.flatMap { Manual.help(under: [$0.words[0]]) } }
        for help in helps + [Manual.fullHelp] {
            for line in help.split(separator: "\n") where !examples.contains(String(line)) {
                // One bracket cannot be broken.
                let isOne = line.split(separator: " ").count <= 2
                #expect(line.count <= 80 || isOne, "\(line)")
            }
        }
        for command in Command.all where command.line != nil {
            for parameter in command.flags {
                let form = Command.flagForm(parameter)
                let help = Manual.help(for: command)
                // A flag may have a short form before it, and no brackets where it has to be given.
                #expect(
                    parameter.isRequired && flat(help).contains(form)
                        || help.contains("[\(form)]") || help.contains("|\(form)]"),
                    "\(command.name)")
            }
        }
    }

    @Test func `says in each help with a time how one is written`() {
        for command in Command.all {
            let times = command.flags.filter { if case .time = $0.shape { true } else { false } }
            let help = flat(Manual.help(for: command))
            #expect(help.contains(" T is 2h or 1h30m (") == !times.isEmpty, "\(command.name)")
            for time in times {
                #expect(help.contains(time.isAhead ? "1h30m (from now)" : "1h30m (ago)"))
            }
        }
    }

    @Test func `has an example of every command, which begins with its words`() {
        for command in Command.all {
            guard let line = command.line else { continue }
            #expect(!line.examples.isEmpty, "\(line.words)")
            let words = line.words.joined(separator: " ")
            for example in line.examples {
                #expect(
                    example == words || example.contains(words + " "), "\(words): \(example)")
            }
        }
    }

    @Test func `puts no brackets around a flag that has to be given`() throws {
        let offer = try command("store.offer").usage
        #expect(offer.contains(" --coins N --price TEXT [--ledger "), "\(offer)")
        #expect(try command("store.validate").usage.contains("ORDER --receipt "))
        #expect(try command("identity.create").usage.contains("identity create --name TEXT ["))
    }

    @Test(arguments: commands)
    func `writes a usage line that names every position and flag once`(_ name: String) throws {
        let command = try command(name)
        guard let line = command.line else {
            #expect(command.usage == command.name)
            return
        }
        let usage = command.usage
        #expect(usage.hasPrefix(line.words.joined(separator: " ")))
        for parameter in command.flags {
            let short = parameter.shortFlag.map { "-\($0)|" } ?? ""
            let form = (parameter.isRequired ? " " : "[") + short + "--\(parameter.flag)"
            #expect(
                usage.components(separatedBy: form + "]").count == 2
                    || (usage + " ").components(separatedBy: form + " ").count == 2, "\(form)")
        }
        #expect(usage.count { $0 == "[" } == usage.count { $0 == "]" })
        // What has to be given comes before what may be left out.
        let positions = line.positions.compactMap { position in
            command.parameters.first { $0.name == position }
        }
        let required = positions.map(\.isRequired)
        #expect(required == required.sorted { $0 && !$1 })
    }

    static let usages: [(String, String)] = [
        ("channel.join", "channel join CHANNEL"), ("config.get", "config get SETTING"),
        ("help", "help [TOPIC...]"), ("invite.revoke", "invite revoke ID"),
        ("message.get", "message show IDS... [--in CHANNEL] [-n|--limit N] [--cursor TEXT]"),
        ("message.delete", "message delete MESSAGE [--undo] [--in CHANNEL]"),
        ("tail", "tail [CHANNEL...] [--all] [--bell]"),
        ("peer.add", "peer add ADDRESS"), ("node.version", "version"),
        ("events.ack", "events.ack"), ("workspace.select", "workspace use WORKSPACE"),
        ("workspace.get", "workspace show [WORKSPACE] [--counted]"),
    ]

    @Test(arguments: usages.indices)
    func `writes usage as people know it`(_ index: Int) throws {
        let (name, usage) = Self.usages[index]
        #expect(try command(name).usage == usage)
    }

    @Test func `shows defaults in the units in which they are typed`() throws {
        let join = Manual.help(for: try command("workspace.join"))
        #expect(join.contains("Default 30s."))
        let invite = flat(Manual.help(for: try command("invite.create")))
        #expect(invite.contains("Default 1d.") && invite.contains("Default member."))
        #expect(!invite.contains("Default []"))
        let send = Manual.help(for: try command("message.send"))
        #expect(!send.contains("Default text"), "a flag without a value has no default to show")
    }

    @Test func `finds the commands that begin with some words`() throws {
        let channel = try #require(Manual.help(under: ["channel"]))
        let lines = channel.split(separator: "\n").filter { $0.contains("channel ") }
        #expect(lines.count >= 4)
        #expect(Manual.help(under: ["channel", "create"])?.contains("channel create NAME") == true)
        #expect(Manual.help(under: ["chan"]) == nil, "words, not beginnings of words")
        #expect(Manual.help(under: ["no", "such"]) == nil)
        let all = try #require(Manual.help(under: []))
        for command in Command.all where command.line != nil {
            #expect(flat(all).contains(command.usage))
        }
    }

    @Test func `lists every group, every command and every common flag`() {
        let help = Manual.fullHelp
        #expect(help.hasPrefix(Manual.shortHelp))
        for group in Command.groups { #expect(help.contains("\n\(group.title)\n")) }
        for flag in Manual.globalFlags {
            #expect(help.contains("  \(flag.form)") && help.contains(flag.summary))
        }
        for line in Manual.shortHelp.split(separator: "\n") { #expect(line.utf8.count <= 100) }
    }

    // MARK: OPERATIONS.md

    @Test func `has one section for each command, in the order of the table`() {
        let headings = Manual.operations.split(separator: "\n").filter { $0.hasPrefix("### ") }
        #expect(headings.map(String.init) == Command.all.map { "### `\($0.name)`" })
        let groups = Manual.operations.split(separator: "\n").filter { $0.hasPrefix("## ") }
        #expect(groups.count == Command.groups.count + 1)
        #expect(groups.last == "## Errors")
    }

    @Test(arguments: commands)
    func `describes a command's parameters, answer and failures`(_ name: String) throws {
        let command = try command(name)
        let text = Manual.description(of: command)
        #expect(text.hasPrefix("### `\(name)`\n\n\(command.summary)\n\n"))
        let bullets = text.split(separator: "\n").filter { $0.hasPrefix("- `") }
        let listed = command.parameters.filter { !$0.isGlobal }
        #expect(bullets.count == listed.count)
        for (bullet, parameter) in zip(bullets, listed) {
            #expect(bullet.hasPrefix("- `\(parameter.name)`"))
            #expect(bullet.hasSuffix("Takes \(parameter.shape.words)."))
            #expect(bullet.contains("(command line only)") == parameter.isLocal)
            let isOptional = bullet.contains("` (optional): ") || bullet.contains("` (default ")
            #expect(isOptional == (!parameter.isRequired && !parameter.isLocal))
        }
        #expect(text.contains("\n- answers: \(command.result)\n"))
        #expect(text.contains("\n- example: `") == command.isMethod)
        #expect(text.contains("\n- fails with: `") == !command.failures.isEmpty)
        #expect(Manual.operations.contains(text))
    }

    @Test func `has the row of every failure`() {
        let rows = Manual.operations.split(separator: "\n").filter { $0.hasPrefix("| `") }
        #expect(rows.count == NodeError.Kind.allCases.count)
        #expect(rows.contains("| `not_found` | -32001 | 5 | 404 | no | E13 |"))
        #expect(rows.contains("| `busy` | -32031 | 1 | 503 | yes |  |"))
    }
}

/// The answer of `rpc.discover`, as far as programs rely on it.
struct `The OpenRPC document` {
    private var methods: [JSONValue] { Manual.openRPC["methods"]?.arrayValue ?? [] }

    @Test func `names its version and the program's`() {
        let document = Manual.openRPC
        #expect(document.objectValue?.members.map(\.key) == ["openrpc", "info", "methods"])
        #expect(document["openrpc"] == "1.2.6")
        #expect(document["info"]?["title"] == "wsx-node")
        #expect(document["info"]?["version"] == .string(Release.version))
        #expect(document["info"]?["x-api"] == Release.api)
    }

    @Test func `gives each method its parts in order`() {
        for method in methods {
            #expect(
                method.objectValue?.members.map(\.key) == [
                    "name", "summary", "paramStructure", "params", "result", "errors",
                    "examples", "x-cli", "x-effect", "x-scope", "x-while-locked",
                ])
            #expect(method["paramStructure"] == "by-name")
            #expect(method["result"]?["schema"]?["type"] == "object")
        }
    }

    @Test func `requires exactly the parameters without which a call is refused`() throws {
        for method in methods {
            let command = try Command.method(try #require(method["name"]?.stringValue))
            for (shown, parameter) in zip(
                try #require(method["params"]?.arrayValue), command.remoteParameters)
            {
                #expect(shown["name"]?.stringValue == parameter.name)
                #expect(shown["required"]?.boolValue == parameter.isRequired)
                var given = command.example.objectValue ?? [:]
                given[parameter.name] = nil
                let isRefused = (try? command.check(given)) == nil
                #expect(isRefused == parameter.isRequired, "\(command.name) \(parameter.name)")
            }
        }
    }

    /// Judges a value by a schema of the few words that ours use.
    private func fits(_ value: JSONValue, _ schema: JSONValue) -> Bool {
        switch schema["type"]?.stringValue {
        case nil: return true
        case "boolean": return value.boolValue != nil
        case "integer":
            guard let number = value.integerValue, let low = schema["minimum"]?.integerValue,
                let high = schema["maximum"]?.integerValue
            else { return false }
            return low <= number && number <= high
        case "array":
            guard let list = value.arrayValue, let items = schema["items"],
                let low = schema["minItems"]?.integerValue,
                let high = schema["maxItems"]?.integerValue
            else { return false }
            return (low...high).contains(Int64(list.count)) && list.allSatisfy { fits($0, items) }
        case "string":
            guard let text = value.stringValue else { return false }
            if let words = schema["enum"]?.arrayValue { return words.contains(value) }
            if let pattern = schema["pattern"]?.stringValue {
                return text.utf8.starts(with: pattern.utf8.dropFirst())
            }
            let low = schema["minLength"]?.integerValue ?? 0
            return (low...(schema["maxLength"]?.integerValue ?? .max))
                .contains(Int64(text.utf8.count))
        default: return false
        }
    }

    @Test func `has schemas of known words that fit every example`() throws {
        let known: Set<String> = [
            "type", "minLength", "maxLength", "pattern", "minimum", "maximum", "enum", "items",
            "minItems", "maxItems", "oneOf",
        ]
        for method in methods {
            let example = try #require(method["examples"]?[0]?["params"])
            for parameter in method["params"]?.arrayValue ?? [] {
                let schema = try #require(parameter["schema"])
                let words = schema.objectValue?.members.map(\.key) ?? []
                #expect(words.allSatisfy(known.contains))
                let name = try #require(parameter["name"]?.stringValue)
                if let value = example[name] { #expect(fits(value, schema), "\(name)") }
            }
        }
    }

    /// What a schema says about numbers and lists is what the check does.
    @Test func `promises bounds that the check keeps to the unit`() throws {
        for command in Command.methods {
            for parameter in command.remoteParameters {
                let schema = parameter.shape.schema
                guard let low = schema["minimum"]?.integerValue,
                    let high = schema["maximum"]?.integerValue
                else { continue }
                for (number, isTaken) in [
                    (low, true), (high, true), (low - 1, false), (high + 1, false),
                ] {
                    let mismatch = parameter.shape.mismatch(.integer(number))
                    #expect((mismatch == nil) == isTaken, "\(command.name) \(parameter.name)")
                    #expect(fits(.integer(number), schema) == isTaken)
                }
            }
        }
    }

    @Test func `tells each failure's number, word and whether to try again`() throws {
        for method in methods {
            let command = try Command.method(try #require(method["name"]?.stringValue))
            let errors = try #require(method["errors"]?.arrayValue)
            #expect(errors.count == command.failures.count)
            for (error, kind) in zip(errors, command.failures) {
                #expect(error["code"] == .integer(Int64(kind.code)))
                #expect(error["data"]?["kind"] == .string(kind.rawValue))
                #expect(error["data"]?["retry"] == .bool(kind.isRetryable))
            }
        }
    }
}
