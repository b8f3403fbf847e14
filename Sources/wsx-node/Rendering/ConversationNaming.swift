import PeerNode
import WorkspaceModel

extension SessionPart {
    /// The channels and conversations of a workspace.
    ///
    /// - Parameter workspace: `nil` for the one that the command line names, or the selected one.
    private func conversations(
        of workspace: JSONValue?, _ client: inout ControlClient
    ) throws(NodeError) -> [JSONValue] {
        var given: JSONObject = ["limit": 1_000]
        given["workspace"] = workspace ?? self.workspace.map { .string($0) }
        let directs = try client.call("dm.list", given)["items"]?.arrayValue ?? []
        given["scope"] = "all"
        return try (client.call("channel.list", given)["items"]?.arrayValue ?? []) + directs
    }

    /// The names of the channels and conversations by their ids.
    ///
    /// - Parameters:
    ///   - message: what belongs to a conversation that may be of another workspace; then the names
    ///     of that one are read, behind its own name.
    ///   - home: the workspace whose conversations are named without it; `nil` for the one that
    ///     the command line names, or the selected one.
    /// - Returns: the channels as they are.
    @discardableResult
    func readNames(
        of message: JSONValue? = nil, home: JSONValue? = nil, _ client: inout ControlClient,
        into names: inout [String: String]
    ) throws(NodeError) -> [JSONValue] {
        let place = message?["workspace"]
        if workspace == nil, let home, let place, !place.isNull, place != home {
            // One may have been put out of it between the message and this call.
            guard let other = try? client.call("workspace.get", ["workspace": place]),
                let found = try? conversations(of: place, &client)
            else { return [] }
            let name = (other["name"]?.stringValue ?? "") + " "
            for channel in found { Self.note(channel, behind: name, in: &names) }
            return found
        }
        let found = try conversations(of: home, &client)
        for channel in found { Self.note(channel, in: &names) }
        return found
    }

    private static func note(
        _ channel: JSONValue, behind workspace: String = "", in names: inout [String: String]
    ) {
        guard let id = channel["id"]?.stringValue, let own = ChannelNames.shown(channel) else {
            return
        }
        names[id] = workspace + own
    }

    /// One's own name in a workspace by the id of the member that one is, for messages that
    /// mention somebody; asked for only where mentions are set apart.
    func readOwnNames(
        for messages: [JSONValue], _ client: inout ControlClient, into rendering: inout Rendering
    ) {
        guard let message = messages.first(where: { $0["mentions"]?.arrayValue?.isEmpty == false })
        else { return }
        readOwnName(in: message["workspace"], &client, into: &rendering)
    }

    /// The same for whoever will see messages of a workspace; each is asked for once.
    ///
    /// - Parameter always: also where mentions are not set apart.
    func readOwnName(
        in workspace: JSONValue?, _ client: inout ControlClient, into rendering: inout Rendering,
        always: Bool = false
    ) {
        guard rendering.hasColour || always, !globals.json, !globals.plain,
            rendering.workspacesAsked.insert(workspace?.stringValue ?? "").inserted
        else { return }
        var given = JSONObject()
        given["workspace"] = workspace
        guard let own = try? client.call("profile.get", given), let id = own["id"]?.stringValue
        else { return }
        rendering.ownNames[id] = own["name"]?.stringValue
    }
}
