import Foundation
import PeerNode
import Testing

/// A port of this machine that the kernel chooses.
let anyLoopbackPort = SocketAddress(host: .loopbackV4, port: 0)

/// Accepts until `count` links are there.
func acceptLinks(_ count: Int, from listener: TCPListener) throws -> [TCPLink] {
    var patience = try Patience()
    var links: [TCPLink] = []
    while links.count < count {
        try patience.wait(for: listener.descriptor)
        links += listener.accept(countMax: 64, now: 0).links
    }
    return links
}

/// Dials and waits for the outcome.
func dialed(_ address: SocketAddress) throws -> Dialer.Outcome {
    var patience = try Patience()
    let dialer = try Dialer(to: address, deadline: .max)
    while true {
        // Asked once only: the kernel forgets a socket's error when it has told it.
        let outcome = dialer.outcome(now: 0)
        guard case .pending = outcome else { return outcome }
        try patience.wait(for: dialer.descriptor, .writable)
    }
}

/// The link of a dial that must succeed.
func dialedLink(_ address: SocketAddress) throws -> TCPLink {
    guard case .connected(let link) = try dialed(address) else {
        throw SystemError("connect", path: address.description, number: ECONNREFUSED)
    }
    return link
}

/// Two ends of one TCP connection on this machine.
func makeLinks() throws -> (TCPLink, TCPLink) {
    let listener = try TCPListener(anyLoopbackPort)
    let left = try dialedLink(listener.address)
    let right = try #require(try acceptLinks(1, from: listener).first)
    return (left, right)
}

extension StreamLink {
    /// Everything up to the end, waiting for it.
    func receiveAll(_ buffer: ReadBuffer) throws -> Received {
        var patience = try Patience()
        var all = Received()
        while all.end == nil {
            try patience.wait(for: descriptor)
            let received = receive(byteCountMax: 1 << 20, into: buffer)
            all.bytes += received.bytes
            all.end = received.end
        }
        return all
    }
}
