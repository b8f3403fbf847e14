import PeerNode

extension NodeHost {
    /// Notes that what was written to links has left, where a turn for it would do nothing. The loop
    /// of a node asks the same, and makes no turn then: that is so for nearly all that is sent.
    ///
    /// - Parameter now: milliseconds of the monotonic clock.
    /// - Returns: `false` where a turn has to take these inputs.
    func notes(_ inputs: [NodeInput], at now: UInt64) -> Bool {
        var links: [LinkID] = []
        for input in inputs {
            guard case .unsent(let link, byteCount: 0) = input else { return false }
            links.append(link)
        }
        guard !links.isEmpty, !hasMoreToDo, nextDeadline ?? .max > now else { return false }
        return noteAllSent(on: links, at: now)
    }
}
