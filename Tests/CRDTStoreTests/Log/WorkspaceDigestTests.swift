import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

struct `The digest of a workspace` {
    /// By `hashlib` and cbor2 for Python, from PROTOCOL.md 5.4.
    @Test func `has the bytes that the protocol says`() throws {
        var digest = WorkspaceDigest()
        let first = DocumentID([UInt8](repeating: 0xc3, count: 32))
        let second = DocumentID([UInt8](repeating: 0xc3, count: 31) + [0])
        #expect(
            digest.root().bytes
                == hex("a2df9d603892ffe95f805cfd0746fff7af0e83778127346c4ca449a99ed0ff66"))
        digest.update(
            first,
            tips: try Self.tips(
                in: first, [(1, 1, 5, 0x10), (1, 1, 5, 0x0f), (0, 2, 70_000, 0x20)]))
        digest.update(second, tips: try Self.tips(in: second, [(1, 1, 0, 0x11)]))
        #expect(
            digest.documents(in: 0xc3).last?.digest.bytes
                == hex("94dff0da3ba4443ba7a1cef4dab14b4b5b36a623434f25a970ae1d55919fcacd"))
        let buckets = digest.bucketBytes()
        #expect(buckets.count == 4_096)
        let place = 16 * 0xc3
        #expect([UInt8](buckets[place..<place + 16]) == hex("b29c7f66eecad9a673c68933463566d2"))
        #expect(buckets[..<place].allSatisfy { $0 == 0 })
        #expect(buckets[(place + 16)...].allSatisfy { $0 == 0 })
        #expect(
            digest.root().bytes
                == hex("67bc0b214fe320786f2b567d34e5a0c3cb7a8c40b48fb63dc9d821b5ca28b5de"))
    }

    private func hex(_ digits: String) -> [UInt8]? { Vectors.bytes(hex: digits) }

    typealias Tip = (device: UInt8, incarnation: UInt32, sequence: UInt64, id: UInt8)

    /// Branches with these kept tips, made by a real store, which alone can make branches.
    static func tips(in document: DocumentID, _ tips: [Tip]) throws -> [LogBranch] {
        let store = try NodeStore(Connection())
        try store.begin()
        try store.operations.enter(document, workspace: nil, kind: .authority)
        return try tips.map { tip in
            let device = DeviceID([UInt8](repeating: tip.device, count: 32))
            let name = LogName(
                document: document, device: device, incarnation: tip.incarnation)
            let anything = try StoredLog.anything
            let (branch, _) = try store.operations.append(
                [anything], in: name, of: store.operations.workspace(of: document), at: .newLog,
                seen: 0, citing: [[]])
            store.operations.setKept(
                .init(
                    sequence: tip.sequence, id: OperationID([UInt8](repeating: tip.id, count: 32))),
                of: branch)
            return try #require(store.operations.branch(branch))
        }
    }

    @Test(arguments: Seeds.explore(20))
    func `depends on what is kept and on nothing else`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let documents = (0..<6).map { number in
            // Two in one bucket, so that the order inside matters.
            DocumentID([UInt8(number / 2)] + random.bytes(31))
        }
        let contents = try documents.map { document in
            try Self.tips(
                in: document,
                (0..<random.below(4) + 1).map { _ in
                    (
                        UInt8(random.below(3)), UInt32(random.below(3)), random.next() >> 50,
                        UInt8(random.below(256))
                    )
                })
        }
        var straight = WorkspaceDigest()
        for (document, tips) in zip(documents, contents) { straight.update(document, tips: tips) }
        var winding = WorkspaceDigest()
        for _ in 0..<30 {
            let index = random.below(6)
            let part = contents[index].prefix(random.below(contents[index].count + 1))
            winding.update(documents[index], tips: Array(part))
            if random.oneIn(3) { _ = winding.root() }
        }
        for index in documents.indices.shuffled(using: &random) {
            winding.update(documents[index], tips: contents[index].shuffled(using: &random))
        }
        #expect(winding.root() == straight.root(), "WSX_SEED=\(seed)")
        #expect(winding.bucketBytes() == straight.bucketBytes(), "WSX_SEED=\(seed)")
    }

    // Which branch of a fork is the other's parent depends on which came first.
    @Test func `says nothing of a kept tip that another one has in its past`() throws {
        let document = DocumentID([UInt8](repeating: 0xd0, count: 32))
        var trunk = WrittenLog(by: TestDevice(1), in: document)
        trunk.writeMany(4)
        var fork = trunk.fork(after: 2)
        fork.write([8])
        var roots: Set<SetDigest> = []
        for forkComesFirst in [false, true] {
            let store = try NodeStore.inMemory()
            let (first, second) = forkComesFirst ? (fork, trunk) : (trunk, fork)
            let (older, _) = try StoredLog.put(first, in: store)
            let (newer, _) = try StoredLog.put(
                second, 2..<second.operations.count, in: store, at: .fork(of: older, at: 2))
            // Only the short branch is valid behind the fork.
            let (short, long) = forkComesFirst ? (older, newer) : (newer, older)
            store.operations.setKept(.init(sequence: 2, id: fork.operations[2].id), of: short)
            store.operations.setKept(
                forkComesFirst ? nil : .init(sequence: 1, id: trunk.operations[1].id), of: long)
            var digest = WorkspaceDigest()
            digest.update(document, tips: try store.operations.branches(in: document))
            roots.insert(digest.root())
        }
        #expect(roots.count == 1)
    }

    @Test func `changes with every part of every tip`() throws {
        let document = DocumentID([UInt8](repeating: 9, count: 32))
        let base: [Tip] = [(1, 1, 5, 1), (2, 1, 5, 2)]
        let variants: [[Tip]] = [
            base, [(1, 1, 5, 1)], [(2, 1, 5, 1), (2, 1, 5, 2)], [(1, 2, 5, 1), (2, 1, 5, 2)],
            [(1, 1, 6, 1), (2, 1, 5, 2)], [(1, 1, 5, 3), (2, 1, 5, 2)], base + [(1, 1, 4, 1)],
            [],
        ]
        var roots: Set<SetDigest> = []
        for variant in variants {
            var digest = WorkspaceDigest()
            digest.update(document, tips: try Self.tips(in: document, variant))
            roots.insert(digest.root())
        }
        var elsewhere = WorkspaceDigest()
        let other = DocumentID([UInt8](repeating: 8, count: 32))
        elsewhere.update(other, tips: try Self.tips(in: other, base))
        roots.insert(elsewhere.root())
        #expect(roots.count == variants.count + 1)
    }

    @Test func `forgets a document that has nothing left`() throws {
        let document = DocumentID([UInt8](repeating: 9, count: 32))
        let empty = WorkspaceDigest().withRoot
        var digest = WorkspaceDigest()
        digest.update(document, tips: try Self.tips(in: document, [(1, 1, 5, 1)]))
        #expect(digest.root() != empty)
        #expect(digest.documents(in: 9).map(\.document) == [document])
        digest.update(document, tips: [])
        #expect(digest.root() == empty)
        #expect(digest.documents(in: 9).isEmpty)
        #expect(digest.bucketBytes() == [UInt8](repeating: 0, count: 4_096))
    }

    @Test func `puts a document where its first byte says`() {
        for byte: UInt8 in [0, 1, 127, 128, 255] {
            let document = DocumentID([byte] + [UInt8](repeating: 7, count: 31))
            #expect(WorkspaceDigest.bucket(of: document) == byte)
        }
    }
}

extension WorkspaceDigest {
    fileprivate var withRoot: SetDigest {
        var copy = self
        return copy.root()
    }
}
