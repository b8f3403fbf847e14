import PeerNode
import WorkspaceModel

/// Who has your newest message. Only its line changes: in place while it is the last one on the
/// screen; otherwise one new line appears, once everybody has it or some have had it for a while.
/// Receipts of other messages are not shown.
extension Chat {
    /// Your message was shown: from now on its tick is updated, and no longer that
    /// of the previous one.
    func beginTick(of message: JSONValue) {
        guard let tick = ChatTick(message) else { return }
        // A message from another device of yours may arrive after a newer one.
        if let newest = room.tick.flatMap({ room.messages[$0.message] }),
            newest["at"]?.integerValue ?? 0 > message["at"]?.integerValue ?? 0
        {
            return
        }
        room.tick = tick
        bottom.tickDue = nil
        bottom.watch = nil
        if isLive { bottom.watch = (tick.message, io.now, 125) }
    }

    /// The node reports that somebody has received a message.
    func hearTick(_ data: JSONValue?) {
        guard hasReader, let tick = room.tick, !tick.isSettled,
            data?["message"] == .string(tick.message)
        else { return }
        // A further device of a person who has it is not news.
        if let people = data?["people"]?.integerValue, people <= tick.people { return }
        bottom.watch = (tick.message, io.now, bottom.watch?.delay ?? 125)
    }

    /// Asks who has the newest message, repeatedly until everybody does.
    ///
    /// - Parameter isShown: whether its line is on the screen yet, so that changes are shown.
    func askTick(isShown: Bool = true) throws(NodeError) {
        guard var tick = room.tick else { return bottom.watch = nil }
        let delay = min(30_000, (bottom.watch?.delay ?? 125) * 2)
        bottom.watch = (tick.message, io.now + delay, delay)
        let answer: JSONValue
        do throws(NodeError) {
            answer = try call(
                "message.holders", ["message": .string(tick.message), "limit": 1_000])
        } catch {
            if !Self.isAway(error) { bottom.watch = nil }
            throw error
        }
        let before = tick
        tick.take(answer["items"]?.arrayValue ?? [])
        room.tick = tick
        if tick.isSettled { bottom.watch = nil }
        if isShown, tick != before { showTick(after: before.people) }
    }

    /// How long to wait for the remaining people before partial receipt is shown.
    private static let partialMilliseconds: Int64 = 2_000

    /// Shows the current tick.
    ///
    /// - Parameter before: how many people had the message before.
    private func showTick(after before: Int64) {
        guard let tick = room.tick else { return }
        if tick.message == bottom.openMessage, redrawOpen() { return bottom.tickDue = nil }
        guard tick.people > before else { return }
        if tick.isSettled {
            tellTick()
        } else if before == 0 {
            bottom.tickDue = io.now + Self.partialMilliseconds
        }
    }

    private func tellTick() {
        bottom.tickDue = nil
        guard let tick = room.tick, let message = room.messages[tick.message] else { return }
        let mark = room.mark(message).drop { $0 == " " }
        // Deleted since, or rejected.
        guard !mark.isEmpty else { return }
        let text = message["text"]?.stringValue ?? ""
        remark("       \(mark)  \(excerpt(text.isEmpty ? "-" : text))")
    }

    /// Shows partial receipt after the wait.
    func tellWaitingTick() {
        if let tickDue = bottom.tickDue, tickDue <= io.now { tellTick() }
    }
}
