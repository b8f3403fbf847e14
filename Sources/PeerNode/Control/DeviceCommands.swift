import WorkspaceModel

extension Command {
    /// The devices of a person.
    static let deviceCommands = [deviceList, deviceLink, deviceRename, deviceRevoke]

    private static let device = Parameter.text(
        "device", "The device: its id, the first letters of that, or its name.", bytes: 1...256)

    private static let deviceList = {
        let member = Parameter.member("member", "Whose devices; without it one's own.").optional()
        return Command(
            "device.list", line: CommandLineForm("device list", examples: ["device list"]),
            "List the devices of a person in the workspace.",
            parameters: [member.definition, limit.definition, cursor.definition],
            result: "list of device", failures: [.notFound, .ambiguous],
            run: { (context, given) throws(NodeError) in
                .reply(
                    try context.node.devices(
                        of: given[member], PageRequest(given), context.scope(given)))
            })
    }()

    private static let deviceLink = {
        let code = Parameter.text(
            "code",
            "The link that another device of yours made, 'wsx://device/…'. '-' reads it from "
                + "standard input. Without it such a link is made.", bytes: 1...512
        ).standardInput().optional()
        let name = Parameter.name(
            "name", "What to call this device, and its identity where there is none."
        ).optional()
        let timeout = Parameter.duration(
            "timeout_ms", "How long to look for the other device.", 1_000...600_000
        ).defaulting(to: 30_000).flag("timeout")
        return Command(
            "device.link",
            line: CommandLineForm(
                "device link", ["code"],
                examples: ["device link", "device link wsx://device/b4qx… --name Mina"]),
            "Make a link for another device of yours; or, with one, become that device.",
            parameters: [
                code.definition, name.definition, newPassphrase.definition, timeout.definition,
                key.definition,
            ] + passphraseSources + startParameters,
            result: "device link, or identity",
            failures: [.badRequest, .inviteInvalid, .inviteExpired, .unreachable, .forbidden],
            example: [:], needs: .daemon,
            run: { (context, given) throws(NodeError) in
                let scope = context.scope(creating: "device.link", given)
                guard let code = given[code] else {
                    return .reply(try context.node.issueDeviceLink(scope))
                }
                return try context.node.linkDevice(
                    JoinDraft(
                        link: code, name: given[name], timeoutMilliseconds: given[timeout],
                        passphrase: given[newPassphrase]), scope)
            })
    }()

    private static let deviceRename = {
        let name = Parameter.name("name", "What to call it.")
        return Command(
            "device.rename",
            line: CommandLineForm(
                "device rename", ["device", "name"], examples: ["device rename d_7k3qm2xa phone"]),
            "Give a device of yours a name, in every workspace or in the one that -w names.",
            parameters: [device.definition, name.definition], result: "device",
            failures: [.notFound, .ambiguous, .forbidden],
            example: ["device": "d_7k3qm2xa", "name": "phone"],
            run: { (context, given) throws(NodeError) in
                .reply(
                    try context.node.renameDevice(
                        given[device], name: given[name], context.scope(given)))
            })
    }()

    private static let deviceRevoke = {
        let phrase = Parameter.text(
            "phrase",
            "The recovery phrase, for a device older than this one. '-' reads it from standard "
                + "input.", bytes: 1...1_024
        ).standardInput().optional()
        let force = Parameter.flag(
            "force",
            "Also where that takes back what a newer version of wsx-node was turned on for: for a "
                + "device that was stolen.")
        return Command(
            "device.revoke",
            line: CommandLineForm(
                "device revoke", ["device"],
                examples: ["device revoke d_7k3qm2xa", "device revoke d_7k3qm2xa --phrase -"]),
            "End what a device may do, and change the keys for all others; a device of yours in "
                + "every workspace, or in the one that -w names.",
            parameters: [device.definition, phrase.definition, force.definition],
            result: "device",
            failures: [.notFound, .ambiguous, .forbidden, .badRequest, .versionMismatch],
            example: ["device": "d_7k3qm2xa"],
            run: { (context, given) throws(NodeError) in
                .reply(
                    try context.node.revokeDevice(
                        given[device], phrase: given[phrase], isForced: given[force],
                        context.scope(given)))
            })
    }()
}
