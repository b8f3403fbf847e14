/// A media type such as `image/png`, without parameters.
///
/// The sender detects it from the first bytes of the file. A program that shows a file must detect
/// it again: the type in a message is only a claim.
public struct MediaType: Hashable, Sendable {
    /// The type, in lower case.
    public let text: String

    /// Bytes of unknown type.
    public static let unknown = MediaType(known: "application/octet-stream")
    /// Text in UTF-8.
    public static let plainText = MediaType(known: "text/plain")

    /// A type from our own tables.
    init(known text: String) { self.text = text }

    /// A type from someone else, `nil` unless it is two words of lower case letters, digits and
    /// `.+-` separated by `/`, which are safe in any header.
    public init?(untrusted text: String) {
        guard text.utf8.count <= BlobLimits.mediaTypeBytesMax else { return nil }
        let words = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard words.count == 2, words.allSatisfy({ !$0.isEmpty && $0.allSatisfy(Self.isPart) })
        else { return nil }
        self.text = text
    }

    private static func isPart(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "."), UInt8(ascii: "+"), UInt8(ascii: "-"): true
        default: false
        }
    }

    /// Whether it can be the picture of a person, workspace or channel.
    public var isPicture: Bool {
        ["image/png", "image/jpeg", "image/gif", "image/webp"].contains(text)
    }
}

extension MediaType: CustomStringConvertible {
    /// The type itself.
    public var description: String { text }
}
