public import WorkspaceModel

/// The files of a message: key 32 of its content.
///
/// `Enc` array of at most 20, each [name, type, size, k, root, key] for a blob, or [name,
/// type, bytes] for a file embedded in the message. Everyone who can read the message can
/// fetch and open them.
public struct Manifest: Hashable, Sendable {
    /// One file.
    public struct Item: Hashable, Sendable {
        /// Where its bytes are.
        public enum Contents: Hashable, Sendable {
            /// In a blob, sealed under a key of its own.
            case blob(BlobRoot, BlobShape, BlobKey)
            /// Embedded, at most `BlobLimits.inlineBytesMax`.
            case inline([UInt8])
        }

        /// The sender's name for it.
        public let name: FileName
        /// The sender's media type for it.
        public let type: MediaType
        /// Where its bytes are.
        public let contents: Contents

        /// A file.
        public init(name: FileName, type: MediaType, contents: Contents) {
            self.name = name
            self.type = type
            self.contents = contents
        }

        /// Bytes of the file.
        public var byteCount: UInt64 {
            switch contents {
            case .blob(_, let shape, _): shape.byteCount
            case .inline(let bytes): UInt64(bytes.count)
            }
        }

        /// The blob with its bytes, `nil` if they are embedded.
        public var root: BlobRoot? {
            if case .blob(let root, _, _) = contents { root } else { nil }
        }
    }

    /// The files, in display order.
    public let items: [Item]

    /// A manifest written here.
    ///
    /// - Throws: `tooLarge` for too many files or bytes; `badManifest` without any file, and for an
    ///   empty blob, which must be embedded.
    public init(_ items: [Item]) throws(BlobError) {
        guard !items.isEmpty else { throw .badManifest }
        guard items.count <= BlobLimits.attachmentsMax else { throw .tooLarge }
        var left = BlobLimits.inlineBytesInAllMax
        for item in items {
            switch item.contents {
            case .blob(_, let shape, _):
                guard shape.byteCount > 0 else { throw .badManifest }
            case .inline(let bytes):
                guard bytes.count <= min(left, BlobLimits.inlineBytesMax) else { throw .tooLarge }
                left -= bytes.count
            }
        }
        self.items = items
    }
}

extension Manifest {
    /// Writes the value of key 32.
    public func encode(to encoder: inout CBOREncoder) {
        encoder.array(count: items.count)
        for item in items {
            switch item.contents {
            case .inline(let bytes):
                encoder.array(count: 3)
                encoder.text(item.name.text)
                encoder.text(item.type.text)
                encoder.byteString(bytes)
            case .blob(let root, let shape, let key):
                encoder.array(count: 6)
                encoder.text(item.name.text)
                encoder.text(item.type.text)
                encoder.uint(shape.byteCount)
                encoder.int(shape.chunkBits)
                encoder.byteString(root)
                encoder.byteString(key.exposedBytes)
            }
        }
    }

    /// Reads what `encode(to:)` wrote. Checks sizes before allocating.
    public init(from decoder: inout CBORDecoder) throws(Malformed) {
        let start = decoder.position
        var items: [Item] = []
        var inlineBytesLeft = BlobLimits.inlineBytesInAllMax
        for _ in 0..<(try decoder.arrayCount(max: BlobLimits.attachmentsMax)) {
            items.append(try Item(from: &decoder, inlineBytesLeft: &inlineBytesLeft))
        }
        guard !items.isEmpty else { throw Malformed(.countExceeded, at: start) }
        self.items = items
    }

    /// The encoding as a byte string.
    public var encoded: [UInt8] {
        var encoder = CBOREncoder(reservingBytes: 256)
        encode(to: &encoder)
        return encoder.bytes
    }

    /// The manifest that `encoded` returned.
    public init(decoding bytes: [UInt8]) throws(Malformed) {
        var decoder = CBORDecoder(bytes)
        try self.init(from: &decoder)
        try decoder.finish()
    }
}

extension Manifest.Item {
    fileprivate init(
        from decoder: inout CBORDecoder, inlineBytesLeft: inout Int
    ) throws(Malformed) {
        let start = decoder.position
        let count = try decoder.arrayCount(max: 6)
        guard count == 3 || count == 6 else { throw Malformed(.countExceeded, at: start) }
        let words = decoder.position
        guard
            let name = FileName(
                untrusted: try decoder.text(maxBytes: BlobLimits.fileNameBytesMax)),
            let type = MediaType(
                untrusted: try decoder.text(maxBytes: BlobLimits.mediaTypeBytesMax))
        else { throw Malformed(.badText, at: words) }
        let contents: Contents
        if count == 3 {
            let bytes = try decoder.byteString(
                maxCount: min(inlineBytesLeft, BlobLimits.inlineBytesMax))
            inlineBytesLeft -= bytes.count
            contents = .inline(bytes)
        } else {
            contents = try Self.blob(from: &decoder)
        }
        self.init(name: name, type: type, contents: contents)
    }

    private static func blob(from decoder: inout CBORDecoder) throws(Malformed) -> Contents {
        let start = decoder.position
        let byteCount = try decoder.uint()
        guard let shape = BlobShape(untrusted: byteCount, chunkBits: try decoder.uint()),
            shape.byteCount > 0
        else { throw Malformed(.outOfRange, at: start) }
        let root: BlobRoot = try decoder.identifier32()
        guard let key = BlobKey(untrusted: try decoder.byteString(exactly: BlobKey.byteCount))
        else { throw Malformed(.countExceeded, at: start) }
        return .blob(root, shape, key)
    }
}
