import WorkspaceModel

/// Changes in the set of devices that receive the sender's operations directly, so that nobody else
/// announces those operations to them.
public struct ReachUpdate: Sendable, Equatable {
    /// Devices that are reached now, at most `Limits.reachNamesMax`.
    public var come: [DeviceName]
    /// Devices that are no longer reached, as many.
    public var gone: [DeviceName]

    /// A message with the given fields.
    public init(come: [DeviceName], gone: [DeviceName]) {
        self.come = come
        self.gone = gone
    }
}

extension ReachUpdate {
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
        return .reach(workspace, ReachUpdate(come: come, gone: gone))
    }
}
