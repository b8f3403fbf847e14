import Foundation

/// Searches for bytes in the image of a whole store, fast even without optimisation.
public enum ByteSearch {
    /// Whether `wanted`, which is not empty, stands somewhere in `bytes`.
    public static func finds(_ wanted: [UInt8], in bytes: [UInt8]) -> Bool {
        guard let first = wanted.first, bytes.count >= wanted.count else { return false }
        return bytes.withUnsafeBytes { haystack in
            wanted.withUnsafeBytes { needle in
                guard let start = haystack.baseAddress, let sought = needle.baseAddress else {
                    return false
                }
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
    }
}
