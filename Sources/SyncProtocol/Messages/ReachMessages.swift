import WorkspaceModel

/// Which devices hear what the sender writes from the sender itself, as far as that has changed: so
/// nobody who was told passes it on to them.
public struct ReachWord: Sendable, Equatable {
    /// Devices that are reached from now on, at most `Limits.reachNamesMax`.
    public var come: [DeviceName]
    /// Devices that are no more, as many.
    public var gone: [DeviceName]

    /// A word with the given fields.
    public init(come: [DeviceName], gone: [DeviceName]) {
        self.come = come
        self.gone = gone
    }
}

extension ReachWord {
    func encode(_ workspace: WorkspaceNumber, to body: inout CBOREncoder) {
        body.map(count: 3)
        body.workspace(workspace)
        body.key(2)
        body.names(come)
        body.key(3)
        body.names(gone)
    }
}

extension SyncMessage {
    static func reach(from body: inout CBORDecoder) throws(Malformed) -> SyncMessage {
        try body.mapCount(exactly: 3)
        let workspace = try body.workspace()
        try body.key(exactly: 2)
        let come = try body.deviceNames(max: Limits.reachNamesMax)
        try body.key(exactly: 3)
        let gone = try body.deviceNames(max: Limits.reachNamesMax)
        return .reach(workspace, ReachWord(come: come, gone: gone))
    }
}
