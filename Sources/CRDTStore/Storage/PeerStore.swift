public import WorkspaceModel

/// What is remembered of other devices: addresses, agreed states, receipts.
public final class PeerStore {
    private let connection: Connection

    init(_ connection: Connection) { self.connection = connection }

    // MARK: Address book

    /// The entries of the address book, encoded by the layer that knows addresses.
    public func entries() throws(StorageError) -> [(name: [UInt8], value: [UInt8])] {
        var entries: [(name: [UInt8], value: [UInt8])] = []
        try connection.statement("SELECT name, value FROM peer ORDER BY name").forEachRow { row in
            entries.append((row.blob(0), row.blob(1)))
        }
        return entries
    }

    /// Stores or removes an entry.
    public func setEntry(_ value: [UInt8]?, name: [UInt8]) throws(StorageError) {
        guard let value else {
            return try connection.statement("DELETE FROM peer WHERE name = ?").run(.blob(name))
        }
        try connection.statement("INSERT OR REPLACE INTO peer VALUES(?, ?)")
            .run(.blob(name), .blob(value))
    }

    // MARK: Agreed states

    /// The last state that a device and we both had.
    public struct Agreed: Sendable, Equatable {
        /// The root of it.
        public let root: SetDigest
        /// Our newest arrival number then.
        public let arrival: Int64

        /// Root and arrival number.
        public init(root: SetDigest, arrival: Int64) {
            self.root = root
            self.arrival = arrival
        }
    }

    /// What was agreed with `device` in a workspace.
    public func agreed(
        with device: DeviceID, workspace: Int64
    ) throws(StorageError) -> Agreed? {
        try connection.statement("SELECT root, arr FROM agreed WHERE device = ? AND workspace = ?")
            .firstRow(.blob(device.bytes), .integer(workspace)) { (row) throws(StorageError) in
                Agreed(root: try row.identifier32(0), arrival: row.integer(1))
            }
    }

    /// Stores an agreed state, in the transaction of the operations it speaks of.
    public func setAgreed(
        _ agreed: Agreed, with device: DeviceID, workspace: Int64
    ) throws(StorageError) {
        try connection.statement("INSERT OR REPLACE INTO agreed VALUES(?, ?, ?, ?)")
            .run(
                .blob(device.bytes), .integer(workspace), .blob(agreed.root.bytes),
                .integer(agreed.arrival))
    }

    // MARK: Receipts

    /// Notes that `device` says it holds a branch up to `sequence`.
    public func setHeld(
        by device: DeviceID, branch: Int64, through sequence: UInt64
    ) throws(StorageError) {
        let sql = """
            INSERT INTO held VALUES(?1, ?2, ?3) ON CONFLICT(device, lid)
                DO UPDATE SET seq = ?3 WHERE seq < ?3
            """
        try connection.statement(sql).run { row in
            row.bind(1, device)
            row.bind(2, branch)
            row.bind(3, Int64(bitPattern: sequence))
        }
    }

    /// The devices that say they hold a branch up to `sequence`, by key.
    public func holders(
        of branch: Int64, through sequence: UInt64
    ) throws(StorageError) -> [DeviceID] {
        try connection.statement(
            "SELECT device FROM held WHERE lid = ? AND seq >= ? ORDER BY device"
        ).rows(.integer(branch), .integer(Int64(bitPattern: sequence))) {
            (row) throws(StorageError) in try row.identifier32(0)
        }
    }
}
