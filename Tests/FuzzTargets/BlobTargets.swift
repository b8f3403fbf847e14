import BlobStore
import WorkspaceModel

/// What peers say of files, and the names that become names here.
extension FuzzTarget {
    static let blobs = FuzzTarget(
        "blobs", "messages, manifests, maps, names and types of files; each has one spelling",
        bytesMax: 16_384
    ) { bytes in
        guard let kind = bytes.first else { return }
        let body = Array(bytes.dropFirst())
        switch kind % 8 {
        case 0: try manifest(body)
        case 1: try map(body)
        case 2: try name(body)
        case 3: try type(body)
        default: try message(body)
        }
    }

    private static func message(_ bytes: [UInt8]) throws {
        guard let message = try? BlobMessage.decoded(bytes) else { return }
        try hold(message.encoded() == bytes, "two spellings of one message")
        try hold(message.type == bytes.first, "another type")
        guard case .leaves(let root, let proof) = message else { return }
        // Nobody finds leaves for a root by chance.
        try hold(!proof.isValid(for: root), "leaves of nothing")
    }

    private static func manifest(_ bytes: [UInt8]) throws {
        guard let manifest = try? Manifest(decoding: bytes) else { return }
        try hold(manifest.encoded == bytes, "two spellings of one manifest")
        try hold((try? Manifest(manifest.items)) == manifest, "what is read may not be written")
    }

    private static func map(_ bytes: [UInt8]) throws {
        let chunkCount = bytes.count % 2 == 0 ? 300 : BlobLimits.chunkCountMax
        guard let map = try? HaveMap(chunkCount: chunkCount, decoding: bytes) else { return }
        try hold(map.encoded == bytes, "two spellings of one map")
        try hold(map.runs.reduce(0) { $0 + $1.count } == map.heldCount, "a map that miscounts")
    }

    private static func name(_ bytes: [UInt8]) throws {
        let name = SafeFileName(bytes)
        let utf8 = Array(name.text.utf8)
        let isSafe =
            (1...BlobLimits.savedNameBytesMax).contains(utf8.count)
            && utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f && $0 != 0x2f && $0 != 0x5c }
            && !"-~.".utf8.contains(utf8[0])
        try hold(isSafe, "a name that is not safe")
        try hold(SafeFileName(name.text) == name, "once is not enough")
        let fitted = FileName(fitting: bytes)
        try hold(FileName(untrusted: fitted.text) == fitted, "a name that does not fit")
    }

    private static func type(_ bytes: [UInt8]) throws {
        let found = MagicType.type(of: bytes)
        try hold(MediaType(untrusted: found.text) == found, "a type that none may name")
    }
}
