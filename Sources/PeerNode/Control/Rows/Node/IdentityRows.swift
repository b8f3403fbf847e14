import WorkspaceModel

extension Command {
    /// The commands about the identity.
    static let identityCommands = [
        identityCreate, IdentityShowRow.command, identityRecover, identityPhraseNew,
        identityPassphraseChange,
    ]

    /// For people who create an identity and do not want a way to recover it.
    static let noRecovery = Parameter.flag(
        "no_recovery", "Create the identity without a recovery phrase.")

    private static let identityCreate = {
        // An empty name is reported together with all other errors.
        let name = Parameter.text(
            "name", "The name that others will see.", bytes: 0...Limits.nameBytesMax)
        let email = Parameter.text(
            "email", "Goes into your profile in each workspace that you join or make.",
            bytes: 1...254
        ).optional()
        let phone = Parameter.text(
            "phone", "Likewise, hidden until you show it: '+' and 8 to 15 digits.",
            bytes: 1...64
        ).optional()
        return Command(
            "identity.create",
            line: CommandLineForm(
                "identity create",
                examples: [
                    "identity create --name Mina",
                    "identity create --name Mina --email mina@example.org",
                ], flow: .makeIdentity),
            "Create the identity of this home.",
            parameters: [name, email, phone, newPassphrase, noRecovery, key] + passphraseSources
                + startParameters,
            result: "identity", shape: .identity, effect: .writes, scope: .node,
            failures: [.badRequest, .duplicate, .keyReused], example: ["name": "Mina"],
            needs: .daemon,
            run: .outcome { (call) throws(NodeError) in
                try call.node.identity.createIdentity(
                    IdentityDraft(
                        name: call[name], hasRecovery: !call[noRecovery],
                        passphrase: call[newPassphrase],
                        profile: [.email: call[email], .phone: call[phone]].compactMapValues { $0 }),
                    call.creatingScope)
            })
    }()

    private static let identityPhraseNew = {
        let phrase = Parameter.text(
            "phrase", "Your current recovery phrase. '-' reads it from standard input.",
            bytes: 1...1_024
        ).standardInput().optional()
        return Command(
            "identity.phrase.new",
            line: CommandLineForm(
                "identity phrase new",
                examples: ["identity phrase new", "identity phrase new --phrase -"],
                flow: .renewPhrase),
            "Replace your recovery phrase, in every workspace where it is yours.",
            parameters: [phrase], result: "new phrase", shape: .newPhrase, effect: .signs,
            scope: .node, failures: [.badRequest, .wrongSecret, .forbidden, .conflict],
            example: ["phrase": "abacus …"],
            run: .answer { (call) throws(NodeError) in
                try call.node.identity.renewPhrase(call[phrase], call.scope)
            })
    }()

    private static let identityRecover = {
        let link = Parameter.text(
            "link", "An invite link to the workspace; a used one works, an expired one does not.",
            bytes: 1...512)
        let phrase = Parameter.text(
            "phrase", "The 24 words. '-' reads them from standard input.",
            bytes: 1...1_024
        ).standardInput()
        let name = Parameter.name("name", "A name for the new identity, if there is none yet.")
            .optional()
        let timeout = Parameter.duration(
            "timeout_ms", "How long to look for someone who has the workspace.",
            1_000...600_000
        ).defaulting(to: 30_000).flag("timeout")
        return Command(
            "identity.recover",
            line: CommandLineForm(
                "identity recover", ["link"],
                examples: ["identity recover wsx://join/b4qx… --phrase - --name Mina"],
                flow: .recover),
            "Recover your identity in a workspace with your recovery phrase.",
            parameters: [link, phrase, name, newPassphrase, timeout, key] + passphraseSources
                + startParameters,
            result: "workspace", shape: .recoveredWorkspace, effect: .signs, scope: .node,
            failures: [.badRequest, .notFound, .forbidden, .inviteInvalid, .unreachable],
            example: ["link": "wsx://join/b4qxexample", "phrase": "abacus …", "name": "Mina"],
            needs: .daemon,
            run: .outcome { (call) throws(NodeError) in
                try call.node.identity.recoverIdentity(
                    RecoveryDraft(
                        phrase: call[phrase], link: call[link], name: call[name],
                        timeoutMilliseconds: call[timeout], passphrase: call[newPassphrase]),
                    call.creatingScope)
            })
    }()
}
