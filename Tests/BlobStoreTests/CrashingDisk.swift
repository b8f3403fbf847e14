import BlobStore

/// A disk in memory that models what survives a power cut, and can fail or crash at any call.
final class CrashingDisk: BlobDisk {
    private final class Node {
        var bytes: [UInt8] = []
        /// What an fdatasync has covered.
        var synced: [UInt8] = []
    }

    /// Names as they are now, and as they would be after a power cut.
    private var names: [String: Node] = [:]
    private var syncedNames: [String: Node] = [:]
    private var folders: Set<String> = ["."]
    private var syncedFolders: Set<String> = ["."]
    private var opened: [Int32: Node] = [:]
    private var nextFile: Int32 = 3
    private(set) var callCount = 0
    /// How often the names in a folder were synced.
    private(set) var folderSyncCount = 0
    /// How often one file was synced, and everything.
    private(set) var fileSyncCount = 0
    private(set) var wholeSyncCount = 0
    /// Bytes written that may leave the kernel's cache.
    private(set) var passingByteCount = 0
    /// From this call on nothing works any more, as after a kill.
    var endsAt = Int.max
    /// These calls fail once each, as they do where the disk is full or bad.
    var failures: [Int: BlobError] = [:]
    var freeBytes: UInt64 = 1 << 40

    /// How many files there are.
    var fileCount: Int { names.count }
    var openCount: Int { opened.count }

    /// The disk as it is found after a power cut: of what was not synced, each part may be there.
    func afterCrash(_ dice: inout Dice) -> CrashingDisk {
        let disk = CrashingDisk()
        disk.folders = syncedFolders
        // A folder goes with all that is in it.
        for folder in folders.subtracting(syncedFolders).sorted() where dice.oneIn(2) {
            disk.folders.insert(folder)
        }
        disk.syncedFolders = disk.folders
        for name in Set(names.keys).union(syncedNames.keys).sorted()
        where disk.folders.contains(Self.folder(of: name)) {
            let choices = [names[name], syncedNames[name]]
            guard let node = choices[dice.below(2)] else { continue }
            let copy = Node()
            copy.bytes = Self.torn(node.synced, node.bytes, &dice)
            copy.synced = copy.bytes
            disk.names[name] = copy
        }
        disk.syncedNames = disk.names
        return disk
    }

    private static func torn(_ old: [UInt8], _ new: [UInt8], _ dice: inout Dice) -> [UInt8] {
        guard old != new else { return new }
        var bytes =
            dice.oneIn(2) ? old : Array(new.prefix(max(old.count, dice.below(new.count + 1))))
        let page = 64 * 1024
        for start in stride(from: 0, to: min(bytes.count, new.count), by: page)
        where dice.oneIn(2) {
            let range = start..<min(start + page, bytes.count, new.count)
            bytes.replaceSubrange(range, with: new[range])
        }
        return bytes
    }

    private func call(_ name: String) throws(BlobError) {
        callCount += 1
        if callCount >= endsAt { throw .disk(call: name, number: -1) }
        if let error = failures.removeValue(forKey: callCount) { throw error }
    }

    private func node(_ file: Int32) throws(BlobError) -> Node {
        guard let node = opened[file] else { throw .disk(call: "closed file", number: 9) }
        return node
    }

    func open(_ name: String, isNew: Bool) throws(BlobError) -> Int32 {
        try call("open")
        if isNew {
            guard names[name] == nil else { throw .exists }
            guard folders.contains(Self.folder(of: name)) else { throw .missing }
            names[name] = Node()
        }
        guard let node = names[name] else { throw .missing }
        nextFile += 1
        opened[nextFile] = node
        return nextFile
    }

    func close(_ file: Int32) { opened[file] = nil }

    func read(
        _ file: Int32, at offset: UInt64, byteCount: Int, after head: [UInt8]
    ) throws(BlobError) -> [UInt8] {
        try call("read")
        return head + Array(try node(file).bytes.dropFirst(Int(offset)).prefix(byteCount))
    }

    func write(
        _ file: Int32, at offset: UInt64, _ bytes: ArraySlice<UInt8>, staysCached: Bool
    ) throws(BlobError) {
        try call("write")
        if !staysCached { passingByteCount += bytes.count }
        let node = try node(file)
        let end = Int(offset) + bytes.count
        if node.bytes.count < end {
            node.bytes += [UInt8](repeating: 0, count: end - node.bytes.count)
        }
        node.bytes.replaceSubrange(Int(offset)..<end, with: bytes)
    }

    func byteCount(_ file: Int32) throws(BlobError) -> UInt64 {
        try call("byteCount")
        return UInt64(try node(file).bytes.count)
    }

    func synchronize(_ file: Int32) throws(BlobError) {
        try call("synchronize")
        fileSyncCount += 1
        let node = try node(file)
        node.synced = node.bytes
    }

    func synchronizeFolder(_ name: String) throws(BlobError) {
        try call("synchronizeFolder")
        folderSyncCount += 1
        if name == "." { syncedFolders = folders }
        for path in Set(names.keys).union(syncedNames.keys) where Self.folder(of: path) == name {
            syncedNames[path] = names[path]
        }
    }

    func synchronizeAll() throws(BlobError) {
        try call("synchronizeAll")
        for node in Array(names.values) + opened.values { node.synced = node.bytes }
        (syncedFolders, syncedNames) = (folders, names)
        wholeSyncCount += 1
    }

    func makeFolder(_ name: String) throws(BlobError) {
        try call("makeFolder")
        folders.insert(name)
    }

    func rename(_ name: String, to other: String) throws(BlobError) {
        try call("rename")
        guard let node = names.removeValue(forKey: name) else { throw .missing }
        guard folders.contains(Self.folder(of: other)) else { throw .missing }
        names[other] = node
    }

    func remove(_ name: String) throws(BlobError) {
        try call("remove")
        names[name] = nil
    }

    func names(in folder: String) throws(BlobError) -> [String] {
        try call("names")
        let files = names.keys.filter { Self.folder(of: $0) == folder }
        let below = folder == "." ? folders.filter { $0 != "." } : []
        return (files.map { String($0.split(separator: "/").last ?? "") } + below).sorted()
    }

    func freeByteCount() throws(BlobError) -> UInt64 {
        try call("freeByteCount")
        return freeBytes
    }

    private static func folder(of name: String) -> String {
        let parts = name.split(separator: "/")
        return parts.count > 1 ? String(parts[0]) : "."
    }
}
