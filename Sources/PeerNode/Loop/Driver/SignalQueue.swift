private import CLinux
private import Glibc

/// Signals that are queued until they are read, like any other input.
///
/// While it exists, the signals are blocked for the thread that created it: none interrupts
/// anything, and none is lost. It is for a single-threaded process that has to restore a terminal
/// before it ends; the node's own are in `Signals`.
public final class SignalQueue {
    private let handle: FileDescriptor
    private let numbers: [Int32]
    private var before = sigset_t()

    /// Readable while a signal waits.
    public var descriptor: Int32 { handle.number }

    /// - Throws: `SystemError` when descriptors have run out; then nothing is blocked.
    public init(_ numbers: [Int32]) throws(SystemError) {
        handle = try .result(of: "signalfd") { wsx_signalfd(numbers, numbers.count) }
        self.numbers = numbers
        var set = Self.set(of: numbers)
        pthread_sigmask(SIG_BLOCK, &set, &before)
    }

    deinit { pthread_sigmask(SIG_SETMASK, &before, nil) }

    /// The number of the next signal, `nil` when none waits.
    public func next() -> Int32? {
        let number = wsx_read_signal(handle.number)
        return number > 0 ? number : nil
    }

    /// Lets a signal have its default effect on this process, such as stopping it.
    public func raiseUsually(_ number: Int32) {
        var set = Self.set(of: [number])
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
        raise(number)
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    private static func set(of numbers: [Int32]) -> sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for number in numbers { sigaddset(&set, number) }
        return set
    }
}
