public import WorkspaceModel

/// What the caller is notified about in a workspace.
public struct NoticeObject: ControlObject {
    /// The workspace, `w_…`.
    public let id: String
    /// `all`, `mentions` or `none`; what a channel says of itself wins.
    public let level: String
    /// What is run for each notice on this node, `nil` for nothing.
    public let command: String?

    /// All fields.
    public var json: JSONValue {
        ["id": .string(id), "level": .string(level), "command": JSONValue(orNull: command)]
    }
}

/// The command that is run for each notice on this node.
public struct NoticeCommandObject: ControlObject {
    /// For `/bin/sh -c`, `nil` for nothing.
    public let command: String?

    /// This command.
    public init(command: String?) { self.command = command }

    /// All fields; there is one such object on a node.
    public var json: JSONValue {
        ["id": "notify.command", "command": JSONValue(orNull: command)]
    }
}
