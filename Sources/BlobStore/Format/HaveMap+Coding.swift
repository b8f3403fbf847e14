public import WorkspaceModel

/// A map is encoded as run lengths: alternately how many chunks are missing and how many are held.
/// The last number counts held chunks; all further ones are missing.
///
/// Only the first number may be 0. So a map has one encoding, of 16 KiB at most, and of 2 or 3
/// bytes while a transfer runs from beginning to end.
/// a transfer goes from the beginning to the end.
extension HaveMap {
    /// Writes `Enc` array of the lengths.
    public func encode(to encoder: inout CBOREncoder) {
        let runs = runs
        encoder.array(count: runs.count * 2)
        var end = 0
        for run in runs {
            encoder.int(run.lowerBound - end)
            encoder.int(run.count)
            end = run.upperBound
        }
    }

    /// Reads what `encode(to:)` wrote for a blob of this many chunks.
    public init(chunkCount: Int, from decoder: inout CBORDecoder) throws(Malformed) {
        self.init(chunkCount: chunkCount)
        let start = decoder.position
        let count = try decoder.arrayCount(max: chunkCount + 1)
        guard count % 2 == 0 else { throw Malformed(.inconsistent, at: start) }
        var end = 0
        for index in 0..<count {
            let start = decoder.position
            // The remaining chunks bound each length, so the sum cannot exceed them.
            let length = try decoder.int(max: chunkCount - end)
            guard length > 0 || index == 0 else { throw Malformed(.inconsistent, at: start) }
            if index % 2 == 1 { insert(end..<end + length) }
            end += length
        }
    }

    /// The encoding as a byte string, for a table.
    public var encoded: [UInt8] {
        var encoder = CBOREncoder()
        encode(to: &encoder)
        return encoder.bytes
    }

    /// The map that `encoded` returned.
    public init(chunkCount: Int, decoding bytes: [UInt8]) throws(Malformed) {
        var decoder = CBORDecoder(bytes)
        try self.init(chunkCount: chunkCount, from: &decoder)
        try decoder.finish()
    }
}
