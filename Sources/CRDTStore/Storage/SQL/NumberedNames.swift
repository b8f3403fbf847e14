import WorkspaceModel

/// Short numbers for names that a million operations repeat: grants and epoch keys.
///
/// A key gets its number when it is first cited, whether or not the key itself is held. Writers can
/// cite any number of keys, so only the most recently used are cached.
struct NumberedNames {
    private let connection: Connection
    private var grantNumbers: [OperationID: Int64] = [.zero: 0]
    private var grants: [Int64: OperationID] = [0: .zero]
    private var keyNumbers = RecentlyUsed<KeyPlace, Int64>(max: Limits.keyNamesInMemoryMax)
    private var keys = RecentlyUsed<Int64, KeyID>(max: Limits.keyNamesInMemoryMax)
    private var nextGrant: Int64 = 1
    private var nextKey: Int64 = 1
    /// Keys numbered since the start because they are held, and not cited yet.
    private var uncited: Set<Int64> = []

    private struct KeyPlace: Hashable {
        let workspace: Int64
        let id: KeyID
    }

    init(_ connection: Connection) throws(StorageError) {
        self.connection = connection
        try connection.statement("SELECT gid, id FROM grant_name").forEachRow {
            (row) throws(StorageError) in
            let id: OperationID = try row.identifier32(1)
            grantNumbers[id] = row.integer(0)
            grants[row.integer(0)] = id
            nextGrant = max(nextGrant, row.integer(0) + 1)
        }
        nextKey = (try connection.statement("SELECT max(kid) FROM epoch_key").integer() ?? 0) + 1
    }

    /// The grant with a number.
    func grant(_ number: Int64) -> OperationID? { grants[number] }

    /// How many key names are cached.
    var keyCount: Int { keys.count }

    /// The epoch key with a number.
    mutating func key(_ number: Int64) throws(StorageError) -> KeyID? {
        if let known = keys[number] { return known }
        let found = try connection.statement("SELECT id FROM epoch_key WHERE kid = ? AND kind = 1")
            .firstRow(.integer(number)) { (row) throws(StorageError) -> KeyID in
                try row.identifier16(0)
            }
        if let found { keys[number] = found }
        return found
    }

    /// The number of a grant, assigned if it has none.
    mutating func number(ofGrant grant: OperationID) throws(StorageError) -> Int64 {
        if let number = grantNumbers[grant] { return number }
        let number = nextGrant
        nextGrant += 1
        try connection.statement("INSERT INTO grant_name VALUES(?, ?)")
            .run(.integer(number), .blob(grant.bytes))
        grantNumbers[grant] = number
        grants[number] = grant
        return number
    }

    /// The number of a grant that some operation has cited, or `nil`.
    func knownNumber(ofGrant grant: OperationID) -> Int64? { grantNumbers[grant] }

    /// The number of an epoch key, assigned if it has none.
    mutating func number(
        ofKey id: KeyID, in workspace: Int64
    ) throws(StorageError) -> Int64 {
        let number = try number(ofHeldKey: id, in: workspace)
        uncited.remove(number)
        return number
    }

    /// The same for a key that need not be cited.
    mutating func number(
        ofHeldKey id: KeyID, in workspace: Int64
    ) throws(StorageError) -> Int64 {
        if let number = try knownNumber(ofKey: id, in: workspace) { return number }
        let number = try insertSecret(.epochKey, id.bytes, in: workspace)
        keyNumbers[KeyPlace(workspace: workspace, id: id)] = number
        keys[number] = id
        uncited.insert(number)
        return number
    }

    /// The number of a key that has one.
    mutating func knownNumber(
        ofKey id: KeyID, in workspace: Int64
    ) throws(StorageError) -> Int64? {
        let place = KeyPlace(workspace: workspace, id: id)
        if let known = keyNumbers[place] { return known }
        let found = try connection.statement(
            "SELECT kid FROM epoch_key WHERE workspace = ? AND kind = 1 AND id = ?"
        ).integer(.integer(workspace), .blob(id.bytes))
        if let found { keyNumbers[place] = found }
        return found
    }

    /// Whether a stored operation may cite the key; always true of keys from before the start.
    mutating func mayBeCited(
        _ id: KeyID, in workspace: Int64
    ) throws(StorageError) -> Bool {
        guard let number = try knownNumber(ofKey: id, in: workspace) else { return false }
        return !uncited.contains(number)
    }

    /// A row for a secret that is not held yet.
    mutating func insertSecret(
        _ kind: SecretKind, _ id: [UInt8], in workspace: Int64
    ) throws(StorageError) -> Int64 {
        let number = nextKey
        nextKey += 1
        try connection.statement(
            "INSERT INTO epoch_key(kid, workspace, kind, id) VALUES(?, ?, ?, ?)"
        ).run(.integer(number), .integer(workspace), .integer(kind.rawValue), .blob(id))
        return number
    }
}

/// The kinds of rows in table `epoch_key`.
public enum SecretKind: Int64, Sendable {
    /// A group key K.
    case epochKey = 1
    /// A discovery secret, from which handshake psks are derived.
    case discovery = 2
    /// An epoch key of a private document; its row names the document in place of the workspace.
    case privateKey = 3
    /// The authority subkey of one epoch of a private document, which opens only
    /// membership operations.
    case privateAuthorityKey = 4
}
