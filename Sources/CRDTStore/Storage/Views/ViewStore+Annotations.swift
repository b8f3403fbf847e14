public import WorkspaceModel

/// Annotations of messages: edits, reactions, pins. And of notes: creation, title and deletion.
///
/// Every operation of a register is a row, valid or not. A row is covered if a valid one of the
/// register cites it (``CoveringStatements``). The valid, uncovered rows are the heads; of several,
/// the one with the largest (hlc, id) counts. So the result is a function of the set of decrypted
/// operations and their verdicts, independent of their order.
extension ViewStore {
    /// The row of one operation.
    public struct Annotation: Hashable, Sendable {
        /// The kind of annotation.
        public enum Kind: Int64, Sendable, CaseIterable {
            case edit = 1
            case reaction = 2
            case pin = 3
            /// The creation of a note, whose own key is the target.
            case note = 4
            case noteTitle = 5
            case noteDeletion = 6

            /// Whether it is about a note, and not about a message.
            public var isOfNote: Bool {
                self == .note || self == .noteTitle || self == .noteDeletion
            }
        }

        /// The key of a register.
        public struct Register: Hashable, Sendable {
            /// The short number of the channel.
            public let document: Int64
            /// The message.
            public let target: MessageKey
            /// The kind of annotation.
            public let kind: Kind
            /// The author, 16 bytes; empty for pins and notes, whose registers are shared.
            public let member: [UInt8]
            /// 16 bytes of a keyed hash of a reaction's emoji, else empty.
            public let tag: [UInt8]

            /// The register of `kind` about a message.
            public init(
                document: Int64, target: MessageKey, _ kind: Kind, of member: MemberID? = nil,
                tag: [UInt8] = []
            ) {
                self.document = document
                self.target = target
                self.kind = kind
                self.member = member?.bytes ?? []
                self.tag = tag
            }

            init(
                document: Int64, target: MessageKey, kind: Kind, member: [UInt8], tag: [UInt8]
            ) {
                self.document = document
                self.target = target
                self.kind = kind
                self.member = member
                self.tag = tag
            }
        }

        /// Its register.
        public let register: Register
        /// The operation.
        public let id: OperationID
        /// When it was written.
        public let timestamp: HybridTimestamp
        /// Its arrival number.
        public let arrival: Int64
        /// Whether a reaction or a pin is set; `true` for an edit.
        public let isOn: Bool
        /// Whether the text of an edit mentions this member.
        public let isMention: Bool

        /// A row with the given fields.
        public init(
            _ register: Register, id: OperationID, at timestamp: HybridTimestamp, arrival: Int64,
            isOn: Bool, isMention: Bool = false
        ) {
            self.register = register
            self.id = id
            self.timestamp = timestamp
            self.arrival = arrival
            self.isOn = isOn
            self.isMention = isMention
        }

        /// Whether it wins over another head.
        public func counts(before other: Annotation) -> Bool {
            (timestamp.rawValue, id) > (other.timestamp.rawValue, other.id)
        }

        var flags: Int64 { (isOn ? 1 : 0) | (isMention ? 2 : 0) }
    }

    // MARK: Folding

    /// Records an operation, or its changed validity.
    ///
    /// - Parameter cited: its dependencies, which it overwrites as far as they are of its register.
    public func fold(
        _ row: Annotation, citing cited: [OperationID], isValid: Bool
    ) throws(StorageError) {
        guard try citing.isValid(row.id, in: row.register) == nil else {
            _ = try citing.setValid(isValid, row.id, in: row.register)
            return
        }
        let coverCount = try citing.noteCited(cited, by: row.id, in: row.register)
        annotatedDocuments?.insert(row.register.document)
        try connection.statement(
            "INSERT INTO annotation VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        ).run(
            row.register.values + [
                .blob(row.id.bytes), .integer(Self.ordered(row.timestamp)),
                .integer(row.arrival), .integer(row.flags), .integer(isValid ? 0 : 1),
                .integer(coverCount),
            ])
        if isValid { try citing.cover(citedBy: row.id, in: row.register, by: 1) }
    }

    /// Sets the validity of the annotations among these arrival numbers.
    public func setValid(
        _ isValid: Bool, annotationsAt arrivals: [Int64]
    ) throws(StorageError) {
        for arrival in arrivals {
            guard let row = try annotation(arrival: arrival) else { continue }
            _ = try citing.setValid(isValid, row.id, in: row.register)
        }
    }

    /// Removes annotations whose operations are no longer stored.
    func removeAnnotations(arrivals: [Int64]) throws(StorageError) {
        for arrival in arrivals {
            guard let row = try annotation(arrival: arrival) else { continue }
            try citing.removeWord(row.id, from: row.register)
        }
    }

    // MARK: Reading

    /// Whether there may be annotations in a document.
    private func isAnnotated(_ document: Int64) throws(StorageError) -> Bool {
        if let known = annotatedDocuments { return known.contains(document) }
        var found: Set<Int64> = []
        let next = try connection.statement(
            "SELECT did FROM annotation WHERE did > ? ORDER BY did LIMIT 1")
        var last = Int64.min
        while let document = try next.integer(.integer(last)) {
            found.insert(document)
            last = document
        }
        annotatedDocuments = found
        return found.contains(document)
    }

    /// The operation that counts, `nil` for none.
    public func current(_ register: Annotation.Register) throws(StorageError) -> Annotation? {
        try heads(register, limit: 1).first
    }

    /// What a new operation has to cite, by arrival number: at most `Limits.dependenciesMax`.
    public func whatToCite(
        in register: Annotation.Register
    ) throws(StorageError) -> [Int64] {
        let heads = try heads(register, limit: Limits.dependenciesMax)
        return try citing.whatToCite(heads.map { ($0.id, $0.arrival) }, in: register)
    }

    /// The heads, the one that counts first.
    public func heads(
        _ register: Annotation.Register, limit: Int
    ) throws(StorageError) -> [Annotation] {
        var heads: [Annotation] = []
        guard try isAnnotated(register.document) else { return heads }
        try connection.statement(
            """
            SELECT id, hlc, arr, flags FROM annotation \(Annotation.Register.match)
                AND hidden = 0 AND covered = 0 ORDER BY hlc DESC, id DESC LIMIT ?
            """
        ).scan(register.values + [.integer(Int64(limit))]) { (row) throws(StorageError) in
            heads.append(try Self.annotation(register, row, from: 0))
            return .next
        }
        return heads
    }

    /// The arrival numbers of all operations of a register, newest first.
    ///
    /// - Parameter end: only those before this one.
    public func arrivals(
        in register: Annotation.Register, before end: Int64 = .max, limit: Int
    ) throws(StorageError) -> [Int64] {
        var found: [Int64] = []
        try connection.statement(
            """
            SELECT arr FROM annotation \(Annotation.Register.match) AND arr < ?
                ORDER BY arr DESC LIMIT \(limit)
            """
        ).scan(register.values + [.integer(end)]) { row in
            found.append(row.integer(0))
            return .next
        }
        return found
    }

    /// The reactions to a message that count, by member and emoji, including removed ones. At most
    /// `Limits.reactionRowsPerMemberMax` rows are examined per member.
    public func reactions(
        to target: MessageKey, in document: Int64
    ) throws(StorageError) -> [Annotation] {
        guard try isAnnotated(document) else { return [] }
        let place = Annotation.Register(document: document, target: target, .reaction).place
        var found: [Annotation] = []
        var start: [UInt8] = []
        var goesOn = true
        while goesOn {
            goesOn = false
            var rows = 0
            try connection.statement(
                """
                SELECT member, tag, id, hlc, arr, flags FROM annotation
                    WHERE did = ? AND key_hlc = ? AND key_id = ? AND kind = 2 AND member > ?
                    AND hidden = 0 AND covered = 0 ORDER BY member, tag, hlc, id
                """
            ).scan(place + [.blob(start)]) { (row) throws(StorageError) in
                let member = row.blob(0)
                rows = member == start ? rows + 1 : 1
                start = member
                guard rows <= Limits.reactionRowsPerMemberMax else {
                    // Skips the rest by continuing with the next member.
                    goesOn = true
                    return .stop
                }
                let register = Annotation.Register(
                    document: document, target: target, kind: .reaction, member: member,
                    tag: row.blob(1))
                if found.last?.register == register { found.removeLast() }
                found.append(try Self.annotation(register, row, from: 2))
                return .next
            }
        }
        return found
    }

    /// The condition that a message is pinned and not deleted: of the heads of its pin, the one
    /// that counts is on. Starts from the few pins of a document, not from its messages.
    static let isPinned = """
        (key_hlc, key_id) IN (SELECT key_hlc, key_id FROM annotation a INDEXED BY annotation_pin
            WHERE did = ? AND kind = 3 AND hidden = 0 AND covered = 0 AND flags & 1
            AND NOT EXISTS (SELECT 1 FROM annotation b WHERE b.did = a.did
                AND b.key_hlc = a.key_hlc AND b.key_id = a.key_id AND b.kind = 3 AND b.hidden = 0
                AND b.covered = 0 AND (b.hlc, b.id) > (a.hlc, a.id)))
            AND NOT EXISTS (SELECT 1 FROM redacted WHERE redacted.arr = message.arr)
        """

    /// The row of the operation with this arrival number, valid or not.
    public func annotation(arrival: Int64) throws(StorageError) -> Annotation? {
        try rows("WHERE arr = ?", [.integer(arrival)]).first?.row
    }

    /// Whether the annotation with this arrival number is valid, `nil` if there is none.
    public func isValid(annotationAt arrival: Int64) throws(StorageError) -> Bool? {
        try connection.statement("SELECT hidden FROM annotation WHERE arr = ?")
            .integer(.integer(arrival)).map { $0 == 0 }
    }

    /// A stored row, for comparing.
    public struct StoredAnnotation: Hashable, Sendable {
        /// What it says.
        public let row: Annotation
        /// Whether its operation is valid.
        public let isValid: Bool
        /// Whether a valid operation overwrites it.
        public let isCovered: Bool
    }

    /// All rows of a channel, by message and register.
    public func annotations(of document: Int64) throws(StorageError) -> [StoredAnnotation] {
        try rows(
            "WHERE did = ? ORDER BY key_hlc, key_id, kind, member, tag, id", [.integer(document)])
    }

    private func rows(
        _ condition: String, _ values: [SQLValue]
    ) throws(StorageError) -> [StoredAnnotation] {
        var found: [StoredAnnotation] = []
        try connection.statement(
            """
            SELECT did, key_hlc, key_id, kind, member, tag, id, hlc, arr, flags, hidden, covered
                FROM annotation \(condition)
            """
        ).scan(values) { (row) throws(StorageError) in
            guard let kind = Annotation.Kind(rawValue: row.integer(3)) else { return .next }
            let target = MessageKey(
                timestamp: HybridTimestamp(rawValue: UInt64(bitPattern: row.integer(1))),
                idPrefix: UInt64(bitPattern: row.integer(2)))
            let register = Annotation.Register(
                document: row.integer(0), target: target, kind: kind, member: row.blob(4),
                tag: row.blob(5))
            found.append(
                StoredAnnotation(
                    row: try Self.annotation(register, row, from: 6),
                    isValid: row.integer(10) == 0, isCovered: row.integer(11) > 0))
            return .next
        }
        return found
    }

    private static func annotation(
        _ register: Annotation.Register, _ row: borrowing Row, from column: Int32
    ) throws(StorageError) -> Annotation {
        let flags = row.integer(column + 3)
        return Annotation(
            register, id: try row.identifier32(column), at: timestamp(row.integer(column + 1)),
            arrival: row.integer(column + 2), isOn: flags & 1 == 1, isMention: flags & 2 == 2)
    }

    /// SQLite orders a column as signed numbers.
    static func ordered(_ timestamp: HybridTimestamp) -> Int64 {
        Int64(bitPattern: timestamp.rawValue ^ 1 << 63)
    }

    static func timestamp(_ ordered: Int64) -> HybridTimestamp {
        HybridTimestamp(rawValue: UInt64(bitPattern: ordered) ^ 1 << 63)
    }
}

extension ViewStore.Annotation.Register: CitingRegister {
    static let statements = CoveringStatements(
        "annotation", citing: "annotation_past", by: "annotation_citing",
        place: ["did", "key_hlc", "key_id"], others: ["kind", "member", "tag"])

    /// The condition for one register, with `values`.
    static var match: String { statements.match }

    var place: [SQLValue] {
        [
            .integer(document), .integer(Int64(bitPattern: target.timestamp.rawValue)),
            .integer(Int64(bitPattern: target.idPrefix)),
        ]
    }

    var values: [SQLValue] {
        place + [.integer(kind.rawValue), .blob(member), .blob(tag)]
    }
}
