/// A file name in a message.
///
/// The wire form is defined by lists that no Unicode version changes: 1 to 255 bytes of UTF-8, no
/// `/` or `\`, no control character, no character that reorders or breaks the line, not `.` or
/// `..`. A name from a path, which may be any bytes, is converted to fit.
public struct FileName: Hashable, Sendable {
    /// The name.
    public let text: String

    /// A name from someone else, `nil` unless it conforms.
    public init?(untrusted text: String) {
        guard (1...BlobLimits.fileNameBytesMax).contains(text.utf8.count),
            text.unicodeScalars.allSatisfy({ !$0.isRefusedInFileNames }), text != ".", text != ".."
        else { return nil }
        self.text = text
    }

    /// The name of the file at a path, or one that a person typed: the last path component, with
    /// `_` for forbidden characters, shortened before its extension if too long.
    public init(fitting path: [UInt8]) {
        text = SafeFileName.fitted(
            SafeFileName.lastPart(of: path), byteCountMax: BlobLimits.fileNameBytesMax)
    }
}

extension FileName: CustomStringConvertible {
    /// The name itself. Escape it like any foreign text before showing it in a terminal.
    public var description: String { text }
}

extension Unicode.Scalar {
    /// Characters that no file name has on the wire: the same in every Unicode version.
    var isRefusedInFileNames: Bool {
        switch value {
        case 0..<0x20, 0x7f...0x9f: true
        case 0x2f, 0x5c: true
        // Bidirectional controls and isolates, line and paragraph separators.
        case 0x061c, 0x200e, 0x200f, 0x2028...0x202e, 0x2066...0x2069: true
        case 0xfdd0...0xfdef: true
        default: value & 0xfffe == 0xfffe
        }
    }

    /// Invisible characters, which can make two names look alike.
    var isInvisibleInFileNames: Bool {
        switch value {
        case 0x00ad, 0x034f, 0x115f...0x1160, 0x17b4...0x17b5, 0x180b...0x180f, 0x200b,
            0x2060...0x2065, 0x206a...0x206f, 0x2800, 0x3164, 0xfeff, 0xffa0, 0xfff0...0xfffb:
            true
        default: false
        }
    }
}
