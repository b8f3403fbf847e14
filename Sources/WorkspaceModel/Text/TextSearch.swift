extension StringProtocol {
    /// Whether `part` stands in it somewhere, byte for byte; nothing stands in everything.
    ///
    /// `contains` of a text comes with the regular expressions of the toolchain, which would be 2 MB of
    /// the program.
    ///
    /// - Cost: the product of both lengths at worst, so for short parts.
    public func holds(_ part: some StringProtocol) -> Bool {
        let wanted = Array(part.utf8)
        guard let first = wanted.first else { return true }
        let bytes = Array(utf8)
        guard bytes.count >= wanted.count else { return false }
        return (0...(bytes.count - wanted.count)).contains { start in
            bytes[start] == first && bytes[start..<(start + wanted.count)].elementsEqual(wanted)
        }
    }
}
