import PeerNode
import WorkspaceModel

/// Showing the recovery phrase, and starting a home from a phrase or a device link.
struct Recovering: SessionPart {
    var scan: ArgumentScan
    let environment: [String: String]
    let io: any ProgramIO

    /// Whether the words are shown without a request: only to a person at a terminal.
    var showsPhrase: Bool { io.isOutputTerminal && !globals.json && !globals.quiet }

    /// Shows the words at the end of the first `up` or `join`.
    func tellPhrase(_ identity: JSONValue?, _ client: inout ControlClient) throws(NodeError) {
        guard showsPhrase, identity?["recovery"] == "unshown" else { return }
        try printWords(["phrase": true], &client) { rendering.text($0, of: "identity.show") }
    }

    /// Prints an answer; with the words in it, for a program that created the identity by this
    /// call.
    func printWithPhrase(
        _ answer: JSONValue, of method: String, _ identity: JSONValue?,
        _ client: inout ControlClient
    ) throws(NodeError) {
        guard identity?["recovery"] == "unshown", let fields = answer.objectValue else {
            io.print(rendering.text(answer, of: method))
            return
        }
        try printWords(["phrase": true], &client) { shown in
            var told = fields
            told.append("phrase", shown["phrase"] ?? .null)
            return rendering.text(.object(told), of: method)
        }
    }

    /// `identity show`, with the words or without.
    func showIdentity(_ command: Command) throws(NodeError) -> Int32 {
        let parameters = try parameters(for: command)
        guard parameters["phrase"] == true else { return try callAndPrint(command, parameters) }
        var client = try client()
        try printWords(parameters, &client) { rendering.text($0, of: command.name) }
        return 0
    }

    /// Prints the words of the phrase. The node keeps them until they are printed: a full disk, a
    /// closed pipe or a kill before that ends this process, and the words can be shown again.
    private func printWords(
        _ parameters: JSONObject, _ client: inout ControlClient, as text: (JSONValue) -> String
    ) throws(NodeError) {
        var given = parameters
        given["keep"] = true
        let kept = try client.call("identity.show", given)
        guard let words = kept["phrase"], var fields = kept.objectValue else {
            io.print(text(kept))
            return
        }
        // So it is as soon as somebody can read this.
        fields["recovery"] = "shown"
        io.print(text(.object(fields)))
        _ = try client.call("identity.show", ["seen": words])
    }

    /// `device link LINK`: this home becomes a device of the person who made the link.
    func linkDevice(_ command: Command) throws(NodeError) -> Int32 {
        let parameters = try parameters(for: command)
        do throws(InviteLink.Problem) {
            _ = try DeviceLink(parameters["code"]?.stringValue ?? "")
        } catch {
            throw NodeError(
                .inviteInvalid, "that is not a device link, or part of it was lost",
                hint: "make one on the other device, with 'device link' there",
                reason: "link.invalid", fields: [.init(name: "code", reason: "form")])
        }
        return try beginHome(command, parameters)
    }

    /// `identity recover LINK`: asks for the words if they are missing.
    func recover(_ command: Command) throws(NodeError) -> Int32 {
        if scan.values["link"] != nil, scan.values["phrase"] == nil, io.isInputTerminal,
            io.isOutputTerminal,
            !globals.noInput, let answer = io.ask("The 24 words: "), !answer.isEmpty
        {
            var session = self
            session.scan.values["phrase"] = .string(answer)
            return try session.recover(command)
        }
        let parameters = try parameters(for: command)
        do throws(InviteLink.Problem) {
            _ = try InviteLink(parameters["link"]?.stringValue ?? "")
        } catch { throw .inviteLink(error) }
        return try beginHome(command, parameters)
    }

    /// The device name of a home without an identity: the person already has a name, so nobody is
    /// asked for one.
    private func deviceName() throws(NodeError) -> String? {
        let paths = try paths()
        guard !io.exists(HomeFolder(data: paths.data, socket: paths.socket).identity) else {
            return nil
        }
        let file = try? ConfigFile(io.readFile(paths.configuration) ?? []).text(of: "name")
        return file ?? HostName.device(io.hostName) ?? "device"
    }

    /// The person's name in a workspace after returning to it; `nil` while unknown.
    ///
    /// - Parameter device: the placeholder name of a new home: its device's name,
    ///   unless one was given.
    private func nameThere(
        _ workspace: JSONValue, besides device: JSONValue?, _ client: inout ControlClient
    ) -> String? {
        let given: JSONObject = ["workspace": workspace["id"] ?? .null]
        guard let profile = try? client.call("profile.get", given), !Rendering.isNameless(profile),
            scan.values["name"] != nil || profile["name"] != device
        else { return nil }
        return profile["name"]?.stringValue
    }

    /// Starts the daemon of a possibly new home, and makes the call that gives it an identity.
    private func beginHome(
        _ command: Command, _ parameters: JSONObject
    ) throws(NodeError) -> Int32 {
        var given = parameters
        if given["name"] == nil { given["name"] = try deviceName().map { .string($0) } }
        given["passphrase"] = try newPassphrase().map { .string($0) }
        try Starting(self).startIfNeeded()
        var client = try client()
        let result = try FileMoving(self).call(
            command.name, given,
            lookingFor: command.flow == .linkDevice
                ? "your other device" : "someone in the workspace", &client)
        guard command.flow == .recover, !globals.json, !globals.plain else {
            io.print(rendering.text(result, of: command.name))
            return 0
        }
        let name = nameThere(result, besides: given["name"], &client)
        io.print(rendering.flowed(rendering.recovered(result, name: name)))
        tellOwnDevices(result, &client)
        if io.isOutputTerminal { Starting(self).say(next: "wsx-node device lost") }
        return 0
    }
}
