private import Glibc

/// The right to be the only node of a home, held for as long as this object exists.
///
/// The kernel releases it when the process ends, however it ends, so a lock is never stale. The
/// file stays, and contains the process id of the last holder.
public final class FileLock {
    /// Why there is no lock.
    public enum Failure: Error, Equatable, Sendable {
        /// Another process has it.
        case held(pid: Int32?)
        /// The file could not be opened or written.
        case system(SystemError)
    }

    private let file: FileDescriptor

    /// Takes the lock without waiting.
    ///
    /// - Parameter path: the lock file, made with mode 0600 if it is missing. A link is refused.
    public init(path: String) throws(Failure) {
        do throws(SystemError) {
            file = try FileSystem.openFile(path, O_RDWR | O_CREAT | O_NOFOLLOW)
        } catch { throw .system(error) }
        guard uninterrupted({ flock(file.number, LOCK_EX | LOCK_NB) }) == 0 else {
            let error = SystemError("flock", path: path)
            throw error.number == EWOULDBLOCK ? .held(pid: Self.holder(path)) : .system(error)
        }
        do throws(SystemError) {
            guard ftruncate(file.number, 0) == 0 else { throw SystemError("ftruncate", path: path) }
            try file.writeAll([UInt8]("\(getpid())\n".utf8), path: path)
        } catch { throw .system(error) }
    }

    /// The process whose id is in the lock file, held or not.
    private static func holder(_ path: String) -> Int32? {
        guard let bytes = try? FileSystem.read(path, byteCountMax: 32) else { return nil }
        return Int32(String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
    }
}
