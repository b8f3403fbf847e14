private import Glibc

/// The owner of an open descriptor. It is closed exactly once, when the last reference is dropped.
///
/// There is no `close()`: after a manual close the number may already belong to another file when a
/// second holder closes it again. To close it, drop the reference.
public final class FileDescriptor: Sendable {
    /// The number the kernel knows it by, valid for as long as this object lives.
    public let number: Int32

    /// Takes over `number`, which nobody else may close from now on.
    public init(owning number: Int32) {
        precondition(number >= 0, "a descriptor that was never opened")
        self.number = number
    }

    deinit { close(number) }
}

extension FileDescriptor {
    /// The result of a call that opens a descriptor, or its error.
    static func result(
        of call: String, path: String? = nil, _ open: () -> Int32
    ) throws(SystemError) -> FileDescriptor {
        let number = uninterrupted(open)
        if number < 0 { throw SystemError(call, path: path) }
        return FileDescriptor(owning: number)
    }

    /// A second descriptor of the same open file, above the three standard ones.
    func duplicatedAboveStandard() throws(SystemError) -> FileDescriptor {
        try .result(of: "fcntl") { fcntl(number, F_DUPFD_CLOEXEC, 3) }
    }

    /// Writes all of `bytes`, waiting where it must. For files and pipes that may block.
    func writeAll(_ bytes: [UInt8], path: String? = nil) throws(SystemError) {
        var offset = 0
        while offset < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                uninterrupted {
                    write(number, buffer.baseAddress?.advanced(by: offset), buffer.count - offset)
                }
            }
            if count < 0 { throw SystemError("write", path: path) }
            offset += count
        }
    }
}

/// The three descriptors every program expects to be open.
public enum StandardDescriptors {
    /// Opens `/dev/null` in place of each of stdin, stdout and stderr that is closed.
    ///
    /// Call it first of all. Otherwise the first socket or database file gets number 1, and what
    /// is printed goes into it.
    public static func ensureOpen() {
        for number: Int32 in 0...2 where fcntl(number, F_GETFD) == -1 && errno == EBADF {
            // The lowest free number is taken, and those below are open already.
            _ = open("/dev/null", O_RDWR)
        }
    }
}
