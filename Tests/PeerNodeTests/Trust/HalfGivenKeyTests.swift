import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Kim creates a private document and gives its key to some of its members.
struct `A private document whose key only some were given` {
    /// Ada, who owns the workspace and is in nothing else; Mina, Nora and Kim, who have been there
    /// for a long time.
    private struct Table {
        let bench = CoreBench()
        let ada: BenchNode
        let mina: BenchNode
        let nora: BenchNode
        let kim: BenchNode
        let random = SeededRandom(seed: 12)

        init() throws {
            ada = try bench.node("Ada")
            mina = try bench.guest("Mina", of: ada)
            nora = try bench.guest("Nora", of: ada)
            kim = try bench.guest("Kim", of: ada)
            bench.advance(60_000)
            // A device that came in long ago asks nobody for a document that it knows nothing
            // about.
            for node in [mina, nora, kim] { try node.workspace().seat.joined = 0 }
        }

        /// A root that lists all three.
        private func root(
            _ subtype: PrivateSubtype, _ name: String?, under key: SymmetricKey,
            incarnation: UInt32
        ) throws -> SignedOperation {
            let author = try kim.hostile()
            let own = try kim.workspace().member
            let seats = try [mina, nora, kim].map {
                let member = try $0.workspace().member
                return PrivateSeat(member, member == own ? .owner : .member)
            }.sorted { $0.member < $1.member }
            let clear = PrivatePayload.Clear(
                workspace: author.workspace,
                nonce: random.bytes(PrivatePayload.Clear.nonceByteCount))
            let draft = OperationDraft(
                kind: .privateAuthority, document: .zero, incarnation: incarnation, sequence: 0,
                previous: nil,
                timestamp: HybridTimestamp(milliseconds: bench.wall, counter: 0),
                grant: author.grant)
            return draft.sealedAndSigned(
                PrivateChange(
                    .root(PrivateRoot(subtype: subtype, seats: seats, history: .all, name: name)),
                    seat: nil),
                clear: clear, under: key, with: author.signing, using: random)
        }

        /// Makes the document, and mails its key.
        ///
        /// - Parameters:
        ///   - bound: an upper bound of its id.
        ///   - wrong: who gets another key.
        func make(
            _ subtype: PrivateSubtype, named name: String? = nil, below bound: DocumentID? = nil,
            for receiver: BenchNode, wrong: BenchNode? = nil
        ) throws -> DocumentID {
            for incarnation in UInt32(900)..<1_000 {
                let key = SymmetricKey(using: random)
                let made = try root(subtype, name, under: key, incarnation: incarnation)
                let id = DocumentID(sameBytesAs: made.id)
                guard bound.map({ id < $0 }) ?? true else { continue }
                try kim.inTurn { core, workspace in
                    try core.keys.mail(
                        key, of: id, to: [try receiver.workspace().member], in: workspace)
                    if let wrong {
                        try core.keys.mail(
                            SymmetricKey(using: random), of: id,
                            to: [try wrong.workspace().member], in: workspace)
                    }
                }
                bench.advance(2_000)
                try kim.take([made.run(in: id)])
                bench.advance(60_000)
                return id
            }
            throw CancellationError()
        }
    }

    @Test func `is written to by others when all of its people have one`() throws {
        let table = try Table()
        let (mina, nora) = (table.mina, table.nora)
        try mina.send("one", to: "@Nora, @Kim")
        try nora.send("I hear you", to: "@Mina, @Kim")
        table.bench.advance(5_000)
        let first = try #require(try mina.workspace().privateChannels.first).id
        let second = try table.make(.directMessage, below: first, for: mina)
        // Neither she nor Kim can be asked.
        for other in [mina, table.kim] { table.bench.cut(nora, other) }
        try mina.send("two: important", to: "@Nora, @Kim")
        table.bench.advance(60_000)
        let written = try #require(
            try mina.workspace().channelIndex.all.first { $0.people.count == 3 })
        #expect(written.id == second, "it goes into the one with the smallest id")
        #expect(try nora.log(of: "@Mina, @Kim") == ["one", "I hear you", "two: important"])
        try nora.send("thanks", to: "@Mina, @Kim")
        table.bench.advance(60_000)
        #expect(try mina.log(of: "@Nora, @Kim").last == "thanks")
    }

    /// In a pair, the maker has given it to the other one, or to nobody; and once is enough.
    @Test func `is written to without a new one by its creator and in pairs`() throws {
        let table = try Table()
        func keys(at node: BenchNode, people: Int) throws -> Int {
            let workspace = try node.workspace()
            let channel = try #require(
                workspace.channelIndex.all.first { $0.isDirect && $0.people.count == people })
            return try #require(workspace.sealed.documents[channel.id]).authority.epochs.count
        }
        try table.mina.send("one", to: "@Nora")
        try table.nora.send("two", to: "@Mina")
        #expect(try keys(at: table.mina, people: 2) == 1)
        try table.mina.send("one", to: "@Nora, @Kim")
        try table.mina.send("two", to: "@Nora, @Kim")
        #expect(try keys(at: table.mina, people: 3) == 1)
        for _ in 0..<2 { try table.nora.send("three", to: "@Mina, @Kim") }
        table.bench.advance(5_000)
        #expect(try keys(at: table.mina, people: 3) == 2)
        for _ in 0..<2 { try table.kim.send("four", to: "@Mina, @Nora") }
        table.bench.advance(5_000)
        try table.mina.send("five", to: "@Nora, @Kim")
        #expect(try keys(at: table.mina, people: 3) == 3)
    }

    @Test func `is requested, at any age, from everyone who has written there`() throws {
        let table = try Table()
        let (mina, nora) = (table.mina, table.nora)
        _ = try table.make(.channel, named: "plans", for: mina)
        table.bench.cut(nora, table.kim)
        table.bench.advance(60_000)
        #expect(try nora.refused("channel.get", ["channel": "plans"]).kind == .notFound)
        try mina.send("who is here?", to: "plans")
        table.bench.advance(120_000)
        #expect(try nora.log(of: "plans") == ["who is here?"])
        #expect(try table.ada.refused("channel.get", ["channel": "plans"]).kind == .notFound)
    }

    @Test func `is reported by a member who was sent another one`() throws {
        let table = try Table()
        let (mina, nora) = (table.mina, table.nora)
        func warns() throws -> Bool {
            let warnings = try nora.ok("node.status")["warnings"]?.arrayValue ?? []
            return warnings.contains { $0["kind"] == "keys.missing" }
        }
        for other in [mina, table.kim] { table.bench.cut(nora, other) }
        _ = try table.make(.channel, named: "plans", for: mina, wrong: nora)
        try mina.send("who is here?", to: "plans")
        table.bench.advance(60_000)
        #expect(try warns())
        let finding = try nora.ok("node.doctor").items.first { $0["id"] == "keys" }
        #expect(finding?["message"]?.stringValue?.contains("1 private conversation cannot") == true)
        table.bench.heal(nora, mina)
        table.bench.advance(60_000)
        #expect(try nora.log(of: "plans") == ["who is here?"])
        #expect(try !warns())
    }
}
