import PeerNode
import WorkspaceModel

/// Linking an account: the login in a browser, or the instructions without one.
struct AccountLinking: SessionPart {
    var scan: ArgumentScan
    let environment: [String: String]
    let io: any ProgramIO

    /// `account link`: checks a given token; else gets one from a browser, at a terminal and if the
    /// provider has a login page.
    func link(_ command: Command) throws(NodeError) -> Int32 {
        let port = scan.values["port"]?.integerValue.flatMap { UInt16(exactly: $0) }
        var parameters = try parameters(for: command)
        guard parameters["id_token"] == nil else { return try callAndPrint(command, parameters) }
        var client = try client()
        let claim = try client.call(command.name, parameters)
        guard io.isOutputTerminal, !globals.json, !globals.noInput, claim["state"] == "waiting",
            claim["login_url"]?.stringValue != nil
        else {
            show(rendering.text(claim, of: command.name))
            return 0
        }
        let token = try io.logIn(claim, port: port) { address in
            io.tell("open this address and log in:\n", isOwn: true)
            io.printError("  \(sanitised(address))\n")
            io.tell("waiting for your browser; ctrl-C stops waiting\n")
        }
        guard TokenText.isToken(token) else { throw Self.noToken("it is not a signed token") }
        parameters["id_token"] = .string(token)
        return try callAndPrint(command, parameters)
    }

    /// `account provider add` and `update`: makes paths absolute, since the node has another
    /// working directory.
    func setProvider(_ command: Command) throws(NodeError) -> Int32 {
        var session = self
        if let path = scan.values["jwks"]?.stringValue, !path.isEmpty {
            session.scan.values["jwks"] = .string(io.absolutePath(path))
        }
        return try session.callAndPrint(command, try session.parameters(for: command))
    }

    /// The provider did not return a usable token.
    static func noToken(_ why: String) -> NodeError {
        NodeError(
            .codeInvalid, "the provider gave no ID token: \(why)",
            hint: "check its login_url and token_url with 'wsx-node account provider list --json', "
                + "or paste a token: wsx-node account link NAME --token -",
            reason: "login.no_token")
    }
}
