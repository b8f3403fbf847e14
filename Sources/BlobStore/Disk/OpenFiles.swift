import WorkspaceModel

/// An LRU list of the open files of blobs.
struct OpenFiles {
    private let disk: any BlobDisk
    /// Ordered by last use, the most recent last.
    private var opened: [(root: BlobRoot, file: Int32)] = []

    init(_ disk: any BlobDisk) { self.disk = disk }

    mutating func file(of root: BlobRoot, isNew: Bool) throws(BlobError) -> Int32 {
        if let last = opened.last, last.root == root { return last.file }
        if let place = opened.firstIndex(where: { $0.root == root }) {
            let found = opened.remove(at: place)
            opened.append(found)
            return found.file
        }
        if opened.count >= BlobLimits.openFilesMax, let oldest = opened.first {
            close(oldest.root)
        }
        let file = try disk.open(ChunkFiles.name(root), isNew: isNew)
        opened.append((root, file))
        return file
    }

    mutating func close(_ root: BlobRoot) {
        guard let place = opened.firstIndex(where: { $0.root == root }) else { return }
        disk.close(opened.remove(at: place).file)
    }

    func closeAll() {
        for file in opened { disk.close(file.file) }
    }
}
