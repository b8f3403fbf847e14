private import CLinux
private import Glibc

/// The accepting side of a listening socket, for TCP and Unix sockets alike.
///
/// When descriptors run out, `accept` fails and the connection stays in the kernel's queue, so the
/// poller would report it again at once, for ever. So the queue asks for nothing until a pause is
/// over (case D11). The other descriptors go on being served.
struct AcceptQueue {
    /// How long to leave the queue alone when descriptors have run out.
    static let pauseMilliseconds: UInt64 = 200
    /// Connections that the kernel holds for us; it may cut this to its own bound. Whoever comes
    /// when it is full tries again after a second only, so it should outlast the longest turn.
    static let backlog: Int32 = 4_096

    let descriptor: FileDescriptor
    private(set) var pausedUntil: UInt64?

    init(_ descriptor: FileDescriptor) { self.descriptor = descriptor }

    /// What to watch for. Pausing shows here.
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
