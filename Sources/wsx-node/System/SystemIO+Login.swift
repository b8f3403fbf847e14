import PeerNode
import WorkspaceModel

extension SystemIO {
    func logIn(
        _ claim: JSONValue, port: UInt16?, opens: (String) -> Void
    ) throws(NodeError) -> String {
        let listener: LoginListener
        do throws(SystemError) { listener = try LoginListener(port: port ?? 0) } catch {
            throw .badConfiguration(
                "cannot listen for your browser: \(error)",
                hint: error.isAddressTaken ? "give another port with --port" : nil)
        }
        guard let request = listener.request(claim) else {
            throw AccountLinking.noToken("it has no login page here")
        }
        opens(request.address)
        var arrival = listener.wait(for: request, milliseconds: Limits.loginMilliseconds)
        if case .code(let code)? = arrival {
            arrival = LoginListener.exchange(code, for: request)
            guard arrival != nil else {
                throw AccountLinking.noToken("curl failed, or is not installed")
            }
        }
        switch arrival {
        case .token(let token)?: return token
        case .refusal(let word)?:
            throw AccountLinking.noToken(NodeError.quoted(word))
        case .code?, .nothing?: throw AccountLinking.noToken("its answer has none")
        case nil:
            throw NodeError(
                .timeout, "your browser did not come back",
                hint: "wsx-node account link \(claim["provider"]?.stringValue ?? "NAME")",
                reason: "login.timeout")
        }
    }
}
