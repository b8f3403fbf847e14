import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// The positions of named event readers, without plain names on the disk.
///
/// A keyed hash finds the row of a reader, which contains the sealed name. An older store holds
/// plain names; such a row is converted when its reader advances.
extension Events {
    private static let mark = "~"
    private static let sealedPrefix = "reader:"

    /// The position of a reader, `nil` for a new one.
    func readerPosition(_ name: String) throws(StorageError) -> Int64? {
        if let row = hashed(name), let known = try store.events.reader(row) {
            return known.sequence
        }
        return try store.events.reader(name)?.sequence
    }

    /// Stores how far a reader is.
    func setReader(_ name: String, to sequence: Int64) throws(StorageError) {
        try write()
        // Without an identity there is no key, and nobody's name to hide.
        guard let row = hashed(name) else {
            return try store.events.setReader(name, to: sequence, at: time.wall)
        }
        if try store.events.reader(row) == nil {
            if let idle = try store.events.idleReader(of: Limits.eventReadersMax) {
                try store.events.removeReader(idle)
                try store.registry.setValue(nil, of: Self.sealedPrefix + idle)
            }
            try setSealedValue(Array(name.utf8), of: Self.sealedPrefix + row)
            try store.events.removeReader(name)
        }
        try store.events.setReader(row, to: sequence, at: time.wall)
    }

    /// The named readers after `name`, by name. Their rows are in the order of hashes, so all are
    /// looked at.
    func namedReaders(
        after name: String, limit: Int
    ) throws(StorageError) -> [EventStore.Reader] {
        var readers: [EventStore.Reader] = []
        for row in try store.events.readers(after: "", limit: .max) {
            readers.append(
                .init(name: try readerName(row.name), sequence: row.sequence, at: row.at))
        }
        let later = readers.filter { name.utf8.lexicographicallyPrecedes($0.name.utf8) }
        return Array(
            later.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }.prefix(limit))
    }

    /// The readable name of a reader's row.
    private func readerName(_ row: String) throws(StorageError) -> String {
        guard row.hasPrefix(Self.mark),
            let bytes = try sealedValue(Self.sealedPrefix + row),
            let name = String(validating: bytes, as: UTF8.self)
        else { return row }
        return name
    }

    private func hashed(_ name: String) -> String? {
        guard let home else { return nil }
        return Self.mark
            + Hexadecimal.text(
                Hash.keyed(home.homeKey, Array("reader".utf8), Array(name.utf8)))
    }
}
