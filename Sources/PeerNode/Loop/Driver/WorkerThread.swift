private import CLinux
private import Glibc

/// A thread that runs one function to its end.
struct WorkerThread: Sendable {
    private let thread: pthread_t

    /// Starts the thread. The creator calls `join`, once.
    ///
    /// - Parameters:
    ///   - name: what `top -H` shows; the first 15 bytes count.
    ///   - niceness: how much it yields to other threads when all need a processor, up to 19. Best
    ///     effort.
    /// - Throws: `SystemError` (EAGAIN) when the machine has no thread left.
    init(
        name: String, niceness: Int32 = 0, _ body: @escaping @Sendable () -> Void
    ) throws(SystemError) {
        let task = Unmanaged.passRetained(Work(name: name, niceness: niceness, body: body))
        var thread = pthread_t()
        let number = pthread_create(&thread, nil, { Work.run($0) }, task.toOpaque())
        guard number == 0 else {
            task.release()
            throw SystemError("pthread_create", number: number)
        }
        self.thread = thread
    }

    /// Waits for the function's end.
    func join() { pthread_join(thread, nil) }

    /// The argument of the new thread, since a C function captures nothing.
    private final class Work: Sendable {
        private let name: String
        private let niceness: Int32
        private let body: @Sendable () -> Void

        init(name: String, niceness: Int32, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.niceness = niceness
            self.body = body
        }

        static func run(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
            guard let context else { return nil }
            let task = Unmanaged<Work>.fromOpaque(context).takeRetainedValue()
            _ = wsx_set_name(task.name)
            // On Linux that is a matter of the calling thread alone.
            if task.niceness > 0 { _ = nice(task.niceness) }
            task.body()
            return nil
        }
    }
}
