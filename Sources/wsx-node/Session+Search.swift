import PeerNode
import WorkspaceModel

/// The search command.
extension SessionPart {
    func search(_ command: Command) throws(NodeError) -> Int32 {
        let parameters = try parameters(for: command)
        var client = try client()
        let result = try client.call(command.name, parameters)
        var rendering = rendering
        if !globals.json, !globals.plain {
            var names: [String: String] = [:]
            try readNames(&client, into: &names)
            rendering.channelNames = names
        }
        show(rendering.text(result, of: command.name), isLong: true)
        tellMore(result, command)
        if result["items"]?.arrayValue?.isEmpty == true {
            tellFilters(in: parameters["query"]?.stringValue ?? "")
        }
        if result["complete"] == false, !globals.json {
            io.tell("wsx-node: some older messages may be missing: not all are indexed\n")
        }
        return status(of: result)
    }
}
