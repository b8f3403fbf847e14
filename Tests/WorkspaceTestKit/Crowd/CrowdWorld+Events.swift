/// Events in a crowd, with their cost.
extension CrowdWorld {
    /// The text of the message whose way is looked at, and of all others.
    package static let messageBytes = 1_000
    static let lineBytes = 100
    /// How long after an event is counted what it causes, as `wsx-bench team` does, in milliseconds;
    /// and how many times as long is waited until everybody has everything.
    private static let window: UInt64 = 20_000
    private static let windowsMax: UInt64 = 60

    /// Whether everybody has everything.
    package var isWhole: Bool { nodes.allSatisfy { $0.replica.isWhole } }

    /// How many nodes there are, and how many of them lack something.
    package var nodeCount: Int { nodes.count }
    /// See `nodeCount`.
    package var lackingCount: Int { nodes.count { !$0.replica.isWhole } }
    /// How many different roots their replicas have.
    package var rootCount: Int { Set(nodes.map(\.replica.root)).count }
    /// Runs that came to somebody and are not what was written.
    package var foreignCount: Int { nodes.reduce(0) { $0 + $1.replica.foreignCount } }
    /// How many others a node has said to reach on one link, the most of all.
    package var toldMax: Int { ends.compactMap { $0?.told.count }.max() ?? 0 }
    /// What sessions objected to.
    package var violationCount: Int { violations.count }

    /// What something causes that happens in a crowd that has come to rest: within 20 s, or until
    /// everybody has everything where that takes longer.
    ///
    /// - Parameter floor: the bytes of text that somebody lacks.
    func measure(_ what: String, floor: Int, _ happens: () -> Void) -> CrowdRow {
        forgetTraffic()
        let start = now
        var end: (turns: Int, milliseconds: UInt64)?
        happens()
        while step(before: start + (end == nil ? Self.windowsMax : 1) * Self.window) {
            if end == nil, isWhole { end = (turns, now - start) }
        }
        pass(to: start + Self.window)
        return CrowdRow(what: what, traffic: traffic, floor: floor, end: end)
    }

    /// Comes to rest, and is as after a minute without a word: every link may compare at once.
    ///
    /// - Returns: whether it did.
    package func rest() -> Bool {
        let isCalm = calm()
        pass(to: now + 60_000)
        return isCalm
    }

    /// Somebody comes in who has nothing.
    package func newcomer() -> CrowdRow {
        measure("somebody joins, \(history.operationCount) operations", floor: history.textBytes) {
            join()
        }
    }

    /// The first node says something, to all others.
    package func message(_ what: String) -> CrowdRow {
        measure(what, floor: (nodes.count - 1) * Self.messageBytes) {
            write(at: 0, textBytes: Self.messageBytes)
        }
    }

    /// Somebody comes back who was away while the first ten said ten lines each. How those came to
    /// all others is not counted, and not played: they have them.
    package func returning() -> CrowdRow? {
        let index = 11
        let peers = peers(of: index)
        leave(index)
        guard rest() else { return nil }
        for line in 0..<100 {
            let author = line % 10
            history.write(
                by: nodes[author].device, in: author % history.documents.count,
                textBytes: Self.lineBytes)
        }
        for (other, node) in nodes.enumerated() where other != index { node.replica.holdAll() }
        return measure("one comes back, 100 messages by 10 authors", floor: 100 * Self.lineBytes) {
            for peer in peers { connect(index, peer) }
        }
    }
}
