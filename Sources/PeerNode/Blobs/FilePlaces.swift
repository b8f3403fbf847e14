public import BlobStore
public import WorkspaceCrypto

/// One of the owner's files, read once from its beginning.
public protocol OpenedFile: ByteSource {
    /// How long it was when it was opened.
    var byteCount: UInt64 { get }
}

/// One of the owner's files that is being written.
public protocol SavedFile: AnyObject {
    /// Appends bytes.
    func write(_ bytes: ArraySlice<UInt8>) throws(BlobError)
    /// Gives it its name, once all of it is on the disk.
    func finish() throws(BlobError)
    /// Throws away what was written; does nothing once it is finished.
    func abandon()
}

/// The owner's files: added files are read from here, and saved files are written here.
public protocol FilePlaces {
    /// Opens a plain file.
    func open(_ path: String) throws(BlobError) -> any OpenedFile
    /// Begins a file in a folder, under a name that nothing has there.
    func create(_ name: String, in folder: String) throws(BlobError) -> any SavedFile
}

extension FileSource: OpenedFile {}
extension FileSaver: SavedFile {}

/// The disk of this machine.
public struct SystemFilePlaces: FilePlaces {
    private let random: any RandomSource

    /// - Parameter random: for the names of files that are not finished.
    public init(random: any RandomSource) { self.random = random }

    /// `FilePlaces.open`.
    public func open(_ path: String) throws(BlobError) -> any OpenedFile {
        try FileSource(path: path)
    }

    /// `FilePlaces.create`.
    public func create(_ name: String, in folder: String) throws(BlobError) -> any SavedFile {
        try FileSaver(folder: folder, name: name, random: random)
    }
}
