import PeerNode
import WorkspaceModel

/// That somebody is writing: told to others while keys are hit here, and shown of others beside the
/// line that is being written.
extension Chat {
    /// What passes that a prompt shows.
    static let typingEvent = "typing"
    /// Between two words on one conversation. The node counts its 10 s by another clock, and drops
    /// what comes too early.
    private static let typingMilliseconds = Int64(Limits.typingMilliseconds) + 50

    /// Notes that a key has changed the line, where that is to be told.
    func noteTyping(_ key: Key) {
        switch key {
        case .text, .paste, .backspace, .delete: hasTyped = true
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
        guard isLive, tellsTyping, hasTyped else { return false }
        hasTyped = false
        let now = io.now
        toldTyping = toldTyping.filter {
            $0.value <= now && now &- $0.value < Self.typingMilliseconds
        }
        guard client != nil, toldTyping[room.id] == nil, isWriting else { return false }
        do throws(NodeError) {
            _ = try call("typing.send", ["channel": .string(room.id)])
        } catch {
            if Self.isAway(error) { lose(error) }
        }
        toldTyping[room.id] = io.now
        return true
    }

    /// Somebody else writes here.
    func hearTyping(_ data: JSONValue?) {
        guard isLive, data?["channel"] == .string(room.id),
            let id = data?["member"]?["id"]?.stringValue, ownNames[id] == nil
        else { return }
        room.typing.hear(id, rendering.person(data?["member"]), at: io.now)
    }
}
