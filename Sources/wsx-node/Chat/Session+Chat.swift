import PeerNode
import WorkspaceModel

extension Session {
    /// `chat`, with keys and a prompt where there is a terminal that can draw.
    func chat(_ parameters: JSONObject) throws(NodeError) -> Int32 {
        let kind = environment["TERM"] ?? ""
        let canDraw = !kind.isEmpty && kind != "dumb" && !globals.json && !globals.plain
        let isLive = io.isInputTerminal && io.isOutputTerminal && canDraw
        guard let live = io.openLive(isRaw: isLive) else {
            throw NodeError.usage("'chat' needs a terminal to type in, or a pipe")
        }
        let chat = Chat(self, live, isLive: isLive)
        chat.typing.tellsTyping = tellsTyping
        return try chat.run(in: parameters["channel"]?.stringValue)
    }

    /// Whether typing is reported to others. Not if the settings are unreadable: they may forbid
    /// it.
    private var tellsTyping: Bool {
        do throws(NodeError) {
            let file = try ConfigFile(io.readFile(paths().configuration) ?? [])
            return (try? file.text(of: "chat.typing")) != "false"
        } catch {
            return false
        }
    }
}
