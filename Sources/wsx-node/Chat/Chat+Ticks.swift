import PeerNode
import WorkspaceModel

/// Who has one's newest message. Its line alone changes: in its place while it is the last one on
/// the screen, and otherwise in one new line, once everybody has it or some do for a while. No other
/// message is told of again, whoever comes to hold it.
extension Chat {
    /// A message of one's own stands on the screen: the tick of this one changes from now on, and no
    /// more that of the one before.
    func beginTick(of message: JSONValue) {
        guard let tick = ChatTick(message) else { return }
        // What another device of one's own wrote may come later than it was written.
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

    /// The node says that somebody has got a message.
    func hearTick(_ data: JSONValue?) {
        guard hasReader, let tick = room.tick, !tick.isSettled,
            data?["message"] == .string(tick.message)
        else { return }
        // Another device of somebody who has it already is no news.
        if let people = data?["people"]?.integerValue, people <= tick.people { return }
        bottom.watch = (tick.message, io.now, bottom.watch?.delay ?? 125)
    }

    /// Asks who has the newest message, and later again while not everybody does.
    ///
    /// - Parameter isShown: whether its line is on the screen yet, and what is new is shown.
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

    /// How long it is waited for the rest to have a message, before those that have it are told of.
    private static let partialMilliseconds: Int64 = 2_000

    /// Shows the tick as it is now.
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
        // Deleted since, or refused.
        guard !mark.isEmpty else { return }
        let text = message["text"]?.stringValue ?? ""
        remark("       \(mark)  \(excerpt(text.isEmpty ? "-" : text))")
    }

    /// Tells of those that have waited long enough for the rest.
    func tellWaitingTick() {
        if let tickDue = bottom.tickDue, tickDue <= io.now { tellTick() }
    }
}
