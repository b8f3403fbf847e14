import WorkspaceModel

/// The commands for proving addresses.
enum ProofCommandTable {
    /// In the order of the documentation.
    static let commands = [check, verify, resend, confirm, list, withdraw, mailCommand]

    private static let email = Parameter.text(
        "email", "The address, such as mina@example.org.", bytes: 1...1_024
    ).called("address")
    private static let ownEmail = Parameter.text(
        "email", "Your address, to be sure which one is meant.", bytes: 1...1_024
    ).optional()

    private static let check = Command(
        "identity.email.check",
        line: CommandLineForm(
            "identity email check", ["email"],
            examples: ["identity email check mina@example.org"]),
        "Check whether anyone here uses an email address. Nobody knows all addresses: 'ok' means "
            + "that no member of this workspace shows it.",
        parameters: [email], result: "email check", shape: .emailCheck, effect: .reads,
        scope: .workspace, failures: [.badRequest], example: ["email": "mina@example.org"],
        run: .answer { (call) throws(NodeError) in
            try call.node.proofs.check(call[email], call.scope)
        })

    private static let verify = {
        let verifier = Parameter.member(
            "verifier", "Who should verify it. Without, anyone who may and is online."
        ).optional()
        return Command(
            "email.verify.send",
            line: CommandLineForm(
                "identity email verify", ["email"],
                examples: [
                    "identity email verify mina@example.org",
                    "identity email verify mina@example.org --verifier @Joon",
                ]),
            "Show that an email address is yours. A verifier sends a code to it; enter that with "
                + "'identity email confirm'. Then everyone here sees the address as verified.",
            parameters: [email, verifier], result: "email claim", shape: .emailClaim,
            effect: .signs, scope: .workspace,
            failures: [
                .badRequest, .forbidden, .notFound, .ambiguous, .duplicate, .conflict, .pending,
                .rateLimited, .codeUndeliverable, .busy,
            ],
            example: ["email": "mina@example.org"],
            run: .outcome { (call) throws(NodeError) in
                try call.node.proofs.verify(call[email], by: call[verifier], call.scope)
            })
    }()

    private static let resend = Command(
        "email.verify.resend",
        line: CommandLineForm(
            "identity email resend", examples: ["identity email resend"]),
        "Send a new code to your address. The code before it no longer works.",
        parameters: [ownEmail], result: "email claim", shape: .emailClaim, effect: .signs,
        scope: .workspace,
        failures: [
            .badRequest, .forbidden, .codeInvalid, .claimChanged, .pending, .rateLimited,
            .codeUndeliverable, .busy,
        ],
        run: .outcome { (call) throws(NodeError) in
            try call.node.proofs.resend(call[ownEmail], call.scope)
        })

    private static let confirm = {
        let code = Parameter.text(
            "code", "The 6 digits of the letter. '-' reads them from standard input.",
            bytes: 1...64
        ).standardInput()
        return Command(
            "email.verify.confirm",
            line: CommandLineForm(
                "identity email confirm", ["code"],
                examples: ["identity email confirm 123456", "identity email confirm -"]),
            "Enter the code that came to your address. A code works for 5 minutes and 5 tries.",
            parameters: [code, ownEmail], result: "email claim", shape: .emailClaim, effect: .signs,
            scope: .workspace,
            failures: [
                .badRequest, .forbidden, .duplicate, .codeInvalid, .claimChanged, .pending, .busy,
            ],
            example: ["code": "123456"],
            run: .outcome { (call) throws(NodeError) in
                try call.node.proofs.confirm(call[code], of: call[ownEmail], call.scope)
            })
    }()

    private static let list = {
        let member = Parameter.member("member", "Only what this person has proved.").optional()
        return Command(
            "attestation.list",
            line: CommandLineForm(
                "attestation list", ["member"],
                examples: ["attestation list", "attestation list @Joon"]),
            "List verified addresses, who verified them, and what no longer counts.",
            parameters: [member, Command.limit, Command.cursor], result: "list of attestation",
            shape: .attestations, emptiness: "nothing is verified", effect: .reads,
            scope: .workspace, failures: [.notFound, .ambiguous],
            run: .answer { (call) throws(NodeError) in
                try call.node.proofs.attestations(of: call[member], call.page, call.scope)
            })
    }()

    private static let withdraw = {
        let member = Parameter.member(
            "member", "Whose. Without, yours. Verifiers can do it for others."
        ).optional()
        return Command(
            "attestation.withdraw",
            line: CommandLineForm(
                "attestation withdraw", ["member"],
                examples: ["attestation withdraw", "attestation withdraw @Joon"]),
            "Withdraw the verification of an address.",
            parameters: [member], result: "attestation", shape: .attestations, effect: .signs,
            scope: .workspace, failures: [.notFound, .ambiguous, .forbidden, .conflict],
            run: .answer { (call) throws(NodeError) in
                try call.node.proofs.withdraw(of: call[member], call.scope)
            })
    }()

    private static let mailCommand = {
        let command = Parameter.text(
            "command",
            """
            The shell command to run, such as 'msmtp -t' or 'sendmail -t', with the letter on \
            standard input. Empty removes it. Left out, the current one is shown.
            """, bytes: 0...Limits.mailCommandBytesMax
        ).optional().writing()
        return Command(
            "mail.command",
            line: CommandLineForm(
                "mail command", ["command"],
                examples: ["mail command 'msmtp -t'", "mail command ''"]),
            "Set what sends letters from this node: verification codes and invites.",
            parameters: [command], result: "mail command", shape: .notice,
            effect: .reads, scope: .node,
            example: ["command": "exit 0"],
            run: .answer { (call) throws(NodeError) in
                try call.node.proofs.setMailCommand(call[command], call.scope)
            })
    }()
}
