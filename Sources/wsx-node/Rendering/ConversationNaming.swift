import PeerNode
import WorkspaceModel

extension SessionPart {
    /// The channels and conversations of a workspace.
    ///
    /// - Parameter workspace: `nil` for the named workspace of the command line,
    ///   or the selected one.
    private func conversations(
        of workspace: JSONValue?, _ client: inout ControlClient
    ) throws(NodeError) -> [JSONValue] {
        var given: JSONObject = ["limit": 1_000]
        given["workspace"] = workspace ?? self.workspace.map { .string($0) }
        let directs = try client.call("dm.list", given)["items"]?.arrayValue ?? []
        given["scope"] = "all"
        return try (client.call("channel.list", given)["items"]?.arrayValue ?? []) + directs
    }

    /// Reads the names of channels and conversations.
    ///
    /// - Parameters:
    ///   - message: an item that may belong to another workspace; then that one's names are read,
    ///     with its own name as prefix.
    ///   - home: the workspace whose conversations are shown without prefix; `nil` for the one on
    ///     the command line, or the selected one.
    /// - Returns: the channel objects.
    @discardableResult
    func readNames(
        of message: JSONValue? = nil, home: JSONValue? = nil, _ client: inout ControlClient,
        into names: inout [String: String]
    ) throws(NodeError) -> [JSONValue] {
        let place = message?["workspace"]
        if workspace == nil, let home, let place, !place.isNull, place != home {
            // The user may have been removed from it between the message and this call.
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

    /// Reads the user's own name in a workspace by member id, for highlighting mentions; does
    /// nothing where they are not highlighted.
    func readOwnNames(
        for messages: [JSONValue], _ client: inout ControlClient, into rendering: inout Rendering
    ) {
        guard let message = messages.first(where: { $0["mentions"]?.arrayValue?.isEmpty == false })
        else { return }
        readOwnName(in: message["workspace"], &client, into: &rendering)
    }

    /// The same before showing messages of a workspace; each is requested once.
    ///
    /// - Parameter always: also where mentions are not highlighted.
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
