import WorkspaceTestKit

/// Bytes written as a person reads a dump: `58 20 11*32` is two bytes and thirty-two times 0x11.
func spelled(_ notation: String) -> [UInt8] {
    notation.split(whereSeparator: \.isWhitespace).flatMap { token -> [UInt8] in
        let parts = token.split(separator: "*")
        guard let byte = Vectors.bytes(hex: String(parts[0])) else { return [] }
        guard parts.count == 2, let count = Int(parts[1]) else { return byte }
        return (0..<count).flatMap { _ in byte }
    }
}
