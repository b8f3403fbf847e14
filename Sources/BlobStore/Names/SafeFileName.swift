/// The only conversion of a foreign name to a file name on this machine.
///
/// The result is one path component: never empty, `.` or `..`, without separators or controls, not
/// hidden, and nothing that a shell or program reads as an option or a home folder. It is at most
/// `BlobLimits.savedNameBytesMax` bytes long, which leaves room for a number.
public struct SafeFileName: Hashable, Sendable {
    /// The name.
    public let text: String

    /// The name if nothing usable remains.
    static let fallback = "file"

    /// Converts any bytes, which need not be UTF-8.
    public init(_ foreign: [UInt8]) {
        text = Self.fitted(
            Self.lastPart(of: foreign), byteCountMax: BlobLimits.savedNameBytesMax,
            isForSaving: true)
    }

    /// Converts a text.
    public init(_ foreign: String) { self.init([UInt8](foreign.utf8)) }

    /// The same name with a number before its ending: `a (2).txt`.
    public func numbered(_ number: Int) -> String {
        let (stem, ending) = Self.parts(of: text)
        return stem + " (\(number))" + ending
    }

    /// The part after the last separator that is not at the end.
    ///
    /// Compares bytes: a `/` with a combining accent is not `/` to Swift, but is one to the kernel.
    static func lastPart(of path: [UInt8]) -> ArraySlice<UInt8> {
        func isSeparator(_ byte: UInt8) -> Bool { byte == 0x2f || byte == 0x5c }
        // Bounds the work: only the last 4 KiB of a long name are examined.
        let path = path.suffix(4_096)
        guard let last = path.lastIndex(where: { !isSeparator($0) }) else { return [] }
        let start = path[...last].lastIndex(where: isSeparator).map { $0 + 1 } ?? path.startIndex
        return path[start...last]
    }

    /// `bytes` as a name of at most `byteCountMax` bytes, with `_` for invalid UTF-8 and
    /// forbidden characters.
    static func fitted(
        _ bytes: ArraySlice<UInt8>, byteCountMax: Int, isForSaving: Bool = false
    ) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
            if scalar.isRefusedInFileNames || scalar == "\u{fffd}" {
                scalars.append("_")
            } else if !isForSaving || !scalar.isInvisibleInFileNames {
                scalars.append(scalar)
            }
        }
        var name = isForSaving ? trimmed(String(scalars)) : String(scalars)
        if isForSaving, let first = name.unicodeScalars.first, "-~.".unicodeScalars.contains(first)
        {
            name = "_" + String(name.unicodeScalars.dropFirst())
        }
        name = cut(name, byteCountMax: byteCountMax)
        // Shortening may have left a blank at the end.
        if isForSaving { name = trimmed(name) }
        return name.isEmpty || name == "." || name == ".." ? fallback : name
    }

    /// Strips white space around it and dots at the end: both are lost on other systems.
    private static func trimmed(_ name: String) -> String {
        var scalars = name.unicodeScalars[...]
        while let first = scalars.first, first.properties.isWhitespace { scalars.removeFirst() }
        while let last = scalars.last, last.properties.isWhitespace || last == "." {
            scalars.removeLast()
        }
        return String(scalars)
    }

    /// The name, shortened before its extension.
    private static func cut(_ name: String, byteCountMax: Int) -> String {
        guard name.utf8.count > byteCountMax else { return name }
        let (stem, ending) = parts(of: name)
        var scalars = stem.unicodeScalars
        var byteCount = scalars.reduce(ending.utf8.count) { $0 + UTF8.width($1) }
        while byteCount > byteCountMax, let last = scalars.popLast() {
            byteCount -= UTF8.width(last)
        }
        return String(scalars) + ending
    }

    /// A name split before the last dot: an extension is 1 to 16 letters and digits.
    private static func parts(of name: String) -> (stem: String, ending: String) {
        let scalars = name.unicodeScalars
        guard let dot = scalars.lastIndex(of: "."), dot > scalars.startIndex else {
            return (name, "")
        }
        let ending = scalars[scalars.index(after: dot)...]
        let isEnding =
            (1...16).contains(ending.count)
            && ending.allSatisfy {
                $0.isASCII && ($0.properties.isAlphabetic || (48...57) ~= $0.value)
            }
        return isEnding ? (String(scalars[..<dot]), String(scalars[dot...])) : (name, "")
    }
}

extension SafeFileName: CustomStringConvertible {
    /// The name itself.
    public var description: String { text }
}
