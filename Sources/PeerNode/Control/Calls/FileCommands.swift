public import WorkspaceModel

/// The commands for files.
public protocol FileCommands {
    /// Reads a file of the owner's, so that a message, or a picture of somebody or something, can name it.
    func addFile(
        _ path: String, as use: AddedFileUse, _ scope: CallScope
    ) throws(NodeError) -> CommandOutcome
    /// One file that is known here.
    func file(_ id: String) throws(NodeError) -> FileObject
    /// The files of a channel, those of the newest messages first; without one all that are known.
    func files(
        of channel: ChannelReference?, _ page: PageRequest, _ scope: CallScope
    ) throws(NodeError) -> Page<FileObject>
    /// Starts fetching a file, and does not wait for it.
    func fetchFile(_ id: String) throws(NodeError) -> FileObject
    /// Saves a file of a message, or one that is known by its id, once all of it is here.
    func saveFile(_ request: SaveRequest, _ scope: CallScope) throws(NodeError) -> CommandOutcome
    /// The devices that have a file, all of it or a part: those that are connected are asked.
    func fileHolders(_ id: String, _ scope: CallScope) throws(NodeError) -> CommandOutcome
    /// Keeps a file permanently, or lets it be evicted when space is needed.
    func keepFile(_ id: String, isOn: Bool) throws(NodeError) -> FileObject
    /// Drops what is here of a file.
    func dropFile(_ id: String, isForced: Bool) throws(NodeError) -> FileObject
    /// Looks whether what is here of a file is right.
    func verifyFile(_ id: String, _ scope: CallScope) throws(NodeError) -> CommandOutcome
    /// Has bytes of a file go to the connection of the call, behind the answer.
    func readFile(_ request: ReadRequest, _ scope: CallScope) throws(NodeError) -> CommandOutcome
    /// Takes a file from the connection of the call, and answers when all of it is here.
    func putFile(_ request: PutRequest, _ scope: CallScope) throws(NodeError) -> CommandOutcome
}

/// The purpose of an added file.
public enum AddedFileUse: Sendable {
    /// A message; a small file is stored inside it.
    case message
    /// A message; the file becomes a blob whatever its size.
    case besideMessage
    /// A picture of a person, a workspace or a channel.
    case picture
}

/// What to save, and where.
public struct SaveRequest: Sendable {
    /// Which file.
    public enum File: Sendable {
        /// The file at this place, from 1, of a message.
        case attachment(message: String, index: Int)
        /// A file by its id, `b_…`.
        case blob(String)
    }

    /// Which file.
    public let file: File
    /// The folder. Absolute; comes from outside.
    public let folder: String
    /// The name there; `nil` is a safe form of the one that its sender gave it.
    public let name: String?
    /// How long to wait while nobody sends it, milliseconds; `nil` for as long as there is a chance.
    public var patience: UInt64?
}

/// Which bytes of a file to read.
public struct ReadRequest: Sendable {
    /// Its id, `b_…`.
    public let file: String
    /// The first byte, from 0; a negative value counts from the end.
    public let offset: Int64
    /// How many bytes at most, from 1; `nil` for all up to the end.
    public let length: Int64?
    /// How long to wait while nobody sends what is not here, milliseconds; `nil` for as long as there is
    /// a chance.
    public var patience: UInt64?

    /// The reason of the failure for a range outside the file.
    static let badRange = "file.bad_range"

    /// The requested range in a file of `size` bytes; `nil` where it is outside the file.
    public func range(of size: UInt64) -> Range<UInt64>? {
        let start: UInt64
        if offset < 0 {
            guard size > 0 else { return nil }
            start = size - min(size, offset.magnitude)
        } else {
            start = offset.magnitude
            // The whole of an empty file is an empty range.
            guard start < size || offset == 0 && length == nil else { return nil }
        }
        guard let length else { return start..<size }
        guard length > 0 else { return nil }
        return start..<start + min(size - start, length.magnitude)
    }
}

/// A file that a connection is about to upload.
public struct PutRequest: Sendable {
    /// What it is called. Comes from outside.
    public let name: String
    /// How long it is, bytes.
    public let byteCount: Int64
    /// All of it, where it is small and came with the call; otherwise it is still to come.
    public var content: [UInt8]?
}
