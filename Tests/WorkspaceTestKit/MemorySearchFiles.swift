public import CRDTStore
public import PeerNode

/// The file of a search index in memory: reopening it returns the same content.
public final class MemorySearchFiles: SearchFiles {
    private var connection: Connection?
    /// Times that it was opened and removed.
    public private(set) var openCount = 0, removeCount = 0
    /// How many attempts to open it throw.
    public var failures = 0

    /// No file yet.
    public init() {}

    /// The file as it is, or a new one.
    public func open() throws(StorageError) -> Connection {
        openCount += 1
        guard failures == 0 else {
            failures -= 1
            throw StorageError(.cannotOpen, "planted")
        }
        let image = try connection.map { (old) throws(StorageError) in
            old.rollback()
            return try old.serialized()
        }
        let opened = try Connection(image: image ?? [])
        connection = opened
        return opened
    }

    /// Does away with it.
    public func remove() {
        removeCount += 1
        connection = nil
    }

    /// All bytes of it; none where there is no file.
    public var bytes: [UInt8] { (try? connection?.serialized()) ?? [] }

    /// Puts other bytes in its place.
    public func replace(with image: [UInt8]) throws(StorageError) {
        connection = try Connection(image: image)
    }
}
