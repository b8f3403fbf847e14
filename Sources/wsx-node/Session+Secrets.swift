import PeerNode
import WorkspaceModel

/// Passphrases and passcodes: from files, file descriptors, commands or the terminal, and never
/// from command line or environment, which others can read.
extension SessionPart {
    /// The maximum length of a passphrase in bytes.
    private static var secretBytesMax: Int { 1_024 }

    /// Whether a person can be asked.
    var mayAsk: Bool {
        io.isInputTerminal && io.isOutputTerminal && !globals.noInput && !globals.json
    }

    /// Refuses a secret on the command line.
    func refuseVisibleSecrets(_ command: Command) throws(NodeError) {
        for parameter in command.parameters
        where parameter.isSecret || ["passphrase", "phrase"].contains(parameter.name) {
            guard let word = scan.values[parameter.name]?.stringValue, word != "-" else { continue }
            let hasFile = command.parameters.contains { $0.name == parameter.name + "_file" }
            throw .usage(
                "'--\(parameter.flag)' takes only '-': others can read the command line",
                hint: hasFile
                    ? "use --\(parameter.flag)-file FILE, or '-' for standard input"
                    : "use '-', and give the words on standard input")
        }
    }

    /// The secret from a file, a file descriptor, a command, or `-`; `nil` if none was given. Of a
    /// file it is the first line.
    func secret(_ name: String) throws(NodeError) -> String? {
        if let command = scan.values[name + "_command"]?.stringValue {
            guard let bytes = io.output(of: command, limit: Self.secretBytesMax + 2) else {
                throw .badConfiguration("the command for the secret failed")
            }
            return try line(of: bytes, "the command")
        }
        var path = scan.values[name + "_file"]?.stringValue
        if let number = scan.values[name + "_fd"]?.integerValue { path = "/dev/fd/\(number)" }
        guard let path else {
            guard scan.values[name]?.stringValue == "-", scan.command?.hasSecret(name) == true
            else { return nil }
            return try line(of: io.readInput(limit: Self.secretBytesMax + 2), "standard input")
        }
        guard let bytes = try io.readFile(path) else {
            throw NodeError(
                .notFound, "there is no file \(NodeError.quotedPath(path))", hint: nil,
                reason: "\(name).missing",
                fields: [.init(name: name + "_file", reason: "not_found")])
        }
        return try line(of: bytes, NodeError.quotedPath(path))
    }

    private func line(of bytes: [UInt8], _ source: String) throws(NodeError) -> String {
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
        guard !line.isEmpty, line.count <= Self.secretBytesMax,
            let text = String(validating: line, as: UTF8.self)
        else { throw .usage("\(source) gave no usable passphrase") }
        return text
    }

    /// An existing secret: as given, or asked for.
    ///
    /// - Parameter refusal: why nobody is to be asked, by the state of the session.
    private func known(
        _ name: String, _ question: String, unless refusal: ((JSONValue) -> NodeError?)? = nil
    ) throws(NodeError) -> String {
        if let given = try secret(name) { return given }
        guard mayAsk else { throw missing(name) }
        if let refusal, let error = refusal(try stateOfSession()) { throw error }
        guard let answer = io.askSecret(question), !answer.isEmpty else { throw missing(name) }
        return answer
    }

    /// A new secret: as given, or asked for twice. The rule that it has to satisfy is told before,
    /// and checked before the second time.
    private func fresh(
        _ name: String, _ question: String, _ kind: NewSecret,
        unless refusal: ((JSONValue) -> NodeError?)? = nil
    ) throws(NodeError) -> String {
        if let given = try secret(name) { return given }
        guard mayAsk else { throw missing(name) }
        if let refusal, let error = refusal(try stateOfSession()) { throw error }
        io.tell("\(kind.rule.prefix(1).uppercased())\(kind.rule.dropFirst()).\n")
        guard let first = io.askSecret(question), !first.isEmpty else { throw missing(name) }
        if let problem = kind.problem(of: first) {
            throw NodeError(
                .badRequest, kind.rule, hint: "nothing was changed", reason: kind.reason,
                fields: [.init(name: name, reason: problem)])
        }
        guard io.askSecret("Again: ") == first else {
            throw .usage("the two do not match", hint: "nothing was changed")
        }
        return first
    }

    private func missing(_ name: String) -> NodeError {
        // An empty answer at the terminal.
        let why =
            globals.noInput
            ? "--no-input forbids asking for the secret"
            : globals.json
                ? "--json asks for no secret"
                : mayAsk
                    ? "no passphrase or passcode was given"
                    : "this is not a terminal: nobody can be asked for the secret"
        return NodeError(
            .badRequest, why,
            hint: "use --\(name)-file FILE, --\(name)-fd N or --\(name)-command COMMAND",
            reason: "usage", fields: [.init(name: name, reason: ParameterMismatch.missing.rawValue)]
        )
    }

    /// The passphrase of a new identity, `nil` to store its keys unencrypted.
    func newPassphrase() throws(NodeError) -> String? {
        guard scan.values["ask_passphrase"]?.boolValue == true else {
            return try secret("passphrase")
        }
        return try fresh("passphrase", "New passphrase: ", .passphrase)
    }

    // MARK: Commands

    /// The command with its secrets, wherever they came from.
    private func with(_ secrets: [(name: String, value: String?)]) -> Self {
        var session = self
        for secret in secrets {
            session.scan.values[secret.name] = secret.value.map { .string($0) }
        }
        return session
    }

    func runWithSecrets(_ command: Command) throws(NodeError) -> Int32 {
        let session: Self
        switch command.flow {
        case .unlock: return try unlock(command)
        case .changePassphrase: session = try withPassphrases(command)
        case .setPasscode:
            session = with([
                ("code", try fresh("code", "New passcode: ", .passcode, unless: Self.noPlace))
            ])
        case .changePasscode:
            session = with([
                ("current", try known("current", "Current passcode: ", unless: Self.nonePresent)),
                ("new", try fresh("new", "New passcode: ", .passcode, unless: Self.nonePresent)),
            ])
        default:
            session = with([("code", try known("code", "Passcode: ", unless: Self.nonePresent))])
        }
        return try session.callAndPrint(command, try session.parameters(for: command))
    }

    /// Why no passcode can be set; `nil` if one can.
    private static func noPlace(_ state: JSONValue) -> NodeError? {
        if state["state"] == "none" { return .noIdentity }
        if state["passcode"] == true { return .passcodeExists }
        return state["passphrase"] == true ? nil : .passcodeNeedsPassphrase
    }

    /// Why there is no passcode to change or to remove; `nil` if there is one.
    private static func nonePresent(_ state: JSONValue) -> NodeError? {
        state["passcode"] == true ? nil : state["state"] == "none" ? .noIdentity : .noPasscode
    }

    /// The passphrases of `passphrase change`. Nobody is asked for any where the node refuses the
    /// change in any case, and says why.
    private func withPassphrases(_ command: Command) throws(NodeError) -> Self {
        let state = try stateOfSession()
        let removes = scan.values["remove"]?.boolValue == true
        let isSealed = state["passphrase"] == true
        guard state["state"] == "open", isSealed || !removes else {
            return with([("current", try secret("current")), ("new", try secret("new"))])
        }
        try Asking(self).ask(before: command, try parameters(for: command))
        return with([
            (
                "current",
                isSealed
                    ? try known("current", "Current passphrase: ") : try secret("current")
            ),
            (
                "new",
                removes ? try secret("new") : try fresh("new", "New passphrase: ", .passphrase)
            ),
        ])
    }

    private func stateOfSession() throws(NodeError) -> JSONValue {
        var client = try client()
        return try client.call("session.status", [:])
    }

    private func unlock(_ command: Command) throws(NodeError) -> Int32 {
        // Also read where it is not needed: a wrong path is a mistake all the same.
        let given = try secret("passphrase")
        var client = try client()
        let state = try client.call("session.status", [:])
        var result = state
        if state["locked"] == true {
            let asksCode = state["state"] == "passcode"
            let answer: String
            if let given {
                answer = given
            } else {
                answer = try known("passphrase", asksCode ? "Passcode: " : "Passphrase: ")
            }
            result = try open(&client, by: answer, asksCode: asksCode)
        } else if state["state"] == "none" {
            throw .noIdentity
        }
        show(rendering.text(result, of: command.name))
        return 0
    }

    /// Four digits are a passcode: passphrases are longer.
    private func open(
        _ client: inout ControlClient, by secret: String, asksCode: Bool
    ) throws(NodeError) -> JSONValue {
        asksCode && secret.utf8.count <= 4
            ? try client.call("lock.unlock", ["code": .string(secret)])
            : try client.call("session.unlock", ["passphrase": .string(secret)])
    }

    /// Unlocks a locked home at the start of `up` or `join`, if there is a
    /// secret or a person to ask.
    ///
    /// - Returns: whether it stays locked.
    func unlockAtStart(_ client: inout ControlClient) throws(NodeError) -> Bool {
        let state = try client.call("session.status", [:])
        let given = state["state"] == "none" ? nil : try secret("passphrase")
        guard state["locked"] == true else {
            guard given == nil || state["passphrase"] == true else {
                throw NodeError(
                    .conflict, "this home has no passphrase",
                    hint: "wsx-node passphrase change", reason: "session.no_passphrase")
            }
            return false
        }
        let asksCode = state["state"] == "passcode"
        var answer = given
        if answer == nil, mayAsk {
            answer = io.askSecret(asksCode ? "Passcode: " : "Passphrase: ")
        }
        guard let answer, !answer.isEmpty else { return true }
        _ = try open(&client, by: answer, asksCode: asksCode)
        return false
    }

    /// `session logout`: after wiping a whole home, the daemon stops.
    func logOut(_ command: Command) throws(NodeError) -> Int32 {
        let paths = try paths()
        var client = try client()
        let parameters = try parameters(for: command)
        try Asking(self).ask(before: command, parameters)
        let result = try client.call(command.name, parameters)
        if result["wiped"] == true {
            try? client.waitForEnd()
            // While the daemon runs, it still has the keys, and nothing has gone wrong.
            guard io.waitUntilGone(paths, milliseconds: ControlClient.patience) else {
                throw Starting.stillEnding
            }
            let home = HomeFolder(data: paths.data, socket: paths.socket)
            if home.holdsKeys {
                throw NodeError(
                    .storeFailed, "part of the home could not be removed",
                    hint: "read \(NodeError.quotedPath(home.log))", reason: "wipe.failed")
            }
        }
        show(rendering.text(result, of: command.name))
        return 0
    }
}

/// What a new secret is for.
private enum NewSecret {
    case passphrase, passcode

    /// What it has to satisfy.
    var rule: String {
        switch self {
        case .passphrase: PassphraseRule.rule
        case .passcode: PasscodeRule.rule
        }
    }

    /// The reason of the failure if it does not, as of the node's.
    var reason: String {
        switch self {
        case .passphrase: "bad_passphrase"
        case .passcode: "passcode.form"
        }
    }

    func problem(of text: String) -> String? {
        switch self {
        case .passphrase: PassphraseRule.problem(of: text)
        case .passcode: PasscodeRule.problem(of: text)
        }
    }
}

extension Command {
    fileprivate func hasSecret(_ name: String) -> Bool {
        parameters.contains { $0.name == name && $0.isSecret }
    }
}
