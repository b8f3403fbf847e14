/// Lines of a stream, taken apart in optimised code.
public enum ByteLines {
    private static let newline = UInt8(ascii: "\n")

    /// Takes the whole lines out of what was received, without their ends; empty ones are left out.
    public static func take(from received: inout [UInt8]) -> [String] {
        guard received.contains(newline) else { return [] }
        let parts = received.split(separator: newline, omittingEmptySubsequences: false)
        let lines = parts.dropLast().filter { !$0.isEmpty }
            .map { String(decoding: $0, as: UTF8.self) }
        received = parts.last.map { [UInt8]($0) } ?? []
        return lines
    }
}
