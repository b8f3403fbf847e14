private import Glibc

/// A TCP connection that is being established.
///
/// The poller reports it writable when the outcome is known; the loop's timer ends it when the peer
/// is silent. Dropping the reference cancels it.
public final class Dialer {
    /// The state of the attempt.
    public enum Outcome {
        /// Nothing is known yet.
        case pending
        /// The link is open.
        case connected(TCPLink)
        /// Nobody answers there, or not in time (ETIMEDOUT).
        case failed(SystemError)
    }

    /// The socket, for the poller. Forget it there before taking the link over.
    public let descriptor: FileDescriptor
    /// Where it dials.
    public let address: SocketAddress
    /// When to give up, in the milliseconds of the caller's monotonic clock.
    public let deadline: UInt64

    /// Begins to dial, without waiting.
    ///
    /// - Throws: `SystemError` where it is clear at once: no route, no descriptor left.
    public init(to address: SocketAddress, deadline: UInt64) throws(SystemError) {
        self.address = address
        self.deadline = deadline
        descriptor = try .socket(address.family, SOCK_STREAM)
        let raw = RawSocketAddress(address)
        let result = raw.withPointer { connect(descriptor.number, $0, $1) }
        // An interrupted connect continues by itself, like one that was started.
        let number = currentErrorNumber()
        guard result == 0 || number == EINPROGRESS || number == EINTR else {
            throw SystemError("connect", path: address.description, number: number)
        }
    }

    /// What to poll for until the outcome is known.
    public var interest: Poller.Interest { .writable }

    /// The current outcome. Call it when the poller reports something, and at the deadline, until
    /// it is final: the kernel reports a failure once and forgets it.
    public func outcome(now: UInt64) -> Outcome {
        let number = descriptor.takeSocketError()
        if number != 0 { return failed(number) }
        // No error and no peer: not decided yet.
        guard descriptor.remoteAddress != nil else {
            return now >= deadline ? failed(ETIMEDOUT) : .pending
        }
        // A socket that dials an ephemeral port of its own machine can connect to itself.
        if descriptor.localAddress == descriptor.remoteAddress { return failed(ECONNREFUSED) }
        return .connected(.tcp(descriptor, remoteAddress: address))
    }

    private func failed(_ number: Int32) -> Outcome {
        .failed(SystemError("connect", path: address.description, number: number))
    }
}
