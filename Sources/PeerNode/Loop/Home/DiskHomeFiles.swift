public import CRDTStore
private import Glibc
import WorkspaceCrypto

/// The small files of a home on the disk.
///
/// - Not thread-safe: it belongs to the loop's thread.
public final class DiskHomeFiles: HomeFiles {
    private let home: HomeFolder
    private let machine: UInt64
    /// Kept open, since a commit must not pay for opening it. `nil` until the first write.
    private var guardFile: FileDescriptor?

    /// An identity is a few hundred bytes; a larger file is not one.
    private static let identityByteCountMax = 64 * 1024

    /// The files of `home`, whose folders exist.
    ///
    /// - Parameter machineFile: where the system keeps the number of this machine.
    public init(home: HomeFolder, machineFile: String = "/etc/machine-id") {
        self.home = home
        machine = Self.machineNumber(machineFile)
    }

    // MARK: Identity

    /// The bytes of `identity/device.key`, or `nil` when there is none.
    public func readIdentity() throws(HomeFileError) -> [UInt8]? {
        let path = home.identity
        let found: FileStatus
        do throws(SystemError) { found = try FileSystem.status(of: path) } catch {
            if error.isMissingFile { return nil }
            throw HomeFileError("cannot inspect the identity: \(error)")
        }
        try Self.check(found, path)
        do throws(SystemError) {
            return try FileSystem.read(path, byteCountMax: Self.identityByteCountMax)
        } catch { throw HomeFileError("cannot read the identity: \(error)") }
    }

    private static func check(_ found: FileStatus, _ path: String) throws(HomeFileError) {
        guard found.kind == .file else {
            throw HomeFileError(
                "\(path) is not a regular file", hint: "put the key itself there, not a link to it")
        }
        guard found.owner == FileSystem.currentUser else {
            throw HomeFileError("\(path) belongs to user \(found.owner)")
        }
        guard !found.isOpenToOthers else {
            throw HomeFileError(
                "\(path) has mode \(String(found.mode, radix: 8)), and others must not read a key",
                hint: "chmod 600 '\(path)'")
        }
    }

    /// Makes `identity/device.key`; one that exists is never replaced.
    public func createIdentity(_ bytes: [UInt8]) throws(HomeFileError) {
        do throws(SystemError) { try FileSystem.create(home.identity, with: bytes) } catch {
            throw error.isExistingFile
                ? HomeFileError("there is already an identity, and it is never replaced")
                : HomeFileError("cannot write the identity: \(error)")
        }
    }

    /// Puts these bytes in the place of `identity/device.key`.
    public func replaceIdentity(_ bytes: [UInt8]) throws(HomeFileError) {
        do throws(SystemError) {
            let old = try FileSystem.openFile(home.identity, O_RDWR | O_NOFOLLOW)
            try FileSystem.replace(home.identity, with: bytes)
            FileSystem.overwriteNameless(old)
        } catch { throw HomeFileError("cannot write the identity: \(error)") }
    }

    // MARK: Store

    /// What the file system says about node.db. Zeros while it does not exist.
    ///
    /// By its name and never by opening it: closing a second descriptor of a database would release
    /// all locks that this process holds on it.
    public var storeFacts: StoreFileFacts {
        let found = try? FileSystem.status(of: home.store)
        let birth = (try? FileSystem.birthNanoseconds(of: home.store)) ?? nil
        return StoreFileFacts(
            machine: machine, device: found?.device ?? 0, inode: found?.inode ?? 0,
            birthNanoseconds: birth.map { UInt64(bitPattern: $0) } ?? 0)
    }

    /// Free bytes on the disk that holds node.db.
    public var freeBytes: Int64 {
        (try? FileSystem.freeByteCount(at: home.data)).map { Int64(clamping: $0) } ?? 0
    }

    /// All bytes of that disk.
    public var diskBytes: Int64 {
        (try? FileSystem.byteCount(at: home.data)).map { Int64(clamping: $0) } ?? 0
    }

    /// Bytes of node.db and its log.
    public var storeBytes: Int64 {
        [home.store, home.store + "-wal"].reduce(0) { sum, path in
            sum + ((try? FileSystem.status(of: path))?.byteCount ?? 0)
        }
    }

    private static func machineNumber(_ path: String) -> UInt64 {
        guard let bytes = try? FileSystem.read(path, byteCountMax: 4_096), !bytes.isEmpty else {
            return 0
        }
        return Hash.personal("wsx-machine", bytes).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    // MARK: Guard

    /// The whole guard file, or `nil` when there is none or it cannot be read.
    public func read() -> [UInt8]? {
        try? FileSystem.read(home.storeGuard, byteCountMax: RestoreGuard.byteCount)
    }

    /// Writes 64 bytes at 64 times `slot`, without syncing.
    public func write(slot: Int, bytes: [UInt8]) {
        precondition((0...1).contains(slot) && bytes.count == RestoreGuard.slotByteCount)
        if guardFile == nil {
            guardFile = try? FileSystem.openFile(
                home.storeGuard, O_RDWR | O_CREAT | O_NOFOLLOW)
        }
        guard let guardFile else { return }
        let offset = off_t(slot * RestoreGuard.slotByteCount)
        _ = uninterrupted { pwrite(guardFile.number, bytes, bytes.count, offset) }
    }
}
