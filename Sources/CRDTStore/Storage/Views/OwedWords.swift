public import WorkspaceModel

/// Words about following that are read again: because they are no longer deleted, or name somebody
/// whom nothing admitted when they came.
///
/// Each is one row, so that thousands of made-up names in one cost what their bytes cost, and what
/// is owed outlasts a stop and a lock.
extension FollowingTable {
    /// How many bytes of a name are noted: enough to find the words again that name somebody. A word
    /// that another name finds is read in vain.
    private static let notedByteCount = 4

    /// Notes that a word has to be read.
    public func owe(_ word: ViewStore.OwedWord) throws(StorageError) {
        try connection.statement("INSERT OR REPLACE INTO unheard VALUES(?, ?, x'')")
            .run(.integer(word.arrival), .integer(word.telling.rawValue))
    }

    /// The words that have to be read, the newest first: what an older one says changes nothing then.
    public func owedWords(limit: Int) throws(StorageError) -> [ViewStore.OwedWord] {
        try connection.statement(
            "SELECT arr, due FROM unheard WHERE due > 0 ORDER BY arr DESC LIMIT ?"
        ).rows(.integer(Int64(limit))) {
            ViewStore.OwedWord(
                arrival: $0.integer(0), telling: .init(rawValue: $0.integer(1)) ?? .nothing)
        }
    }

    /// Notes whom a word names that nothing admits yet, in the place of what was noted of it.
    public func noteUnheard(_ members: [MemberID], in arrival: Int64) throws(StorageError) {
        guard !members.isEmpty else { return try forgetUnheard(arrival) }
        let names = members.flatMap { $0.bytes.prefix(Self.notedByteCount) }
        try connection.statement("INSERT OR REPLACE INTO unheard VALUES(?, 0, ?)")
            .run(.integer(arrival), .blob(names))
    }

    /// The words that may name one of these people, by their arrival numbers, ascending. Reads the
    /// notes of all such words: ``notedByteCount`` bytes a name.
    public func unheard(of members: Set<MemberID>) throws(StorageError) -> [Int64] {
        let wanted = Set(members.map { Self.noted($0.bytes[...]) })
        return try connection.statement("SELECT arr, names FROM unheard ORDER BY arr").rows {
            (row) -> Int64? in
            var names = row.blob(1)[...]
            while !names.isEmpty {
                if wanted.contains(Self.noted(names)) { return row.integer(0) }
                names = names.dropFirst(Self.notedByteCount)
            }
            return nil
        }.compactMap { $0 }
    }

    private static func noted(_ name: ArraySlice<UInt8>) -> UInt32 {
        name.prefix(notedByteCount).reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Forgets what was noted of a word: it does not count, or nobody is missing in it.
    public func forgetUnheard(_ arrival: Int64) throws(StorageError) {
        try connection.statement("DELETE FROM unheard WHERE arr = ?").run(.integer(arrival))
    }

    /// Has all that may be such a word read, and forgets what is known of who follows: what the
    /// channels hold that is neither a message nor said about one. Opens nothing.
    static func oweAllWords(in connection: Connection) throws(StorageError) {
        for table in ["following", "following_past", "subscription", "unheard"] {
            try connection.execute("DELETE FROM \(table)")
        }
        try connection.statement(
            """
            INSERT INTO unheard SELECT operation.arr, ?3, x'' FROM document JOIN log USING(did)
                JOIN operation USING(lid) WHERE document.kind = ?1 AND operation.kind = ?2
                AND NOT \(aboutMessages("log.did", "operation.sort", "operation.arr"))
            """
        ).run(
            .integer(DocumentKind.channel.rawValue),
            .integer(Int64(bitPattern: OperationKind.content.rawValue)),
            .integer(ViewStore.OwedWord.Telling.nothing.rawValue))
    }
}

extension ViewStore {
    /// A word that is to be read.
    public struct OwedWord: Sendable, Equatable {
        /// What is told of what it changes.
        public enum Telling: Int64, Sendable {
            /// An event, as when the word comes.
            case news = 1
            /// An event of what is long past.
            case backfill = 2
            /// Nothing: it was told of before.
            case nothing = 3
        }

        /// The arrival number of the operation.
        public let arrival: Int64
        /// What is told.
        public let telling: Telling

        /// The word that came as number `arrival`.
        public init(arrival: Int64, telling: Telling) {
            self.arrival = arrival
            self.telling = telling
        }
    }
}
