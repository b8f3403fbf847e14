import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// A member who was offline while others added them to a private channel, and removed them again.
struct `A member added and removed while away` {
    private let bench = CoreBench()
    private let mina: BenchNode
    private let joon: BenchNode

    init() throws {
        mina = try bench.node("Mina")
        joon = try bench.guest("Joon", of: mina)
    }

    @Test(arguments: ["all", "from-join"], [false, true])
    func `is not shown as being in`(history: String, isSpokenIn: Bool) throws {
        bench.advance(120_000)
        bench.cut(mina, joon)
        try mina.ok(
            "channel.create",
            ["name": "deal", "private": true, "history": .string(history)])
        try mina.ok("channel.add", ["channel": "deal", "members": ["@Joon"]])
        if isSpokenIn { try mina.ok("message.send", ["channel": "deal", "text": "welcome"]) }
        try mina.ok("channel.remove", ["channel": "deal", "members": ["@Joon"]])
        if isSpokenIn { try mina.ok("message.send", ["channel": "deal", "text": "gone"]) }
        bench.heal(mina, joon)
        bench.advance(60_000)
        let error = try joon.refused("message.send", ["channel": "deal", "text": "hello?"])
        #expect(error.kind == .notFound || error.kind == .forbidden, "\(error)")
        try joon.restart()
        bench.advance(60_000)
        _ = try joon.refused("message.send", ["channel": "deal", "text": "hello?"])
    }

    private func deal(_ node: BenchNode) throws -> PrivateDocument {
        let workspace = try node.workspace()
        let shown = try #require(workspace.channelIndex.all.first { $0.name == "deal" })
        return try #require(workspace.sealed.documents[shown.id])
    }

    /// There is room for eight notices of one sender; those that open now take none of it.
    @Test(arguments: ["all", "from-join"])
    func `is notified the tenth time, too`(history: String) throws {
        try mina.ok(
            "channel.create", ["name": "deal", "private": true, "history": .string(history)])
        for time in 1...10 {
            try mina.ok("channel.add", ["channel": "deal", "members": ["@Joon"]])
            bench.advance(10_000)
            #expect(try joon.ok("channel.get", ["channel": "deal"])["joined"] == true, "\(time)")
            try mina.ok("channel.remove", ["channel": "deal", "members": ["@Joon"]])
            bench.advance(10_000)
            #expect(try joon.ok("channel.get", ["channel": "deal"])["joined"] == false, "\(time)")
            #expect(try deal(joon).notices.count == 1, "\(time)")
        }
    }

    /// Shown as out, and refused, now and after a restart.
    private func expectOut(_ node: BenchNode, in bench: CoreBench) throws {
        #expect(
            try node.ok("channel.get", ["channel": "deal"])["joined"] == false, "\(node.name)")
        _ = try node.refused("message.send", ["channel": "deal", "text": "hello?"])
        try node.restart()
        bench.advance(10_000)
        _ = try node.refused("message.send", ["channel": "deal", "text": "hello?"])
    }

    /// All of it comes at once, and the last removal is the one whose key is not there.
    @Test(arguments: ["all", "from-join"])
    func `is notified of the last of many that came while away`(history: String) throws {
        try mina.ok(
            "channel.create", ["name": "deal", "private": true, "history": .string(history)])
        try mina.ok("channel.add", ["channel": "deal", "members": ["@Joon"]])
        bench.advance(10_000)
        bench.cut(mina, joon)
        for time in 1...20 {
            if time > 1 { try mina.ok("channel.add", ["channel": "deal", "members": ["@Joon"]]) }
            try mina.ok("channel.remove", ["channel": "deal", "members": ["@Joon"]])
            bench.advance(1_000)
        }
        bench.heal(mina, joon)
        bench.advance(120_000)
        try expectOut(joon, in: bench)
    }

    /// What one node stores of a document and another one lacks, in the order in which it came.
    private func runs(
        of node: BenchNode, lackedBy other: BenchNode, in document: DocumentID
    ) throws -> [OperationRun] {
        let known = try other.storedRuns(in: document)
        return try node.storedRuns(in: document).filter { !known.contains($0) }
    }

    /// The channel is made and left by those who do not know of the second device, and comes after that.
    /// Whatever comes first, it waits for the key, which is in the mailbox with the notice.
    @Test(arguments: [false, true])
    func `is told on all devices of what comes together with its channel`(
        isChannelFirst: Bool
    ) throws {
        bench.advance(10_000)
        bench.cut(mina, joon)
        try mina.ok("channel.create", ["name": "deal", "private": true])
        try mina.ok("channel.add", ["channel": "deal", "members": ["@Joon"]])
        try mina.ok("channel.remove", ["channel": "deal", "members": ["@Joon"]])
        let phone = try bench.bareNode("Phone")
        bench.cut(mina, phone)
        try joon.link(phone)
        if isChannelFirst {
            for document in [try deal(mina).id, try mina.workspace().mailboxDocument] {
                try joon.take(try runs(of: mina, lackedBy: joon, in: document))
            }
        }
        bench.heal(mina, joon)
        bench.heal(mina, phone)
        bench.advance(120_000)
        for node in [joon, phone] { try expectOut(node, in: bench) }
    }

    /// What the notice names may have come long before it: then nothing else is awaited.
    @Test(arguments: [(false, false), (true, false), (true, true)])
    func `is not shown as being in on a device that is linked later`(
        isApart: Bool, isNoticeLast: Bool
    ) throws {
        try mina.ok("channel.create", ["name": "deal", "private": true])
        try mina.ok("channel.add", ["channel": "deal", "members": ["@Joon"]])
        bench.advance(10_000)
        // The remover may not have heard of the device.
        if isApart { bench.cut(mina, joon) }
        let phone = try bench.bareNode("Phone")
        bench.cut(mina, phone)
        if isApart { try joon.link(phone) }
        try mina.ok("channel.remove", ["channel": "deal", "members": ["@Joon"]])
        bench.advance(10_000)
        if isNoticeLast {
            try joon.take(try runs(of: mina, lackedBy: joon, in: try deal(mina).id))
        }
        if isApart { bench.heal(mina, joon) } else { try joon.link(phone) }
        bench.advance(60_000)
        for node in [joon, phone] { try expectOut(node, in: bench) }
    }
}
