public import WorkspaceModel

/// The warnings of `status`, as stable words.
public enum WarningKind: String, CaseIterable, Sendable {
    case channelTwin = "channel.twin"
    case clockDoubtful = "clock.doubtful"
    case clockWrong = "clock.wrong"
    case copy
    case deviceRevoked = "device.revoked"
    case diskLow = "disk.low"
    case forkFound = "fork.found"
    case joinPending = "join.pending"
    case joinRefused = "join.refused"
    case keysMissing = "keys.missing"
    case keysWithheld = "keys.withheld"
    case memberDelayed = "member.delayed"
    case membershipUnknown = "membership.unknown"
    case netSuspended = "net.suspended"
    case sessionLocked = "session.locked"
    case storeCorrupt = "store.corrupt"
    case storeRebuilt = "store.rebuilt"
    case storeRestored = "store.restored"
    case storeRot = "store.rot"
    case storeStopped = "store.stopped"
    case storeUnreadable = "store.unreadable"
    case syncMissing = "sync.missing"
    case workspaceRemoved = "workspace.removed"

    /// Whether the node itself is in trouble. Other warnings are about what people do, and nobody
    /// should be able to make a supervisor stop the node with those.
    public var isIllness: Bool {
        switch self {
        case .diskLow, .sessionLocked, .storeCorrupt, .storeRestored, .storeStopped,
            .storeUnreadable:
            true
        case .channelTwin, .clockDoubtful, .clockWrong, .copy, .deviceRevoked, .forkFound,
            .joinPending, .joinRefused, .keysMissing, .keysWithheld, .memberDelayed,
            .membershipUnknown, .netSuspended, .storeRebuilt, .storeRot, .syncMissing,
            .workspaceRemoved:
            false
        }
    }

    /// The kind of a warning that is in the answer of `node.status`; `nil` for one that this build does
    /// not know.
    public init?(of warning: JSONValue) {
        self.init(rawValue: warning["kind"]?.stringValue ?? "")
    }
}
