import PeerNode

extension NodeHost {
    /// Notes that what was written to links has left, where a turn for it would do nothing. The loop
    /// of a node asks the same, and makes no turn then: that is so for nearly all that is sent.
    ///
    /// A deadline by the wall clock is as of the last turn: where that clock has stepped since, a turn
    /// has to see it.
    ///
    /// - Parameter last: the time of the last turn, `nil` before the first.
    /// - Returns: `false` where a turn has to take these inputs.
    func notes(_ inputs: [NodeInput], at time: TurnTime, after last: TurnTime?) -> Bool {
        var links: [LinkID] = []
        for input in inputs {
            guard case .unsent(let link, byteCount: 0) = input else { return false }
            links.append(link)
        }
        guard let last, time.wall &- last.wall == time.monotonic &- last.monotonic,
            !links.isEmpty, !hasMoreToDo, nextDeadline ?? .max > time.monotonic
        else { return false }
        return noteAllSent(on: links, at: time.monotonic)
    }
}
