import Foundation
import Testing
import WorkspaceModel

@testable import PeerNode

struct `A node's loop and its peers` {
    private func bytes(_ host: ScriptedHost) -> [UInt8] {
        host.inputs.flatMap { (input) -> [UInt8] in
            if case .received(_, let bytes) = input { bytes } else { [] }
        }
    }

    @Test func `tells where it listens, and remembers it`() throws {
        try withLoop { test in
            try test.run { !test.host.turns.isEmpty }
            let address = try test.peerAddress
            guard case .listening(let told)? = test.host.inputs.first else {
                Issue.record("not the first thing it says")
                return
            }
            #expect(told == [address.description])
            #expect(ListenAddress(rememberedIn: test.home)?.port == address.port)
        }
    }

    @Test func `takes links in, reads them to their end, and says how they ended`() throws {
        try withLoop { test in
            let peer = try dialedLink(test.peerAddress)
            peer.write([1, 2, 3], now: 0)
            peer.finishWriting(now: 0)
            try test.run {
                test.host.inputs.contains { if case .linkClosed = $0 { true } else { false } }
            }
            var story: [String] = []
            for input in test.host.inputs {
                switch input {
                case .accepted(_, let address): story.append("accepted \(address.prefix(9))")
                case .received(_, let bytes): story.append("received \(bytes)")
                case .linkClosed: story.append("closed")
                default: break
                }
            }
            #expect(story == ["accepted 127.0.0.1", "received [1, 2, 3]", "closed"])
            #expect(test.loop.linkCount == 0)
        }
    }

    /// A message that is sent on, or a receipt, costs one turn and not two.
    @Test func `makes no turn of it that all has left, where the host has noted that`() throws {
        try withLoop { test in
            test.host.notesAllSent = true
            var links: [LinkID] = []
            test.host.onInput = { input in
                guard case .received(let link, _) = input else { return [] }
                links.append(link)
                return [.write(link, [4])]
            }
            let peer = try dialedLink(test.peerAddress)
            let buffer = ReadBuffer()
            // A hint, and two frames: of what has begun more would be waited for.
            let pieces: [[UInt8]] = [[UInt8](repeating: 1, count: 16), [0, 1, 7], [0, 1, 8]]
            for (round, piece) in zip(1...3, pieces) {
                peer.write(piece, now: 0)
                peer.flush(now: 0)
                var got: [UInt8] = []
                try test.run {
                    got += peer.receive(byteCountMax: 1 << 20, into: buffer).bytes
                    return got == [4]
                }
                #expect(links.count == round && test.host.linksThatSentAll.count >= round)
            }
            _ = try test.loop.step()
            #expect(!test.host.inputs.contains { if case .unsent = $0 { true } else { false } })
        }
    }

    @Test func `writes, tells what is left, and closes after the last byte`() throws {
        try withLoop { test in
            let large = [UInt8](repeating: 9, count: 8 << 20)
            test.host.onInput = { input in
                if case .accepted(let link, _) = input { return [.write(link, large)] }
                if case .received(let link, _) = input {
                    return [.write(link, [4]), .close(link)]
                }
                return []
            }
            let peer = try dialedLink(test.peerAddress)
            var unsent: [Int] {
                test.host.inputs.compactMap {
                    if case .unsent(_, let count) = $0 { count } else { nil }
                }
            }
            try test.run { !unsent.isEmpty }
            #expect((1..<large.count).contains(unsent[0]))
            var got = StreamLink.Received()
            let buffer = ReadBuffer()
            func read() {
                let more = peer.receive(byteCountMax: 1 << 20, into: buffer)
                got.bytes += more.bytes
                got.end = more.end
            }
            try test.run {
                read()
                return unsent.last == 0
            }
            peer.write([1], now: 0)
            peer.flush(now: 0)
            try test.run {
                read()
                return got.end != nil
            }
            #expect(got.end == .finished)
            #expect(got.bytes.count == large.count + 1)
            #expect(got.bytes.last == 4)
            #expect(test.loop.linkCount == 0)
        }
    }

    @Test func `takes in at most a turn's worth of bytes, and a call is in the next turn`() throws {
        try withLoop { test in
            let peers = try (0..<40).map { _ in try dialedLink(test.peerAddress) }
            try test.run { test.loop.linkCount == 40 }
            let piece = [UInt8](repeating: 7, count: 100_000)
            for peer in peers {
                peer.write(piece, now: 0)
                peer.flush(now: 0)
            }
            let client = try test.client()
            client.call("hello")
            test.host.turns = []
            try test.run {
                for peer in peers { peer.flush(now: 0) }
                return bytes(test.host).count == 40 * piece.count
            }
            let sizes = test.host.turns.map { turn in
                turn.reduce(0) { sum, input in
                    if case .received(_, let bytes) = input { sum + bytes.count } else { sum }
                }
            }
            #expect(sizes.allSatisfy { $0 <= TurnBudget.byteCountMax + 64 * 1024 })
            #expect(sizes.filter { $0 > 0 }.count > 3)
            #expect(client.lines().count == 1)
            let first = test.host.turns.firstIndex { turn in
                turn.contains { if case .call = $0 { true } else { false } }
            }
            let turn = try #require(first)
            #expect(turn <= 1)
        }
    }

    @Test func `dials addresses and names, and says why nobody was reached`() throws {
        try withLoop { test in
            let listener = try TCPListener(anyLoopbackPort)
            let gone = try TCPListener(anyLoopbackPort).address
            let port = listener.address.port
            let addresses = [
                "127.0.0.1:\(port)", "localhost:\(port)", gone.description, "no such host",
                "host.invalid:5",
            ]
            test.host.onInput = { input in
                guard case .call = input else { return [] }
                return addresses.enumerated().map { .dial(number: UInt64($0), address: $1) }
            }
            let client = try test.client()
            client.call("go")
            var outcomes: [UInt64: String] = [:]
            try test.run {
                for input in test.host.inputs {
                    switch input {
                    case .dialled(_, let number, let address): outcomes[number] = address
                    case .dialFailed(let number, let reason): outcomes[number] = reason
                    default: break
                    }
                }
                return outcomes.count == addresses.count
            }
            #expect(outcomes[0] == "127.0.0.1:\(port)")
            #expect(outcomes[1] == "127.0.0.1:\(port)")
            #expect(outcomes[2] == "refused")
            #expect(outcomes[3] == "bad_address")
            #expect(outcomes[4] == "no_such_name")
            #expect(test.loop.linkCount == 2)
        }
    }

    @Test func `stops listening while the network is off, and comes back on the same port`() throws
    {
        try withLoop { test in
            test.host.onInput = { input in
                guard case .call(let call, let method, _, _) = input else { return [] }
                return [.setNetwork(isOn: method == "on"), .answer(call, .success([:]))]
            }
            let address = try test.peerAddress
            let client = try test.client()
            client.call("off")
            try test.run {
                client.lines().count == 1 && test.host.listening == [[address.description], []]
            }
            #expect(test.loop.listenAddress == nil)
            guard case .failed = try dialed(address) else {
                Issue.record("somebody answers")
                return
            }
            client.call("on", id: 2)
            try test.run { client.lines().count == 2 && test.host.listening.count == 3 }
            #expect(test.host.listening.last == [address.description])
            _ = try dialedLink(address)
        }
    }

    @Test func `listens again where it did, or elsewhere when that is taken`() throws {
        try withTemporaryFolder { root in
            let port = try TestLoop(root).peerAddress.port
            let again = try TestLoop(root, listen: nil)
            let portAgain = try again.peerAddress.port
            #expect(portAgain == port)
            try withTemporaryFolder { other in
                let home = HomeFolder(data: other, socket: "")
                ListenAddress.remember(try again.peerAddress, in: home)
                let second = try TestLoop(other, listen: nil)
                let secondPort = try second.peerAddress.port
                #expect(secondPort != port)
                let error = #expect(throws: NodeError.self) {
                    try TestLoop(
                        other + "/third", listen: ListenAddress(host: .loopbackV4, port: port))
                }
                #expect(error?.kind == .badConfiguration)
            }
        }
    }
}

extension ScriptedHost {
    /// What it was told about where the loop listens.
    fileprivate var listening: [[String]] {
        inputs.compactMap { if case .listening(let addresses) = $0 { addresses } else { nil } }
    }
}
