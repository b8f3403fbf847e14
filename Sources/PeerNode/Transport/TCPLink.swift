private import Glibc

/// A stream to a peer.
public typealias TCPLink = StreamLink

extension StreamLink {
    /// How long the kernel waits for the peer's kernel to acknowledge what was sent.
    private static let unacknowledgedMilliseconds: Int32 = 10_000
    /// Bytes that the kernel buffers besides those in flight. Buffered bytes can no longer be
    /// overtaken: by default it takes 4 MiB of a file, and a message waits until they are sent. A
    /// link of 1 Gbit/s sends this many in a millisecond, and the loop is told before the buffer is
    /// empty.
    static let kernelUnsentBytesMax: Int32 = 128 * 1024

    /// Takes over a TCP socket that is connected.
    ///
    /// Nagle's delay is switched off: the loop writes once a turn, so there is nothing to gather,
    /// and a message would wait for the acknowledgement of the one before.
    static func tcp(_ descriptor: FileDescriptor, remoteAddress: SocketAddress) -> TCPLink {
        // A link that is gone already refuses. Its first read tells why.
        try? descriptor.setOption(Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        try? descriptor.setOption(
            Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, kernelUnsentBytesMax)
        // Without it the kernel sends into a way that ends nowhere for a quarter of an hour.
        try? descriptor.setOption(
            Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, unacknowledgedMilliseconds)
        return StreamLink(descriptor, remoteAddress: remoteAddress)
    }

    /// Makes the poller report the link only when so many bytes have arrived, or its end.
    func gather(_ byteCount: Int) {
        // Where the kernel cannot, it reports more often.
        try? descriptor.setOption(
            SOL_SOCKET, SO_RCVLOWAT, Int32(clamping: max(1, byteCount)))
    }

    /// Makes the kernel take as much as it has room for, on a link that is about to be dropped.
    ///
    /// Nothing follows that could overtake it, and what the kernel does not take is lost.
    func lastWords() {
        // Where it refuses, the link is gone.
        try? descriptor.setOption(Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, 0)
    }

    /// Our own address on this link, `nil` for a Unix socket or one that is gone.
    public var localAddress: SocketAddress? { descriptor.localAddress }
}
