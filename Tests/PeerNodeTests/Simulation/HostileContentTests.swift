import CRDTStore
import SyncProtocol
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `A member whose operations are well made and mean harm` {
    // MARK: Time

    private static func times(_ scene: HostileScene) -> [UInt64] {
        let tenYears: UInt64 = 10 * 365 * 24 * 3_600 * 1_000
        return [
            0, 1, scene.wall - tenYears, scene.wall + tenYears, HybridTimestamp.millisecondsMax,
        ]
    }

    @Test func `moves neither the order of others nor their clocks (O09)`() throws {
        let scene = try HostileScene(seed: 71)
        defer { scene.world.end() }
        let link = scene.peer().connect(to: scene.ada)
        var shown: [String] = []
        for (number, time) in Self.times(scene).enumerated() {
            var log = HostileLog(scene.mallory, incarnation: UInt32(number))
            shown.append("t\(number)")
            log.write(shown[number], at: time)
            link.push(log.run())
        }
        // The very last moment of all; nothing can come behind it in this log.
        var last = HostileLog(scene.mallory, incarnation: 100)
        last.write("last", at: 0) { $0.timestamp = HybridTimestamp(rawValue: .max) }
        shown.append("last")
        link.push(last.run())
        scene.world.run(for: 1_000)
        #expect(link.isOpen)
        try scene.expectHonestPeace(showing: shown)
        for node in scene.honest {
            let core = try #require(node.host?.core)
            #expect(core.log.clock.lead(overWallMilliseconds: core.turn.time.wall) < 1_000)
            #expect(!HostileScene.hasLogged(node, "clock.stepped_back"))
        }
        // A claim on the future is good for five minutes and no more.
        scene.world.run(for: Limits.clockLeadMillisecondsMax)
        _ = scene.bob.ask("message.send", ["channel": "general", "text": "much later"])
        scene.world.run(for: 2_000)
        for node in scene.honest {
            #expect(Scenes.texts(of: "general", on: node).last == "much later")
        }
        last.write("after the end", at: 0) { $0.timestamp = HybridTimestamp(rawValue: .max) }
        link.push(last.run(from: 1))
        scene.world.run(for: 1_000)
        #expect(!link.isOpen)
        #expect(HostileScene.hasLogged(scene.ada, "op.rejected", "op.malformed"))
        #expect(HostileScene.root(of: scene.ada) == HostileScene.root(of: scene.bob))
    }

    // More logs from the future than one operation can cite: what honest people write goes on.
    @Test func `does not keep others from writing (O09)`() throws {
        let scene = try HostileScene(seed: 72)
        defer { scene.world.end() }
        let link = scene.peer().connect(to: scene.ada)
        var shown: [String] = []
        for number in 0..<40 {
            var log = HostileLog(scene.mallory, incarnation: UInt32(number))
            shown.append("f\(number)")
            log.write(shown[number], at: HybridTimestamp.millisecondsMax - UInt64(number))
            link.push(log.run())
        }
        scene.world.run(for: 2_000)
        for number in 0..<3 {
            for node in scene.honest {
                let text = "\(node.index)-\(number)"
                _ = node.ask("message.send", ["channel": "general", "text": .string(text)])
            }
        }
        scene.world.run(for: 5_000)
        let first = Scenes.texts(of: "general", on: scene.ada)
        #expect(first.count == 48)
        for node in scene.honest {
            let texts = Scenes.texts(of: "general", on: node)
            let own = texts.filter { $0.hasPrefix("\(node.index)-") }
            #expect(own == (0..<3).map { "\(node.index)-\($0)" })
        }
        #expect(HostileScene.root(of: scene.ada) == HostileScene.root(of: scene.bob))
        #expect(scene.world.failures == [])
    }

    // MARK: Repetition

    @Test func `is heard once however often eight peers say it (O10)`() throws {
        let scene = try HostileScene(seed: 73, hostileCount: 8)
        defer { scene.world.end() }
        var log = HostileLog(scene.mallory, incarnation: 77)
        log.write("once", at: scene.wall)
        let relays = (1..<8).map { scene.peer($0) }
        let links = relays.map { $0.connect(to: scene.ada) }
        let author = scene.peer().connect(to: scene.ada)
        for peer in relays { peer.offer([log]) }
        for round in 0..<125 {
            for link in links { link.announce([log.tip]) }
            author.push(log.run())
            if round % 25 == 0 { scene.world.run(for: 50) }
        }
        scene.world.run(for: 2_000)
        #expect((links + [author]).allSatisfy { $0.isOpen })
        #expect(links.reduce(0) { $0 + $1.pulls.count } <= 7, "one question a peer at most")
        let page = scene.ada.ask(
            "events.wait",
            ["since": "all", "types": JSONValue(texts: ["message.created"]), "limit": 1_000])
        let told = page?["items"]?.arrayValue ?? []
        #expect(told.filter { "\($0)".contains("once") }.count == 1)
        #expect(told.count == 3)
        try scene.expectHonestPeace(showing: ["once"])
    }

    // MARK: What belongs to others

    @Test func `changes nothing of others' messages and channels (O12)`() throws {
        let scene = try HostileScene(seed: 74)
        defer { scene.world.end() }
        let workspace = DocumentID(sameBytesAs: scene.mallory.workspace)
        let (ada, bob) = (
            try HostileScene.workspace(of: scene.ada), try HostileScene.workspace(of: scene.bob)
        )
        let chain = try #require(ada.authorityOrder.min())
        var settings = AuthorityPayload.DocumentSettings(document: scene.mallory.channel)
        settings.archived = true
        var policy = AuthorityPayload.WorkspaceSettings()
        policy.whoMayInvite = 2
        let payloads: [AuthorityPayload] = [
            .deleteDocument(scene.mallory.channel, chainLink: chain), .setDocument(settings),
            .setWorkspace(policy), .deleteWorkspace,
            .remove(
                .init(
                    member: bob.member, cuts: [], rekey: nil, revokedInvites: [], cutPartCount: 0,
                    cutPartHash: [])),
            .grant(
                .init(
                    member: bob.member, devices: [scene.mallory.device], role: .owner,
                    replaces: false,
                    drops: nil, cuts: [])),
        ]
        let before = scene.ada.ask("member.list")
        for (number, payload) in payloads.enumerated() {
            let draft = OperationDraft(
                kind: .authority, document: workspace, incarnation: 100 + UInt32(number),
                sequence: 0, previous: nil,
                timestamp: HybridTimestamp(milliseconds: scene.wall, counter: 0),
                grant: scene.mallory.grant)
            let signed = draft.signed(payload: payload.encoded, with: scene.mallory.signing)
            // What no plain member may write is refused, and ends the link that brought it (S-1).
            let link = scene.peer().connect(to: scene.ada)
            link.push(signed.run(in: workspace))
            scene.world.run(for: 2_000)
            #expect(!link.isOpen || Self.isHarmless(payload), "\(scene.ada.log.suffix(4))")
        }
        #expect(scene.ada.ask("member.list") == before)
        try scene.expectHonestPeace()
    }

    /// Whether a plain member may write it: whether it counts is decided for each channel.
    private static func isHarmless(_ payload: AuthorityPayload) -> Bool {
        switch payload {
        case .deleteDocument, .setDocument: true
        default: false
        }
    }

    // MARK: Texts

    private static func message(_ text: [UInt8]) -> [UInt8] {
        [0x82, 0x01, 0xa1, 0x01, 0x60 + UInt8(text.count)] + text
    }

    private static let texts: [[UInt8]] = [
        [0x41, 0x00, 0x42], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xff],
        [0xe2, 0x82], [0x80], [0xf8, 0x88, 0x80, 0x80, 0x80],
    ]

    @Test func `shows no text that is none (O14)`() throws {
        let scene = try HostileScene(seed: 75)
        defer { scene.world.end() }
        var log = HostileLog(scene.mallory, incarnation: 77)
        let long = [UInt8](repeating: 0x61, count: Limits.messageTextBytesMax + 1)
        let length = [UInt8(long.count >> 8), UInt8(long.count & 255)]
        var plaintexts = Self.texts.map(Self.message)
        plaintexts.append([0x82, 0x01, 0xa1, 0x01, 0x79] + length + long)
        plaintexts.append(Self.message([0x61]) + [0x00])
        plaintexts.append([])
        plaintexts.append([0x9f, 0x01, 0xff])
        for (number, plaintext) in plaintexts.enumerated() {
            log.write(plaintext: plaintext, at: scene.wall + UInt64(number))
        }
        log.write(plaintext: Self.message([0x6f, 0x6b]), at: scene.wall + 99)
        let link = scene.peer().connect(to: scene.ada)
        link.push(log.run())
        scene.world.run(for: 1_000)
        #expect(link.isOpen)
        try scene.expectHonestPeace(showing: ["ok"])
        let core = try #require(scene.bob.host?.core)
        let branch = core.turn.store.operations.branches(
            of: log.name, in: core.workspaces.keys.first ?? 0
        )
        .first
        #expect(branch?.tipSequence == log.tip.sequence, "chained and relayed all the same")
    }
}
