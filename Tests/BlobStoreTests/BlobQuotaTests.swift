import BlobStore
import Testing
import WorkspaceModel

struct `The quota of blobs` {
    static func blob(
        _ number: UInt8, _ byteCount: UInt64, at: UInt64 = 0, referenced: Bool = true,
        kept: Bool = false, holders: Int = 1
    ) -> CachedBlob {
        CachedBlob(
            root: BlobBench.root(number), byteCount: byteCount, usedAt: at,
            isReferenced: referenced, isKept: kept, holderCount: holders)
    }

    @Test func `drops nothing while all fits`() {
        let blobs = [Self.blob(1, 50), Self.blob(2, 40)]
        #expect(BlobQuota(byteCountMax: 100).toDrop(blobs, incoming: 10) == [])
        #expect(BlobQuota(byteCountMax: 100).toDrop([], incoming: 101) == nil)
    }

    @Test func `drops what no message has, then what was used longest ago`() {
        let blobs = [
            Self.blob(1, 30, at: 5), Self.blob(2, 30, at: 9, referenced: false, holders: 0),
            Self.blob(3, 30, at: 1), Self.blob(4, 10, at: 2),
        ]
        let quota = BlobQuota(byteCountMax: 100)
        #expect(quota.toDrop(blobs, incoming: 20) == [BlobBench.root(2)])
        #expect(quota.toDrop(blobs, incoming: 50) == [2, 3].map(BlobBench.root))
        #expect(quota.toDrop(blobs, incoming: 100) == [2, 3, 4, 1].map(BlobBench.root))
        #expect(quota.toDrop(blobs, incoming: 101) == nil)
    }

    @Test func `never drops own, kept and only copies`() {
        let blobs = [
            Self.blob(1, 60, kept: true), Self.blob(2, 30, holders: 0), Self.blob(3, 10),
        ]
        let quota = BlobQuota(byteCountMax: 100)
        #expect(quota.toDrop(blobs, incoming: 10) == [BlobBench.root(3)])
        #expect(quota.toDrop(blobs, incoming: 11) == nil)
    }

    @Test func `is a tenth of the disk, at most 10 GiB, and does not overflow`() {
        #expect(BlobQuota(diskByteCount: 1_000).byteCountMax == 100)
        #expect(BlobQuota(diskByteCount: .max).byteCountMax == 10 << 30)
        let blobs = [Self.blob(1, .max), Self.blob(2, .max)]
        #expect(BlobQuota(byteCountMax: .max - 1).toDrop(blobs, incoming: .max) == nil)
    }

    @Test(arguments: BlobBench.seeds(100))
    func `drops no more than it must, and never what may not go`(_ seed: UInt64) {
        var dice = Dice(seed)
        let blobs = (0..<UInt8(dice.below(20))).map { number in
            Self.blob(
                number, UInt64(dice.below(100)), at: UInt64(dice.below(5)),
                referenced: dice.oneIn(2), kept: dice.oneIn(3), holders: dice.below(2))
        }
        let quota = BlobQuota(byteCountMax: UInt64(dice.below(1_000)))
        let incoming = UInt64(dice.below(300))
        func left(without roots: [BlobRoot]) -> UInt64 {
            blobs.filter { !roots.contains($0.root) }.reduce(incoming) { $0 + $1.byteCount }
        }
        guard let roots = quota.toDrop(blobs, incoming: incoming) else {
            #expect(left(without: blobs.filter(\.mayGo).map(\.root)) > quota.byteCountMax)
            return
        }
        #expect(left(without: roots) <= quota.byteCountMax)
        #expect(roots.isEmpty || left(without: Array(roots.dropLast())) > quota.byteCountMax)
        #expect(roots.allSatisfy { root in blobs.contains { $0.root == root && $0.mayGo } })
    }

    // MARK: Errors

    @Test func `and the other errors have words that programs know`() {
        let all: [BlobError] = [
            .badManifest, .badChunk(3), .badLeaves, .missing, .noSpace, .overQuota,
            .disk(call: "pwrite", number: 5), .changed, .notRegular, .tooShort, .tooLong,
            .tooLarge, .exists, .badName, .closed,
        ]
        #expect(Set(all.map(\.code)).count == all.count)
        for error in all {
            #expect(error.code.hasPrefix("file."))
            let shown = NodeError(error, file: "a\u{1b}[2J.txt")
            #expect(shown.reason == error.code)
            #expect(shown.message.contains("'a\\u{1b}[2J.txt'"))
            #expect(shown.hint?.isEmpty == false, "\(error) says what to do next")
        }
        #expect(NodeError(.noSpace, file: "a").kind == .storageFull)
        #expect(NodeError(.exists, file: "a").exitStatus == 6)
        #expect(NodeError(.missing, file: "a").exitStatus == 7)
        #expect(NodeError(.changed, file: "a").message == "'a' changed while it was read")
    }
}
