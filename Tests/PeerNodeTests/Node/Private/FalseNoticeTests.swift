import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode
@testable import WorkspaceCrypto

/// Mailbox notices that tell somebody that they were removed from a private document. Anybody who
/// knows the document can send them.
struct `A notice of your removal` {
    let bench = CoreBench()
    let mina: BenchNode
    let joon: BenchNode
    let kim: BenchNode

    init() throws {
        mina = try bench.node("Mina")
        joon = try bench.guest("Joon", of: mina)
        kim = try bench.guest("Kim", of: mina)
        bench.advance(5_000)
        try mina.ok("channel.create", ["name": "vault", "private": true])
        try mina.ok("channel.add", ["channel": "vault", "members": ["Joon", "Kim"]])
        bench.advance(5_000)
    }

    private func vault(_ node: BenchNode) throws -> PrivateDocument {
        let workspace = try node.workspace()
        let shown = try #require(workspace.channelIndex.all.first { $0.name == "vault" })
        return try #require(workspace.sealed.documents[shown.id])
    }

    /// Leaves notices for devices of others.
    private func tell(
        _ others: [BenchNode], of operation: OperationID, in document: DocumentID,
        by node: BenchNode
    ) throws {
        let people = try others.map { try $0.workspace().member }
        try node.inTurn { core, known in
            try core.keys.mail(
                known.boxKeys(of: Set(people)).map {
                    MailboxDelivery(.notice(operation, in: document), to: $0.agreementKey)
                }, in: known)
        }
        bench.advance(5_000)
    }

    private func seesIn(_ node: BenchNode, members: Int64 = 3) throws -> Bool {
        let shown = try node.ok("channel.get", ["channel": "vault"])
        return shown["joined"] == true && shown["members"] == .integer(members)
    }

    private static func chance(_ number: UInt8) -> OperationID {
        OperationID([UInt8](repeating: number, count: 32))
    }

    @Test func `does not count if it names nothing`() throws {
        let document = try vault(kim).id
        for number in UInt8(1)...12 {
            try tell([mina, joon], of: Self.chance(number), in: document, by: kim)
        }
        for node in [mina, joon] {
            #expect(try seesIn(node), "\(node.name)")
            try node.restart()
            #expect(try seesIn(node), "\(node.name) after a restart")
            try node.send("from \(node.name)", to: "vault")
        }
        bench.advance(20_000)
        let heard = try kim.log(of: "vault")
        #expect(Set(heard) == ["from Mina", "from Joon"], "\(heard)")
        #expect(try vault(joon).notices.count == Limits.unprovenKeysMax)

        // And takes no room of what is true.
        try mina.ok("channel.remove", ["channel": "vault", "members": ["Joon"]])
        bench.advance(20_000)
        #expect(try joon.ok("channel.get", ["channel": "vault"])["joined"] == false)
        #expect(try seesIn(kim, members: 2))
    }

    /// A membership operation of `author` under a key, which does not open under it.
    private func garbage(
        by author: BenchNode, under key: SymmetricKey, _ random: SeededRandom
    ) throws -> SignedOperation {
        let document = try vault(author)
        let hostile = try author.hostile()
        let draft = OperationDraft(
            kind: .privateAuthority, document: document.id, incarnation: 96, sequence: 0,
            previous: nil,
            timestamp: HybridTimestamp(milliseconds: bench.wall, counter: 0),
            grant: hostile.grant, dependencies: [])
        return draft.finished(
            payload: PrivatePayload(clear: nil, sealed: random.bytes(96)).encoded,
            keyID: key.keyID,
            with: hostile.signing)
    }

    /// An operation of `author` in the channel that nobody else can open.
    private func closedOperation(by author: BenchNode) throws -> SignedOperation {
        let document = try vault(author)
        let random = SeededRandom(seed: 3)
        let stranger = SymmetricKey(using: random)
        var log = ForgedDocumentLog(
            try author.hostile(), document: document.id, incarnation: 95, at: bench.wall)
        let member = try author.workspace().member
        let seat = try #require(document.authority.standing(of: member)).seat
        let root = try #require(document.records[document.rootID])
        log.write(
            PrivateChange(.rekey(PrivateEpoch(keyID: stranger.keyID)), seat: seat),
            knowing: [
                OperationReference(
                    device: root.log.device, incarnation: root.log.incarnation,
                    sequence: root.sequence, id: document.rootID)
            ], under: stranger, random)
        return try #require(log.operations.first)
    }

    /// What it names is there and cannot be opened, but is by somebody who may put nobody out.
    @Test func `does not count from somebody without the right`() throws {
        let document = try vault(kim)
        let named = try closedOperation(by: kim)
        for node in [mina, joon] { try node.take([named.run(in: document.id)]) }
        bench.advance(5_000)
        #expect(try vault(joon).records[named.id] != nil)
        try tell([mina, joon], of: named.id, in: document.id, by: kim)
        for node in [mina, joon] { #expect(try seesIn(node), "\(node.name)") }
    }

    /// Kim may put Joon out, and says so of what nobody can open: everybody else has Joon in.
    @Test(arguments: [false, true])
    func `counts until somebody who has what it names gives a key`(isFirst: Bool) throws {
        try mina.ok("channel.role", ["channel": "vault", "member": "Kim", "role": "admin"])
        bench.advance(5_000)
        let document = try vault(kim)
        let named = try closedOperation(by: kim)
        bench.cut(mina, joon)
        if isFirst { try tell([joon], of: named.id, in: document.id, by: kim) }
        for node in [mina, joon] { try node.take([named.run(in: document.id)]) }
        bench.advance(5_000)
        if !isFirst { try tell([joon], of: named.id, in: document.id, by: kim) }
        #expect(try !seesIn(joon))
        bench.heal(mina, joon)
        bench.advance(120_000)
        #expect(try seesIn(joon))
        try joon.restart()
        bench.advance(10_000)
        #expect(try seesIn(joon))
        // What is true stays so.
        try kim.ok("channel.remove", ["channel": "vault", "members": ["Joon"]])
        bench.advance(120_000)
        #expect(try !seesIn(joon))
        try joon.restart()
        bench.advance(120_000)
        #expect(try joon.ok("channel.get", ["channel": "vault"])["joined"] == false)
    }

    /// An operation that does not open under a key that is here means nothing, whatever
    /// others claim about it: garbage under the channel's own key, and under one that its
    /// author gave only to Joon.
    @Test(arguments: [false, true])
    func `does not count if the key of what it names is here`(isGiven: Bool) throws {
        try mina.ok("channel.role", ["channel": "vault", "member": "Kim", "role": "admin"])
        bench.advance(5_000)
        let document = try vault(kim)
        let random = SeededRandom(seed: 4)
        let newest = try #require(document.newestKey)
        let key = isGiven ? SymmetricKey(using: random) : newest
        let named = try garbage(by: kim, under: key, random)
        for node in [mina, joon] { try node.take([named.run(in: document.id)]) }
        if isGiven {
            let people: Set<MemberID> = [try joon.workspace().member]
            try kim.inTurn { core, known in
                try core.keys.mail(key, of: document.id, to: people, in: known)
            }
        }
        // Nobody who leads is there to overrule it.
        bench.cut(mina, joon)
        try tell([joon], of: named.id, in: document.id, by: kim)
        bench.advance(60_000)
        #expect(try vault(joon).records[named.id]?.change == nil)
        #expect(try seesIn(joon))
        try joon.restart()
        #expect(try seesIn(joon))
    }

    /// Nothing is kept, judged or passed on of what can be read: it would cost as often as anybody likes.
    @Test func `is ignored if what it names can be opened`() throws {
        let document = try vault(joon)
        let judged = document.judgements
        let before = try joon.rowCount("operation")
        for _ in 0..<10 {
            for id in document.order.prefix(2) {
                try tell([joon], of: id, in: document.id, by: kim)
            }
        }
        #expect(document.notices.isEmpty && document.judgements == judged)
        // Kim's words alone came.
        #expect(try joon.rowCount("operation") == before + 20)
        #expect(try kim.rowCount("operation") == joon.rowCount("operation"))
    }

    /// A device passes on what names something, once that is here; of all else it writes nothing.
    @Test func `is passed on to a linked device if it names something`() throws {
        let phone = try bench.bareNode("Phone")
        try joon.link(phone)
        bench.advance(60_000)
        let device = try #require(joon.host?.core.session.ownDevice)
        func written() throws -> UInt64 {
            try joon.inTurn { core, workspace in
                core.turn.store.operations.branches(
                    in: workspace.mailboxDocument, of: workspace.number
                ).filter { $0.log.device == device }.map { $0.tipSequence + 1 }.reduce(0, +)
            }
        }
        let before = try written()
        let document = try vault(kim).id
        for number in UInt8(1)...20 {
            try tell([joon], of: Self.chance(number), in: document, by: kim)
        }
        #expect(try written() == before)
        let named = try closedOperation(by: kim)
        try tell([joon], of: named.id, in: document, by: kim)
        #expect(try written() == before)
        try joon.take([named.run(in: document)])
        bench.advance(10_000)
        #expect(try written() == before + 1)
    }

    /// Of one sender the latest count, and nothing is won by saying the older ones again.
    @Test func `has room for the latest of each sender, once`() throws {
        let document = try vault(joon)
        let records = document.order.compactMap { document.records[$0] }
        let root = try #require(records.first)
        let sender = try kim.workspace().member
        let copy = PrivateDocument(id: document.id, number: 1, vault: KeyVault(nil))
        var named: [PrivateNotice] = []
        for number in UInt8(1)...20 {
            let id = Self.chance(number)
            copy.membership.enter(
                id,
                PrivateDocument.Record(
                    author: sender, log: root.log, sequence: UInt64(number),
                    timestamp: root.timestamp, grant: root.grant,
                    keyID: KeyID([UInt8](repeating: number, count: 16)), arrival: Int64(number),
                    branch: 1, previous: nil, dependencies: []))
            named.append(PrivateNotice(operation: id, sender: sender))
        }
        let member = try joon.workspace().member
        #expect(named.allSatisfy { copy.take($0, to: member) })
        #expect(copy.notices == Array(named.suffix(Limits.unprovenKeysMax)))
        for _ in 0..<3 {
            #expect(!named.contains { copy.take($0, to: member) }, "by turns")
        }
        // What is not here yet may be the latest.
        #expect(copy.take(PrivateNotice(operation: Self.chance(99), sender: sender), to: member))
        #expect(copy.notices.count == Limits.unprovenKeysMax)
    }

    /// Who has handed on something for the key of what nobody opens is overruled like everybody else.
    @Test func `counts until somebody gives a key, whatever was relayed of what it names`() throws {
        try mina.ok("channel.role", ["channel": "vault", "member": "Kim", "role": "admin"])
        bench.advance(5_000)
        let document = try vault(kim)
        let named = try closedOperation(by: kim)
        bench.cut(mina, joon)
        for node in [mina, joon] { try node.take([named.run(in: document.id)]) }
        try joon.inTurn { core, workspace in
            let known = try vault(joon)
            let keyID = try #require(known.records[named.id]).keyID
            let key = SymmetricKey(using: SeededRandom(seed: 9))
            _ = known.take(PrivateAuthorityKey(handedOn: key), of: keyID)
            #expect(known.authorityKeys.holds(keyID))
        }
        try tell([joon], of: named.id, in: document.id, by: kim)
        #expect(try !seesIn(joon))
        bench.heal(mina, joon)
        bench.advance(120_000)
        #expect(try seesIn(joon))
    }

    /// Who handed it over had the strongest seat of all, and puts the owner out no more.
    @Test func `does not count from a former owner of the channel`() throws {
        try mina.ok("channel.transfer", ["channel": "vault", "member": "Kim"])
        bench.advance(5_000)
        let document = try vault(kim)
        let named = try closedOperation(by: mina)
        try kim.take([named.run(in: document.id)])
        bench.advance(5_000)
        #expect(try vault(kim).records[named.id] != nil)
        try tell([kim], of: named.id, in: document.id, by: mina)
        #expect(try seesIn(kim))
        try kim.ok("channel.edit", ["channel": "vault", "topic": "mine"])
    }

    /// Nor does such a one put out others for longer than until the owner is met: the seat that was handed on
    /// is no more than what was kept.
    @Test func `by a former owner of the channel counts until its owner gives a key`() throws {
        try mina.ok("channel.transfer", ["channel": "vault", "member": "Kim"])
        bench.advance(5_000)
        let document = try vault(kim)
        let named = try closedOperation(by: mina)
        bench.cut(kim, joon)
        for node in [joon, kim] { try node.take([named.run(in: document.id)]) }
        try tell([joon], of: named.id, in: document.id, by: mina)
        #expect(try !seesIn(joon))
        bench.heal(kim, joon)
        bench.advance(120_000)
        #expect(try seesIn(joon))
        try joon.send("in again", to: "vault")
    }

    @Test func `does not count in conversations`() throws {
        let made = try kim.ok("dm.open", ["members": ["@Mina", "@Joon"]])
        try kim.send("hello", to: try made.text("id"))
        bench.advance(5_000)
        let before = try joon.ok("dm.list").items
        let direct = try #require(
            try kim.workspace().channelIndex.all.first { $0.isDirect })
        try tell([joon], of: Self.chance(7), in: direct.id, by: kim)
        #expect(try joon.ok("dm.list").items == before)
    }

    /// The word may come before the operation that it names, and who said it may go.
    @Test(arguments: [false, true])
    func `counts in any order of arrival, and after its sender has left`(isFirst: Bool) throws {
        let ada = try bench.guest("Ada", of: mina)
        bench.advance(2_000)
        try mina.ok("channel.add", ["channel": "vault", "members": ["Ada"]])
        try mina.ok("channel.role", ["channel": "vault", "member": "Ada", "role": "admin"])
        bench.advance(5_000)
        for node in [mina, kim, ada] { bench.cut(joon, node) }
        try ada.ok("channel.remove", ["channel": "vault", "members": ["Joon"]])
        bench.advance(5_000)
        let (vault, known) = (try vault(ada), try ada.workspace())
        let device = try #require(ada.host?.core.session.home).device
        let operations = try #require(ada.host?.core).turn.store.operations
        let there = try #require(joon.host?.core).turn.store.operations
        let number = try joon.workspace().number
        func runs(of document: DocumentID) throws -> [OperationRun] {
            try operations.branches(in: document, of: known.number)
                .filter { $0.log.device == device }
                .compactMap { branch in
                    let tip = there.branches(of: branch.log, in: number).first?.tipSequence
                    return try operations.run(
                        of: branch.number, from: tip.map { $0 + 1 } ?? 0,
                        through: branch.tipSequence, byteCountMax: .max)
                }
        }
        let (mail, changes) = (try runs(of: known.mailboxDocument), try runs(of: vault.id))
        for runs in isFirst ? [mail, changes] : [changes, mail] { try joon.take(runs) }
        bench.advance(1_000)
        #expect(try joon.ok("channel.get", ["channel": "vault"])["joined"] == false)
        for node in [mina, kim, ada] { bench.heal(joon, node) }
        try ada.ok("workspace.leave")
        bench.advance(20_000)
        #expect(try joon.ok("channel.get", ["channel": "vault"])["joined"] == false)
        try joon.restart()
        bench.advance(20_000)
        #expect(try joon.ok("channel.get", ["channel": "vault"])["joined"] == false)
    }
}
