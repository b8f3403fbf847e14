import WorkspaceModel

/// Failures that several rooms answer with.
extension NodeError {
    /// Nobody can be reached now, because the owner wanted that.
    static var suspendedNetwork: NodeError {
        NodeError(
            .unreachable, "the network is suspended", hint: "wsx-node net resume",
            reason: "net.suspended")
    }

    /// A text that no program and no file takes.
    static func zeroByte(in field: String) -> NodeError {
        NodeError(
            .badRequest, "'\(field)' contains a zero byte", hint: nil, reason: "bad_text",
            fields: [.init(name: field, reason: "form")])
    }

    /// Refuses a path that depends on the folder in which somebody is.
    static func refuseRelative(_ path: String, field: String) throws(NodeError) {
        guard path.utf8.first != UInt8(ascii: "/") || path.utf8.contains(0) else { return }
        throw NodeError(
            .badRequest, "'\(field)' is not an absolute path", hint: "start it with /",
            reason: "bad_path", fields: [.init(name: field, reason: "form")])
    }

    /// A message that was there a moment ago.
    static var messageNoLongerShown: NodeError {
        NodeError(.notFound, "the message is no longer shown", reason: "message.not_found")
    }

    /// More calls about one proof than may wait.
    static var tooManyProofCalls: NodeError {
        NodeError(
            .busy, "too many calls wait for a verifier", hint: "try again later",
            reason: "proof.busy")
    }

    /// A passphrase for a new identity is becoming a key already.
    static var identityUnderWay: NodeError {
        NodeError(
            .busy, "an identity is being created already", hint: "try again",
            reason: "session.busy")
    }
}
