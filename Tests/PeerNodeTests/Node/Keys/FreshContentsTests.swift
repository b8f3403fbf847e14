import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// A turn's cache of decrypted contents.
struct `Contents opened in a turn` {
    private static let payload: [UInt8] = [1, 2, 3]
    private let bench = CoreBench()

    private func said(_ text: String) -> ContentPayload { .message(.init(text: text)) }

    @Test func `are those of the payload that is asked for, and of no other`() {
        var fresh = FreshContents()
        fresh.note(said("one"), of: Self.payload, arrival: 1)
        #expect(fresh.content(of: Self.payload, arrival: 1) == said("one"))
        // An operation whose bytes have gone or are others by now.
        #expect(fresh.content(of: [], arrival: 1) == nil)
        #expect(fresh.content(of: [1, 2, 4], arrival: 1) == nil)
        #expect(fresh.content(of: Self.payload, arrival: 2) == nil)
        fresh.forget()
        #expect(fresh.content(of: Self.payload, arrival: 1) == nil)
    }

    @Test func `are as many as have room, and the rest is opened again`() {
        var fresh = FreshContents()
        for arrival in 0...Limits.freshContentsMax {
            fresh.note(said("\(arrival)"), of: Self.payload, arrival: Int64(arrival))
        }
        let last = Int64(Limits.freshContentsMax)
        #expect(fresh.content(of: Self.payload, arrival: last - 1) == said("\(last - 1)"))
        #expect(fresh.content(of: Self.payload, arrival: last) == nil)
        fresh.forget()
        fresh.note(said("later"), of: Self.payload, arrival: last)
        #expect(fresh.content(of: Self.payload, arrival: last) == said("later"))
    }

    @Test func `are what was sealed here, once and of no other payload`() {
        var fresh = FreshContents()
        #expect(fresh.takeWritten(Self.payload) == nil)
        fresh.noteWritten(said("one"), as: Self.payload)
        #expect(fresh.takeWritten(Self.payload) == said("one"))
        #expect(fresh.takeWritten(Self.payload) == nil)
        fresh.noteWritten(said("two"), as: Self.payload)
        #expect(fresh.takeWritten([9]) == nil && fresh.takeWritten(Self.payload) == nil)
        fresh.noteWritten(said("three"), as: Self.payload)
        fresh.forget()
        #expect(fresh.takeWritten(Self.payload) == nil)
    }

    /// The event is built behind the COMMIT, and is not opened once more for that.
    @Test func `are kept for who listens until the effects are carried out, and no longer`() throws
    {
        let ada = try bench.node("Ada")
        try ada.ok("events.subscribe", ["types": ["message.created"], "since": "latest"], on: 7)
        let host = try #require(ada.host)
        _ = host.turn(
            [
                .call(
                    CallID(connection: 9, number: 1), method: "message.send",
                    arguments: ["channel": "general", "text": "one"])
            ], at: bench.time)
        #expect(!host.core.keys.fresh.isEmpty)
        let told = host.events(for: 7, room: 1 << 20).map(\.event.data["text"])
        #expect(told == ["one"])
        host.didPerform(at: bench.time.monotonic)
        #expect(host.core.keys.fresh.isEmpty)
    }

    @Test func `are forgotten when the turn has ended`() throws {
        let ada = try bench.node("Ada")
        let bob = try bench.guest("Bob", of: ada)
        try ada.send("one")
        bench.advance(1_000)
        #expect(try bob.texts() == ["one"])
        for node in [ada, bob] {
            let core = try #require(node.host).core
            #expect(core.keys.fresh.isEmpty)
        }
    }
}
