public import WorkspaceModel

/// Why an operation on a file failed. Logs and programs know the cases by their codes.
///
/// It contains no file content, so it may be logged as it is.
public enum BlobError: Error, Hashable, Sendable {
    /// A manifest, or the size that it states, is impossible.
    case badManifest
    /// A chunk has the wrong hash.
    case badChunk(Int)
    /// The leaves, or their proof, do not lead to the root.
    case badLeaves
    /// None of this is held, or not all of it.
    case missing
    /// The disk, or this user's share of it, is full.
    case noSpace
    /// The quota is used up by files that may not be dropped.
    case overQuota
    /// A system call failed: its name and errno.
    case disk(call: String, number: Int32)
    /// The source is not a PNG, JPEG, GIF or WebP.
    case notPicture
    /// The source changed while it was read.
    case changed
    /// The path is a pipe, a device, a folder or a link.
    case notRegular
    /// The source ended before its announced length.
    case tooShort
    /// The source continues beyond its announced length.
    case tooLong
    /// The file exceeds the limit of blobs.
    case tooLarge
    /// The name for saving is taken.
    case exists
    /// The name or folder cannot be used.
    case badName
    /// It was closed or discarded before.
    case closed

    /// The stable code for logs, and for the `reason` shown to people.
    public var code: String {
        switch self {
        case .badManifest: "file.bad_manifest"
        case .badChunk: "file.bad_chunk"
        case .badLeaves: "file.bad_leaves"
        case .missing: "file.missing"
        case .noSpace: "file.no_space"
        case .overQuota: "file.over_quota"
        case .disk: "file.io"
        case .notPicture: "picture.type"
        case .changed: "file.changed"
        case .notRegular: "file.not_regular"
        case .tooShort: "file.too_short"
        case .tooLong: "file.too_long"
        case .tooLarge: "file.too_large"
        case .exists: "file.exists"
        case .badName: "file.bad_name"
        case .closed: "file.closed"
        }
    }
}

extension NodeError {
    /// The same for a person, about the file `name`.
    public init(_ error: BlobError, file name: String) {
        let name = Self.quoted(name)
        let (kind, message, hint): (Kind, String, String) =
            switch error {
            case .badManifest, .badLeaves:
                (
                    .badRequest, "what was sent about \(name) cannot be a file",
                    "ask its sender to send it again"
                )
            case .badChunk(let chunk):
                (.blobMissing, "part \(chunk) of \(name) is damaged", "fetch the file again")
            case .missing:
                (
                    .blobMissing, "no device that has \(name) can be reached",
                    "try again when one is online"
                )
            case .noSpace:
                (.storageFull, "no space left for \(name)", "free some space on this disk")
            case .overQuota:
                (.storageFull, "\(name) does not fit into the cache", "raise the cache's quota")
            case .disk(let call, let number):
                (.storeFailed, "\(call) failed for \(name) (errno \(number))", "check the disk")
            case .notPicture:
                (.badRequest, "\(name) is not a picture", "give a PNG, JPEG, GIF or WebP file")
            case .changed:
                (.conflict, "\(name) changed while it was read", "send it again")
            case .notRegular:
                (
                    .badRequest, "\(name) is not a file",
                    "give the file itself, not a folder, a link or a device"
                )
            case .tooShort:
                (.badRequest, "\(name) is shorter than announced", "announce the size that it has")
            case .tooLong:
                (.badRequest, "\(name) is longer than announced", "announce the size that it has")
            case .tooLarge:
                (.tooLarge, "\(name) is larger than files may be", "send it in several parts")
            case .exists: (.duplicate, "\(name) already exists", "choose another name")
            case .badName:
                (.badRequest, "\(name) is not a usable file name", "choose another name")
            case .closed: (.internal, "the transfer of \(name) had already ended", "try again")
            }
        self.init(kind, message, hint: hint, reason: error.code)
    }
}
