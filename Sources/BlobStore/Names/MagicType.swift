/// Detects the type of a file from its first bytes. Decodes nothing, and ignores the name.
public enum MagicType {
    /// A signature: bytes at an offset, and the type that they indicate.
    private struct Sign {
        let offset: Int
        let bytes: [UInt8]
        let type: String
        /// Further bytes that must match.
        var more: (offset: Int, bytes: [UInt8])?

        init(
            _ text: String, at offset: Int = 0, _ type: String, more: (Int, String)? = nil
        ) {
            self.offset = offset
            // The table spells bytes as characters up to U+00FF.
            bytes = text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
            self.type = type
            self.more = more.map { ($0.0, [UInt8]($0.1.utf8)) }
        }

        func fits(_ beginning: ArraySlice<UInt8>) -> Bool {
            func stands(_ bytes: [UInt8], at offset: Int) -> Bool {
                beginning.dropFirst(offset).starts(with: bytes)
            }
            return stands(bytes, at: offset) && more.map { stands($0.bytes, at: $0.offset) } ?? true
        }
    }

    /// The first match counts.
    private static let signs: [Sign] = [
        Sign("\u{89}PNG\r\n\u{1a}\n", "image/png"),
        Sign("\u{ff}\u{d8}\u{ff}", "image/jpeg"),
        Sign("GIF87a", "image/gif"), Sign("GIF89a", "image/gif"),
        Sign("RIFF", "image/webp", more: (8, "WEBP")),
        Sign("RIFF", "audio/wav", more: (8, "WAVE")),
        Sign("RIFF", "video/x-msvideo", more: (8, "AVI ")),
        Sign("II*\0", "image/tiff"), Sign("MM\0*", "image/tiff"),
        Sign("ftypavif", at: 4, "image/avif"),
        Sign("ftypheic", at: 4, "image/heic"), Sign("ftypmif1", at: 4, "image/heif"),
        Sign("ftypM4A ", at: 4, "audio/mp4"), Sign("ftypqt  ", at: 4, "video/quicktime"),
        Sign("ftyp", at: 4, "video/mp4"),
        Sign("%PDF-", "application/pdf"),
        Sign("PK\u{3}\u{4}", "application/epub+zip", more: (30, "mimetypeapplication/epub+zip")),
        Sign(
            "PK\u{3}\u{4}", "application/vnd.oasis.opendocument.text",
            more: (30, "mimetypeapplication/vnd.oasis.opendocument.text")),
        Sign(
            "PK\u{3}\u{4}", "application/vnd.oasis.opendocument.spreadsheet",
            more: (30, "mimetypeapplication/vnd.oasis.opendocument.spreadsheet")),
        Sign("PK\u{3}\u{4}", "application/zip"), Sign("PK\u{5}\u{6}", "application/zip"),
        Sign("\u{1f}\u{8b}\u{8}", "application/gzip"),
        Sign("BZh", "application/x-bzip2", more: (4, "1AY&SY")),
        Sign("\u{fd}7zXZ\0", "application/x-xz"),
        Sign("(\u{b5}/\u{fd}", "application/zstd"),
        Sign("7z\u{bc}\u{af}'\u{1c}", "application/x-7z-compressed"),
        Sign("ustar", at: 257, "application/x-tar"),
        Sign("\u{7f}ELF", "application/x-executable"),
        Sign("SQLite format 3\0", "application/vnd.sqlite3"),
        Sign("OggS", "audio/ogg"), Sign("fLaC", "audio/flac"), Sign("ID3", "audio/mpeg"),
        Sign("\u{1a}E\u{df}\u{a3}", "video/webm", more: (31, "webm")),
        Sign("\u{1a}E\u{df}\u{a3}", "video/x-matroska"),
        Sign("wOF2", "font/woff2"), Sign("OTTO", "font/otf"),
    ]

    /// The type of a file that begins with `beginning`; bytes beyond `BlobLimits.magicBytesMax` are
    /// ignored. An empty file is text.
    public static func type(of beginning: [UInt8]) -> MediaType {
        let head = beginning.prefix(BlobLimits.magicBytesMax)
        if let sign = signs.first(where: { $0.fits(head) }) { return MediaType(known: sign.type) }
        return isText(head) ? .plainText : .unknown
    }

    /// Whether it is UTF-8 without controls; a character may be cut off at the end.
    ///
    /// HTML and SVG count as text here, so that nothing is ever shown in a form that runs scripts.
    private static func isText(_ head: ArraySlice<UInt8>) -> Bool {
        for byte in head where byte < 0x20 || byte == 0x7f {
            guard [9, 10, 12, 13, 27].contains(byte) else { return false }
        }
        guard head.count == BlobLimits.magicBytesMax else { return isUTF8(head) }
        return (0...3).contains { isUTF8(head.dropLast($0)) }
    }

    private static func isUTF8(_ bytes: ArraySlice<UInt8>) -> Bool {
        String(validating: bytes, as: UTF8.self) != nil
    }
}
