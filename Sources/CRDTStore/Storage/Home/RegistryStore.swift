public import WorkspaceModel

/// Workspaces, sealed keys, idempotent answers, and single values.
public final class RegistryStore {
    private let connection: Connection
    private let events: EventStore
    /// The number of remembered calls, or slightly more; `nil` until requested.
    private var madeCount: Int64?

    init(_ connection: Connection, _ events: EventStore) {
        (self.connection, self.events) = (connection, events)
    }

    // MARK: Single values

    /// The value of `name`, or `nil`.
    public func value(_ name: String) throws(StorageError) -> [UInt8]? {
        try connection.statement("SELECT value FROM meta WHERE name = ?")
            .firstRow(.text(name)) { $0.blob(0) }
    }

    /// Stores the value of `name`.
    public func setValue(_ value: [UInt8]?, of name: String) throws(StorageError) {
        guard let value else {
            return try connection.statement("DELETE FROM meta WHERE name = ?").run(.text(name))
        }
        try connection.statement("INSERT OR REPLACE INTO meta VALUES(?, ?)")
            .run(.text(name), .blob(value))
    }

    /// The names that begin with `prefix`, in order.
    public func names(beginningWith prefix: String) throws(StorageError) -> [String] {
        try connection.statement("SELECT name FROM meta WHERE name >= ? AND name < ? ORDER BY name")
            .rows(.text(prefix), .text(prefix + "~")) { (row) throws(StorageError) in
                try row.text(0)
            }
    }

    // MARK: Workspaces

    /// This home's relation to a workspace.
    public enum Standing: Int64, Sendable {
        /// Its authority document is being fetched; we are not admitted yet.
        case joining = 0
        /// We are, or were, a member.
        case member = 1
        /// The user removed it from this home; its data is being erased step by step.
        case forgotten = 2
    }

    /// One workspace of this home.
    public struct WorkspaceRow: Sendable, Equatable {
        /// The short number of its authority document.
        public let number: Int64
        /// The relation.
        public let standing: Standing
        /// Our member id in it.
        public let member: MemberID
        /// Since when, milliseconds.
        public let joined: Int64

        /// A row with the given fields.
        public init(number: Int64, standing: Standing, member: MemberID, joined: Int64) {
            self.number = number
            self.standing = standing
            self.member = member
            self.joined = joined
        }
    }

    /// The workspaces of this home, in the order in which they were added.
    public func workspaces() throws(StorageError) -> [WorkspaceRow] {
        try connection.statement("SELECT did, state, member, joined FROM workspace ORDER BY did")
            .rows { (row) throws(StorageError) in
                WorkspaceRow(
                    number: row.integer(0),
                    standing: Standing(rawValue: row.integer(1)) ?? .joining,
                    member: try row.identifier16(2), joined: row.integer(3))
            }
    }

    /// Adds or changes a workspace.
    public func setWorkspace(_ workspace: WorkspaceRow) throws(StorageError) {
        try connection.statement("INSERT OR REPLACE INTO workspace VALUES(?, ?, ?, ?)")
            .run(
                .integer(workspace.number), .integer(workspace.standing.rawValue),
                .blob(workspace.member.bytes), .integer(workspace.joined))
    }

    /// Marks a workspace as forgotten: its keys and events are removed at once. Its documents are
    /// erased later, and then `removeWorkspace` is called.
    public func forgetWorkspace(_ number: Int64) throws(StorageError) {
        try connection.statement("UPDATE workspace SET state = ? WHERE did = ?")
            .run(.integer(Standing.forgotten.rawValue), .integer(number))
        try connection.statement("DELETE FROM epoch_key WHERE workspace = ?")
            .run(.integer(number))
        // Keys of private documents are stored under those.
        try connection.statement(
            "DELETE FROM epoch_key WHERE workspace IN (SELECT did FROM document WHERE workspace = ?)"
        ).run(.integer(number))
        try events.remove(of: number)
    }

    /// Removes a workspace with its keys and events.
    public func removeWorkspace(_ number: Int64) throws(StorageError) {
        try connection.statement("DELETE FROM workspace WHERE did = ?").run(.integer(number))
        try connection.statement("DELETE FROM epoch_key WHERE workspace = ?")
            .run(.integer(number))
        // Keys of its private documents, whose rows are gone by now.
        try connection.execute(
            "DELETE FROM epoch_key WHERE kind > 2 AND workspace NOT IN (SELECT did FROM document)")
        try connection.statement("DELETE FROM agreed WHERE workspace = ?").run(.integer(number))
        try events.remove(of: number)
    }

    // MARK: Secrets

    /// A stored secret.
    public struct SealedSecretRow: Sendable {
        /// Its kind.
        public let kind: SecretKind
        /// Its name, 16 bytes.
        public let id: [UInt8]
        /// Sealed under the home's key.
        public let sealed: [UInt8]
    }

    /// Stores a sealed secret under its name.
    ///
    /// - Parameter workspace: the short number of the workspace, or of the private document.
    public func setSecret(
        _ sealed: [UInt8], kind: SecretKind, id: [UInt8], workspace: Int64,
        names: OperationStore
    ) throws(StorageError) {
        let known = try connection.statement(
            "SELECT kid FROM epoch_key WHERE workspace = ? AND kind = ? AND id = ?"
        ).integer(.integer(workspace), .integer(kind.rawValue), .blob(id))
        let number: Int64
        if let known {
            number = known
        } else if kind == .epochKey, let keyID = KeyID(untrusted: id) {
            number = try names.names.number(ofHeldKey: keyID, in: workspace)
        } else {
            number = try names.names.insertSecret(kind, id, in: workspace)
        }
        try connection.statement("UPDATE epoch_key SET secret = ? WHERE kid = ?")
            .run(.blob(sealed), .integer(number))
    }

    /// The secrets of a workspace, or of a private document, in order of arrival.
    public func secrets(of workspace: Int64) throws(StorageError) -> [SealedSecretRow] {
        let sql = """
            SELECT kind, id, secret FROM epoch_key
                WHERE workspace = ? AND secret IS NOT NULL ORDER BY kid
            """
        var rows: [SealedSecretRow] = []
        try connection.statement(sql).forEachRow(.integer(workspace)) { row in
            guard let kind = SecretKind(rawValue: row.integer(0)) else { return }
            rows.append(SealedSecretRow(kind: kind, id: row.blob(1), sealed: row.blob(2)))
        }
        return rows
    }

    /// Secrets of any kind and workspace, each with its row number, after `last`.
    public func secrets(
        after last: Int64, limit: Int
    ) throws(StorageError) -> [(number: Int64, row: SealedSecretRow)] {
        try connection.statement(
            """
            SELECT kid, kind, id, secret FROM epoch_key
                WHERE kid > ? AND secret IS NOT NULL ORDER BY kid LIMIT ?
            """
        ).rows(.integer(last), .integer(Int64(limit))) { row in
            (
                row.integer(0),
                SealedSecretRow(
                    kind: SecretKind(rawValue: row.integer(1)) ?? .epochKey, id: row.blob(2),
                    sealed: row.blob(3))
            )
        }
    }

    /// Removes a secret, by its row number.
    public func forgetSecret(_ number: Int64) throws(StorageError) {
        try connection.statement("UPDATE epoch_key SET secret = NULL WHERE kid = ?")
            .run(.integer(number))
    }

    /// One sealed secret, or `nil` if it is not held.
    public func secret(
        _ kind: SecretKind, _ id: [UInt8], of workspace: Int64
    ) throws(StorageError) -> [UInt8]? {
        try connection.statement(
            """
            SELECT secret FROM epoch_key
                WHERE workspace = ? AND kind = ? AND id = ? AND secret IS NOT NULL
            """
        ).firstRow(.integer(workspace), .integer(kind.rawValue), .blob(id)) { $0.blob(0) }
    }

    /// Removes the secrets of a private document; the store overwrites deleted bytes.
    public func forgetSecrets(of document: Int64) throws(StorageError) {
        try connection.statement("UPDATE epoch_key SET secret = NULL WHERE workspace = ?")
            .run(.integer(document))
    }

    // MARK: Idempotent answers

    /// The result of a call, for recognising a repeated call.
    public struct MadeRow: Sendable, Equatable {
        /// A keyed hash of the parameters.
        public let body: [UInt8]
        /// A reference to the result, in the node's encoding.
        public let made: [UInt8]

        /// A row with the given fields.
        public init(body: [UInt8], made: [UInt8]) {
            self.body = body
            self.made = made
        }
    }

    /// The result of the call with this keyed hash, as long as it is remembered.
    public func made(_ key: [UInt8]) throws(StorageError) -> MadeRow? {
        try connection.statement("SELECT body, made FROM request WHERE key = ?")
            .firstRow(.blob(key)) { MadeRow(body: $0.blob(0), made: $0.blob(1)) }
    }

    /// Remembers the result of a call.
    public func setMade(_ row: MadeRow, key: [UInt8], at: UInt64) throws(StorageError) {
        try connection.statement("INSERT OR REPLACE INTO request VALUES(?, ?, ?, ?)")
            .run(
                .blob(key), .blob(row.body), .blob(row.made), .integer(Int64(bitPattern: at)))
        if let known = madeCount { madeCount = known + 1 }
    }

    /// Removes calls before `at`, milliseconds, once there are more than `count` in all: a clock
    /// that jumps ahead must not make a node forget its latest calls.
    public func trimMade(before at: UInt64, keeping count: Int64) throws(StorageError) {
        if madeCount == nil { madeCount = try countMade() }
        guard let known = madeCount, known > count else { return }
        try connection.statement("DELETE FROM request WHERE at < ?")
            .run(.integer(Int64(bitPattern: at)))
        madeCount = try countMade()
    }

    private func countMade() throws(StorageError) -> Int64 {
        try connection.statement("SELECT count(*) FROM request").integer() ?? 0
    }

    // MARK: Forks

    /// Records that two operations have one place of a log.
    public func addEvidence(
        branch: Int64, sequence: UInt64, other: Int64, at: UInt64
    ) throws(StorageError) {
        try connection.statement("INSERT OR IGNORE INTO evidence VALUES(?, ?, ?, ?)")
            .run(
                .integer(branch), .integer(Int64(bitPattern: sequence)), .integer(other),
                .integer(Int64(bitPattern: at)))
    }

    /// Evidence that a device forked: two branches that diverge at one place of a log.
    public struct EvidenceRow: Sendable, Equatable {
        /// The branch that arrived first.
        public let branch: Int64
        /// Where they diverge.
        public let sequence: UInt64
        /// The branch that arrived second.
        public let other: Int64
        /// When it was detected, milliseconds.
        public let found: Int64
    }

    /// The newest evidence of forks, at most `limit`, newest first.
    public func evidence(limit: Int) throws(StorageError) -> [EvidenceRow] {
        let sql = """
            SELECT lid, seq, branch, found FROM evidence
                ORDER BY found DESC, lid, seq, branch LIMIT ?
            """
        return try connection.statement(sql).rows(.integer(Int64(limit))) {
            EvidenceRow(
                branch: $0.integer(0), sequence: UInt64(bitPattern: $0.integer(1)),
                other: $0.integer(2), found: $0.integer(3))
        }
    }

    /// How many forks were detected.
    public func evidenceCount() throws(StorageError) -> Int64 {
        try connection.statement("SELECT count(*) FROM evidence").integer() ?? 0
    }
}
