import CRDTStore
import SyncProtocol
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode
@testable import WorkspaceCrypto

/// Members who hand out wrong keys of private documents, or replay others' ciphertext elsewhere.
struct `A key of a private document in the hands of a liar` {
    /// Ada owns the workspace, Bob the channel, in which Ada and Cleo are. Dora is not in it.
    private struct Table {
        let bench = CoreBench()
        let ada: BenchNode
        let bob: BenchNode
        let cleo: BenchNode
        let dora: BenchNode

        init() throws {
            ada = try bench.node("Ada")
            bob = try bench.guest("Bob", of: ada)
            cleo = try bench.guest("Cleo", of: ada)
            dora = try bench.guest("Dora", of: ada)
            bench.advance(5_000)
            try bob.ok("channel.create", ["name": "board", "private": true, "history": "all"])
            try bob.ok("channel.add", ["channel": "board", "members": ["Ada", "Cleo"]])
            try bob.send("one", to: "board")
            bench.advance(5_000)
        }

        var all: [BenchNode] { [ada, bob, cleo, dora] }

        /// Whether all hold the same, and each finds its own store in order.
        func expectPeace() throws {
            bench.advance(60_000)
            #expect(Set(try all.map { try $0.digest() }).count == 1)
            for node in all {
                let check = try node.ok("node.check")
                #expect(check["ok"] == true, "\(node.name): \(check.text)")
            }
        }
    }

    // MARK: E03

    @Test(arguments: ["author", "channel", "epoch", "member's removal"])
    func `opens nothing that was moved to another author, channel or epoch (E03)`(
        moved: String
    ) throws {
        let table = try Table()
        let (bob, cleo) = (table.bob, table.cleo)
        try bob.ok("channel.create", ["name": "other", "private": true, "history": "all"])
        try bob.ok("channel.add", ["channel": "other", "members": ["Cleo", "Ada"]])
        table.bench.advance(2_000)
        let board = try bob.document("board")
        let other = try bob.document("other")
        let message = try #require(
            try bob.stored(in: board.id).first {
                $0.entry.kind == OperationKind.content.rawValue
            })
        if moved == "epoch" {
            try bob.inTurn { core, workspace in
                _ = try core.privates.authoring.changeKey(
                    of: try bob.document("board"), in: workspace)
            }
        }
        if moved == "member's removal" {
            try bob.ok("channel.remove", ["channel": "board", "members": ["Ada"]])
        }
        table.bench.advance(2_000)
        let before = try table.all.prefix(3).map { try ($0.document("board"), $0.name) }.map {
            "\($0.1) \($0.0.authority.members)"
        }
        let removal = try bob.stored(in: board.id).last {
            $0.entry.kind == OperationKind.privateAuthority.rawValue
        }
        let copied = moved == "member's removal" ? try #require(removal) : message
        let target = moved == "author" || moved == "epoch" ? board.id : other.id
        let newest = try #require(try bob.document("board").newestKey).keyID
        let name = moved == "epoch" ? newest : copied.entry.keyID
        let forged = try cleo.forged(copied, into: target, naming: name)
        // Honest nodes store it, as a signed operation of a member, and it says nothing.
        try bob.take([forged.run(in: target)])
        try table.expectPeace()
        #expect(try bob.log(of: "board") == ["one"])
        #expect(try cleo.log(of: "board") == ["one"])
        #expect(try bob.log(of: "other") == [])
        #expect(try cleo.log(of: "other") == [])
        #expect(try bob.document("other").authority.members.count == 3)
        let after = try table.all.prefix(3).map { try ($0.document("board"), $0.name) }.map {
            "\($0.1) \($0.0.authority.members)"
        }
        #expect(before == after)
        let key = try #require(copied.entry.keyID)
        #expect(!other.authority.introduces(key))
    }

    // MARK: E04

    @Test func `is not taken from a peer who was not asked, or under another name (E04)`() throws {
        let table = try Table()
        let (bob, cleo) = (table.bob, table.cleo)
        let board = try bob.document("board").id
        let before = try bob.secrets(of: board)
        let random = SeededRandom(seed: 4)
        let link = try bob.link(to: cleo)
        // Nobody asked: not a new key, nor one that is held already.
        let held = try #require(try cleo.document("board").newestKey)
        for key in [SymmetricKey(using: random), held] {
            let given = try cleo.give(key, of: board, to: bob)
            try bob.inTurn { core, workspace in
                try core.privates.asking.keyGiven(given, in: workspace, on: link)
            }
        }
        #expect(try bob.secrets(of: board) == before)
        #expect(link.keys.refusedKeys == 2)
        #expect(bob.log.filter { $0.hasPrefix("key.refused") }.count == 2)
        // Asked for one, another one comes; and whatever else a liar thinks of.
        link.keys.wanted[board] = [SymmetricKey(using: random).keyID]
        for _ in 0..<40 {
            let given = try cleo.give(SymmetricKey(using: random), of: board, to: bob)
            try bob.inTurn { core, workspace in
                try core.privates.asking.keyGiven(given, in: workspace, on: link)
            }
        }
        #expect(try bob.secrets(of: board) == before)
        #expect(link.keys.refusedKeys == Limits.unprovenKeysMax)
        try bob.send("two", to: "board")
        #expect(try cleo.log(of: "board") == ["one", "two"])
        try table.expectPeace()
    }

    @Test func `changes nothing by mail, from who is not in it or of an old epoch (E04)`() throws {
        let table = try Table()
        let (bob, cleo, dora) = (table.bob, table.cleo, table.dora)
        let old = try #require(try bob.document("board").newestKey)
        try bob.ok("channel.remove", ["channel": "board", "members": ["Ada"]])
        table.bench.advance(2_000)
        let document = try bob.document("board")
        let sealing = try #require(document.newestKey).keyID
        let named = Set(document.authority.epochs.map(\.epoch.keyID))
        let random = SeededRandom(seed: 5)
        // Dora, who was never in, mails a key of her own; Ada, who is out, the one she had.
        for (liar, key) in [(dora, SymmetricKey(using: random)), (table.ada, old)] {
            try liar.inTurn { core, workspace in
                let boxes = workspace.boxKeys(
                    of: [try bob.workspace().member, try cleo.workspace().member])
                try core.keys.mail(
                    boxes.map { MailboxDelivery(.key(key, of: document.id), to: $0.agreementKey) },
                    in: workspace)
            }
        }
        table.bench.advance(5_000)
        for node in [bob, cleo] {
            let now = try node.document("board")
            #expect(now.newestKey?.keyID == sealing)
            #expect(Set(now.authority.epochs.map(\.epoch.keyID)) == named)
            #expect(named.isSubset(of: now.keys.names))
            #expect(Set(now.authority.keysToHandOn(holding: now.keys.names)) == [sealing])
        }
        try cleo.send("two", to: "board")
        #expect(try bob.log(of: "board") == ["one", "two"])
        #expect(try table.ada.log(of: "board") == ["one"])
        try bob.restart()
        #expect(try bob.document("board").newestKey?.keyID == sealing)
        try table.expectPeace()
    }

    // MARK: E05, E07

    /// Bob's new key reaches Ada. What he sends Cleo is nothing, a box with a bit changed, or a
    /// key that is not the one he named.
    @Test(arguments: ["no box (E05)", "a broken box (E05)", "another key (E07)"])
    func `is reported missing by the member who is cheated, and given by another`(
        lie: String
    ) throws {
        let table = try Table()
        let (ada, bob, cleo) = (table.ada, table.bob, table.cleo)
        for other in [ada, table.dora] { table.bench.cut(cleo, other) }
        try bob.inTurn { core, workspace in
            let document = try bob.document("board")
            let (key, epoch) = core.privates.authoring.newEpoch(of: document, in: workspace)
            _ = try core.privates.authoring.author(
                .rekey(epoch), in: document, of: workspace, introducing: key)
            let (adas, cleos) = (try ada.workspace().member, try cleo.workspace().member)
            try core.keys.mail(key, of: document.id, to: [adas], in: workspace)
            switch lie {
            case "another key (E07)":
                let other = SymmetricKey(using: SeededRandom(seed: 6))
                try core.keys.mail(other, of: document.id, to: [cleos], in: workspace)
            case "a broken box (E05)":
                try bob.mailBroken(key, of: document.id, to: cleos, core, workspace)
            default: break
            }
            _ = try core.privates.authoring.authorPrivateContent(
                .message(.init(text: "two")), to: document, in: workspace)
            // The node that holds back a box also answers nobody.
            core.links.network.links.values.forEach {
                $0.keys.givenKeys = Limits.keysAskedPerLinkMax
            }
        }
        table.bench.advance(60_000)
        // The others read; Cleo does not, and is told so.
        #expect(try ada.log(of: "board") == ["one", "two"])
        #expect(try cleo.log(of: "board") == ["one"])
        let finding = try #require(
            try cleo.ok("node.doctor").items.first { $0["id"] == "keys" })
        #expect(finding["state"] == "warn")
        #expect(finding["message"]?.stringValue?.contains("'board': 1 key is missing") == true)
        #expect(finding["hint"]?.stringValue?.contains("been removed") == true)
        let warnings = try cleo.ok("node.status")["warnings"]?.arrayValue ?? []
        #expect(warnings.contains { $0["kind"] == "keys.missing" })
        let steps = try cleo.ok("why", ["subject": "#board"])["steps"]?.arrayValue ?? []
        #expect(steps.contains { $0["kind"] == "sealed" })
        #expect(try ada.ok("node.doctor").items.allSatisfy { $0["id"] != "keys" })
        // Somebody else who is in shares it again.
        table.bench.heal(cleo, ada)
        table.bench.advance(120_000)
        #expect(try cleo.log(of: "board") == ["one", "two"])
        #expect(try cleo.ok("node.doctor").items.allSatisfy { $0["id"] != "keys" })
        let sealing = try #require(try ada.document("board").newestKey).keyID
        #expect(try cleo.document("board").newestKey?.keyID == sealing)
        try cleo.send("three", to: "board")
        #expect(try bob.log(of: "board") == ["one", "two", "three"])
        try cleo.restart()
        #expect(try cleo.log(of: "board") == ["one", "two", "three"])
        table.bench.heal(cleo, table.dora)
        try table.expectPeace()
    }

    // MARK: E06

    @Test func `is for the devices of a person alone, who bound them by their own signature (E06)`()
        throws
    {
        let table = try Table()
        let (ada, bob, cleo) = (table.ada, table.bob, table.cleo)
        let member = try bob.workspace().member
        let device = try #require(bob.host?.core.session.home).device
        let boxes = try cleo.workspace().boxKeys(of: [member]).map(\.agreementKey)
        let ever = try cleo.workspace().boxKeys(everOf: device)
        #expect(ever.count == 1)
        // The workspace's owner gives Bob's device a box key of her own, and Bob a device of hers.
        let liar = SigningKey(using: SeededRandom(seed: 8))
        let box = AgreementKey(using: SeededRandom(seed: 9)).publicKey.bytes
        let consent = DeviceConsent.adding(
            to: try ada.workspace().id, before: try #require(ada.host?.core.session.home).device,
            member: member)
        let entries = [device, liar.device].map { key in
            let unsigned = DeviceEntry(device: key, agreementKey: box, signature: .zero)
            return DeviceEntry(
                device: key, agreementKey: box,
                signature: liar.signature(for: consent.message(for: [unsigned])))
        }
        let told = try cleo.eventTypes().filter { $0 == "member.key_changed" }
        var log = try ForgedLog(ada, incarnation: 80)
        let heads = try ForgedLog.heads(of: ada)
        for entry in entries {
            log.write(.addDevices([entry], keyID: log.field.keyID, wraps: []), knowing: heads)
        }
        let workspace = try ada.workspace().id
        for operation in log.operations {
            #expect(throws: RefusedRun.self, "A-1") {
                try ada.take([operation.run(in: workspace)])
            }
        }
        table.bench.advance(5_000)
        for node in table.all {
            let workspace = try node.workspace()
            #expect(workspace.boxKeys(of: [member]).map(\.agreementKey) == boxes)
            #expect(workspace.boxKeys(everOf: device) == ever)
            #expect(workspace.owner(of: liar.device) == nil)
        }
        #expect(try cleo.eventTypes().filter { $0 == "member.key_changed" } == told)
        try cleo.send("for Bob alone", to: "@Bob")
        #expect(try bob.log(of: "@Cleo") == ["for Bob alone"])
        // His own new device is his own word, and everybody is told.
        let phone = try table.bench.bareNode("Phone")
        try bob.link(phone)
        table.bench.advance(5_000)
        for node in [ada, cleo, table.dora] {
            #expect(try node.eventTypes().contains("member.key_changed"))
        }
        try table.expectPeace()
    }
}

extension BenchNode {
    /// What the node holds of a private channel.
    func document(_ name: String) throws -> PrivateDocument {
        let workspace = try workspace()
        let channel = try #require(workspace.channelIndex.all.first { $0.name == name })
        return try #require(workspace.sealed.documents[channel.id])
    }

    /// Everything that it stores of a document.
    fileprivate func stored(in document: DocumentID) throws -> [StoredOperation] {
        let core = try #require(host?.core)
        var all: [StoredOperation] = []
        try core.turn.store.operations.forEachOperation(in: document, of: try workspace().number) {
            all.append($0)
        }
        return all
    }

    /// The names of the keys that it stores of a document.
    fileprivate func secrets(of document: DocumentID) throws -> [[UInt8]] {
        let core = try #require(host?.core)
        let row = try #require(
            core.turn.store.operations.document(document, in: try workspace().number))
        return try core.turn.store.registry.secrets(of: row.number).map(\.id)
    }

    /// The link on which this node has the other one.
    fileprivate func link(to other: BenchNode) throws -> PeerLink {
        let device = try #require(other.host?.core.session.home).device
        return try #require(
            host?.core.links.network.links.values.first { $0.peer?.device == device })
    }

    /// A key as the answer to a question.
    fileprivate func give(
        _ key: SymmetricKey, of document: DocumentID, to other: BenchNode
    ) throws -> KeyHave {
        let home = try #require(host?.core.session.home)
        let box = try #require(other.host?.core.session.home).box.publicKey
        let payload = MailboxPayload.sealing(
            [MailboxDelivery(.key(key, of: document), to: box)], from: home.box,
            at: MailboxPlace(mailbox: document, sender: home.device, incarnation: 0, sequence: 0),
            using: SeededRandom(seed: 3))
        return KeyHave(workspace: 1, document: document, payload: payload.encoded)
    }

    /// Another's payload under the attacker's signature, in the attacker's log.
    fileprivate func forged(
        _ copied: StoredOperation, into document: DocumentID, naming key: KeyID?
    ) throws -> SignedOperation {
        let (home, workspace) = (try #require(host?.core.session.home), try workspace())
        let grant = workspace.judged.evaluator.contentGrant(
            of: home.device, leastRole: .guest, as: workspace.member)
        let draft = OperationDraft(
            kind: try #require(OperationKind(rawValue: copied.entry.kind)), document: document,
            incarnation: 77, sequence: 0, previous: nil,
            timestamp: copied.entry.timestamp, grant: try #require(grant))
        return draft.finished(payload: copied.entry.payload, keyID: key, with: home.signing)
    }

    /// Mails boxes of which the one for a member's devices has a bit changed.
    fileprivate func mailBroken(
        _ key: SymmetricKey, of document: DocumentID, to member: MemberID, _ core: NodeCore,
        _ workspace: Workspace
    ) throws {
        let home = try #require(core.session.home)
        let place = MailboxPlace(
            mailbox: workspace.mailboxDocument, sender: home.device, incarnation: 78, sequence: 0)
        let deliveries = workspace.boxKeys(of: [member]).map {
            MailboxDelivery(.key(key, of: document), to: $0.agreementKey)
        }
        let good = MailboxPayload.sealing(deliveries, from: home.box, at: place, using: random)
        let boxes = good.boxes.map {
            MailboxPayload.Box(
                tag: $0.tag, sealed: [UInt8]($0.sealed.dropLast()) + [$0.sealed[143] ^ 1])
        }
        let payload = try #require(MailboxPayload(nonce: good.nonce, boxes: boxes))
        let grant = workspace.judged.evaluator.contentGrant(
            of: home.device, leastRole: .guest, as: workspace.member)
        let draft = OperationDraft(
            kind: .mailbox, document: place.mailbox, incarnation: 78, sequence: 0, previous: nil,
            timestamp: try core.log.nextTimestamp(), grant: try #require(grant))
        try core.log.acceptOwn(
            draft.signed(payload: payload.encoded, with: home.signing), in: workspace,
            document: place.mailbox)
    }
}
