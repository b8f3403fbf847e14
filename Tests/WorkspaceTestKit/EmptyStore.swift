import CRDTStore

/// A store that nobody has written to.
public enum EmptyStore {
    /// Its bytes. To make its tables takes six times as long as to copy them, and most tests with
    /// nodes or stores make several.
    public static let image: [UInt8] =
        (try? NodeStore(Connection()).connection.serialized()) ?? []
}
