import CRDTStore
import WorkspaceModel

/// What is remembered of a store that was damaged and rebuilt, until a check finds nothing.
struct StoreRebuild {
    /// When, milliseconds since 1970.
    let at: UInt64
    /// Whether keys may be lost.
    let lostKeys: Bool

    private static let name = "rebuilt"

    /// Its kind in `status`.
    static let kind = WarningKind.storeRebuilt

    /// Writes that it was rebuilt now.
    static func note(at time: UInt64, in registry: RegistryStore) throws(StorageError) {
        let lostKeys = try registry.value(StoreSalvage.unbuilt) == [2]
        try registry.setValue(bigEndianBytes(of: time) + [lostKeys ? 1 : 0], of: name)
    }

    /// The last time, `nil` for a store that never was, or that was checked since.
    static func last(in registry: RegistryStore) throws(StorageError) -> StoreRebuild? {
        guard let bytes = try registry.value(name), bytes.count == 9 else { return nil }
        return StoreRebuild(
            at: bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }, lostKeys: bytes[8] == 1)
    }

    /// Forgets it.
    static func forget(in registry: RegistryStore) throws(StorageError) {
        try registry.setValue(nil, of: name)
    }

    /// The error for callers that waited during the rebuild.
    static var refusal: NodeError {
        NodeError(
            .busy, "the store was damaged, and has been rebuilt", hint: "try again",
            reason: kind.rawValue)
    }

    /// The message for people.
    var warning: StatusObject.Warning {
        var message =
            "node.db was damaged, and was rebuilt on \(UTCMinute.text(at)) from what could be read"
        message += "; the damaged file is kept as node.db.damaged"
        if lostKeys {
            message += "; some keys could not be recovered, and what only they open stays closed"
        }
        return .init(
            kind: Self.kind, message: message,
            hint: "check the disk, then wsx-node check")
    }
}
