import WorkspaceCrypto
public import WorkspaceModel

/// Chunks on disk: one file for each blob, `ab/<root in hexadecimal digits>`, below
/// the folder of blobs.
///
/// Chunk i is at offset i * 2^k, so the file is as long as the ciphertext, with holes for missing
/// chunks; from 2 chunks on, the leaves follow. One file per chunk would be 4,096 files per GiB: as
/// many names to sync, to remove and to look for at a start. Here one fdatasync covers 64 MiB.
///
/// Guarantees after a kill or a power cut, at any call:
/// - a bit is set only for chunks that `claim` returned, so after fdatasync of the file and fsync
///   of the folders that name it, or one syncfs for many;
/// - a put is `new/<number>` until its claim begins; a file under its final name that was not
///   claimed has no row, and the sweep of the next start removes it;
/// - leaves are trusted only if they lead to the root.
public final class ChunkFiles: ChunkStore {
    private struct Put {
        let name: String
        let shape: BlobShape
        let file: Int32
        var tree: BlobTree?
    }

    private struct AssemblyKey: Hashable {
        let root: BlobRoot
        let chunk: Int
    }

    private let disk: any BlobDisk
    private var files: OpenFiles
    private var puts: [UInt64: Put] = [:]
    private var nextTicket: UInt64 = 1
    private var assemblies: [AssemblyKey: ChunkAssembly] = [:]
    /// Chunks stored since the last claim.
    private var unclaimed: [BlobName: HaveMap] = [:]
    /// Folders with names that no fsync has covered.
    private var looseFolders: Set<String> = []
    /// Folders whose own names an fsync of this process has covered.
    private var sureFolders: Set<String> = []
    /// `ChunkStore.unclaimedByteCount`.
    public private(set) var unclaimedByteCount = 0

    static let putFolder = "new"
    /// The folder of unfinished puts, for callers that remove all of it.
    public static var putFolderName: String { putFolder }

    /// A store on `disk`; `sweep` must be called before anything else.
    public init(_ disk: any BlobDisk) throws(BlobError) {
        self.disk = disk
        files = OpenFiles(disk)
        try disk.makeFolder(Self.putFolder)
    }

    /// Removes the last process's unfinished puts: none is continued, whatever the tables say.
    /// Called at a start, before there is a store over the folder.
    public static func removeUnfinished(on disk: any BlobDisk) throws(BlobError) {
        for name in try disk.names(in: putFolder) { try disk.remove(putFolder + "/" + name) }
    }

    deinit {
        files.closeAll()
        for put in puts.values { disk.close(put.file) }
    }

    // MARK: Names

    /// The path of a blob below the folder of blobs.
    public static func path(of root: BlobRoot) -> String { name(root) }

    static func name(_ root: BlobRoot) -> String { folder(root) + "/" + hex(root) }

    static func folder(_ root: BlobRoot) -> String { String(hex(root).prefix(2)) }

    private static func hex(_ root: BlobRoot) -> String { Hexadecimal.text(root.bytes) }

    // MARK: Receiving

    /// `ChunkStore.store`.
    public func store(
        _ bytes: ArraySlice<UInt8>, piece: Int, of blob: BlobName, leaf: TreeHash?
    ) throws(BlobError) -> PieceOutcome {
        let shape = blob.shape
        guard let chunk = shape.chunk(ofPiece: piece),
            let place = shape.ciphertextRange(ofPiece: piece)
        else { throw .badChunk(piece) }
        guard bytes.count == shape.byteCount(ofPiece: piece) else { throw .badChunk(chunk) }
        let pieces = shape.pieces(of: chunk)
        if pieces.count == 1 {
            // A chunk of one piece is checked before it is written.
            guard Self.isRight(BlobTree.leaf(bytes.span), leaf, of: blob) else {
                return .wrong(chunk: chunk)
            }
            try write(bytes, at: place.lowerBound, of: blob)
            return noteWhole(chunk, of: blob)
        }
        let key = AssemblyKey(root: blob.root, chunk: chunk)
        guard assemblies[key] != nil || assemblies.count < BlobLimits.assembliesMax else {
            throw .overQuota
        }
        var assembly = assemblies[key] ?? ChunkAssembly(pieces)
        guard !assembly.contains(piece) else { return .more }
        // Until it is put back, an error discards the chunk.
        assemblies[key] = nil
        try write(bytes, at: place.lowerBound, of: blob)
        assembly.insert(piece, bytes)
        guard assembly.missing == 0 else {
            assemblies[key] = assembly
            return .more
        }
        let found = try assembly.leaf { (piece) throws(BlobError) in
            try self.piece(piece, of: blob)
        }
        guard Self.isRight(found, leaf, of: blob) else { return .wrong(chunk: chunk) }
        return noteWhole(chunk, of: blob)
    }

    /// Whether a chunk has its proven hash, or, if it is the only one, leads to the root.
    static func isRight(_ found: TreeHash, _ leaf: TreeHash?, of blob: BlobName) -> Bool {
        if let leaf { return found == leaf }
        return blob.shape.chunkCount == 1
            && BlobTree.root(shape: blob.shape, top: found) == blob.root
    }

    /// `ChunkStore.forget`.
    public func forget(chunk: Int, of blob: BlobName) {
        assemblies[AssemblyKey(root: blob.root, chunk: chunk)] = nil
    }

    private func noteWhole(_ chunk: Int, of blob: BlobName) -> PieceOutcome {
        var map = unclaimed[blob] ?? HaveMap(blob.shape)
        if !map.contains(chunk) {
            map.insert(chunk)
            unclaimed[blob] = map
            unclaimedByteCount += blob.shape.ciphertextByteCount(of: chunk)
        }
        return .whole(chunk: chunk)
    }

    /// Unlike what is put, which peers will ask for, not all of what arrives is read soon.
    private func write(
        _ bytes: ArraySlice<UInt8>, at offset: UInt64, of blob: BlobName
    ) throws(BlobError) {
        try disk.write(
            try opened(blob.root, isMade: true), at: offset, bytes, staysCached: false)
    }

    /// The blob's file; creates a missing one if `isMade`, else fails.
    private func opened(_ root: BlobRoot, isMade: Bool) throws(BlobError) -> Int32 {
        do throws(BlobError) { return try files.file(of: root, isNew: false) } catch {
            guard error == .missing, isMade else { throw error }
        }
        try makeFolder(of: root)
        return try files.file(of: root, isNew: true)
    }

    private func makeFolder(of root: BlobRoot) throws(BlobError) {
        let folder = Self.folder(root)
        try disk.makeFolder(folder)
        looseFolders.insert(folder)
        // A folder that exists already may be left from a process that ended before its claim.
        if !sureFolders.contains(folder) { looseFolders.insert(".") }
    }

    // MARK: Claiming

    /// `ChunkStore.claim`.
    public func claim() throws(BlobError) -> [ChunkClaim] {
        let pending = unclaimed
        let finished = puts.filter { $0.value.tree != nil }
        // After a failed fdatasync, a later one may succeed without having written those bytes.
        unclaimed = [:]
        unclaimedByteCount = 0
        let claims: [ChunkClaim]
        do throws(BlobError) { claims = try claim(pending, finished) } catch {
            for ticket in finished.keys.sorted() { abandonPut(PutTicket(number: ticket)) }
            throw error
        }
        return claims.sorted { $0.blob.root < $1.blob.root }
    }

    /// Syncs each file, and each folder with a new name, or everything at once if there are many.
    /// Meanwhile a file may be incomplete under its final name: nobody has claimed it then.
    private func claim(
        _ pending: [BlobName: HaveMap], _ finished: [UInt64: Put]
    ) throws(BlobError) -> [ChunkClaim] {
        let isAtOnce = pending.count + finished.count >= BlobLimits.syncedAtOnceMin
        var claims: [ChunkClaim] = []
        var named: [BlobRoot] = []
        var isClaimed = false
        // Nobody knows of a file that was named and not claimed: it would take space
        // until the next start.
        defer { if !isClaimed { for root in named { try? remove(root) } } }
        for (ticket, put) in finished.sorted(by: { $0.key < $1.key }) {
            guard let tree = put.tree else { continue }
            if !isAtOnce { try disk.synchronize(put.file) }
            try makeFolder(of: tree.root)
            files.close(tree.root)
            try disk.rename(put.name, to: Self.name(tree.root))
            named.append(tree.root)
            disk.close(put.file)
            puts[ticket] = nil
            claims.append(
                ChunkClaim(
                    blob: BlobName(root: tree.root, shape: tree.shape),
                    chunks: .whole(tree.shape)))
        }
        for (blob, chunks) in pending.sorted(by: { $0.key.root < $1.key.root }) {
            let file = try opened(blob.root, isMade: false)
            if !isAtOnce { try disk.synchronize(file) }
            claims.append(ChunkClaim(blob: blob, chunks: chunks))
        }
        if isAtOnce {
            try disk.synchronizeAll()
        } else {
            for folder in looseFolders.sorted() { try disk.synchronizeFolder(folder) }
        }
        sureFolders.formUnion(looseFolders)
        looseFolders = []
        isClaimed = true
        return claims
    }

    // MARK: Reading

    /// `ChunkStore.piece`.
    public func piece(
        _ piece: Int, of blob: BlobName, after head: [UInt8]
    ) throws(BlobError) -> [UInt8] {
        guard let range = blob.shape.ciphertextRange(ofPiece: piece) else { throw .missing }
        return try read(range, of: blob, after: head)
    }

    /// `ChunkStore.chunk`.
    public func chunk(_ chunk: Int, of blob: BlobName) throws(BlobError) -> [UInt8] {
        guard let range = blob.shape.ciphertextRange(of: chunk) else { throw .missing }
        return try read(range, of: blob)
    }

    private func read(
        _ range: Range<UInt64>, of blob: BlobName, after head: [UInt8] = []
    ) throws(BlobError) -> [UInt8] {
        let byteCount = Int(range.upperBound - range.lowerBound)
        let bytes = try disk.read(
            try opened(blob.root, isMade: false), at: range.lowerBound, byteCount: byteCount,
            after: head)
        guard bytes.count == head.count + byteCount else { throw .missing }
        return bytes
    }

    // MARK: Trees

    /// `ChunkStore.keep`.
    public func keep(_ tree: BlobTree) throws(BlobError) {
        guard tree.shape.chunkCount > 1 else { return }
        let file = try opened(tree.root, isMade: true)
        try disk.write(file, at: tree.shape.ciphertextByteCount, Self.bytes(of: tree)[...])
    }

    /// `ChunkStore.tree`.
    public func tree(of blob: BlobName) throws(BlobError) -> BlobTree? {
        let shape = blob.shape
        guard shape.chunkCount > 1 else {
            let bytes = try chunk(0, of: blob)
            let leaf = BlobTree.leaf(bytes.span)
            return BlobTree(shape: shape, leaves: [leaf], root: blob.root)
        }
        let bytes = try disk.read(
            try opened(blob.root, isMade: false), at: shape.ciphertextByteCount,
            byteCount: shape.chunkCount * TreeHash.byteCount)
        let leaves = stride(from: 0, to: bytes.count, by: TreeHash.byteCount).compactMap {
            TreeHash(untrusted: bytes, in: $0..<$0 + TreeHash.byteCount)
        }
        return BlobTree(shape: shape, leaves: leaves, root: blob.root)
    }

    private static func bytes(of tree: BlobTree) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(tree.leaves.count * TreeHash.byteCount)
        for leaf in tree.leaves { leaf.append(to: &bytes) }
        return bytes
    }

    // MARK: Putting

    /// `ChunkStore.beginPut`.
    public func beginPut(_ shape: BlobShape) throws(BlobError) -> PutTicket {
        let ticket = PutTicket(number: nextTicket)
        let name = "\(Self.putFolder)/\(nextTicket)"
        nextTicket += 1
        try disk.remove(name)
        let file = try disk.open(name, isNew: true)
        puts[ticket.number] = Put(name: name, shape: shape, file: file)
        return ticket
    }

    /// `ChunkStore.put`.
    public func put(_ chunk: BlobSealer.Chunk, _ ticket: PutTicket) throws(BlobError) {
        guard let put = puts[ticket.number], put.tree == nil else { throw .closed }
        guard let range = put.shape.ciphertextRange(of: chunk.number) else {
            throw .badChunk(chunk.number)
        }
        try disk.write(put.file, at: range.lowerBound, chunk.ciphertext[...])
        unclaimedByteCount += chunk.ciphertext.count
    }

    /// `ChunkStore.finishPut`.
    public func finishPut(_ ticket: PutTicket, tree: BlobTree) throws(BlobError) {
        guard var put = puts[ticket.number], put.tree == nil, put.shape == tree.shape else {
            throw .closed
        }
        if tree.shape.chunkCount > 1 {
            try disk.write(
                put.file, at: tree.shape.ciphertextByteCount, Self.bytes(of: tree)[...])
        }
        put.tree = tree
        puts[ticket.number] = put
    }

    /// `ChunkStore.abandonPut`.
    public func abandonPut(_ ticket: PutTicket) {
        guard let put = puts.removeValue(forKey: ticket.number) else { return }
        disk.close(put.file)
        // The next start sweeps what remains.
        try? disk.remove(put.name)
    }

    // MARK: Removing and starting

    /// `ChunkStore.remove`.
    public func remove(_ root: BlobRoot) throws(BlobError) {
        for blob in unclaimed.keys where blob.root == root {
            unclaimedByteCount -= Int(clamping: unclaimed[blob]?.byteCount(of: blob.shape) ?? 0)
            unclaimed[blob] = nil
        }
        unclaimedByteCount = max(0, unclaimedByteCount)
        for key in assemblies.keys where key.root == root { assemblies[key] = nil }
        files.close(root)
        try disk.remove(Self.name(root))
    }

    /// `ChunkStore.sweep`.
    public func sweep(keeping roots: Set<BlobRoot>) throws(BlobError) -> Int {
        let kept = Set(roots.map(Self.name))
        var count = 0
        for folder in try disk.names(in: ".")
        where folder.utf8.count == 2 || folder == Self.putFolder {
            for name in try disk.names(in: folder) {
                let path = folder + "/" + name
                guard !kept.contains(path), !puts.values.contains(where: { $0.name == path }) else {
                    continue
                }
                try disk.remove(path)
                count += 1
            }
        }
        return count
    }

    /// `ChunkStore.reconcile`.
    public func reconcile(_ blob: BlobName, held: HaveMap) throws(BlobError) -> HaveMap {
        guard held.chunkCount == blob.shape.chunkCount else { return HaveMap(blob.shape) }
        let length: UInt64
        do throws(BlobError) {
            length = try disk.byteCount(try opened(blob.root, isMade: false))
        } catch {
            if error == .missing { return HaveMap(blob.shape) }
            throw error
        }
        var map = held
        for run in held.runs {
            for chunk in run.reversed() {
                let end = blob.shape.ciphertextRange(of: chunk)?.upperBound ?? .max
                if end <= length { break }
                map.remove(chunk)
            }
        }
        return map
    }
}
