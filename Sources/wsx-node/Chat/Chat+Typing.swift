import PeerNode
import WorkspaceModel

/// That somebody is writing: told to others while keys are hit here, and shown of others beside the
/// line that is being written.
extension Chat {
    /// Between two words on one conversation. The node counts its 10 s by another clock, and drops
    /// what comes too early.
    private static let typingMilliseconds = Int64(Limits.typingMilliseconds) + 50

    /// Notes that a key has changed the line, where that is to be told.
    func noteTyping(_ key: Key) {
        switch key {
        case .text, .paste, .backspace, .delete: typing.hasTyped = true
        default: break
        }
    }

    /// Whether the line is becoming a message, and no command.
    private var isWriting: Bool {
        guard editor.characters.first == "/" else { return ChatLine(editor.text) != .nothing }
        // A message that begins with a slash.
        return editor.characters.starts(with: "//")
    }

    /// Tells others that somebody writes here, if that is to be told now. They need not hear of it,
    /// so nothing is said where it cannot be told.
    ///
    /// - Returns: whether the daemon was asked: something may have come beside its answer.
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

    /// Somebody else writes here.
    func hearTyping(_ data: JSONValue?) {
        guard isLive, data?["channel"] == .string(room.id),
            let id = data?["member"]?["id"]?.stringValue, names.ownNames[id] == nil
        else { return }
        room.typing.hear(id, rendering.person(data?["member"]), at: io.now)
    }
}
