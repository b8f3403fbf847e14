import CRDTStore
import WorkspaceModel

/// Where operations come from.
enum OperationSource: Equatable {
    /// This device wrote them in this turn.
    case ourselves
    /// A peer sent them; `backfill` when they are part of a first sync.
    case peer(DeviceID, source: UInt64, isBackfill: Bool)

    /// They waited for what they cite, since a peer sent them.
    case released(source: UInt64, isBackfill: Bool)

    /// The number under which its waiting operations are counted.
    var number: UInt64 {
        switch self {
        case .ourselves: 0
        case .peer(_, let source, _), .released(let source, _): source
        }
    }

    /// The device that brought it, where it has just done so.
    var bringer: DeviceID? {
        if case .peer(let device, _, _) = self { device } else { nil }
    }

    /// Whether bots should leave it alone.
    var isBackfill: Bool {
        switch self {
        case .ourselves: false
        case .peer(_, _, let isBackfill), .released(_, let isBackfill): isBackfill
        }
    }
}

/// The outcome of a run.
enum IngestOutcome: Equatable {
    /// So many operations were new, and are stored.
    case stored(Int)
    /// All of it was there already.
    case known
    /// It cites something unknown and waits for it, or was dropped because too much waits.
    case waiting
    /// It has no effect, or its author wrote too much of late, and was passed over.
    case dropped
    /// It breaks a rule.
    case rejected(Rejection)
}
