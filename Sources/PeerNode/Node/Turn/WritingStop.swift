import CRDTStore
import WorkspaceModel

/// The disk failed, and nothing is written until the process starts again: after a failed fsync it
/// is unknown what arrived. Reads continue.
struct WritingStop {
    let error: StorageError
    /// When, milliseconds since 1970.
    let at: UInt64

    /// The message for people, wherever they look.
    var message: String {
        "writing has stopped: the disk failed on \(UTCMinute.text(at)); restart after checking it"
    }

    static let hint = "check the disk, then wsx-node down and wsx-node up"
    /// Its kind in `status`.
    static let kind = WarningKind.storeStopped

    var warning: StatusObject.Warning {
        .init(kind: Self.kind, message: message, hint: Self.hint)
    }

    var finding: FindingObject {
        .init(id: "writing", state: "fail", message: message, hint: Self.hint)
    }

    var refusal: NodeError {
        NodeError(.storeFailed, message, hint: Self.hint, reason: "store.io")
    }
}

extension NodeTurn {
    /// The data of the event that every stream gets once, though it cannot be stored.
    var stopData: JSONValue {
        guard let stop = writingStop else { return [:] }
        return [
            "kind": .string(WritingStop.kind.rawValue), "message": .string(stop.message),
            "hint": .string(WritingStop.hint),
        ]
    }
}
