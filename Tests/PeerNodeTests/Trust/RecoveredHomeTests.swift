import CRDTStore
import SyncProtocol
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Nora, who founded the workspace, with a laptop and a phone; Mina, with whom she shares a private
/// channel; and Sam, who is in the workspace and not in that channel.
private struct Scene {
    let bench = CoreBench()
    let laptop: BenchNode
    let phone: BenchNode
    let mina: BenchNode
    let sam: BenchNode
    let phrase: JSONValue
    /// Leads to the phone only.
    let link: JSONValue

    /// - Parameter open: whether later members of the channel read all of it.
    init() throws {
        laptop = try bench.node("Nora")
        mina = try bench.guest("Mina", of: laptop)
        sam = try bench.guest("Sam", of: laptop)
        phone = try bench.bareNode("Phone")
        try laptop.link(phone)
        phrase = try laptop.ok("identity.show", ["phrase": true])["phrase"] ?? .null
        let made = try laptop.link(["uses": 9])
        link = .string(try #require(InviteLink(made, leadingTo: phone.address)).text.link)
        bench.advance(5_000)
        try laptop.ok("channel.create", ["name": "nest", "private": true, "history": "all"])
        try laptop.ok("channel.add", ["channel": "nest", "members": ["Mina"]])
        try laptop.send("before the theft", to: "nest")
        bench.advance(60_000)
    }

    /// The phone is stolen and revoked, and does not hear of that; nor does Sam.
    ///
    /// - Parameter isAnswered: whether Mina writes something under a key that the phone does not
    ///   get. An accomplice of the thief delivers that to the phone, without the revocation.
    func steal(isAnswered: Bool = true) throws {
        for far in [phone, sam] {
            for near in [laptop, mina] { bench.cut(far, near) }
        }
        try laptop.ok("device.revoke", ["device": .string(try phone.deviceID())])
        bench.advance(2_000)
        if isAnswered { try mina.send("SECRET", to: "nest") }
        bench.advance(2_000)
        laptop.kill()
        let runs = try mina.ciphertext()
        for node in [phone, sam] {
            // They already have some of it.
            try node.inTurn { core, workspace in
                for run in runs {
                    _ = try core.acceptAtOnce(
                        run, in: workspace,
                        from: .peer(run.log.device, source: 1, isBackfill: false))
                }
            }
        }
        bench.advance(2_000)
    }

    /// A home that reaches the phone, and optionally others.
    func comeBack(reaching others: [BenchNode] = []) throws -> BenchNode {
        let home = try bench.bareNode("Fresh")
        for node in [mina, sam, laptop] where !others.contains(where: { $0 === node }) {
            bench.cut(home, node)
        }
        try home.ok(
            "identity.recover", ["phrase": phrase, "link": link, "name": "Nora"])
        bench.advance(90_000)
        return home
    }
}

extension BenchNode {
    /// All that it stores of private documents and of the mailbox, sealed for their readers.
    fileprivate func ciphertext() throws -> [OperationRun] {
        let store = try #require(host?.core).turn.store.operations
        let workspace = try workspace()
        let documents = store.documents(ofWorkspace: workspace.number).filter { id in
            let kind = store.document(id, in: workspace.number)?.kind
            return kind == .privateDocument || kind == .mailbox
        }
        let mailboxFirst = documents.sorted { left, _ in left == workspace.mailboxDocument }
        return try mailboxFirst.flatMap { store.branches(in: $0, of: workspace.number) }
            .flatMap {
                try store.runs(
                    of: $0.number, from: 0, through: $0.tipSequence, byteCountMax: 1 << 20
                ).runs
            }
    }

    /// Whether it warns that other devices of its person wait.
    fileprivate func warns() throws -> Bool { try warning() != nil }

    fileprivate func warning() throws -> String? {
        let warnings = try ok("node.status")["warnings"]?.arrayValue ?? []
        return warnings.first { $0["kind"] == "keys.withheld" }?["message"]?.stringValue
    }
}

struct `A home that came back by the phrase` {
    @Test func `gives a revoked device that answers it no later key`() throws {
        let scene = try Scene()
        try scene.steal()
        #expect(try scene.phone.log(of: "nest") == ["before the theft"])
        let home = try scene.comeBack()
        // The phrase opens what was mailed to it since.
        #expect(try home.log(of: "nest") == ["before the theft", "SECRET"])
        try home.send("I am back", to: "nest")
        scene.bench.advance(90_000)
        #expect(try scene.phone.log(of: "nest") == ["before the theft"])
        #expect(try home.warns())
        #expect(try home.ok("node.doctor").items.contains { $0["id"] == "keys" })
        // Mina delivers what the phone had left out.
        scene.bench.heal(home, scene.mina)
        scene.bench.advance(60_000)
        #expect(try !home.warns())
        #expect(try scene.mina.log(of: "nest") == ["before the theft", "SECRET", "I am back"])
        try home.send("and here", to: "nest")
        scene.bench.advance(60_000)
        #expect(try scene.phone.log(of: "nest") == ["before the theft"])
    }

    /// Nobody has made a key since the phone was revoked.
    @Test func `writes nothing under a key that your other devices have`() throws {
        let scene = try Scene()
        try scene.steal(isAnswered: false)
        let home = try scene.comeBack()
        try home.send("I am back", to: "nest")
        let mine = try home.ok("channel.create", ["name": "diary", "private": true])
        #expect(mine["private"] == true)
        try home.send("for me", to: "diary")
        scene.bench.advance(90_000)
        #expect(try scene.phone.log(of: "nest") == ["before the theft"])
        #expect(try scene.phone.refused("channel.get", ["channel": "diary"]).kind == .notFound)
    }

    /// Sam has not heard of the revocation, and compares equal.
    @Test func `does not believe a non-member that its keys answer nothing else`() throws {
        let scene = try Scene()
        try scene.steal()
        let home = try scene.comeBack(reaching: [scene.sam])
        #expect(try home.log(of: "nest") == ["before the theft", "SECRET"])
        #expect(try !home.warns(), "Sam has confirmed what there is")
        try home.send("I am back", to: "nest")
        scene.bench.advance(90_000)
        #expect(try scene.phone.log(of: "nest") == ["before the theft"])
        try home.inTurn { core, workspace in
            _ = try core.privates.authoring.changeKey(of: try home.document("nest"), in: workspace)
        }
        try home.send("again", to: "nest")
        scene.bench.advance(90_000)
        #expect(try scene.phone.log(of: "nest") == ["before the theft"])
    }

    /// With the phone the thief admits an accomplice to the channel.
    @Test func `gives no key to people admitted by a revoked device`() throws {
        let scene = try Scene()
        try scene.steal()
        try scene.phone.ok("channel.add", ["channel": "nest", "members": ["Sam"]])
        scene.bench.advance(60_000)
        #expect(try scene.sam.log(of: "nest") == ["before the theft"])
        let home = try scene.comeBack(reaching: [scene.sam])
        #expect(try home.log(of: "nest") == ["before the theft", "SECRET"])
        scene.bench.advance(90_000)
        #expect(try scene.sam.log(of: "nest") == ["before the theft"])
        #expect(try scene.phone.log(of: "nest") == ["before the theft"])
    }

    @Test func `gives an honest device everything once another member has confirmed it`() throws {
        let scene = try Scene()
        for far in [scene.mina, scene.sam] { scene.bench.cut(scene.phone, far) }
        scene.laptop.kill()
        let home = try scene.comeBack()
        try home.send("I am back", to: "nest")
        scene.bench.advance(90_000)
        #expect(try home.warns())
        #expect(try scene.phone.log(of: "nest") == ["before the theft"])
        scene.bench.heal(home, scene.mina)
        scene.bench.advance(60_000)
        // Only this home could give it.
        #expect(try scene.phone.log(of: "nest") == ["before the theft", "I am back"])
        #expect(try !home.warns())
        try home.send("and so on", to: "nest")
        scene.bench.advance(2_000)
        #expect(
            try scene.phone.log(of: "nest") == ["before the theft", "I am back", "and so on"])
    }

    /// The member with whom it compares, and for how long, is reported during that, and nothing
    /// after it.
    @Test func `says what other own devices wait for`() throws {
        let scene = try Scene()
        for far in [scene.mina, scene.sam] { scene.bench.cut(scene.phone, far) }
        scene.laptop.kill()
        let home = try scene.bench.bareNode("Fresh")
        for far in [scene.mina, scene.sam] { scene.bench.cut(home, far) }
        try home.ok(
            "identity.recover", ["phrase": scene.phrase, "link": scene.link, "name": "Nora"])
        scene.bench.advance(5_000)
        let alone = try #require(try home.warning())
        #expect(alone.hasSuffix("until this one has reached another member"), "\(alone)")
        // Each has something that the other lacks, so that they are not equal at once.
        try home.send("I am back", to: "nest")
        try scene.mina.send("meanwhile", to: "nest")
        scene.bench.heal(home, scene.mina)
        var told: Set<String> = []
        for _ in 0..<1_800 {
            scene.bench.advance(100)
            if let text = try home.warning() { told.insert(text) }
        }
        #expect(
            told.contains { $0.contains("compared everything with 'Mina', who is connected") },
            "\(told)")
        #expect(try !home.warns())
    }

    @Test func `warns of nothing where nothing private is written`() throws {
        let bench = CoreBench()
        let laptop = try bench.node("Nora")
        let mina = try bench.guest("Mina", of: laptop)
        let phone = try bench.bareNode("Phone")
        try laptop.link(phone)
        let phrase = try laptop.ok("identity.show", ["phrase": true])["phrase"] ?? .null
        let made = try laptop.link(["uses": 9])
        let link = try #require(InviteLink(made, leadingTo: phone.address)).text.link
        bench.advance(60_000)
        laptop.kill()
        let home = try bench.bareNode("Fresh")
        bench.cut(home, mina)
        try home.ok(
            "identity.recover", ["phrase": phrase, "link": .string(link), "name": "Nora"])
        bench.advance(60_000)
        #expect(try !home.warns())
        try home.ok("message.send", ["channel": "@Mina", "text": "psst"])
        #expect(try home.warns())
    }

    /// What a guest knows is compared within the scope of both.
    @Test func `gives a guest's other device everything, too`() throws {
        let table = try GuestTable()
        let phone = try table.bench.bareNode("Phone")
        try table.gita.link(phone)
        let phrase = try table.gita.ok("identity.show", ["phrase": true])["phrase"] ?? .null
        let link = try table.ada.link()
        table.bench.advance(60_000)
        table.gita.kill()
        let home = try table.bench.bareNode("Fresh")
        try home.ok(
            "identity.recover", ["phrase": phrase, "link": .string(link), "name": "Gita"])
        table.bench.advance(60_000)
        #expect(try !home.warns())
        try home.send("I am back", to: "board")
        table.bench.advance(5_000)
        for node in [home, phone, table.bob] {
            #expect(try node.log(of: "board") == ["first", "I am back"], "\(node.name)")
        }
    }

    @Test func `gives a device that it linked itself everything at once`() throws {
        let scene = try Scene()
        try scene.steal()
        let home = try scene.comeBack()
        let tablet = try scene.bench.bareNode("Tablet")
        for other in [scene.mina, scene.sam] { scene.bench.cut(tablet, other) }
        try home.link(tablet)
        scene.bench.advance(5_000)
        try home.send("I am back", to: "nest")
        scene.bench.advance(60_000)
        #expect(try tablet.log(of: "nest") == ["before the theft", "SECRET", "I am back"])
        #expect(try scene.phone.log(of: "nest") == ["before the theft"])
    }

    @Test func `keeps nobody waiting where nobody else is in the workspace`() throws {
        let bench = CoreBench()
        let laptop = try bench.node("Nora")
        let phone = try bench.bareNode("Phone")
        try laptop.link(phone)
        let phrase = try laptop.ok("identity.show", ["phrase": true])["phrase"] ?? .null
        let link = try laptop.link()
        try laptop.ok("channel.create", ["name": "diary", "private": true, "history": "all"])
        try laptop.send("one", to: "diary")
        bench.advance(60_000)
        laptop.kill()
        let home = try bench.bareNode("Fresh")
        let only = try #require(InviteLink(link, leadingTo: phone.address)).text.link
        try home.ok(
            "identity.recover", ["phrase": phrase, "link": .string(only), "name": "Nora"])
        bench.advance(60_000)
        try home.send("two", to: "diary")
        bench.advance(60_000)
        for node in [home, phone] { #expect(try node.log(of: "diary") == ["one", "two"]) }
        #expect(try !home.warns())
    }
}

struct `A key that answers what is not here` {
    /// An unknown answer, which any member of the channel can name.
    private func lie(by node: BenchNode) throws {
        try node.inTurn { core, workspace in
            let document = try node.document("nest")
            let (key, epoch) = core.privates.authoring.newEpoch(of: document, in: workspace)
            let made = PrivateEpoch(
                keyID: epoch.keyID, older: epoch.older,
                answers: [OperationID(words: (1, 2, 3, 4))])
            _ = try #require(
                try core.privates.authoring.author(
                    .rekey(made), in: document, of: workspace, introducing: key))
            try core.keys.mail(key, of: document.id, to: document.people, in: workspace)
        }
    }

    @Test func `keeps nobody waiting once somebody who was given it has the same`() throws {
        let scene = try Scene()
        try scene.laptop.ok("channel.add", ["channel": "nest", "members": ["Sam"]])
        scene.bench.advance(5_000)
        try lie(by: scene.sam)
        scene.bench.advance(5_000)
        for other in [scene.mina, scene.sam] { scene.bench.cut(scene.phone, other) }
        try scene.laptop.send("one", to: "nest")
        scene.bench.advance(120_000)
        let (ada, tablet) = (
            try scene.bench.guest("Ada", of: scene.laptop), try scene.bench.bareNode("Tablet")
        )
        // Only the laptop could give it to the phone.
        scene.bench.cut(scene.phone, ada)
        for other in [scene.mina, scene.sam, ada] { scene.bench.cut(tablet, other) }
        try scene.phone.link(tablet)
        scene.bench.advance(5_000)
        try scene.laptop.ok("channel.add", ["channel": "nest", "members": ["Ada"]])
        try scene.laptop.inTurn { core, workspace in
            _ = try core.privates.authoring.changeKey(
                of: try scene.laptop.document("nest"), in: workspace)
        }
        try scene.laptop.send("two", to: "nest")
        scene.bench.advance(120_000)
        for node in [scene.mina, scene.sam, scene.phone, ada, tablet] {
            #expect(try node.log(of: "nest") == ["before the theft", "one", "two"], "\(node.name)")
        }
    }

    /// Mina, who names it, compares equal with nobody: the others cannot know whether she knew
    /// more.
    @Test func `keeps nobody waiting but other own devices until then`() throws {
        let scene = try Scene()
        let (laptop, phone) = (scene.laptop, scene.phone)
        try lie(by: scene.mina)
        scene.bench.advance(60_000)
        let (document, workspace) = (try phone.document("nest"), try phone.workspace())
        let core = try #require(phone.host?.core)
        let (own, minas) = (
            try #require(laptop.host?.core.session.ownDevice),
            try #require(scene.mina.host?.core.session.ownDevice)
        )
        #expect(!core.keys.keepsWaiting(own, forKeysOf: document, in: workspace))
        let agreed = try #require(
            try core.turn.store.peers.agreed(with: minas, workspace: workspace.number))
        // As it was before.
        try phone.inTurn { core, workspace in
            try core.turn.write()
            try core.turn.store.peers.setAgreed(
                .init(root: agreed.root, arrival: 0), with: minas, workspace: workspace.number)
        }
        #expect(core.keys.keepsWaiting(own, forKeysOf: document, in: workspace))
        let (mina, sam) = (try scene.mina.workspace().member, try scene.sam.workspace().member)
        #expect(!core.keys.withholds(keysOf: document, from: mina, on: minas, in: workspace))
        #expect(core.keys.withholds(keysOf: document, from: sam, on: minas, in: workspace))
    }
}
