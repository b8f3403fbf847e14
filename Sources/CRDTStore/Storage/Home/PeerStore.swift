public import WorkspaceModel

/// State about other devices: addresses, agreed states, receipts.
public final class PeerStore {
    private let connection: Connection
    /// How many operations of a branch, from its log's start, each device is known to hold.
    private var held: [Int64: [DeviceID: UInt64]] = [:]
    private var unwritten: Set<HeldPlace> = []
    private var agreements: [AgreedPlace: Agreed] = [:]

    private struct HeldPlace: Hashable {
        let branch: Int64
        let device: DeviceID
    }

    private struct AgreedPlace: Hashable {
        let device: DeviceID
        let workspace: Int64
    }

    init(_ connection: Connection) throws(StorageError) {
        self.connection = connection
        try load()
    }

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

    /// The last state that a device and this one agreed on.
    public struct Agreed: Sendable, Equatable {
        /// Its root.
        public let root: SetDigest
        /// Our newest arrival number then.
        public let arrival: Int64

        /// Root and arrival number.
        public init(root: SetDigest, arrival: Int64) {
            self.root = root
            self.arrival = arrival
        }
    }

    /// The agreement with `device` in a workspace.
    public func agreed(
        with device: DeviceID, workspace: Int64
    ) throws(StorageError) -> Agreed? {
        agreements[AgreedPlace(device: device, workspace: workspace)]
    }

    /// Drops the agreements of a workspace after this store lost some of it.
    public func forgetAgreements(in workspace: Int64) throws(StorageError) {
        try connection.statement("DELETE FROM agreed WHERE workspace = ?")
            .run(.integer(workspace))
        agreements = agreements.filter { $0.key.workspace != workspace }
    }

    /// Stores an agreed state, in the transaction of the operations it covers.
    public func setAgreed(
        _ agreed: Agreed, with device: DeviceID, workspace: Int64
    ) throws(StorageError) {
        try connection.statement("INSERT OR REPLACE INTO agreed VALUES(?, ?, ?, ?)")
            .run(
                .blob(device.bytes), .integer(workspace), .blob(agreed.root.bytes),
                .integer(agreed.arrival))
        agreements[AgreedPlace(device: device, workspace: workspace)] = agreed
    }

    /// The devices with any agreement in a workspace. Ascending.
    public func agreedDevices(workspace: Int64) -> [DeviceID] {
        agreements.keys.filter { $0.workspace == workspace }.map(\.device).sorted()
    }

    // MARK: Receipts

    /// Records that `device` holds a branch up to `sequence`. Written with the next COMMIT,
    /// whenever there is one: a lost receipt is sent again when the peer reconnects.
    ///
    /// - Returns: how many operations of the branch it was known to hold before; `nil`
    ///   if this is not news.
    @discardableResult
    public func noteHeld(
        by device: DeviceID, branch: Int64, through sequence: UInt64
    ) -> UInt64? {
        let before = held[branch]?[device] ?? 0
        guard sequence < .max, before < sequence + 1 else { return nil }
        held[branch, default: [:]][device] = sequence + 1
        unwritten.insert(HeldPlace(branch: branch, device: device))
        return before
    }

    /// Whether `device` itself has acknowledged the operation at `sequence` of a branch.
    public func hasReceipt(of device: DeviceID, branch: Int64, through sequence: UInt64) -> Bool {
        held[branch]?[device] ?? 0 > sequence
    }

    /// The devices that have acknowledged the operation at `sequence` of a branch, by key.
    ///
    /// - Parameter arrival: its arrival number, which an agreed state may cover.
    public func holders(
        of branch: Int64, through sequence: UInt64, arrival: Int64, workspace: Int64
    ) -> [DeviceID] {
        var devices = Set((held[branch] ?? [:]).filter { $0.value > sequence }.keys)
        for (place, agreed) in agreements
        where place.workspace == workspace && agreed.arrival >= arrival {
            devices.insert(place.device)
        }
        return devices.sorted()
    }

    /// Removes the holders of a branch that is no longer stored: its number may be reused.
    public func forget(branch: Int64) {
        held[branch] = nil
        unwritten = unwritten.filter { $0.branch != branch }
    }

    /// Drops every agreed state: some of the agreed operations are gone, so only a full
    /// comparison finds them.
    public func forgetAgreed() throws(StorageError) {
        try connection.execute("DELETE FROM agreed")
        agreements = [:]
    }

    /// Whether COMMITs leave receipts in memory for now.
    public var keepsReceipts = false

    /// Whether there are unwritten receipts.
    public var hasUnwrittenReceipts: Bool { !unwritten.isEmpty }

    /// Writes receipts into an open transaction; called right before COMMIT.
    func flush() throws(StorageError) {
        guard !unwritten.isEmpty, !keepsReceipts else { return }
        let statement = try connection.statement("INSERT OR REPLACE INTO held VALUES(?, ?, ?)")
        for place in unwritten.sorted(by: { ($0.branch, $0.device) < ($1.branch, $1.device) }) {
            guard let count = held[place.branch]?[place.device] else { continue }
            try statement.run { row in
                row.bind(1, place.device)
                row.bind(2, place.branch)
                row.bind(3, Int64(bitPattern: count &- 1))
            }
        }
        unwritten.removeAll(keepingCapacity: true)
    }

    private func load() throws(StorageError) {
        try connection.statement("SELECT device, lid, seq FROM held").forEachRow {
            (row) throws(StorageError) in
            held[row.integer(1), default: [:]][try row.identifier32(0)] =
                UInt64(bitPattern: row.integer(2)) &+ 1
        }
        try connection.statement("SELECT device, workspace, root, arr FROM agreed").forEachRow {
            (row) throws(StorageError) in
            let place = AgreedPlace(device: try row.identifier32(0), workspace: row.integer(1))
            agreements[place] = Agreed(root: try row.identifier32(2), arrival: row.integer(3))
        }
    }
}
