import CRDTStore
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Any member can send any other keys of any private document. Each costs only what it opens.
struct `A key that comes by mail` {
    /// Bob's private channel, in which Cleo is, and Dora, who is not in it and writes there under keys
    /// of her own.
    private struct Table {
        let bench = CoreBench()
        let bob: BenchNode
        let cleo: BenchNode
        let dora: BenchNode
        let board: PrivateDocument

        init(messages: Int) throws {
            bob = try bench.node("Bob")
            cleo = try bench.guest("Cleo", of: bob)
            dora = try bench.guest("Dora", of: bob)
            bench.advance(5_000)
            try bob.ok("channel.create", ["name": "board", "private": true, "history": "all"])
            try bob.ok("channel.add", ["channel": "board", "members": ["Cleo"]])
            bench.advance(2_000)
            for number in 0..<messages { try bob.send("\(number)", to: "board") }
            bench.advance(5_000)
            board = try bob.document("board")
        }

        func write(under key: SymmetricKey, number: Int) throws {
            let operation = try dora.signed(
                .message(.init(text: "\(number)")), in: board.id, under: (key.keyID, key),
                incarnation: UInt32(500 + number))
            try bob.take([operation.run(in: board.id)])
        }

        func mail(_ key: SymmetricKey) throws {
            try dora.inTurn { core, workspace in
                try core.keys.mail(
                    key, of: board.id, to: [try bob.workspace().member], in: workspace)
            }
            bench.advance(2_000)
        }

        /// Sends Bob keys one after the other, each in a turn of its own.
        ///
        /// - Parameter isUsed: whether something is sealed under each.
        /// - Returns: how many operations Bob's node read.
        func cost(of count: Int, isUsed: Bool) throws -> Int {
            let random = SeededRandom(seed: 8)
            let keys = (0...count).map { _ in SymmetricKey(using: random) }
            if isUsed {
                for (number, key) in keys.enumerated() { try write(under: key, number: number) }
            }
            // The first one has all gone through, to know what it opens.
            try mail(keys[0])
            let operations = try #require(bob.host?.core).turn.store.operations
            let before = operations.readCount
            for key in keys.dropFirst() { try mail(key) }
            #expect(keys.allSatisfy { board.keys.holds($0.keyID) })
            return operations.readCount - before
        }
    }

    @Test(arguments: [false, true])
    func `costs what it opens, however long its channel is`(isUsed: Bool) throws {
        let few = try Table(messages: 2).cost(of: 6, isUsed: isUsed)
        let many = try Table(messages: 60).cost(of: 6, isUsed: isUsed)
        #expect(many <= few + 6, "\(few) \(many)")
    }

    @Test func `opens what came before it, and no more is known of it then`() throws {
        let table = try Table(messages: 1)
        // Nothing that Cleo writes is opened until the key of it comes, which is mailed to nobody.
        let (bob, cleo) = (table.bob, table.cleo)
        let first = try #require(try cleo.document("board").newestKey)
        var keys: [SymmetricKey] = []
        for number in 0..<3 {
            keys.append(
                try bob.inTurn { core, workspace in
                    let (key, epoch) = core.privates.authoring.newEpoch(
                        of: try bob.document("board"), in: workspace)
                    _ = try core.privates.authoring.author(
                        .rekey(epoch), in: try bob.document("board"), of: workspace,
                        introducing: key)
                    core.links.network.links.values.forEach {
                        $0.keys.givenKeys = Limits.keysAskedPerLinkMax
                    }
                    return key
                })
            try bob.send("epoch \(number)", to: "board")
        }
        table.bench.advance(2_000)
        #expect(try cleo.log(of: "board") == ["0"])
        #expect(try cleo.document("board").newestKey?.keyID == first.keyID)
        // The second alone opens what it seals, and the first in what it hands on.
        for (key, shown) in [(keys[1], 3), (keys[2], 4)] {
            try bob.inTurn { core, workspace in
                try core.keys.mail(
                    key, of: table.board.id, to: [try cleo.workspace().member], in: workspace)
            }
            table.bench.advance(2_000)
            #expect(
                try cleo.log(of: "board")
                    == ["0", "epoch 0", "epoch 1", "epoch 2"].prefix(shown).map { $0 })
        }
        #expect(try cleo.ok("node.check")["problem_count"] == 0)
        try cleo.restart()
        #expect(try cleo.log(of: "board").count == 4)
    }
}
