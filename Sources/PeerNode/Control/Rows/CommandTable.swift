public import WorkspaceModel

extension Command {
    /// Commands that belong together, with the title that help gives them.
    public struct Group: Sendable {
        /// A few words.
        public let title: String
        /// In the order of the documentation.
        public let commands: [Command]
    }

    /// Every command by group, in the order of the documentation.
    public static let groups: [Group] = [
        Group(title: "messages", commands: messageCommands),
        Group(title: "stars and reminders", commands: markCommands),
        Group(title: "notes", commands: NoteCommandTable.commands),
        Group(title: "coins and the store", commands: LedgerCommandTable.commands),
        Group(title: "files", commands: FileMethods.all + CacheMethods.all + MediaMethods.all),
        Group(title: "node", commands: nodeCommands + homeCommands),
        Group(title: "identity", commands: identityCommands),
        Group(title: "session", commands: sessionCommands + passcodeCommands),
        Group(title: "devices", commands: deviceCommands),
        Group(title: "people", commands: personCommands),
        Group(title: "verified addresses", commands: ProofCommandTable.commands),
        Group(title: "linked accounts", commands: AccountCommandTable.commands),
        Group(title: "workspace", commands: workspaceCommands),
        Group(title: "invites and members", commands: inviteCommands + memberCommands),
        Group(title: "channels", commands: channelCommands + channelChangeCommands),
        Group(title: "direct messages", commands: directMessageCommands),
        Group(title: "reading", commands: readingCommands + NoticeCommandTable.commands),
        Group(title: "search", commands: searchCommands),
        Group(title: "sync and network", commands: networkCommands),
        Group(title: "backup and inspection", commands: careCommands),
        Group(title: "automation", commands: eventCommands + rpcCommands),
        Group(title: "settings and help", commands: settingCommands + pageCommands),
    ]

    /// Every command, in the order of the documentation.
    public static let all: [Command] = groups.flatMap(\.commands)

    /// Those that the socket answers, in the same order.
    public static let methods: [Command] = all.filter(\.isMethod)

    private static let methodsByName: [String: Command] = Dictionary(
        uniqueKeysWithValues: methods.map { ($0.name, $0) })

    /// The method of this name.
    ///
    /// - Parameter name: from outside; it is measured before it is hashed.
    public static func method(_ name: String) throws(NodeError) -> Command {
        guard name.utf8.count <= 64 else { throw .unknownCommand(name, similar: nil) }
        if let command = methodsByName[name] { return command }
        throw .unknownCommand(name, similar: Similarity.nearest(to: name, in: methods.map(\.name)))
    }
}
