public import WorkspaceModel

/// Our own documents' settings, mutes and notification levels (PROTOCOL.md, 3.2 and 4.3).
///
/// Every operation is a row of `setting`, valid or not. It cites what it overwrites, within its own
/// document: devices that started apart created several. Of all heads, the one with the largest
/// (hlc, id) counts, and is a row of `self_register`.
extension OwnTable {
    struct SettingRegister: CitingRegister {
        let place: [SQLValue]

        static let statements = CoveringStatements(
            "setting", citing: "setting_past", by: "setting_citing",
            place: ["workspace", "kind", "subject", "document"])

        var values: [SQLValue] { place }

        init(_ place: ViewStore.Register.Place, in document: DocumentID) {
            self.place = place.values + [.blob(document.bytes)]
        }
    }

    /// Records an operation of an own document, or its changed validity.
    ///
    /// - Parameters:
    ///   - cited: its dependencies, which it overwrites as far as they are of its register.
    ///   - key: the key to store if it counts from now on.
    /// - Returns: whether a different operation counts now.
    @discardableResult
    public func fold(
        _ word: ViewStore.Register, in document: DocumentID, citing cited: [OperationID],
        isValid: Bool,
        key: (ViewStore.Register) throws(StorageError) -> MessageKey? = { _ in nil }
    ) throws(StorageError) -> Bool {
        let register = SettingRegister(word.place, in: document)
        if try citing.isValid(word.id, in: register) != nil {
            guard try citing.setValid(isValid, word.id, in: register) else { return false }
        } else {
            let coverCount = try citing.noteCited(cited, by: word.id, in: register)
            try connection.statement("INSERT INTO setting VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)").run(
                register.values + [
                    .blob(word.id.bytes), .integer(ViewStore.ordered(word.timestamp)),
                    .integer(word.arrival), .integer(isValid ? 0 : 1), .integer(coverCount),
                ])
            if isValid { try citing.cover(citedBy: word.id, in: register, by: 1) }
        }
        let before = try self.register(word.place)
        var after = try currentSetting(word.place)
        if let counting = after {
            after = counting.keyed(
                try counting.id == before?.id ? before?.key : key(counting))
        }
        guard before != after else { return false }
        if let after { try put(after) } else { try remove(word.place) }
        return true
    }

    private func currentSetting(_ place: ViewStore.Register.Place) throws(StorageError) -> ViewStore
        .Register?
    {
        try connection.statement(
            """
            SELECT hlc, id, arr FROM setting WHERE workspace = ? AND kind = ? AND subject = ?
                AND hidden = 0 AND covered = 0 ORDER BY hlc DESC, id DESC LIMIT 1
            """
        ).firstRow(place.values) { (row) throws(StorageError) in
            ViewStore.Register(
                place, at: ViewStore.timestamp(row.integer(0)), by: try row.identifier32(1),
                arrival: row.integer(2))
        }
    }

    /// The number of heads for one subject, up to `limit`.
    public func settingHeadCount(
        _ place: ViewStore.Register.Place, limit: Int
    ) throws(StorageError) -> Int {
        try connection.statement(
            """
            SELECT 1 FROM setting WHERE workspace = ? AND kind = ? AND subject = ?
                AND hidden = 0 AND covered = 0 LIMIT ?
            """
        ).rows(place.values + [.integer(Int64(limit))]) { _ in 0 }.count
    }

    /// What a new operation of a document about one subject has to cite, by arrival number: at most
    /// `Limits.dependenciesMax`.
    public func whatToCite(
        about place: ViewStore.Register.Place, in document: DocumentID
    ) throws(StorageError) -> [Int64] {
        let register = SettingRegister(place, in: document)
        let heads = try connection.statement(
            """
            SELECT id, arr FROM setting INDEXED BY setting_head
                \(SettingRegister.statements.match)
                AND hidden = 0 AND covered = 0 ORDER BY hlc DESC, id DESC LIMIT ?
            """
        ).rows(register.values + [.integer(Int64(Limits.dependenciesMax))]) {
            (row) throws(StorageError) in
            (id: try row.identifier32(0) as OperationID, arrival: row.integer(1))
        }
        return try citing.whatToCite(heads, in: register)
    }
}

extension ViewStore.Register.Place {
    var values: [SQLValue] { [.integer(workspace), .integer(kind.rawValue), .blob(subject)] }
}

extension ViewStore {
    /// The key in `meta` while the settings of a workspace still have to be read again.
    public static func owedSettings(of workspace: Int64) -> String { "settings.owed.\(workspace)" }
}
