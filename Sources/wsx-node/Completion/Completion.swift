import PeerNode
import WorkspaceModel

/// The possible words at the cursor, from the table of commands.
struct Completion {
    /// A word with its description.
    struct Candidate: Equatable {
        let word: String
        var summary = ""
    }

    /// Names that only the daemon knows.
    enum Names: CaseIterable {
        case channels, openChannels, archivedChannels, members, workspaces, invites, requests,
            devices, peers
    }

    private let commands: [Command]
    private let names: (Names) -> [Candidate]
    /// The command's words so far, and whether more may follow.
    private var words: [String] = []
    private var takesWords = true
    private var takesFlags = true
    /// Words without a flag, after those of the command.
    private var positional: [String] = []
    /// The flag whose value the word at the cursor is.
    private var awaited: Awaited?
    /// Flags that select the node and the workspace.
    private(set) var globals: [String: String] = [:]

    private enum Awaited {
        case own(ParameterDefinition)
        case global(String)
    }

    /// - Parameters:
    ///   - given: the words before the one at the cursor, without the program's name.
    ///   - names: called only for what is possible at the cursor.
    init(
        _ given: [String], _ commands: [Command], names: @escaping (Names) -> [Candidate]
    ) {
        self.commands = commands
        self.names = names
        for word in given { take(word) }
    }

    // MARK: The words before

    private var command: Command? { commands.first { $0.line?.words == words } }

    private mutating func take(_ word: String) {
        if let awaited {
            if case .global(let name) = awaited { globals[name] = word }
            self.awaited = nil
        } else if takesFlags, word == "--" {
            (takesFlags, takesWords) = (false, false)
        } else if takesFlags, ArgumentScanner.isFlag(word) {
            takeFlag(word)
        } else if takesWords, commands.contains(where: { begins($0, words + [word]) }) {
            words.append(word)
        } else {
            takesWords = false
            positional.append(word)
        }
    }

    private func begins(_ command: Command, _ words: [String]) -> Bool {
        command.line?.words.starts(with: words) == true
    }

    private mutating func takeFlag(_ word: String) {
        let (name, value) = ArgumentScanner.parts(word, of: command)
        if let own = ownFlag(name) {
            takesWords = false
            if !own.takesNoValue, value == nil { awaited = .own(own) }
        } else if let name = Self.globalFlag(name) {
            if let value { globals[name] = value } else { awaited = .global(name) }
        } else if !ArgumentScanner.isSwitch(name) {
            takesWords = false
        }
    }

    private func ownFlag(_ name: String) -> ParameterDefinition? {
        command?.flags.first { parameter in
            name == "--" + parameter.flag || parameter.shortFlag.map { name == "-\($0)" } == true
        }
    }

    /// The long name of a flag that every command takes with a value.
    private static func globalFlag(_ name: String) -> String? {
        switch name {
        case "-w", "--workspace": "--workspace"
        case "--home", "--socket", "--color", "--timeout": name
        default: nil
        }
    }

    // MARK: The word at the cursor

    /// The candidates that begin with `current`, without duplicates.
    func candidates(for current: String) -> [Candidate] {
        var seen: Set<String> = []
        return all(current).filter { candidate in
            candidate.word.hasPrefix(current) && seen.insert(candidate.word).inserted
        }
    }

    private func all(_ current: String) -> [Candidate] {
        switch awaited {
        case .own(let parameter): return values(of: parameter)
        case .global(let name): return globalValues(of: name)
        case nil: break
        }
        if takesFlags, current.utf8.first == UInt8(ascii: "-") {
            let (name, value) = ArgumentScanner.parts(current, of: command)
            guard value != nil else { return flags }
            let isSet = current.utf8.dropFirst(name.utf8.count).first == UInt8(ascii: "=")
            return attached(isSet ? name + "=" : name, to: name)
        }
        return (takesWords && positional.isEmpty ? nextWords : []) + positionValues
    }

    /// The values of a flag, each prefixed with the typed part.
    private func attached(_ head: String, to name: String) -> [Candidate] {
        let found: [Candidate]
        if let own = ownFlag(name) {
            found = own.takesNoValue ? [] : values(of: own)
        } else {
            found = Self.globalFlag(name).map(globalValues) ?? []
        }
        return found.map { Candidate(word: head + $0.word, summary: $0.summary) }
    }

    private var flags: [Candidate] {
        let own = (command?.flags ?? []).map {
            Candidate(word: "--" + $0.flag, summary: $0.summary)
        }
        let global = Manual.globalFlags.compactMap { flag -> Candidate? in
            let words = flag.form.split { $0 == " " || $0 == "," }
            return words.first { $0.utf8.starts(with: "--".utf8) }
                .map { Candidate(word: String($0), summary: flag.summary) }
        }
        return own + global
    }

    private var nextWords: [Candidate] { Self.nextWords(after: words, commands) }

    /// The words that can follow `words`, in the order of the table.
    private static func nextWords(after words: [String], _ commands: [Command]) -> [Candidate] {
        var found: [Candidate] = []
        for command in commands {
            guard let line = command.line?.words, line.starts(with: words),
                line.count > words.count, !found.contains(where: { $0.word == line[words.count] })
            else { continue }
            let longer = words + [line[words.count]]
            let whole = commands.first { $0.line?.words == longer }
            let below = commands.compactMap { $0.line?.words }
                .filter { $0.starts(with: longer) && $0.count > longer.count }
                .map { $0[longer.count] }
            found.append(
                Candidate(
                    word: line[words.count],
                    summary: whole?.summary ?? below.joined(separator: ", ")))
        }
        return found
    }

    private var positionValues: [Candidate] { positionParameter.map(values) ?? [] }

    /// The positional parameter at the cursor.
    private var positionParameter: ParameterDefinition? {
        guard let command, let line = command.line, !line.positions.isEmpty else { return nil }
        // The last may be a list, which takes all further words.
        let place = min(positional.count, line.positions.count - 1)
        guard let parameter = command.parameters.first(where: { $0.name == line.positions[place] })
        else { return nil }
        if positional.count > place {
            guard case .list = parameter.shape else { return nil }
        }
        return parameter
    }

    // MARK: Values

    private func globalValues(of name: String) -> [Candidate] {
        switch name {
        case "--workspace": names(.workspaces)
        case "--color": ["auto", "always", "never"].map { Candidate(word: $0) }
        default: []
        }
    }

    private func values(of parameter: ParameterDefinition) -> [Candidate] {
        var shape = parameter.shape
        if case .list(let element, _) = shape { shape = element }
        switch shape {
        case .choice(let words):
            return words.map { Candidate(word: ParameterShape.spoken($0)) }
        case .channel: return channels
        case .member: return names(.members)
        case .workspace: return names(.workspaces)
        case .identifier("i_"): return names(.invites)
        case .identifier("r_"): return names(.requests)
        case .identifier("d_"): return names(.devices)
        case .text: return texts(parameter)
        default: return []
        }
    }

    /// The channels that the command accepts: archived ones accept no messages.
    private var channels: [Candidate] {
        switch command?.line?.channels ?? .all {
        case .archived: names(.archivedChannels)
        case .open: names(.openChannels) + names(.members)
        case .all: names(.channels) + names(.members)
        }
    }

    /// Whether a file name is possible at the cursor, which the shell completes.
    func takesPath(_ current: String) -> Bool {
        switch awaited {
        case .own(let parameter): return Self.isPath(parameter)
        case .global(let name): return Self.pathFlags.contains(name)
        case nil: break
        }
        if takesFlags, current.utf8.first == UInt8(ascii: "-") {
            let (name, value) = ArgumentScanner.parts(current, of: command)
            guard value != nil else { return false }
            return Self.pathFlags.contains(name) || ownFlag(name).map(Self.isPath) == true
        }
        return positionParameter.map(Self.isPath) == true
    }

    private static let pathFlags: Set<String> = ["--home", "--socket"]

    private static func isPath(_ parameter: ParameterDefinition) -> Bool {
        ["path", "settings", "jwks"].contains(parameter.name) || parameter.name.hasSuffix("_file")
            || parameter.pictureTarget != nil
    }

    /// Whether a word selects the setting whose value is another one.
    private var takesSettings: Bool {
        command?.parameters.contains { $0.name == "setting" && $0.isLocal } == true
    }

    /// The values of the setting typed before.
    private var settingValues: [Candidate] {
        let setting = positional.first
        guard let parameter = command?.parameters.first(where: { $0.name == setting }),
            case .choice(let words) = parameter.shape
        else { return [] }
        return words.map { Candidate(word: $0) }
    }

    /// Texts with known values.
    private func texts(_ parameter: ParameterDefinition) -> [Candidate] {
        switch (command?.flow ?? .call, parameter.name) {
        case (.help, "topic"):
            let topics = Manual.topics.map { Candidate(word: $0.word) }
            return Self.nextWords(after: positional, commands) + (positional.isEmpty ? topics : [])
        case (.rpc, "method") where positional.isEmpty, (.rpc, "describe"):
            return Command.methods.map { Candidate(word: $0.name, summary: $0.summary) }
        case (.getSetting, "setting"), (.changeSetting, "setting"):
            return ConfigFile.known.map { Candidate(word: $0.name) }
        case (.events, "types"): return Manual.eventTypes.map { Candidate(word: $0) }
        case (_, "value") where takesSettings: return settingValues
        case (_, "peer"): return names(.peers)
        case (_, "device"): return names(.devices)
        case (_, "subject"): return names(.channels) + names(.members)
        default: return []
        }
    }
}
