import BlobStore
import WorkspaceModel

/// A picture of a person, a workspace or a channel that is a blob, as the text that names it
/// (PROTOCOL.md, W-68): `blob:png:` size `:` Base32 of root and key.
///
/// Its bytes are never decoded here; the program that displays it does that.
struct Picture: Hashable {
    let blob: BlobName
    let key: BlobKey
    let type: MediaType

    private static let scheme = ProfileText.blobScheme
    private static let types = ["png", "jpeg", "gif", "webp"]

    /// A file that was put; `nil` where it may not be a picture.
    init?(_ item: Manifest.Item) {
        guard case .blob(let root, let shape, let key) = item.contents, item.type.isPicture,
            shape.byteCount <= Limits.pictureBytesMax
        else { return nil }
        self.init(BlobName(root: root, shape: shape), key, item.type)
    }

    /// Text from a person; `nil` where it names no blob.
    init?(untrusted text: String) {
        guard text.utf8.count <= Limits.pictureTextBytesMax, Self.isBlob(text) else { return nil }
        let parts = text.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
        guard parts.count == 4, Self.types.contains(parts[1]),
            let type = MediaType(untrusted: "image/" + parts[1]), type.isPicture,
            parts[2].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            parts[2].utf8.first != UInt8(ascii: "0"), let size = UInt64(parts[2]),
            size <= Limits.pictureBytesMax, let shape = BlobShape(byteCount: size),
            let bytes = Base32.decode(parts[3]), bytes.count == 32 + BlobKey.byteCount,
            let root = BlobRoot(untrusted: Array(bytes[..<32])),
            let key = BlobKey(untrusted: Array(bytes[32...]))
        else { return nil }
        self.init(BlobName(root: root, shape: shape), key, type)
    }

    private init(_ blob: BlobName, _ key: BlobKey, _ type: MediaType) {
        (self.blob, self.key, self.type) = (blob, key, type)
    }

    /// The text that names it. It has the key, and is shown to nobody.
    var text: String {
        let type = String(type.text.dropFirst("image/".count))
        let code = Base32.encode(blob.root.bytes + key.exposedBytes)
        return "\(Self.scheme)\(type):\(blob.shape.byteCount):\(code)"
    }

    /// The same as a file.
    var item: Manifest.Item {
        let name = "picture." + type.text.dropFirst("image/".count)
        return Manifest.Item(
            name: FileName(fitting: [UInt8](name.utf8)), type: type,
            contents: .blob(blob.root, blob.shape, key))
    }

    /// Whether a text is to name a blob, well or badly.
    static func isBlob(_ text: String) -> Bool { text.utf8.starts(with: scheme.utf8) }

    /// The public form of a text: the id of its blob, or an unchanged preset.
    static func shown(_ text: String?) -> String? {
        guard let text, isBlob(text) else { return text }
        return Picture(untrusted: text).map { PublicID.blob($0.blob.root.bytes) }
    }
}
