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
            parameters: [
                channel.definition, name.definition, topic.definition, description.definition,
                image.definition, copies.definition,
            ],
            result: "channel", shape: .changedChannel, effect: .signs, scope: .conversation,
            failures: refusals + [.duplicate, .badRequest, .tooLarge],
            example: ["channel": "plans", "topic": "the next quarter"],
            run: { (context, given) throws(NodeError) in
                .reply(
                    try context.node.channels.editChannel(
                        ChannelEdit(
                            channel: given[channel], name: given[name], topic: given[topic],
                            description: given[description], image: given[image],
                            copies: given[copies]),
                        context.scope(given)))
            })
    }()

    private static let channelTransfer = {
        let member = Parameter.member("member", "The new owner.")
        return Command(
            "channel.transfer",
            line: CommandLineForm(
                "channel transfer", ["channel", "member"],
                examples: ["channel transfer plans @Mina"], question: .transfersChannel,
                weight: .channelOwners),
            "Make someone else the owner of a channel.",
            parameters: [channel.definition, member.definition], result: "channel",
            shape: .ownedChannel, effect: .signs,
            scope: .conversation,
            failures: refusals, example: ["channel": "plans", "member": "@Mina"],
            run: { (context, given) throws(NodeError) in
                .reply(
                    try context.node.channels.transferChannel(
                        given[channel], to: given[member], context.scope(given)))
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
            parameters: [channel.definition, member.definition, role.definition],
            result: "channel", shape: .channelRoles, effect: .signs, scope: .conversation,
            failures: refusals + [.transferFirst],
            example: ["channel": "plans", "member": "@Mina", "role": "admin"],
            run: { (context, given) throws(NodeError) in
                .reply(
                    try context.node.channels.setChannelRole(
                        given[role], of: given[member], in: given[channel], context.scope(given)))
            })
    }()

    private static let channelArchive = Command(
        "channel.archive",
        line: CommandLineForm(
            "channel archive", ["channel"], examples: ["channel archive plans"], channels: .open),
        "Archive a channel: nobody can write in it, but it stays readable.",
        parameters: [channel.definition], result: "channel", shape: .ownedChannel, effect: .signs,
        scope: .conversation,
        failures: refusals + [.defaultChannel], example: ["channel": "plans"],
        run: { (context, given) throws(NodeError) in
            .reply(
                try context.node.channels.setArchived(true, given[channel], context.scope(given)))
        })

    private static let channelUnarchive = Command(
        "channel.unarchive",
        line: CommandLineForm(
            "channel unarchive", ["channel"], examples: ["channel unarchive plans"],
            channels: .archived),
        "Reopen an archived channel.",
        parameters: [channel.definition], result: "channel", shape: .ownedChannel, effect: .signs,
        scope: .conversation,
        failures: refusals,
        example: ["channel": "plans"],
        run: { (context, given) throws(NodeError) in
            .reply(
                try context.node.channels.setArchived(false, given[channel], context.scope(given)))
        })

    private static let channelDelete = Command(
        "channel.delete",
        line: CommandLineForm(
            "channel delete", ["channel"], examples: ["channel delete plans"],
            question: .deletesChannel),
        "Delete a channel for everyone. It is hidden at once and erased after 7 days.",
        parameters: [channel.definition], result: "channel", shape: .deletedChannel, effect: .signs,
        scope: .conversation,
        failures: refusals + [.defaultChannel], example: ["channel": "plans"],
        run: { (context, given) throws(NodeError) in
            .reply(try context.node.channels.deleteChannel(given[channel], context.scope(given)))
        })
}
