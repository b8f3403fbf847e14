import WorkspaceModel

extension Command {
    /// The devices of a person.
    static let deviceCommands = [deviceList, deviceLink, deviceRename, deviceRevoke, deviceLost]

    private static let device = Parameter.text(
        "device", "The device: its name, its id, or the last letters of its id.", bytes: 1...256)

    private static let deviceList = {
        let member = Parameter.member("member", "Whose devices. Without it, yours.").optional()
        return Command(
            "device.list", line: CommandLineForm("device list", examples: ["device list"]),
            "List a person's devices in the workspace.",
            parameters: [member, limit, cursor], result: "list of device", shape: .devices,
            emptiness: "no devices", effect: .reads, scope: .workspace,
            failures: [.notFound, .ambiguous],
            run: .answer { (call) throws(NodeError) in
                try call.node.devices.devices(of: call[member], call.page, call.scope)
            })
    }()

    private static let deviceLink = {
        let code = Parameter.text(
            "code",
            "A link made on another device of yours, 'wsx://device/…'. '-' reads it from standard "
                + "input. Without it, a link is made here.", bytes: 1...512
        ).standardInput().optional()
        let name = Parameter.name(
            "name", "A name for this device, and for its identity if there is none yet."
        ).optional()
        let timeout = Parameter.duration(
            "timeout_ms", "How long to look for the other device.", 1_000...600_000
        ).defaulting(to: 30_000).flag("timeout")
        return Command(
            "device.link",
            line: CommandLineForm(
                "device link", ["code"],
                examples: ["device link", "device link wsx://device/b4qx… --name Mina"],
                flow: .linkDevice),
            "Link another device: run this here, then there with the link.",
            parameters: [code, name, newPassphrase, timeout, key] + passphraseSources
                + startParameters,
            result: "device link, or identity", shape: .deviceLink, effect: .signs, scope: .node,
            failures: [.badRequest, .inviteInvalid, .inviteExpired, .unreachable, .forbidden],
            example: [:], needs: .daemon,
            run: .outcome { (call) throws(NodeError) in
                let scope = call.creatingScope
                guard let code = call[code] else {
                    return .reply(try call.node.devices.issueDeviceLink(scope))
                }
                return try call.node.devices.linkDevice(
                    JoinDraft(
                        link: code, name: call[name], timeoutMilliseconds: call[timeout],
                        passphrase: call[newPassphrase]), scope)
            })
    }()

    private static let deviceRename = {
        let name = Parameter.name("name", "The new name.")
        return Command(
            "device.rename",
            line: CommandLineForm(
                "device rename", ["device", "name"], examples: ["device rename d_7k3qm2xa phone"]),
            "Rename a device of yours, in every workspace or the one -w names.",
            parameters: [device, name], result: "device", shape: .renamedDevice, effect: .signs,
            scope: .node, failures: [.notFound, .ambiguous, .forbidden],
            example: ["device": "d_7k3qm2xa", "name": "phone"],
            run: .answer { (call) throws(NodeError) in
                try call.node.devices.renameDevice(call[device], name: call[name], call.scope)
            })
    }()

    private static let deviceLost = {
        let phrase = Parameter.text(
            "phrase", "Your recovery phrase. '-' reads it from standard input.", bytes: 1...1_024
        ).standardInput()
        return Command(
            "device.lost",
            line: CommandLineForm(
                "device lost", ["device"],
                examples: ["device lost", "device lost laptop --phrase -"], flow: .loseDevice),
            "Revoke a lost or stolen device with your recovery phrase.",
            parameters: [device, phrase], result: "device", shape: .revokedDevice, effect: .signs,
            scope: .node, failures: [.notFound, .ambiguous, .forbidden, .badRequest, .wrongSecret],
            example: ["device": "d_7k3qm2xa", "phrase": "abacus …"],
            run: .answer { (call) throws(NodeError) in
                try call.node.devices.revokeDevice(
                    call[device], phrase: call[phrase], isForced: true, call.scope)
            })
    }()

    private static let deviceRevoke = {
        let phrase = Parameter.text(
            "phrase",
            "The recovery phrase, to revoke a device older than this one. '-' reads it from "
                + "standard input.", bytes: 1...1_024
        ).standardInput().optional()
        let force = Parameter.flag(
            "force",
            "Revoke it even if that undoes what it turned on for newer versions of wsx-node. Meant "
                + "for a device that was stolen.")
        return Command(
            "device.revoke",
            line: CommandLineForm(
                "device revoke", ["device"],
                examples: ["device revoke d_7k3qm2xa", "device revoke d_7k3qm2xa --phrase -"],
                flow: .revokeDevice, question: .revokesDevice),
            "Revoke a device permanently, and change the keys for all others. A device of yours is "
                + "revoked in every workspace, or in the one that -w names.",
            parameters: [device, phrase, force], result: "device", shape: .revokedDevice,
            effect: .signs, scope: .node,
            failures: [.notFound, .ambiguous, .forbidden, .badRequest, .versionMismatch],
            example: ["device": "d_7k3qm2xa"],
            run: .answer { (call) throws(NodeError) in
                try call.node.devices.revokeDevice(
                    call[device], phrase: call[phrase], isForced: call[force], call.scope)
            })
    }()
}
