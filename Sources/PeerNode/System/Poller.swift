private import CLinux
private import Glibc

/// Waits for many descriptors at a time. The only file that knows `epoll`.
///
/// Level-triggered: what was not read or written is reported again by the next `wait`. So a turn
/// may stop at its budget without losing anything, and a handler that misses something costs a turn
/// and not a connection.
///
/// - Not thread-safe: it belongs to the loop's thread.
public final class Poller {
    /// What a descriptor is watched for. With neither, only hang-ups are reported.
    public struct Interest: OptionSet, Hashable, Sendable {
        /// The option's bits.
        public let rawValue: UInt8
        /// Makes a set of these bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        /// Bytes, a connection or the end can be read.
        public static let readable = Interest(rawValue: 1)
        /// Bytes can be written, or a dial is decided.
        public static let writable = Interest(rawValue: 2)
    }

    /// A descriptor that can make progress.
    public struct Ready: Equatable, Sendable {
        /// The token it was registered under.
        public let token: UInt64
        /// Reading will not block.
        public let isReadable: Bool
        /// Writing will not block.
        public let isWritable: Bool
        /// Both directions are closed, or it failed. Always reported, each turn until the
        /// descriptor is dropped.
        public let isHangUp: Bool
    }

    private let epoll: FileDescriptor
    private var registered: [Int32: (token: UInt64, interest: Interest)] = [:]
    private var events = [epoll_event](repeating: epoll_event(), count: 256)

    /// - Throws: `SystemError` when descriptors have run out.
    public init() throws(SystemError) {
        epoll = try .result(of: "epoll_create1") { epoll_create1(Int32(EPOLL_CLOEXEC)) }
    }

    /// Watches `descriptor` for `interest` under `token`, which replaces what was asked before.
    /// Asking for the same again costs no system call.
    ///
    /// - Parameter token: never used for another descriptor, before or after. Then an event of the
    ///   same turn for a connection that is gone already cannot be taken for its successor's.
    public func watch(
        _ descriptor: FileDescriptor, token: UInt64, interest: Interest
    ) throws(SystemError) {
        let known = registered[descriptor.number]
        if let known, known.token == token, known.interest == interest { return }
        var event = epoll_event()
        event.events = interest.epollEvents
        event.data.u64 = token
        if known == nil || epoll_ctl(epoll.number, EPOLL_CTL_MOD, descriptor.number, &event) != 0 {
            // A descriptor that was closed without `forget` has left the kernel's list by itself.
            if known != nil && errno != ENOENT { throw SystemError("epoll_ctl") }
            guard epoll_ctl(epoll.number, EPOLL_CTL_ADD, descriptor.number, &event) == 0 else {
                throw SystemError("epoll_ctl")
            }
        }
        registered[descriptor.number] = (token, interest)
    }

    /// Stops watching. Call it before the descriptor is dropped.
    public func forget(_ descriptor: FileDescriptor) {
        guard registered.removeValue(forKey: descriptor.number) != nil else { return }
        var event = epoll_event()
        // It fails only if the kernel has forgotten it already.
        _ = epoll_ctl(epoll.number, EPOLL_CTL_DEL, descriptor.number, &event)
    }

    /// Everything that is ready, at most 256 at a time, the rest with the next call.
    ///
    /// - Parameter timeoutMilliseconds: how long to wait when nothing is ready; `nil` waits without
    ///   a limit.
    /// - Returns: nothing after the time-out, or when a signal came.
    public func wait(timeoutMilliseconds: UInt64?) throws(SystemError) -> [Ready] {
        let timeout = timeoutMilliseconds.map { Int32(clamping: $0) } ?? -1
        let count = epoll_wait(epoll.number, &events, Int32(events.count), timeout)
        if count < 0 {
            if errno == EINTR { return [] }
            throw SystemError("epoll_wait")
        }
        return events.prefix(Int(count)).map(Ready.init)
    }
}

extension Poller.Interest {
    fileprivate var epollEvents: UInt32 {
        var events: UInt32 = 0
        if contains(.readable) { events |= EPOLLIN.rawValue }
        if contains(.writable) { events |= EPOLLOUT.rawValue }
        return events
    }
}

extension Poller.Ready {
    fileprivate init(_ event: epoll_event) {
        token = event.data.u64
        isReadable = event.events & EPOLLIN.rawValue != 0
        isWritable = event.events & EPOLLOUT.rawValue != 0
        isHangUp = event.events & (EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0
    }
}
