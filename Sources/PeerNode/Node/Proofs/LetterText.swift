import WorkspaceModel

/// The input of the mail command. The address is validated before, and names that people have
/// chosen occur in the text only, with control characters made visible.
enum LetterText {
    /// A letter with a code.
    static func code(
        _ code: String, to address: String, for member: String, in workspace: String,
        by verifier: String
    ) -> [UInt8] {
        letter(
            to: address, subject: "Confirm your email address",
            [
                "\(name(member)) wants to show this address in the workspace \(name(workspace)).",
                "If this is you, your code is", "", "    \(code)", "",
                "It works for \(Limits.proofCodeMilliseconds / 60_000) minutes. Enter it with",
                "    wsx-node identity email confirm \(code)", "",
                "If this is not you, do nothing. Nobody will ask you for this code.",
                "Sent by the node of \(name(verifier)).",
            ])
    }

    /// A letter with an invite.
    static func invite(
        _ link: String, to address: String, in workspace: String, by member: String
    ) -> [UInt8] {
        letter(
            to: address, subject: "You are invited to a workspace",
            [
                "\(name(member)) invites you to the workspace \(name(workspace)).", "",
                "Install wsx-node, then run", "    wsx-node join \(link) --name 'YOUR NAME'", "",
                "Anyone who has this link can join with it. Keep it to yourself.",
            ])
    }

    /// Variables for the command. None of them is secret.
    static func variables(to address: String, _ socket: String) -> [Notice.Variable] {
        [
            Notice.Variable(name: "WSX_MAIL_TO", value: address),
            Notice.Variable(name: "WSX_NODE_SOCKET", value: socket),
            Notice.Variable(name: "WSX_BOT", value: "mail"),
        ]
    }

    /// - Parameter address: one that `ProfileText` takes, so it has no line break and no comma.
    private static func letter(to address: String, subject: String, _ lines: [String]) -> [UInt8] {
        let head = [
            "To: \(address)", "Subject: \(subject)", "MIME-Version: 1.0",
            "Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: 8bit",
            "Auto-Submitted: auto-generated", "",
        ]
        return Array(((head + lines).joined(separator: "\n") + "\n").utf8)
    }

    private static func name(_ text: String) -> String {
        NodeError.quoted(text)
    }
}
