import WorkspaceModel

extension Command {
    /// Who one is.
    static let identityCommands = [identityCreate, identityShow]

    private static let identityCreate = {
        let name = Parameter.name("name", "The name that others will see.")
        return Command(
            "identity.create",
            line: CommandLineForm("identity create", examples: ["identity create --name Mina"]),
            "Make the identity of this home.",
            parameters: [name.definition, key.definition] + startParameters,
            result: "identity", failures: [.duplicate, .keyReused], example: ["name": "Mina"],
            needs: .daemon,
            run: { (context, given) throws(NodeError) in
                .reply(
                    try context.node.createIdentity(
                        name: given[name], context.scope(creating: "identity.create", given)))
            })
    }()

    private static let identityShow = Command(
        "identity.show", line: CommandLineForm("identity show"),
        "Show the identity of this home and who it is in each workspace.",
        result: "identity", failures: [.notFound], needs: .daemon,
        run: { (context, given) throws(NodeError) in
            .reply(try context.node.identity(context.scope(given)))
        })
}
