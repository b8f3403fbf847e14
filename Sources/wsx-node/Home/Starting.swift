import PeerNode
import WorkspaceModel

/// Starting and stopping the daemon, and setting up a home.
struct Starting: SessionPart {
    var scan: ArgumentScan
    let environment: [String: String]
    let io: any ProgramIO

    /// Starts a daemon if none answers.
    ///
    /// - Returns: whether it was started.
    @discardableResult
    func startIfNeeded() throws(NodeError) -> Bool {
        let paths = try paths()
        if try isAnswering(paths) { return false }
        var options: [String] = []
        for name in ["listen", "announce"] {
            if let value = scan.values[name]?.stringValue { options += ["--" + name, value] }
        }
        try io.startDaemon(paths, options: options)
        return true
    }

    /// Whether a daemon answers. One that is stopping, or was just killed, may still accept a
    /// connection: then this waits for it.
    private func isAnswering(_ paths: Paths) throws(NodeError) -> Bool {
        do throws(NodeError) {
            var client = try client()
            _ = try client.call("node.version", [:])
            return true
        } catch {
            if error.kind == .notRunning { return false }
            guard error.kind == .stopping else { throw error }
        }
        let patience = globals.timeoutMilliseconds ?? ControlClient.patience
        guard io.waitUntilGone(paths, milliseconds: patience) else { throw Self.stillEnding }
        return false
    }

    func stop() throws(NodeError) -> Int32 {
        let paths = try paths()
        let patience = globals.timeoutMilliseconds ?? ControlClient.patience
        var wasRunning = true
        do {
            var client = try client()
            _ = try client.call("node.stop", [:])
            try client.waitForEnd(within: patience)
        } catch {
            // It may exit before its answer is read: the socket tells whether it is gone.
            guard error.kind == .notRunning || error.kind == .stopping else { throw error }
            wasRunning = error.kind == .stopping
        }
        guard !wasRunning || io.waitUntilGone(paths, milliseconds: patience) else {
            throw Self.stillEnding
        }
        if globals.json { io.print("{\"stopped\":\(wasRunning)}\n") }
        return 0
    }

    /// Writing everything to disk may take longer than the wait; that is no error.
    static let stillEnding = NodeError(
        .timeout, "the daemon is still shutting down", hint: "wsx-node status",
        reason: "node.stopping")

    // MARK: up

    func up() throws(NodeError) -> Int32 {
        guard let command = scan.command else { return 2 }
        do { try command.check(scan.values) } catch { throw usage(error, command) }
        let name = try newName(isNeeded: workspace != nil)
        try checkNames(person: name)
        let wasStarted = try startIfNeeded()
        var client = try client()
        do throws(NodeError) {
            if try unlockAtStart(&client) { return try tellLocked(wasStarted, &client) }
        } catch {
            // After a wrong passphrase the user does not want a locked daemon.
            if wasStarted { endStarted(&client) }
            throw error
        }
        var identity = try identity(&client, orNew: name, isNeeded: workspace != nil)
        let (selected, how) = try upWorkspace(&client)
        let status = try client.call("node.status", [:])
        if let fresh = status["identity"], !fresh.isNull { identity = fresh }
        if globals.json {
            try Recovering(self).printWithPhrase(status, of: "node.status", identity, &client)
            return 0
        }
        tellIdentity(identity, in: selected)
        try tellEmail(&client)
        if let selected { try tellWorkspace(selected, how, &client) }
        let waiting = Self.requestsThatWait(status)
        for request in waiting { say("request", sanitised(request), state: "wait") }
        say("daemon", wasStarted ? "started, socket ready" : "already running")
        let network = try client.call("net.status", [:])
        tellNetwork(network)
        if !wasStarted { tellStartFlags(network) }
        try Recovering(self).tellPhrase(identity, &client)
        let channel = selected.flatMap {
            $0["state"] == "member" ? defaultChannel(of: $0, &client) : nil
        }
        say(
            next: selected == nil && !waiting.isEmpty
                ? Self.waitingStep : nextStep(identity, selected, channel: channel))
        return 0
    }

    /// The hint while somebody else decides.
    static let waitingStep = "wait until someone lets you in, or wsx-node invite decline LINK"

    /// Pending joins, from `status`.
    private static func requestsThatWait(_ status: JSONValue) -> [String] {
        (status["warnings"]?.arrayValue ?? []).filter { WarningKind(of: $0) == .joinPending }
            .compactMap { $0["message"]?.stringValue }
    }

    /// Warns that a running daemon keeps its earlier flags.
    private func tellStartFlags(_ network: JSONValue) {
        let announces = network["announce"] == true ? "on" : "off"
        let now = ["listen": network["listen"]?.arrayValue ?? [], "announce": [.string(announces)]]
        for flag in ["listen", "announce"] {
            guard let asked = scan.values[flag]?.stringValue,
                now[flag]?.contains(.string(asked)) != true
            else { continue }
            say(
                "daemon", "already running; '--\(flag)' takes effect at the next start:",
                state: "warn")
            let value = NodeError.shellWord(sanitised(asked))
            say(fix: "wsx-node down, then wsx-node up --\(flag) \(value)")
        }
    }

    /// Stops a daemon that this call started, after the call has failed.
    private func endStarted(_ client: inout ControlClient) {
        guard let paths = try? paths(), (try? client.call("node.stop", [:])) != nil else { return }
        try? client.waitForEnd()
        _ = io.waitUntilGone(paths, milliseconds: ControlClient.patience)
    }

    /// The end of `up` for a home that stays locked.
    private func tellLocked(
        _ wasStarted: Bool, _ client: inout ControlClient
    ) throws(NodeError) -> Int32 {
        let status = try client.call("node.status", [:])
        if globals.json {
            io.print(status.text + "\n")
            return 0
        }
        say("identity", rendering.shortID(status["identity"]?["id"]) + "  locked", state: "warn")
        say("daemon", wasStarted ? "started, socket ready" : "already running")
        say(next: "wsx-node session unlock")
        return 0
    }

    /// The named workspace, created if missing; without a name the selected one, if any.
    ///
    /// - Returns: the workspace, and how it was found if it was named.
    private func upWorkspace(
        _ client: inout ControlClient
    ) throws(NodeError) -> (workspace: JSONValue?, how: String?) {
        guard let name = workspace else { return (try selectedWorkspace(&client), nil) }
        do throws(NodeError) {
            return (try client.call("workspace.select", ["workspace": .string(name)]), "found")
        } catch {
            guard error.kind == .notFound else { throw error }
            try askBeforeAnother(name, &client)
            do throws(NodeError) {
                return (try client.call("workspace.create", ["name": .string(name)]), "created")
            } catch { throw Self.renamed(error, "name", to: "workspace") }
        }
    }

    /// The same failure, about a parameter that is given here under another name.
    private static func renamed(
        _ error: NodeError, _ given: String, to name: String
    ) -> NodeError {
        guard error.fields.contains(where: { $0.name == given }) else { return error }
        return NodeError(
            error.kind, error.message.replacing("'\(given)'") { _, _ in "'\(name)'" },
            hint: error.hint, reason: error.reason,
            fields: error.fields.map {
                .init(name: $0.name == given ? name : $0.name, reason: $0.reason)
            }, details: error.details)
    }

    /// Asks before creating another workspace: at a terminal the name may be mistyped.
    private func askBeforeAnother(
        _ name: String, _ client: inout ControlClient
    ) throws(NodeError) {
        let consent = consent(isSevere: false)
        guard io.isOutputTerminal, consent != .given else { return }
        let page = try client.call("workspace.list", ["limit": 100])
        let others = (page["items"]?.arrayValue ?? []).filter { $0["state"] == "member" }
            .map { rendering.fitting(sanitised($0["name"]?.stringValue ?? "")) }
        // A user waiting to be admitted has probably named that workspace.
        var waiting: String?
        if others.isEmpty {
            waiting = Self.requestsThatWait(try client.call("node.status", [:])).first
        }
        guard !others.isEmpty || waiting != nil else { return }
        guard consent == .asked else { throw unconfirmed }
        let place =
            waiting.map { $0.prefix(1).uppercased() + sanitised(String($0.dropFirst())) }
            ?? "You are in \(others.prefix(5).joined(separator: ", "))"
        let answer = io.ask(
            "\(place). Create a new workspace \(rendering.fitting(sanitised(name)))? [y/N] ")
        guard ["y", "yes"].contains(answer?.lowercased()) else {
            throw .usage("nothing was created", hint: "add --yes to skip the question")
        }
    }

    private func selectedWorkspace(_ client: inout ControlClient) throws(NodeError) -> JSONValue? {
        do throws(NodeError) { return try client.call("workspace.get", [:]) } catch {
            guard error.kind == .notFound else { throw error }
            return nil
        }
    }

    private func nextStep(
        _ identity: JSONValue?, _ workspace: JSONValue?, channel: String?
    ) -> String {
        guard identity != nil else { return "wsx-node up --name NAME --workspace WORKSPACE" }
        guard let workspace else {
            return "wsx-node up --workspace NAME   ·   wsx-node join LINK"
        }
        if workspace["state"] == "device_revoked" { return HomeShowing.stepAfterEnd(of: workspace) }
        if workspace["state"] == "deleted" {
            return "wsx-node up --workspace NAME   ·   wsx-node join LINK"
        }
        // A workspace that the user is no longer in.
        guard workspace["role"]?.isNull != true else {
            return "wsx-node join LINK, with an invite from a member"
        }
        // Guests are not in that channel.
        if workspace["role"] == "guest" { return "wsx-node channel list   ·   wsx-node tail" }
        return workspace["members"]?.integerValue ?? 1 > 1
            ? "wsx-node send \(channel ?? "general") 'hi'   ·   wsx-node tail"
            : "wsx-node invite create"
    }

    // MARK: join

    /// Asks for the link if it is missing.
    func join(_ command: Command) throws(NodeError) -> Int32 {
        var session = self
        if scan.values["link"] == nil, mayAsk, let answer = io.ask("Invite link: "),
            !answer.isEmpty
        {
            session.scan.values["link"] = .string(answer)
        }
        return try session.joinByLink(command)
    }

    private func joinByLink(_ command: Command) throws(NodeError) -> Int32 {
        let parameters = try parameters(for: command)
        do throws(InviteLink.Problem) {
            _ = try InviteLink(parameters["link"]?.stringValue ?? "")
        } catch { throw .inviteLink(error) }
        let name = try newName(isNeeded: true)
        try checkNames(person: name)
        let wasStarted = try startIfNeeded()
        var client = try client()
        let staysLocked: Bool
        do throws(NodeError) { staysLocked = try unlockAtStart(&client) } catch {
            if wasStarted { endStarted(&client) }
            throw error
        }
        if staysLocked {
            throw NodeError(
                .locked, "this home is locked", hint: "wsx-node session unlock",
                reason: "session.locked")
        }
        var given = parameters
        given["name"] = nil
        let identity = try identity(&client, orNew: name, isNeeded: true)
        let former = try selectedWorkspace(&client)
        let workspace: JSONValue
        do throws(NodeError) {
            workspace = try FileMoving(self).call(
                "workspace.join", given, lookingFor: "someone in the workspace", &client)
        } catch {
            // It continues in the background, with an identity that nobody has seen yet.
            if error.kind == .pending, !globals.json, !globals.plain {
                tellIdentity((try? client.call("identity.show", [:])) ?? identity, in: nil)
                try Recovering(self).tellPhrase(identity, &client)
            }
            throw error
        }
        if globals.json || globals.plain {
            // Nobody expects words between plain columns: they stay until somebody asks for them.
            try Recovering(self).printWithPhrase(
                workspace, of: "workspace.join", globals.json ? identity : nil, &client)
            return 0
        }
        tellIdentity((try? client.call("identity.show", [:])) ?? identity, in: workspace)
        if former == nil { try tellFound(&client) }
        let role = sanitised(workspace["role"]?.stringValue ?? "member")
        say("joined", sanitised(workspace["name"]?.stringValue ?? "") + "  role " + role)
        if let former, former["id"] != workspace["id"] {
            let here = rendering.fitting(rendering.shown(workspace["name"]))
            let command = rendering.hints.text(
                "wsx-node workspace use \(HomeShowing.word(for: former))")
            say(
                "selected",
                "\(here) is now selected; \(rendering.fitting(rendering.shown(former["name"]))) "
                    + "stays available: \(command)")
        }
        try Recovering(self).tellPhrase(identity, &client)
        // Guests are in no public channel.
        let channel = role == "guest" ? nil : defaultChannel(of: workspace, &client)
        say(
            next: channel.map { "wsx-node send \($0) 'hi'   ·   wsx-node tail" }
                ?? "wsx-node channel list   ·   wsx-node tail")
        tellOtherDevices(workspace, &client)
        return 0
    }

    /// The default channel, as a shell word.
    private func defaultChannel(of workspace: JSONValue, _ client: inout ControlClient) -> String? {
        let given: JSONObject = ["workspace": workspace["id"] ?? .null]
        let channels = (try? client.call("channel.list", given))?["items"]?.arrayValue ?? []
        return channels.first { $0["default"] == true }?["name"]?.stringValue
            .map { NodeError.shellWord(sanitised($0)) }
    }

    private func tellFound(_ client: inout ControlClient) throws(NodeError) {
        let peers = try client.call("peer.list", [:])
        let connected = peers["items"]?.arrayValue?.first { $0["state"] == "connected" }
        guard let connected, let name = connected["name"]?.stringValue else { return }
        let address = connected["address"]?.stringValue.map { " at " + sanitised($0) } ?? ""
        say("found", sanitised(name) + address)
    }

    // MARK: Identity

    /// The name for an identity that may have to be created: from the flag, the settings or, at a
    /// terminal, a question.
    ///
    /// - Throws: if one is needed and nobody can be asked, before anything is started.
    func newName(isNeeded: Bool) throws(NodeError) -> String? {
        if let name = scan.values["name"]?.stringValue { return name }
        let paths = try paths()
        if io.exists(HomeFolder(data: paths.data, socket: paths.socket).identity) { return nil }
        if let name = try? ConfigFile(io.readFile(paths.configuration) ?? []).text(of: "name") {
            return name
        }
        if io.isInputTerminal, io.isOutputTerminal, !globals.noInput, !globals.json {
            let answer = io.ask("Your name, as others will see it: ")
            if let answer, !answer.isEmpty { return answer }
        }
        guard isNeeded, !isRunning(paths) else { return nil }
        throw Self.nameMissing
    }

    /// Refuses names that a new home cannot give, before it or anything in it is made. A running
    /// daemon is asked whether there is an identity yet.
    private func checkNames(person name: String?) throws(NodeError) {
        let paths = try paths()
        let home = HomeFolder(data: paths.data, socket: paths.socket)
        guard !io.exists(home.identity), !isRunning(paths) else { return }
        try checkNewNames(person: name)
    }

    private func checkNewNames(person name: String?) throws(NodeError) {
        if let name { _ = try NewNames.person(name, field: "name") }
        guard scan.command?.flow == .up, let workspace else { return }
        _ = try NewNames.workspace(workspace, field: "workspace")
    }

    private func isRunning(_ paths: Paths) -> Bool { (try? io.connect(paths.socket)) != nil }

    private static let nameMissing = NodeError(
        .badRequest, "a new home needs a name", hint: "add --name NAME", reason: "usage",
        fields: [NodeError.Field(name: "name", reason: ParameterMismatch.missing.rawValue)])

    private func identity(
        _ client: inout ControlClient, orNew name: String?, isNeeded: Bool
    ) throws(NodeError) -> JSONValue? {
        do { return try client.call("identity.show", [:]) } catch {
            guard error.kind == .notFound else { throw error }
            guard let name else {
                if isNeeded { throw Self.nameMissing }
                return nil
            }
            try checkNewNames(person: name)
            var given: JSONObject = ["name": .string(name)]
            given["email"] = scan.values["email"]
            if scan.values["no_recovery"]?.boolValue == true {
                given.append("no_recovery", true)
            }
            if let passphrase = try newPassphrase() {
                given.append("passphrase", .string(passphrase))
            }
            return try client.call("identity.create", given)
        }
    }

    // MARK: Lines

    /// The address applies to a new identity only: an existing one keeps its own.
    private func tellEmail(_ client: inout ControlClient) throws(NodeError) {
        guard let asked = scan.values["email"]?.stringValue else { return }
        let shown = (try? client.call("profile.get", [:]))?["email"]?.stringValue
        guard shown != asked.lowercased() else { return }
        say("email", "this home keeps the profile it has; to change it:", state: "warn")
        say(fix: "wsx-node profile set --email \(NodeError.shellWord(sanitised(asked)))")
    }

    private func tellIdentity(_ identity: JSONValue?, in workspace: JSONValue?) {
        guard let identity else { return say("identity", "none yet", state: "warn") }
        let member = identity["members"]?.arrayValue?.first {
            $0["workspace"] != nil && $0["workspace"] == workspace?["id"]
        }
        let id = rendering.shortID(member?["member"] ?? identity["id"])
        var text = sanitised(identity["name"]?.stringValue ?? "") + "  " + id
        if identity["recovery"] == "unshown", !Recovering(self).showsPhrase {
            text += "   (recovery phrase: run '"
            text += HintText(globals).text("wsx-node identity show --phrase")
            text += "' and write it down)"
        }
        say("identity", text)
        guard let asked = scan.values["name"]?.stringValue,
            identity["name"]?.stringValue.map({ NameFolding.matches($0, asked) }) == false
        else { return }
        say("name", "this home keeps the name it has; to change it:", state: "warn")
        say(fix: "wsx-node profile set --name \(NodeError.shellWord(sanitised(asked)))")
    }

    private func tellWorkspace(
        _ workspace: JSONValue, _ how: String?, _ client: inout ControlClient
    ) throws(NodeError) {
        let name = sanitised(workspace["name"]?.stringValue ?? "")
        if let end = Rendering.membershipEnd(of: workspace) {
            return say("workspace", "\(name)  \(end)", state: "warn")
        }
        var text = "\(name)  \(rendering.shortID(workspace["id"]))"
        let given: JSONObject = ["workspace": workspace["id"] ?? .null, "scope": "all"]
        let channels = try client.call("channel.list", given)["items"]?.arrayValue ?? []
        if let first = channels.first(where: { $0["default"] == true })?["name"] {
            text += "  channel #\(rendering.shown(first))"
        }
        say("workspace", text + (how.map { "  \($0)" } ?? ""))
    }

    private func tellNetwork(_ network: JSONValue) {
        if let failure = network["failure"]?.stringValue {
            say("network", sanitised(failure), state: "warn")
            return say(fix: "wsx-node doctor")
        }
        if network["suspended"]?.boolValue == true {
            say("network", "suspended", state: "warn")
            return say(fix: "wsx-node net resume")
        }
        let addresses = (network["listen"]?.arrayValue ?? []).compactMap(\.stringValue)
        let discovery = network["announce"]?.boolValue == true ? "on" : "off"
        guard !addresses.isEmpty else {
            say("network", "not listening for peers", state: "warn")
            return say(fix: "wsx-node doctor")
        }
        let shown = addresses.map(sanitised).joined(separator: ", ")
        say("network", "\(shown); LAN discovery \(discovery)")
    }

    /// One status line.
    private func say(_ what: String, _ text: String, state: String = "ok") {
        if globals.quiet { return }
        func padded(_ text: String, _ width: Int) -> String {
            text + String(repeating: " ", count: max(1, width - text.utf8.count))
        }
        let line = padded(state, 5) + padded(what, 11) + text + "\n"
        io.print(rendering.flowed(line, indent: 16))
    }

    private func say(fix command: String) {
        if !globals.quiet { io.print("                fix: \(HintText(globals).text(command))\n") }
    }

    func say(next command: String) {
        if globals.quiet { return }
        io.print(rendering.flowed("next: \(HintText(globals).text(command))\n"))
    }
}
