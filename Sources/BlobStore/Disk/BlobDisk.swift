/// What the store of chunks asks of a file system: one call each, so that a test can fail, or end
/// the world, at any of them.
///
/// Names are paths below one folder. Calls block. All are made by one thread.
public protocol BlobDisk: AnyObject {
    /// Opens a file to be read and written (0600).
    ///
    /// - Parameter isNew: makes it, unless there is one of that name: then `exists`.
    /// - Throws: `missing` where there is none.
    func open(_ name: String, isNew: Bool) throws(BlobError) -> Int32
    /// Closes what `open` gave.
    func close(_ file: Int32)
    /// Bytes from `offset` on; less than `byteCount` at the end of the file alone.
    func read(_ file: Int32, at offset: UInt64, byteCount: Int) throws(BlobError) -> [UInt8]
    /// Writes all of `bytes`.
    func write(_ file: Int32, at offset: UInt64, _ bytes: ArraySlice<UInt8>) throws(BlobError)
    /// How long the file is.
    func byteCount(_ file: Int32) throws(BlobError) -> UInt64
    /// Returns once a power cut costs nothing of what was written (fdatasync).
    func synchronize(_ file: Int32) throws(BlobError)
    /// The same for the names in a folder.
    func synchronizeFolder(_ name: String) throws(BlobError)
    /// Both, for all files and folders at once (syncfs): one flush of the disk instead of one for each.
    /// It waits for what other programs write on this file system, too.
    func synchronizeAll() throws(BlobError)
    /// Makes a folder (0700), unless it is there.
    func makeFolder(_ name: String) throws(BlobError)
    /// Gives a file another name, in place of what has that.
    func rename(_ name: String, to other: String) throws(BlobError)
    /// Removes a file, if it is there.
    func remove(_ name: String) throws(BlobError)
    /// The names in a folder, ascending; none where there is no folder.
    func names(in folder: String) throws(BlobError) -> [String]
    /// Bytes that may still be written.
    func freeByteCount() throws(BlobError) -> UInt64
}
