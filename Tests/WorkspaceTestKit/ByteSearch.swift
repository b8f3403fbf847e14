import Foundation

/// Searches for bytes in the image of a whole store, or in a text: fast though tests are built without
/// optimisation.
public enum ByteSearch {
    /// Whether `wanted`, which is not empty, stands somewhere in `bytes`.
    public static func finds(_ wanted: [UInt8], in bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { haystack in
            wanted.withUnsafeBytes { finds($0, in: haystack) }
        }
    }

    /// Whether `wanted`, which is not empty, stands somewhere in `text`, byte by byte.
    public static func finds(_ wanted: String, in text: String) -> Bool {
        var (wanted, text) = (wanted, text)
        return text.withUTF8 { haystack in
            wanted.withUTF8 { needle in
                finds(UnsafeRawBufferPointer(needle), in: UnsafeRawBufferPointer(haystack))
            }
        }
    }

    private static func finds(
        _ needle: UnsafeRawBufferPointer, in haystack: UnsafeRawBufferPointer
    ) -> Bool {
        guard let start = haystack.baseAddress, let sought = needle.baseAddress,
            let first = needle.first, haystack.count >= needle.count
        else { return false }
        var position = 0
        let last = haystack.count - needle.count
        while position <= last,
            let hit = memchr(start + position, Int32(first), last - position + 1)
        {
            if memcmp(hit, sought, needle.count) == 0 { return true }
            position = UnsafeRawPointer(hit) - start + 1
        }
        return false
    }
}
