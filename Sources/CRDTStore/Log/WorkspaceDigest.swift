import WorkspaceCrypto
public import WorkspaceModel

/// The digest of everything kept in one workspace, in three levels: documents, 256 buckets, root
/// (PROTOCOL.md, 5.4). Two nodes with equal roots hold the same operations.
///
/// A change of a document costs its own hash; buckets and root are computed on demand.
public struct WorkspaceDigest: Sendable {
    private var documents: [DocumentID: SetDigest] = [:]
    private var members: [[DocumentID]] = Array(repeating: [], count: 256)
    private var buckets: [Identifier16<Named.Digest>] = Array(repeating: .zero, count: 256)
    private var staleBuckets: Set<UInt8> = []
    private var cachedRoot: SetDigest?

    /// The digest of an empty workspace.
    public init() {}

    /// Sets the kept tips of a document, in any order.
    public mutating func update(_ document: DocumentID, tips: [LogBranch]) {
        let digest = Self.digest(of: tips)
        guard documents[document] != digest else { return }
        let bucket = Self.bucket(of: document)
        if documents[document] == nil, digest != nil {
            members[Int(bucket)].append(document)
            members[Int(bucket)].sort()
        } else if digest == nil {
            members[Int(bucket)].removeAll { $0 == document }
        }
        documents[document] = digest
        staleBuckets.insert(bucket)
        cachedRoot = nil
    }

    /// The digest of these documents alone, as far as they have kept operations.
    public func confined(to wanted: some Sequence<DocumentID>) -> WorkspaceDigest {
        var part = WorkspaceDigest()
        for document in Set(wanted).sorted() {
            guard let digest = documents[document] else { continue }
            let bucket = Self.bucket(of: document)
            part.documents[document] = digest
            part.members[Int(bucket)].append(document)
            part.staleBuckets.insert(bucket)
        }
        return part
    }

    /// H("wsx-root1", 256 buckets).
    public mutating func root() -> SetDigest {
        if let cachedRoot { return cachedRoot }
        let root: SetDigest = Hash.name("wsx-root1", bucketBytes())
        cachedRoot = root
        return root
    }

    /// The 256 buckets of 16 bytes in a row: 4,096 bytes.
    public mutating func bucketBytes() -> [UInt8] {
        refreshBuckets()
        return buckets.flatMap(\.bytes)
    }

    /// The documents of a bucket with their digests, by id.
    public func documents(in bucket: UInt8) -> [(document: DocumentID, digest: SetDigest)] {
        members[Int(bucket)].compactMap { document in
            documents[document].map { (document, $0) }
        }
    }

    /// The bucket of a document.
    public static func bucket(of document: DocumentID) -> UInt8 {
        UInt8(truncatingIfNeeded: document.leadingWord >> 56)
    }

    private mutating func refreshBuckets() {
        for bucket in staleBuckets {
            let contents = documents(in: bucket)
            var bytes: [UInt8] = []
            bytes.reserveCapacity(64 * contents.count)
            for (document, digest) in contents { bytes += document.bytes + digest.bytes }
            buckets[Int(bucket)] =
                contents.isEmpty
                ? .zero : Identifier16(prefixOf: Hash.name("wsx-bucket1", bytes) as SetDigest)
        }
        staleBuckets.removeAll()
    }

    /// H("wsx-doc1", Enc sorted [device, inc, seq, id] of kept tips), `nil` when nothing is kept.
    ///
    /// A kept tip in the past of another kept branch adds nothing, and which branch is the other's
    /// parent depends on the order of arrival, so it is left out.
    private static func digest(of branches: [LogBranch]) -> SetDigest? {
        let covered = coveredBranches(branches)
        let tips = branches.filter { !covered.contains($0.number) }
            .compactMap { branch in branch.kept.map { (branch.log, $0) } }
            .sorted {
                ($0.0.device, $0.0.incarnation, $0.1.sequence, $0.1.id)
                    < ($1.0.device, $1.0.incarnation, $1.1.sequence, $1.1.id)
            }
        guard !tips.isEmpty else { return nil }
        var encoder = CBOREncoder(reservingBytes: 80 * tips.count)
        encoder.array(count: tips.count)
        for (log, kept) in tips {
            encoder.array(count: 4)
            encoder.byteString(log.device)
            encoder.uint(UInt64(log.incarnation))
            encoder.uint(kept.sequence)
            encoder.byteString(kept.id)
        }
        return Hash.name("wsx-doc1", encoder.bytes)
    }

    /// The branches whose kept tip is in the past of another branch's.
    private static func coveredBranches(_ branches: [LogBranch]) -> Set<Int64> {
        var covered: Set<Int64> = []
        guard branches.contains(where: { $0.parent != nil }) else { return covered }
        let byNumber = Dictionary(branches.map { ($0.number, $0) }, uniquingKeysWith: { $1 })
        for branch in branches where branch.kept != nil {
            var current = branch
            var end = UInt64.max
            // A branch's parent has a smaller number, so this ends.
            while let number = current.parent, number < current.number,
                let parent = byNumber[number]
            {
                end = min(end, current.forkSequence)
                if let kept = parent.kept, kept.sequence < end { covered.insert(number) }
                current = parent
            }
        }
        return covered
    }
}
