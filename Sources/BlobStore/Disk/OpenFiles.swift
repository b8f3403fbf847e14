/// An LRU list of open files.
struct OpenFiles {
    private let disk: any BlobDisk
    /// Ordered by last use, the most recent last.
    private var opened: [(name: String, file: Int32)] = []

    init(_ disk: any BlobDisk) { self.disk = disk }

    mutating func file(_ name: String, isNew: Bool) throws(BlobError) -> Int32 {
        if let place = opened.firstIndex(where: { $0.name == name }) {
            let found = opened.remove(at: place)
            opened.append(found)
            return found.file
        }
        if opened.count >= BlobLimits.openFilesMax, let oldest = opened.first {
            close(oldest.name)
        }
        let file = try disk.open(name, isNew: isNew)
        opened.append((name, file))
        return file
    }

    mutating func close(_ name: String) {
        guard let place = opened.firstIndex(where: { $0.name == name }) else { return }
        disk.close(opened.remove(at: place).file)
    }

    func closeAll() {
        for file in opened { disk.close(file.file) }
    }
}
