import WorkspaceModel

/// How much the answers of one turn hold. A client that asks for very much makes the node hold only
/// part of it at a time: answers leave before more calls are handled.
struct TurnAnswers {
    private var byteCount = 0
    private var byteCounts: [UInt64: Int] = [:]
    /// Connections with a postponed call: later calls are postponed too.
    private var waiting: Set<UInt64> = []

    /// Whether an input is put off to the next turn. Only calls are, and the ends of the connections
    /// on which calls were.
    mutating func putsOff(_ input: NodeInput) -> Bool {
        switch input {
        case .call(let call, _, _, _):
            let isFull =
                byteCount >= Limits.answersPerTurnBytesMax
                || byteCounts[call.connection] ?? 0 >= Limits.answersPerClientBytesMax
            if isFull { waiting.insert(call.connection) }
            return waiting.contains(call.connection)
        case .controlClosed(let connection): return waiting.contains(connection)
        default: return false
        }
    }

    /// Counts the answers among the effects.
    mutating func note(_ effects: [NodeEffect]) {
        for case .answer(let call, .success(let value)) in effects {
            let size = value.approximateByteCount
            byteCount += size
            byteCounts[call.connection, default: 0] += size
        }
    }
}
