import WorkspaceModel

extension Command {
    /// Commands that need no daemon.
    static let settingCommands = [configGet, configSet, configList, configPath, help]

    private static let settingName = Parameter.text(
        "setting", "The setting, such as 'net.listen'.", bytes: 1...128)

    private static let configGet = Command(
        "config.get",
        line: CommandLineForm(
            "config get", ["setting"], examples: ["config get net.listen"], flow: .getSetting),
        "Print one setting.", parameters: [settingName], result: "a value", effect: .reads,
        scope: .node, failures: [.notFound, .badConfiguration], example: ["setting": "net.listen"],
        needs: .nothing)

    private static let configSet = Command(
        "config.set",
        line: CommandLineForm(
            "config set", ["setting", "value"],
            examples: ["config set net.announce false", "config set chat.typing off"],
            flow: .changeSetting),
        "Change one setting, keeping the file's comments and order. After "
            + "'config set chat.typing off' others do not see that you are typing in 'chat'.",
        parameters: [settingName, Parameter.text("value", "The new value.", bytes: 0...4_096)],
        result: "nothing", effect: .writesBeside, scope: .node,
        failures: [.notFound, .badConfiguration],
        example: ["setting": "net.announce", "value": "false"], needs: .nothing)

    private static let configList = Command(
        "config.list",
        line: CommandLineForm("config list", examples: ["config list"], flow: .listSettings),
        "Print every setting in the file.",
        result: "settings, one per line", effect: .reads, scope: .node,
        failures: [.badConfiguration], needs: .nothing)

    private static let configPath = Command(
        "config.path",
        line: CommandLineForm("config path", examples: ["config path"], flow: .settingsPath),
        "Print the path of the settings file.",
        result: "a path", effect: .reads, scope: .node, needs: .nothing)

    private static let help = {
        let topic = Parameter<[String]>.list(
            of: Parameter.text("topic", "A command, its first words, or a topic.", bytes: 1...64),
            count: 0...4
        ).defaulting(to: [])
        return Command(
            "help",
            line: CommandLineForm(
                "help", ["topic"], examples: ["help", "help channel create"], flow: .help),
            "Explain the program or a command.", parameters: [topic], result: "text",
            effect: .reads, scope: .node, example: ["topic": ["send"]], needs: .nothing)
    }()
}
