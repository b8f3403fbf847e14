public import WorkspaceModel

/// Which link of a workspace pulls which log, so that nothing is pulled twice at a time.
///
/// The node owns one for each workspace and lends it to the sessions. A log that a source fails to
/// deliver is free again, and another session that knows a source for it takes it over.
public struct PullPlanner: Sendable {
    /// A session, by a number that the node gives it and never gives again.
    public typealias SourceID = UInt64

    private var sources: [LogName: SourceID] = [:]
    /// Logs that somebody else wanted while they were taken.
    private var wanted: Set<LogName> = []

    /// A planner without pulls.
    public init() {}

    /// How many logs are being pulled.
    public var count: Int { sources.count }

    /// Who pulls `log` at present.
    public func source(of log: LogName) -> SourceID? { sources[log] }

    /// Whether another session wanted one of these logs while it was taken.
    func isWanted(_ logs: [LogName]) -> Bool {
        !wanted.isEmpty && logs.contains { wanted.contains($0) }
    }

    /// Gives `log` to `source` unless another one has it.
    mutating func reserve(_ log: LogName, for source: SourceID) -> Bool {
        if let holder = sources[log], holder != source {
            wanted.insert(log)
            return false
        }
        sources[log] = source
        return true
    }

    /// Frees `log` if `source` has it, and says whether another one wanted it meanwhile.
    mutating func release(_ log: LogName, by source: SourceID) -> Bool {
        guard sources[log] == source else { return false }
        sources[log] = nil
        return wanted.remove(log) != nil
    }
}
