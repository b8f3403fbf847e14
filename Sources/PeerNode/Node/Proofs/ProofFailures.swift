import WorkspaceModel

/// What can fail when somebody proves an address.
extension NodeError {
    /// The code is not the one that was sent, or was.
    static func codeInvalid(isOver: Bool) -> NodeError {
        NodeError(
            .codeInvalid,
            isOver ? "this code is no longer valid" : "this is not the code that was sent",
            hint: isOver
                ? "wsx-node identity email resend"
                : "check the newest letter, or wsx-node identity email resend",
            reason: isOver ? "proof.code_over" : "proof.code_wrong",
            fields: [.init(name: "code", reason: "form")])
    }

    /// The address is another one than when the letter was sent.
    static let claimChanged = NodeError(
        .claimChanged, "your address has changed since the code was sent",
        hint: "wsx-node identity email verify ADDRESS", reason: "proof.changed",
        fields: [.init(name: "email", reason: "form")])

    /// No verifier could send the letter.
    static let codeUndeliverable = NodeError(
        .codeUndeliverable, "the letter could not be sent",
        hint: "check the address, then wsx-node identity email resend",
        reason: "proof.undeliverable")

    /// Nothing is being proved.
    static let noClaim = NodeError(
        .codeInvalid, "no address of yours is being verified here",
        hint: "wsx-node identity email verify ADDRESS", reason: "proof.none")

    /// A verifier has sent enough letters for now.
    ///
    /// - Parameter hasCode: whether one of them has a code that is still good.
    static func tooManyLetters(_ milliseconds: UInt64, hasCode: Bool) -> NodeError {
        // A peer says how long.
        let minutes = min(milliseconds, Limits.letterHourMilliseconds) / 60_000 + 1
        let goodMinutes = Limits.proofCodeMilliseconds / 60_000
        return NodeError(
            .rateLimited,
            "too many letters were sent; try again in \(minutes) min",
            hint: hasCode
                ? "a code of the last \(goodMinutes) minutes still works: "
                    + "wsx-node identity email confirm CODE"
                : "then: wsx-node identity email resend",
            reason: "proof.letters",
            details: [
                "retry_ms": .integer(
                    Int64(clamping: min(milliseconds, Limits.letterHourMilliseconds)))
            ])
    }

    /// The address is proved for somebody else.
    static func emailTaken(_ address: String) -> NodeError {
        NodeError(
            .duplicate, "\(quoted(address)) is verified for someone else here",
            hint: "use another address, or ask an admin", reason: "email.taken",
            fields: [.init(name: "email", reason: "taken")])
    }

    /// The text is no address.
    static func badEmail(_ invalidForm: ProfileText.InvalidForm) -> NodeError {
        NodeError(
            .badRequest,
            invalidForm == .tooLong
                ? "'email' can have at most 254 bytes"
                : "'email' must be an address such as mina@example.org",
            hint: invalidForm == .tooLong
                ? "use a shorter address" : "give only the address, without a name or brackets",
            reason: "bad_email", fields: [.init(name: "email", reason: invalidForm.rawValue)])
    }
}
