import WorkspaceModel

extension Command {
    /// Changing channels: what their owners and the admins of the workspace do.
    static let channelChangeCommands = [
        channelEdit, channelTransfer, channelRole, channelArchive, channelUnarchive, channelDelete,
    ]

    private static let refusals: [NodeError.Kind] = [.notFound, .ambiguous, .forbidden]

    private static let channelEdit = {
        let name = Parameter.name("name", "The new name.").optional()
        let topic = Parameter.text(
            "topic", "What it is about now; empty clears it.", bytes: 0...1_024
        ).optional()
        let description = Parameter.text(
            "description", "What it is for; empty clears it.", bytes: 0...1_024
        ).optional()
        let copies = Parameter.integer(
            "copies", "How many devices keep each of its files, by themselves; 0 for none.",
            0...Int64(Limits.fileCopiesMax)
        ).optional()
        return Command(
            "channel.edit",
            line: CommandLineForm(
                "channel edit", ["channel"],
                examples: [
                    "channel edit plans --topic 'the next quarter'",
                    "channel edit plans --copies 3",
                    "channel edit plans --image plans.png",
                ]),
            "Change a channel's texts, its picture, or how many copies files have.",
            parameters: [channel, name, topic, description, image, copies], result: "channel",
            shape: .changedChannel, effect: .signs, scope: .conversation,
            failures: refusals + [.duplicate, .badRequest, .tooLarge],
            example: ["channel": "plans", "topic": "the next quarter"],
            run: .answer { (call) throws(NodeError) in
                try call.node.channels.editChannel(
                    ChannelEdit(
                        channel: call[channel], name: call[name], topic: call[topic],
                        description: call[description], image: call[image], copies: call[copies]),
                    call.scope)
            })
    }()

    private static let channelTransfer = {
        let member = Parameter.member("member", "The new owner.").asked("to whom?")
        return Command(
            "channel.transfer",
            line: CommandLineForm(
                "channel transfer", ["channel", "member"],
                examples: ["channel transfer plans @Mina"], question: .transfersChannel,
                weight: .channelOwners),
            "Make someone else the owner of a channel.",
            parameters: [channel, member], result: "channel", shape: .ownedChannel, effect: .signs,
            scope: .conversation, failures: refusals,
            example: ["channel": "plans", "member": "@Mina"],
            run: .answer { (call) throws(NodeError) in
                try call.node.channels.transferChannel(call[channel], to: call[member], call.scope)
            })
    }()

    private static let channelRole = {
        let member = Parameter.member("member", "Whose role to change.")
        let role = Parameter.choice(
            "role", "Admins edit the channel, and add and remove people.", ["admin", "member"])
        return Command(
            "channel.role",
            line: CommandLineForm(
                "channel role", ["channel", "member", "role"],
                examples: ["channel role plans @Mina admin"], weight: .channelOwners),
            "Make someone an admin of a channel, or a plain member again.",
            parameters: [channel, member, role], result: "channel", shape: .channelRoles,
            effect: .signs, scope: .conversation, failures: refusals + [.transferFirst],
            example: ["channel": "plans", "member": "@Mina", "role": "admin"],
            run: .answer { (call) throws(NodeError) in
                try call.node.channels.setChannelRole(
                    call[role], of: call[member], in: call[channel], call.scope)
            })
    }()

    private static let channelArchive = Command(
        "channel.archive",
        line: CommandLineForm(
            "channel archive", ["channel"], examples: ["channel archive plans"], channels: .open),
        "Archive a channel: nobody can write in it, but it stays readable.",
        parameters: [channel], result: "channel", shape: .ownedChannel, effect: .signs,
        scope: .conversation, failures: refusals + [.defaultChannel], example: ["channel": "plans"],
        run: .answer { (call) throws(NodeError) in
            try call.node.channels.setArchived(true, call[channel], call.scope)
        })

    private static let channelUnarchive = Command(
        "channel.unarchive",
        line: CommandLineForm(
            "channel unarchive", ["channel"], examples: ["channel unarchive plans"],
            channels: .archived),
        "Reopen an archived channel.",
        parameters: [channel], result: "channel", shape: .ownedChannel, effect: .signs,
        scope: .conversation, failures: refusals, example: ["channel": "plans"],
        run: .answer { (call) throws(NodeError) in
            try call.node.channels.setArchived(false, call[channel], call.scope)
        })

    private static let channelDelete = Command(
        "channel.delete",
        line: CommandLineForm(
            "channel delete", ["channel"], examples: ["channel delete plans"],
            question: .deletesChannel),
        "Delete a channel for everyone. It is hidden at once and erased after 7 days.",
        parameters: [channel], result: "channel", shape: .deletedChannel, effect: .signs,
        scope: .conversation, failures: refusals + [.defaultChannel], example: ["channel": "plans"],
        run: .answer { (call) throws(NodeError) in
            try call.node.channels.deleteChannel(call[channel], call.scope)
        })
}
