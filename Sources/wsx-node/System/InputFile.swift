import Glibc
import WorkspaceModel

/// Standard input as a file whose length is known before it is read.
///
/// A regular file is read in place. A pipe is copied into an unlinked file, so that nothing remains
/// of it, whatever happens.
final class InputFile: UploadSource {
    let byteCount: Int64
    private let file: Int32
    private let isOwn: Bool

    /// - Parameter folder: where the temporary file for a pipe is created.
    init(folder: String) throws(NodeError) {
        var status = stat()
        if fstat(0, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
            let offset = max(0, Int64(lseek(0, 0, SEEK_CUR)))
            (file, isOwn) = (0, false)
            byteCount = max(0, Int64(status.st_size) - offset)
            return
        }
        var template = Array((folder + "/.wsx-input.XXXXXX").utf8CString)
        let own = mkstemp(&template)
        guard own >= 0 else { throw SystemIO.fileFailure("cannot write in", folder) }
        _ = fcntl(own, F_SETFD, FD_CLOEXEC)
        unlink(template)
        do throws(NodeError) { byteCount = try Self.copyInput(to: own, folder) } catch {
            close(own)
            throw error
        }
        (file, isOwn) = (own, true)
    }

    deinit { if isOwn { close(file) } }

    func read(_ byteCountMax: Int) throws(NodeError) -> [UInt8] {
        var chunk = [UInt8](repeating: 0, count: byteCountMax)
        var count = Glibc.read(file, &chunk, chunk.count)
        while count < 0, errno == EINTR { count = Glibc.read(file, &chunk, chunk.count) }
        guard count >= 0 else { throw SystemIO.fileFailure("cannot read", "standard input") }
        return Array(chunk[..<count])
    }

    private static func copyInput(to file: Int32, _ folder: String) throws(NodeError) -> Int64 {
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        var total: Int64 = 0
        while true {
            let count = Glibc.read(0, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw SystemIO.fileFailure("cannot read", "standard input") }
            guard count > 0 else { break }
            guard SystemIO.write(Array(chunk[..<count]), to: file) else {
                throw SystemIO.fileFailure("cannot write in", folder)
            }
            total += Int64(count)
        }
        guard lseek(file, 0, SEEK_SET) == 0 else {
            throw SystemIO.fileFailure("cannot read in", folder)
        }
        return total
    }
}
