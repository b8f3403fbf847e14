public import WorkspaceModel

/// Steps common to tests of the simulation.
public enum Scenes {
    /// Makes an identity and a workspace, and an invite for many.
    ///
    /// - Returns: the invite's link.
    public static func found(
        _ world: SimulatedWorld, by node: SimulatedNode, named name: String = "acme",
        uses: Int64 = 10
    ) -> String? {
        guard node.ask("identity.create", ["name": .string("Founder \(node.index)")]) != nil,
            node.ask("workspace.create", ["name": .string(name)]) != nil
        else { return nil }
        return invite(by: node, uses: uses)
    }

    /// Makes an invite in the selected workspace and gives its link.
    public static func invite(by node: SimulatedNode, uses: Int64 = 10) -> String? {
        node.ask(
            "invite.create", ["uses": .integer(uses), "expires_ms": .integer(31_536_000_000)]
        )?["link"]?.stringValue
    }

    /// Joins by a link; whether it worked.
    public static func join(_ link: String, by node: SimulatedNode, named name: String) -> Bool {
        node.ask(
            "workspace.join",
            ["link": .string(link), "name": .string(name), "timeout_ms": 30_000]) != nil
    }

    /// All messages of a channel, oldest first.
    ///
    /// - Parameter workspace: `w_…`, `nil` for the selected one.
    public static func messages(
        of channel: String, on node: SimulatedNode, in workspace: String? = nil
    ) -> [JSONValue] {
        var messages: [JSONValue] = []
        var before: String?
        repeat {
            var arguments: JSONObject = JSONObject()
            arguments.append("channel", .string(channel))
            arguments.append("limit", 100)
            if let workspace { arguments.append("workspace", .string(workspace)) }
            if let before { arguments.append("before", .string(before)) }
            guard let page = node.ask("message.history", .object(arguments)) else { return [] }
            messages = (page["items"]?.arrayValue ?? []) + messages
            before = page["older"]?.stringValue
        } while before != nil
        return messages
    }

    /// The texts of a channel's messages, oldest first.
    public static func texts(of channel: String, on node: SimulatedNode) -> [String] {
        messages(of: channel, on: node).compactMap { $0["text"]?.stringValue }
    }

    /// The digest of the selected workspace.
    public static func digest(of node: SimulatedNode) -> String? {
        guard let selected = node.ask("workspace.list")?["items"]?[0] else { return nil }
        return selected["digest"]?.stringValue
    }
}
