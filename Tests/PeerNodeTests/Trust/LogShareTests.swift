import CRDTStore
import SyncProtocol
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// A member who writes each operation in a separate log: every log stays in memory (S-9).
struct `Logs that a member begins without number` {
    private let bench = CoreBench()
    private let mina: BenchNode
    private let ada: BenchNode
    private let hostile: HostileMember
    /// Of a member with one device.
    private static let share = Limits.logsBurstPerMember + Limits.logsBurstPerDevice
    private static let day: UInt64 = 24 * 60 * 60 * 1_000

    init() throws {
        mina = try bench.node("Mina")
        ada = try bench.guest("Ada", of: mina)
        let joon = try bench.guest("Joon", of: mina)
        bench.advance(5_000)
        try mina.ok("channel.create", ["name": "other"])
        bench.advance(5_000)
        hostile = try joon.hostile()
        joon.kill()
    }

    /// Logs of one message each, with incarnations from `first` on.
    private func logs(
        _ count: Int, from first: UInt32, in document: DocumentID? = nil, ahead: UInt64 = 0
    ) -> [HostileLog] {
        (0..<UInt32(count)).map { number in
            var log = HostileLog(hostile, incarnation: first + number, document: document)
            log.write("\(first + number)", at: bench.wall + ahead)
            return log
        }
    }

    /// Hands runs to a node, whether it accepts them or not.
    private func offer(_ logs: [HostileLog], to node: BenchNode) throws {
        try node.inTurn { core, known in
            for log in logs {
                _ = try core.acceptAtOnce(
                    log.run(), in: known, from: .peer(log.name.device, source: 1, isBackfill: false)
                )
            }
        }
    }

    /// How many of their logs a node holds in a document.
    private func count(at node: BenchNode, in document: DocumentID? = nil) throws -> Int {
        try #require(node.host?.core).turn.store.operations.branches(
            in: document ?? hostile.channel, of: try node.workspace().number
        ).count { $0.log.device == hostile.device && $0.log.incarnation >= 1_000 }
    }

    /// The authors of the operations that a node's operations in the channel cite.
    private func cited(at node: BenchNode) throws -> [DeviceID] {
        var cited: [DeviceID] = []
        try #require(node.host?.core).turn.store.operations.forEachOperation(
            in: hostile.channel, of: node.workspace().number
        ) { cited += $0.entry.dependencies.map(\.device) }
        return cited
    }

    private func document(_ channel: String) throws -> DocumentID {
        try #require(Array(try mina.workspace().channelIndex.called(channel)).first?.id)
    }

    @Test func `begin up to a share in each document, and continue`() throws {
        var begun = logs(Self.share + 30, from: 1_000)
        try offer(begun, to: ada)
        #expect(try count(at: ada) == Self.share)
        begun[0].write("more", at: bench.wall + 1)
        try offer([begun[0]], to: ada)
        #expect(try ada.log(of: "general").contains("more"))
        let other = try document("other")
        try offer(logs(Self.share + 30, from: 2_000, in: other), to: ada)
        #expect(try count(at: ada, in: other) == Self.share)
        #expect(try count(at: ada) == Self.share)
    }

    @Test func `are taken later, one by one`() throws {
        let begun = logs(Self.share + 90, from: 1_000)
        try offer(begun, to: ada)
        bench.advance(60 * 60 * 1_000)
        try offer(begun, to: ada)
        #expect(try count(at: ada) == Self.share * 3 / 2)
        #expect(
            try ada.ok("node.status")["warnings"]?.arrayValue?.contains {
                $0["kind"] == "member.delayed"
            } == true)
    }

    @Test func `keep no operations waiting that do not cite them`() throws {
        bench.cut(mina, ada)
        // Dated ahead, so that whatever is written after it would cite it.
        try offer(logs(Self.share, from: 1_000, ahead: Self.day), to: ada)
        try offer(logs(Self.share, from: 2_000, ahead: Self.day), to: mina)
        try ada.send("of Ada", to: "general")
        try mina.send("of Mina", to: "general")
        bench.heal(mina, ada)
        bench.advance(20_000)
        for node in [mina, ada] {
            let told = try node.log(of: "general")
            #expect(told.contains("of Ada") && told.contains("of Mina"), "\(node.name)")
            #expect(try !cited(at: node).contains(hostile.device), "\(node.name)")
        }
    }

    /// Another member has one log, and dates ahead what cites them.
    @Test func `are not relied on if an accomplice cites them`() throws {
        let begun = logs(Limits.citedLogsPerMemberMax + 1, from: 1_000)
        try offer(begun, to: ada)
        let kim = try bench.guest("Kim", of: mina)
        bench.advance(5_000)
        let accomplice = try kim.hostile()
        kim.kill()
        var log = HostileLog(accomplice, incarnation: 1)
        log.write("on them", at: bench.wall + Self.day) { draft in
            draft.dependencies = [begun[0].operations[0].reference]
        }
        log.write("and on", at: bench.wall + Self.day + 1)
        try offer([log], to: ada)
        try ada.send("of Ada", to: "general")
        #expect(try ada.log(of: "general").contains("and on"))
        #expect(try cited(at: ada).allSatisfy { $0 != accomplice.device })
    }

    /// A few are cited, as operations ahead of the clock always are.
    @Test func `are cited while they are few`() throws {
        try offer(logs(2, from: 1_000, ahead: Self.day), to: ada)
        try ada.send("of Ada", to: "general")
        #expect(try cited(at: ada).count { $0 == hostile.device } == 2)
    }

    @Test func `are paid by a member who overwrites what they say`() throws {
        let sent = try mina.ok("message.send", ["channel": "general", "text": "look"])
        bench.advance(5_000)
        let id = try #require(sent["id"])
        let key = try #require(PublicID.messageKey(id.stringValue ?? ""))
        let pin = ContentPayload.annotation(.init(.pin(isOn: true), of: key)).encoded
        let pins = (0..<4).map { number in
            var log = HostileLog(hostile, incarnation: 1_000 + UInt32(number))
            log.write(plaintext: pin, at: bench.wall)
            return log
        }
        bench.cut(mina, ada)
        try offer(pins, to: ada)
        try offer(logs(Self.share, from: 2_000), to: mina)
        try ada.ok("message.unpin", ["message": id])
        bench.heal(mina, ada)
        bench.advance(20_000)
        #expect(try count(at: mina) == Self.share + pins.count)
        let history = try mina.ok("message.history", ["channel": "general", "limit": 100])
        #expect(history.items.contains { $0["id"] == id && $0["pinned"] != true })
    }

    @Test func `count as one document if nobody has begun it`() throws {
        let random = SeededRandom(seed: 7)
        let before = try #require(ada.host?.core).turn.store.operations
            .documents(ofWorkspace: ada.workspace().number).count
        try offer(
            (0..<Self.share + 30).flatMap { _ in
                logs(1, from: 1_000, in: DocumentID(random.bytes(DocumentID.byteCount)))
            }, to: ada)
        let after = try #require(ada.host?.core).turn.store.operations
            .documents(ofWorkspace: ada.workspace().number).count
        #expect(after - before == Self.share)
    }
}
