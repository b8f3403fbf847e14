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
        return try Chat(self, live, isLive: isLive)
            .run(in: parameters["channel"]?.stringValue)
    }
}
