/// Consecutive leaves of a tree, with the hashes that prove that they belong to a root.
///
/// The hashes are those of the largest subtrees outside the range, in the order of their chunks: at
/// most two for each level.
public struct TreeProof: Hashable, Sendable {
    /// The shape of the leaves' blob.
    public let shape: BlobShape
    /// The first chunk.
    public let first: Int
    /// The hashes of the chunks from there on; not empty.
    public let leaves: [TreeHash]
    /// The subtrees beside them.
    public let hashes: [TreeHash]

    /// The chunks of the leaves, `nil` if the blob does not have them.
    public var chunks: Range<Int>? {
        guard !leaves.isEmpty, first >= 0, first < shape.chunkCount,
            leaves.count <= shape.chunkCount - first
        else { return nil }
        return first..<first + leaves.count
    }

    /// Whether the blob `root` has these leaves there. Takes any claim.
    public func isValid(for root: BlobRoot) -> Bool {
        guard let chunks, hashes.count <= BlobLimits.proofHashesMax else { return false }
        var walk = Walk(proof: self, chunks: chunks)
        guard let top = walk.hash(over: 0..<shape.chunkCount), walk.used == hashes.count else {
            return false
        }
        return BlobTree.root(shape: shape, top: top) == root
    }

    /// Where a subtree with more than one chunk splits: at the largest power of two below its size.
    static func half(of part: Range<Int>) -> Int {
        var half = 1
        while half * 2 < part.count { half *= 2 }
        return part.lowerBound + half
    }

    /// Computes the top from the leaves and the subtrees beside them.
    private struct Walk {
        let proof: TreeProof
        let chunks: Range<Int>
        var used = 0

        /// Recurses as deep as the tree has levels, 15 at most.
        mutating func hash(over part: Range<Int>) -> TreeHash? {
            guard part.overlaps(chunks) else {
                guard used < proof.hashes.count else { return nil }
                used += 1
                return proof.hashes[used - 1]
            }
            if part.count == 1 { return proof.leaves[part.lowerBound - chunks.lowerBound] }
            let half = TreeProof.half(of: part)
            guard let left = hash(over: part.lowerBound..<half),
                let right = hash(over: half..<part.upperBound)
            else { return nil }
            return BlobTree.node(left, right)
        }
    }
}

extension BlobTree {
    /// The leaves of some chunks with their proof, `nil` for invalid chunks.
    public func proof(of chunks: Range<Int>) -> TreeProof? {
        guard !chunks.isEmpty, chunks.lowerBound >= 0, chunks.upperBound <= shape.chunkCount else {
            return nil
        }
        var hashes: [TreeHash] = []
        collect(over: 0..<shape.chunkCount, outside: chunks, into: &hashes)
        return TreeProof(
            shape: shape, first: chunks.lowerBound, leaves: [TreeHash](leaves[chunks]),
            hashes: hashes)
    }

    private func collect(
        over part: Range<Int>, outside chunks: Range<Int>, into hashes: inout [TreeHash]
    ) {
        guard part.overlaps(chunks) else {
            let level = Int.bitWidth - (part.count - 1).leadingZeroBitCount
            if let hash = self.part(from: part.lowerBound, level: level) { hashes.append(hash) }
            return
        }
        guard part.count > 1 else { return }
        let half = TreeProof.half(of: part)
        collect(over: part.lowerBound..<half, outside: chunks, into: &hashes)
        collect(over: half..<part.upperBound, outside: chunks, into: &hashes)
    }
}
