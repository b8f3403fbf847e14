/// What a file is: a type of two words such as `image/png`, without parameters.
///
/// The sender tells it by the first bytes of the file. Whoever shows a file tells it again: a
/// claim in a message is a claim.
public struct MediaType: Hashable, Sendable {
    /// The type, in lower case.
    public let text: String

    /// Bytes of which nothing is known.
    public static let unknown = MediaType(known: "application/octet-stream")
    /// Text in UTF-8.
    public static let plainText = MediaType(known: "text/plain")

    /// A type of our own tables.
    init(known text: String) { self.text = text }

    /// The type that somebody else wrote, `nil` unless it is two words of lower case letters,
    /// digits and `.+-` with a `/` between: it fits into any header as it is.
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

    /// Whether it may be a picture of a person, workspace or channel.
    public var isPicture: Bool {
        ["image/png", "image/jpeg", "image/gif", "image/webp"].contains(text)
    }

    /// Whether it is an image of any kind.
    public var isImage: Bool { text.utf8.starts(with: "image/".utf8) }
}

extension MediaType: CustomStringConvertible {
    /// The type itself.
    public var description: String { text }
}
