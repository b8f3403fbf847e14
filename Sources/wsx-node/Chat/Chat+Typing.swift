import PeerNode
import WorkspaceModel

/// Typing indicators: sent to others while keys are pressed here, and shown for others beside the
/// line being edited.
extension Chat {
    /// Between two indicators for one conversation. The node measures its 10 s by another clock,
    /// and drops early ones.
    private static let typingMilliseconds = Int64(Limits.typingMilliseconds) + 50

    /// Records a key that changed the line, if typing is reported.
    func noteTyping(_ key: Key) {
        switch key {
        case .text, .paste, .backspace, .delete: typing.hasTyped = true
        default: break
        }
    }

    /// Whether the line is becoming a message, not a command.
    private var isWriting: Bool {
        guard editor.characters.first == "/" else { return ChatLine(editor.text) != .nothing }
        // A message that begins with a slash.
        return editor.characters.starts(with: "//")
    }

    /// Sends a typing indicator if one is due. Failures are ignored: others need not hear of it.
    ///
    /// - Returns: whether the daemon was called: events may have arrived with its answer.
    func tellTyping() -> Bool {
        guard isLive, typing.tellsTyping, typing.hasTyped else { return false }
        typing.hasTyped = false
        let now = io.now
        typing.toldTyping = typing.toldTyping.filter {
            $0.value <= now && now &- $0.value < Self.typingMilliseconds
        }
        guard client != nil, typing.toldTyping[room.id] == nil, isWriting else { return false }
        do throws(NodeError) {
            _ = try call("typing.send", ["channel": .string(room.id)])
        } catch {
            if Self.isAway(error) { lose(error) }
        }
        typing.toldTyping[room.id] = io.now
        return true
    }

    /// Somebody else is typing here.
    func hearTyping(_ data: JSONValue?) {
        guard isLive, data?["channel"] == .string(room.id),
            let id = data?["member"]?["id"]?.stringValue, names.ownNames[id] == nil
        else { return }
        room.typing.hear(id, rendering.person(data?["member"]), at: io.now)
    }
}
