private import CLinux
private import Glibc

/// The accepting side of a listening socket, for TCP and Unix sockets alike.
///
/// When descriptors run out, `accept` fails and the connection stays in the kernel's queue, so the
/// poller would report it again at once, in a busy loop. So the queue is not polled until a pause
/// is over (case D11). Other descriptors are still served.
struct AcceptQueue {
    /// How long the queue is not polled after descriptors have run out.
    static let pauseMilliseconds: UInt64 = 200
    /// Connections that the kernel queues; it may reduce this to its own bound. A peer that finds
    /// the queue full retries only after a second, so the queue should outlast the longest turn.
    static let backlog: Int32 = 4_096

    let descriptor: FileDescriptor
    private(set) var pausedUntil: UInt64?

    init(_ descriptor: FileDescriptor) { self.descriptor = descriptor }

    /// What to poll for. A pause shows here.
    var interest: Poller.Interest { pausedUntil == nil ? .readable : [] }

    /// Takes at most `countMax` waiting connections.
    mutating func accept(
        countMax: Int, now: UInt64
    ) -> (accepted: [(FileDescriptor, SocketAddress?)], problem: SystemError?) {
        if let pausedUntil, now < pausedUntil { return ([], nil) }
        pausedUntil = nil
        var accepted: [(FileDescriptor, SocketAddress?)] = []
        // A connection that was reset while it waited counts too: no peer keeps us in here.
        for _ in 0..<countMax {
            var raw = RawSocketAddress()
            let number = raw.fill { address, length in
                wsx_accept4(descriptor.number, address, &length)
            }
            if number >= 0 {
                accepted.append((FileDescriptor(owning: number), raw.address))
                continue
            }
            let error = SystemError("accept4")
            switch error.number {
            case EAGAIN: return (accepted, nil)
            case EMFILE, ENFILE, ENOBUFS, ENOMEM:
                pausedUntil = now &+ Self.pauseMilliseconds
                return (accepted, error)
            default: continue
            }
        }
        return (accepted, nil)
    }
}
