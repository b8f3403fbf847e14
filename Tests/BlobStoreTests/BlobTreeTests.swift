import Testing
import WorkspaceCrypto
import WorkspaceModel

@testable import BlobStore

struct `Trees of blobs` {
    /// Leaf i is H("wsx-leaf1", i in 4 bytes), as in Tests/interop/blobs.py.
    static func leaves(_ count: Int) -> [TreeHash] {
        (0..<count).map { number in
            let bytes = stride(from: 0, to: 32, by: 8).map {
                UInt8(truncatingIfNeeded: number >> $0)
            }
            return BlobTree.leaf(bytes.span)
        }
    }

    static func tree(_ count: Int) throws -> BlobTree {
        try #require(
            BlobTree(shape: BlobBench.shape(UInt64(count) * 262_128), leaves: leaves(count)))
    }

    /// By Tests/interop/blobs.py, which computes them level by level.
    static let roots: [(Int, String)] = [
        (1, "acf1c7054f04fb92f2b0d2f310a4026fed9663c679749de62ac1109670195631"),
        (2, "55d58df85831769b80d17dcc95278e0e9fa45512011b65fa0f13c757f0a3af82"),
        (3, "1c6ce0ab5766beca5d6cc698355c1f937698a8fa628c398ea24bdd8aa728cf67"),
        (5, "7150d0faf3d1de4e02e91e397245151b3d52b1a7fb7636130f304f82c30caa51"),
        (6, "a0e923405c7b07838bec15ae96150e44cee4f96d530112bbf8525e7f64d0bf67"),
        (7, "77e790b90784bd15059bf736f4e017fd1de4895100255432ba24ff457de9ecc1"),
        (13, "76968647efffe0631b7df0353ce2c2bc3e7b10fe2de3b20ff245c9368d229684"),
        (64, "e587cf819d6bf31270431e8182533104d133b70f4b2f2f7dc1d42b2ef153e8aa"),
        (1_000, "1d0575bfedc8321a54f6b278031e1860c9ede26ff3dd9693b82f72346f782d6d"),
    ]

    @Test(arguments: roots)
    func `have the roots that were typed in`(_ count: Int, _ root: String) throws {
        let tree = try Self.tree(count)
        #expect(BlobBench.hex(tree.root.bytes) == root)
        var builder = TreeBuilder()
        for leaf in tree.leaves { builder.append(leaf) }
        #expect(builder.root(of: tree.shape) == tree.root)
        #expect(BlobTree(shape: tree.shape, leaves: tree.leaves, root: tree.root) == tree)
    }

    @Test func `have another root for another size or another leaf`() throws {
        let tree = try Self.tree(7)
        let longer = BlobBench.shape(tree.shape.byteCount - 1)
        #expect(BlobTree(shape: longer, leaves: tree.leaves)?.root != tree.root)
        for place in 0..<7 {
            var leaves = tree.leaves
            leaves[place] = BlobTree.node(leaves[place], leaves[place])
            #expect(BlobTree(shape: tree.shape, leaves: leaves, root: tree.root) == nil)
        }
        #expect(BlobTree(shape: tree.shape, leaves: Array(tree.leaves.dropLast())) == nil)
        #expect(BlobTree(shape: tree.shape, leaves: []) == nil)
    }

    @Test func `have no root before the last leaf and after it`() throws {
        let tree = try Self.tree(5)
        var builder = TreeBuilder()
        for leaf in tree.leaves {
            #expect(builder.root(of: tree.shape) == nil)
            builder.append(leaf)
        }
        builder.append(tree.leaves[0])
        #expect(builder.root(of: tree.shape) == nil)
    }

    @Test(arguments: [1, 2, 3, 5, 8, 13, 33])
    func `prove every range of their leaves`(_ count: Int) throws {
        let tree = try Self.tree(count)
        for first in 0..<count {
            for end in first + 1...count {
                let proof = try #require(tree.proof(of: first..<end))
                #expect(proof.isValid(for: tree.root))
                #expect(proof.chunks == first..<end)
                #expect(proof.hashes.count <= BlobLimits.proofHashesMax)
                if end - first == count { #expect(proof.hashes.isEmpty) }
            }
        }
        #expect(tree.proof(of: 0..<count + 1) == nil)
        #expect(tree.proof(of: 0..<0) == nil)
    }

    @Test func `prove one leaf of the largest with 14 hashes`() throws {
        let tree = try Self.tree(BlobLimits.chunkCountMax)
        let proof = try #require(tree.proof(of: 9_999..<10_000))
        #expect(proof.hashes.count == 14)
        #expect(proof.isValid(for: tree.root))
    }

    @Test(arguments: BlobBench.seeds(30))
    func `refuse every proof that was changed`(_ seed: UInt64) throws {
        var dice = Dice(seed)
        let count = 2 + dice.below(60)
        let tree = try Self.tree(count)
        let first = dice.below(count)
        let proof = try #require(tree.proof(of: first..<first + 1 + dice.below(count - first)))
        var leaves = proof.leaves
        var hashes = proof.hashes
        var (place, shape) = (proof.first, proof.shape)
        switch dice.below(6) {
        case 0: leaves[dice.below(leaves.count)] = TreeHash(dice.bytes(32))
        case 1 where !hashes.isEmpty: hashes[dice.below(hashes.count)] = TreeHash(dice.bytes(32))
        case 2: hashes.append(TreeHash(dice.bytes(32)))
        case 3 where !hashes.isEmpty: hashes.removeLast()
        case 4: place = [-1, .min, .max, place + 1, count][dice.below(5)]
        default: shape = BlobBench.shape(shape.byteCount - 1)
        }
        let changed = TreeProof(shape: shape, first: place, leaves: leaves, hashes: hashes)
        #expect(!changed.isValid(for: tree.root))
        #expect(!proof.isValid(for: BlobBench.root(1)))
    }

    @Test func `refuse a proof without leaves, and one with very many hashes`() throws {
        let tree = try Self.tree(4)
        let none = TreeProof(shape: tree.shape, first: 0, leaves: [], hashes: [tree.leaves[0]])
        #expect(!none.isValid(for: tree.root))
        let many = [TreeHash](repeating: tree.leaves[0], count: 100_000)
        let proof = TreeProof(shape: tree.shape, first: 0, leaves: tree.leaves, hashes: many)
        #expect(!proof.isValid(for: tree.root))
    }
}
