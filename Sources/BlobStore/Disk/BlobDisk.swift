/// The file system calls of the chunk store, one method each, so that a test can fail, or
/// crash, at any of them.
///
/// Names are paths below one folder. Calls block. All are made by one thread.
public protocol BlobDisk: AnyObject {
    /// Opens a file for reading and writing (0600).
    ///
    /// - Parameter isNew: creates it; `exists` if the name is taken.
    /// - Throws: `missing` if there is no such file.
    func open(_ name: String, isNew: Bool) throws(BlobError) -> Int32
    /// Closes what `open` gave.
    func close(_ file: Int32)
    /// Bytes from `offset` on; fewer than `byteCount` only at the end of the file.
    ///
    /// - Parameter head: what the result begins with.
    func read(
        _ file: Int32, at offset: UInt64, byteCount: Int, after head: [UInt8]
    ) throws(BlobError) -> [UInt8]
    /// Writes all of `bytes`.
    ///
    /// - Parameter staysCached: whether it is likely to be read soon. Otherwise it may leave the
    ///   kernel's cache once 64 MiB of others were written, which saves the time and memory of that.
    func write(
        _ file: Int32, at offset: UInt64, _ bytes: ArraySlice<UInt8>, staysCached: Bool
    ) throws(BlobError)
    /// The file's length.
    func byteCount(_ file: Int32) throws(BlobError) -> UInt64
    /// Returns once everything written survives a power cut (fdatasync).
    func synchronize(_ file: Int32) throws(BlobError)
    /// The same for the names in a folder (fsync).
    func synchronizeFolder(_ name: String) throws(BlobError)
    /// Both for all files and folders at once (syncfs): one flush of the disk instead of one each.
    /// It also waits for what other programs write on this file system.
    func synchronizeAll() throws(BlobError)
    /// Creates a folder (0700), unless it exists.
    func makeFolder(_ name: String) throws(BlobError)
    /// Renames a file, replacing one with the new name.
    func rename(_ name: String, to other: String) throws(BlobError)
    /// Removes a file, if it exists.
    func remove(_ name: String) throws(BlobError)
    /// The names in a folder, ascending; none where there is no folder.
    func names(in folder: String) throws(BlobError) -> [String]
    /// Bytes that can still be written.
    func freeByteCount() throws(BlobError) -> UInt64
}

extension BlobDisk {
    /// Writes what is likely to be read soon.
    public func write(
        _ file: Int32, at offset: UInt64, _ bytes: ArraySlice<UInt8>
    ) throws(BlobError) {
        try write(file, at: offset, bytes, staysCached: true)
    }

    /// Bytes alone.
    public func read(
        _ file: Int32, at offset: UInt64, byteCount: Int
    ) throws(BlobError) -> [UInt8] {
        try read(file, at: offset, byteCount: byteCount, after: [])
    }
}
