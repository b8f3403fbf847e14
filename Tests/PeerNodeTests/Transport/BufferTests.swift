import Foundation
import Testing
import WorkspaceTestKit

@testable import PeerNode

struct `Bytes on their way out` {
    /// Against one array, whatever is put in and taken out.
    @Test(arguments: Seeds.explore(15))
    func `leave in their order, whatever their pieces`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var unsent = UnsentBytes()
        var model: [UInt8] = []
        for _ in 0..<800 {
            if random.oneIn(2) {
                let count = [0, 1, 100, 3_000, 70_000][random.below(random.oneIn(30) ? 5 : 4)]
                let bytes = random.bytes(count)
                unsent.append(bytes)
                model += bytes
            } else if !unsent.isEmpty {
                var shown: [UInt8] = []
                _ = unsent.withFirst { bytes in
                    shown = [UInt8](bytes)
                    return 0
                }
                #expect(!shown.isEmpty || model.isEmpty, "WSX_SEED=\(seed)")
                let isPrefix = model.starts(with: shown)
                #expect(isPrefix, "WSX_SEED=\(seed)")
                let taken = random.oneIn(2) ? shown.count : random.below(shown.count + 1)
                unsent.removeFirst(taken)
                model.removeFirst(taken)
            }
            #expect(unsent.count == model.count, "WSX_SEED=\(seed)")
            #expect(unsent.isEmpty == model.isEmpty)
        }
    }

    @Test func `are put together while they are small, and left as they are when large`() {
        var unsent = UnsentBytes()
        for _ in 0..<1_000 { unsent.append([UInt8](repeating: 1, count: 60)) }
        let small = unsent.withFirst { $0.count }
        #expect(small == 60_000, "one system call for a thousand answers")
        unsent.append([UInt8](repeating: 2, count: 10_000))
        let first = unsent.withFirst { $0.count }
        #expect(first == 60_000, "what does not fit begins a piece of its own")
        unsent.removeFirst(first)
        let second = unsent.withFirst { $0.count }
        #expect(second == 10_000 && unsent.count == 10_000)
    }
}

struct `The buffer for reading` {
    @Test func `takes at most what it holds and what is asked for`() throws {
        let (left, right) = try makeLinks()
        left.write([UInt8](0..<200), now: 0)
        left.flush(now: 0)
        var patience = try Patience()
        try patience.wait(for: right.descriptor)
        let buffer = ReadBuffer(byteCount: 16)
        #expect(buffer.byteCount == 16)
        var bytes: [UInt8] = []
        for asked in [5, 100, 16, 1] {
            let count = buffer.fill(byteCountMax: asked, from: right.descriptor)
            #expect(count == min(asked, 16))
            buffer.appendFilled(count, to: &bytes)
        }
        #expect(bytes == [UInt8](0..<38))
        // More than the buffer holds was never filled.
        buffer.appendFilled(1_000, to: &bytes)
        #expect(bytes.count == 38 + 16)
    }

    @Test func `tells that there is nothing, and the end`() throws {
        let (left, right) = try makeLinks()
        let buffer = ReadBuffer(byteCount: 16)
        #expect(buffer.fill(byteCountMax: 16, from: right.descriptor) == -1)
        left.finishWriting(now: 0)
        var patience = try Patience()
        try patience.wait(for: right.descriptor)
        #expect(buffer.fill(byteCountMax: 16, from: right.descriptor) == 0)
    }
}

struct `A queue of connections` {
    @Test func `gives as many as are asked for, and the rest the next time`() throws {
        let listener = try TCPListener(anyLoopbackPort)
        let dialers = try (0..<5).map { _ in
            try Dialer(to: listener.address, deadline: .max)
        }
        // On this machine a connection is in the queue once its dial is decided.
        for dialer in dialers {
            var patience = try Patience()
            try patience.wait(for: dialer.descriptor, .writable)
        }
        var counts: [Int] = []
        for _ in 0..<4 {
            let (links, problem) = listener.accept(countMax: 2, now: 0)
            #expect(problem == nil)
            counts.append(links.count)
        }
        #expect(counts == [2, 2, 1, 0])
        #expect(listener.interest == .readable && listener.pausedUntil == nil)
    }

    @Test func `of nobody gives nothing and asks to be told`() throws {
        let listener = try TCPListener(anyLoopbackPort)
        let (links, problem) = listener.accept(countMax: 0, now: 0)
        #expect(links.isEmpty && problem == nil)
        #expect(listener.interest == .readable)
    }
}

struct `A name of a host` {
    @Test(arguments: ["127.0.0.1", "::1", "fd00::7", "192.0.2.1", "::ffff:10.0.0.1"])
    func `that is an address is that address`(_ text: String) throws {
        let found = try NameResolution.addresses(of: text, port: 5).get()
        #expect(found == [SocketAddress(host: try #require(IPAddress(text)), port: 5)])
    }

    /// A label has at most 63 bytes, so no server is asked for these.
    @Test(arguments: [
        String(repeating: "a", count: 64), String(repeating: "a", count: 64) + ".invalid",
        "local\u{0}host", "\u{0}",
    ])
    func `that cannot be one fails with the name`(_ text: String) {
        guard case .failure(let failure) = NameResolution.addresses(of: text, port: 1) else {
            Issue.record("resolved")
            return
        }
        #expect(failure.host == text)
        #expect(failure.number != 0)
        #expect(failure.description.hasPrefix(text + ": "))
        #expect(failure.description.utf8.count > text.utf8.count + 2)
    }
}

struct `The interfaces of this machine` {
    @Test func `are told once each, by number, with sorted addresses`() throws {
        let all = try NetworkInterface.allUp()
        #expect(all.map(\.index) == all.map(\.index).sorted())
        #expect(Set(all.map(\.index)).count == all.count)
        #expect(Set(all.map(\.name)).count == all.count)
        for interface in all {
            #expect(interface.index == if_nametoindex(interface.name))
            #expect(interface.addresses == interface.addresses.sorted())
            #expect(!interface.name.isEmpty)
        }
    }

    @Test func `include the one of the machine itself`() throws {
        let own = try #require(try NetworkInterface.allUp().first { $0.isLoopback })
        #expect(own.addresses.contains(.loopbackV4))
    }

    @Test func `lend others no address that means nothing to them`() throws {
        let reachable = try NetworkInterface.reachableAddresses()
        #expect(reachable == reachable.sorted())
        #expect(Set(reachable).count == reachable.count)
        for address in reachable {
            #expect(!address.isLoopback && !address.isLinkLocal)
            #expect(!address.isWildcard && !address.isMulticast)
        }
        let all = try NetworkInterface.allUp().filter { !$0.isLoopback }.flatMap(\.addresses)
        #expect(Set(reachable).isSubset(of: all))
    }
}
