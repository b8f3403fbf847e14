public import WorkspaceModel

/// Workspaces, sealed keys, answers to repeat, and single values.
public final class RegistryStore {
    private let connection: Connection
    /// Remembered calls, or a few more; `nil` until it was asked for.
    private var madeCount: Int64?

    init(_ connection: Connection) { self.connection = connection }

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

    /// The names that begin so, in order.
    public func names(beginningWith prefix: String) throws(StorageError) -> [String] {
        try connection.statement("SELECT name FROM meta WHERE name >= ? AND name < ? ORDER BY name")
            .rows(.text(prefix), .text(prefix + "~")) { (row) throws(StorageError) in
                try row.text(0)
            }
    }

    // MARK: Workspaces

    /// How this home stands to a workspace.
    public enum Standing: Int64, Sendable {
        /// Its authority document is being fetched; nobody has admitted us yet.
        case joining = 0
        /// We are, or were, a member.
        case member = 1
        /// Its person wants it gone from this home; what is stored of it goes bit by bit.
        case forgotten = 2
    }

    /// One workspace of this home.
    public struct WorkspaceRow: Sendable, Equatable {
        /// The short number of its authority document.
        public let number: Int64
        /// How we stand to it.
        public let standing: Standing
        /// Who we are in it.
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

    /// The workspaces of this home, in the order in which they came.
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

    /// Has a workspace be nothing any more: its keys go at once, and what happened in it. What is
    /// stored of its documents is left to erase; `removeWorkspace` comes behind that.
    public func forgetWorkspace(_ number: Int64) throws(StorageError) {
        try connection.statement("UPDATE workspace SET state = ? WHERE did = ?")
            .run(.integer(Standing.forgotten.rawValue), .integer(number))
        try connection.statement("DELETE FROM epoch_key WHERE workspace = ?")
            .run(.integer(number))
        // Keys of private documents stand under those.
        try connection.statement(
            "DELETE FROM epoch_key WHERE workspace IN (SELECT did FROM document WHERE workspace = ?)"
        ).run(.integer(number))
        try connection.statement("DELETE FROM event WHERE workspace = ?").run(.integer(number))
    }

    /// Forgets a workspace, its keys and what happened in it.
    public func removeWorkspace(_ number: Int64) throws(StorageError) {
        try connection.statement("DELETE FROM workspace WHERE did = ?").run(.integer(number))
        try connection.statement("DELETE FROM epoch_key WHERE workspace = ?")
            .run(.integer(number))
        // Those of its private documents, whose rows are gone by now.
        try connection.execute(
            "DELETE FROM epoch_key WHERE kind > 2 AND workspace NOT IN (SELECT did FROM document)")
        try connection.statement("DELETE FROM agreed WHERE workspace = ?").run(.integer(number))
        try connection.statement("DELETE FROM event WHERE workspace = ?").run(.integer(number))
    }

    // MARK: Secrets

    /// A secret as it lies on disk.
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

    /// The secrets held for a workspace, or for a private document, in the order in which they
    /// came.
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

    /// Secrets of whatever kind and workspace, each with the number of its row, behind `last`.
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

    /// Forgets a secret, by the number of its row.
    public func forgetSecret(_ number: Int64) throws(StorageError) {
        try connection.statement("UPDATE epoch_key SET secret = NULL WHERE kid = ?")
            .run(.integer(number))
    }

    /// One sealed secret, or `nil` where it is not held.
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

    /// Forgets the secrets held for a private document; the store overwrites what it deletes.
    public func forgetSecrets(of document: Int64) throws(StorageError) {
        try connection.statement("UPDATE epoch_key SET secret = NULL WHERE workspace = ?")
            .run(.integer(document))
    }

    // MARK: Answers to repeat

    /// What was made by a call, to be recognised when the call comes again.
    public struct MadeRow: Sendable, Equatable {
        /// A keyed hash of the parameters.
        public let body: [UInt8]
        /// What was made, in a form that the node gives it.
        public let made: [UInt8]

        /// A row with the given fields.
        public init(body: [UInt8], made: [UInt8]) {
            self.body = body
            self.made = made
        }
    }

    /// What the call with this keyed hash has made, as long as that is remembered.
    public func made(_ key: [UInt8]) throws(StorageError) -> MadeRow? {
        try connection.statement("SELECT body, made FROM request WHERE key = ?")
            .firstRow(.blob(key)) { MadeRow(body: $0.blob(0), made: $0.blob(1)) }
    }

    /// Remembers what a call has made.
    public func setMade(_ row: MadeRow, key: [UInt8], at: UInt64) throws(StorageError) {
        try connection.statement("INSERT OR REPLACE INTO request VALUES(?, ?, ?, ?)")
            .run(
                .blob(key), .blob(row.body), .blob(row.made), .integer(Int64(bitPattern: at)))
        if let known = madeCount { madeCount = known + 1 }
    }

    /// Forgets the calls before `at`, milliseconds, once there are more than `count` in all: a
    /// clock that jumps ahead must not make a node forget what it has just done.
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

    /// Notes that two operations stand at one place of a log.
    public func addEvidence(
        branch: Int64, sequence: UInt64, other: Int64, at: UInt64
    ) throws(StorageError) {
        try connection.statement("INSERT OR IGNORE INTO evidence VALUES(?, ?, ?, ?)")
            .run(
                .integer(branch), .integer(Int64(bitPattern: sequence)), .integer(other),
                .integer(Int64(bitPattern: at)))
    }

    /// One proof that a device forked: two branches that part at one place of a log.
    public struct EvidenceRow: Sendable, Equatable {
        /// The branch that was there first.
        public let branch: Int64
        /// Where they part.
        public let sequence: UInt64
        /// The branch that came second.
        public let other: Int64
        /// When it was found, milliseconds.
        public let found: Int64
    }

    /// The newest proofs of forks, at most `limit`, newest first.
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

    /// How many forks were found.
    public func evidenceCount() throws(StorageError) -> Int64 {
        try connection.statement("SELECT count(*) FROM evidence").integer() ?? 0
    }
}
