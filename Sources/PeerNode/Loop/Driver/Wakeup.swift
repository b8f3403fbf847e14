private import CLinux
private import Glibc

/// Ends the loop's wait from another thread. Several calls before the loop checks count as one.
public final class Wakeup: Sendable {
    /// Readable from the first `wake` to the next `clear`.
    public let descriptor: FileDescriptor

    /// - Throws: `SystemError` when descriptors have run out.
    public init() throws(SystemError) {
        descriptor = try .result(of: "eventfd") {
            eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        }
    }

    /// Wakes the loop. Any thread may call it.
    public func wake() {
        // It fails only when the counter is full, and then the loop is awake.
        _ = uninterrupted { eventfd_write(descriptor.number, 1) }
    }

    /// Takes back all calls so far. The loop clears first and then takes what the others left, so
    /// that a call in between is never lost.
    public func clear() {
        var count: eventfd_t = 0
        _ = uninterrupted { eventfd_read(descriptor.number, &count) }
    }
}
