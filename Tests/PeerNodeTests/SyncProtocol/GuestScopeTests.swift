import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import SyncProtocol

/// Sessions with a guest at one end: node 0 holds everything, node 1 is the guest.
struct `A session with a guest` {
    /// Documents 1 and 2 are private, 3 is public; each holds something.
    private func world(naming named: [Int]) -> SyncWorld {
        let world = SyncWorld(count: 2)
        for document in 0...3 {
            world.write(
                at: 0, SyncWorld.document(document), payload: [UInt8(document)])
        }
        world.nodes[0].replica.isPeerGuest = true
        world.nodes[0].replica.publicDocuments = [SyncWorld.document(3)]
        world.nodes[1].replica.ownDocuments = Self.documents(named)
        return world
    }

    private static func documents(_ numbers: [Int]) -> [DocumentID] {
        numbers.map(SyncWorld.document).sorted()
    }

    private func held(_ world: SyncWorld, by node: Int) -> Set<DocumentID> {
        Set(world.nodes[node].replica.operations.values.map(\.log.document))
    }

    /// Documents of which node 0 said anything at all.
    private func told(_ world: SyncWorld) -> Set<DocumentID> {
        var documents: Set<DocumentID> = []
        for case (0, let message, _) in world.sent {
            switch message {
            case .tips(_, let tips, _): documents.formUnion(tips.map(\.log.document))
            case .documentDigests(_, let buckets):
                documents.formUnion(buckets.flatMap(\.documents).map(\.document))
            case .operations(_, _, let runs, _):
                documents.formUnion(runs.map(\.log.document))
            case .forkProbe(_, let tip): documents.insert(tip.log.document)
            default: break
            }
        }
        return documents
    }

    private func expectPeace(_ world: SyncWorld) {
        for node in world.nodes {
            for link in node.links.values { #expect(link.violation == nil) }
        }
    }

    @Test(arguments: [[], [1], [1, 2], [3], [1, 3], [9]])
    func `tells and brings what the guest names, and nothing else`(named: [Int]) {
        let world = world(naming: named)
        world.connect(0, 1)
        world.pass(120_000)
        let wanted = Set([0] + named.filter { $0 < 3 }).map(SyncWorld.document)
        #expect(held(world, by: 1) == Set(wanted))
        #expect(told(world).isSubset(of: wanted))
        for (node, other) in [(0, 1), (1, 0)] {
            #expect(world.nodes[node].caughtUp == [other], "\(node)")
            #expect(world.nodes[node].agreed.isEmpty, "in another scope it would be wrong")
            #expect(world.nodes[node].scopedAgreements > 0)
            #expect(world.nodes[node].confirmations == 1)
        }
        expectPeace(world)
        // With nothing new there is nothing to say.
        let count = world.sent.count
        world.pass(3_600_000)
        #expect(world.sent.count == count)
    }

    @Test func `follows the guest into another document on the same link`() {
        let world = world(naming: [1])
        world.connect(0, 1)
        world.pass(60_000)
        world.nodes[1].replica.ownDocuments = Self.documents([1, 2])
        // The document's key came in the mailbox; here any input will do.
        world.write(at: 0, SyncWorld.document(1), payload: [77])
        world.pass(1_000)
        #expect(held(world, by: 1) == Set([0, 1, 2].map(SyncWorld.document)))
        expectPeace(world)
    }

    @Test func `takes what a guest writes into a document that it has just made`() {
        let world = world(naming: [])
        world.connect(0, 1)
        world.pass(60_000)
        world.nodes[1].replica.ownDocuments = Self.documents([7])
        world.write(at: 1, SyncWorld.document(7), payload: [1])
        world.pass(1_000)
        #expect(held(world, by: 0).contains(SyncWorld.document(7)))
        expectPeace(world)
    }

    @Test func `pushes in the scope alone`() {
        let world = world(naming: [1])
        world.connect(0, 1)
        world.pass(60_000)
        world.forgetTraffic()
        for document in 1...3 {
            world.write(at: 0, SyncWorld.document(document), payload: [50, UInt8(document)])
        }
        world.pass(200_000)
        #expect(told(world) == [SyncWorld.document(1)])
        let log = LogName(
            document: SyncWorld.document(1), device: world.nodes[0].device, incarnation: 1)
        #expect(world.nodes[1].replica.branchTips(of: log).first?.sequence == 1)
        expectPeace(world)
    }

    @Test func `opens everything to a new member, and nothing more to a former one`() {
        let world = world(naming: [1])
        world.connect(0, 1)
        world.pass(60_000)
        world.nodes[1].replica.ownDocuments = nil
        world.nodes[0].replica.isPeerGuest = false
        // The grant, by which both learn of it.
        world.write(at: 0, SyncWorld.document(0), payload: [60])
        world.pass(120_000)
        #expect(held(world, by: 1) == Set((0...3).map(SyncWorld.document)))
        #expect(!world.nodes[0].agreed.isEmpty)

        // Node 1 has not heard of it yet; nothing that comes is for it.
        world.nodes[0].replica.isPeerGuest = true
        world.forgetTraffic()
        for document in 1...3 {
            world.write(at: 0, SyncWorld.document(document), payload: [61, UInt8(document)])
        }
        world.pass(120_000)
        #expect(told(world).isSubset(of: [SyncWorld.document(0)]))
        world.nodes[1].replica.ownDocuments = Self.documents([2])
        world.write(at: 0, SyncWorld.document(0), payload: [62])
        world.pass(120_000)
        #expect(told(world) == Set([0, 2].map(SyncWorld.document)))
        expectPeace(world)
    }

    /// An empty document is in no digest: the root of the old list equals the one of the new.
    @Test func `is not over before the other side has seen the last list`() {
        var lone = LoneSession()
        var planner = PullPlanner()
        lone.replica.ownDocuments = []
        _ = lone.give(.opened(.full, agreed: nil), &planner)
        lone.replica.ownDocuments = Self.documents([1])
        func answer(seen: UInt64?) -> [SyncSession.Effect] {
            let opening = WorkspaceOpening(
                workspace: 4, tag: LoneSession.tag, root: lone.replica.root, agreedRoot: nil,
                mine: .zero, seen: seen)
            return lone.give(.received(.workspaceOpen(opening)), &planner)
        }
        let isOver = { (effects: [SyncSession.Effect]) in
            effects.contains { if case .caughtUp = $0 { true } else { false } }
        }
        #expect(!isOver(answer(seen: nil)))
        #expect(!isOver(answer(seen: 1)))
        #expect(isOver(answer(seen: UInt64(lone.session.naming.namedSince))))
    }

    @Test func `of two guests speaks of what both have named`() {
        let world = SyncWorld(count: 2)
        for document in 0...3 {
            world.write(at: 0, SyncWorld.document(document), payload: [UInt8(document)])
        }
        for node in world.nodes { node.replica.isPeerGuest = true }
        world.nodes[0].replica.ownDocuments = Self.documents([1, 2])
        world.nodes[1].replica.ownDocuments = Self.documents([2, 3])
        world.connect(0, 1)
        world.pass(120_000)
        #expect(held(world, by: 1) == Set([0, 2].map(SyncWorld.document)))
        #expect(world.nodes[0].caughtUp == [1] && world.nodes[1].caughtUp == [0])
        expectPeace(world)
    }

    @Test func `names document after document without asking too much of the peer`() {
        let world = world(naming: [])
        world.connect(0, 1)
        world.pass(60_000)
        for number in 10..<40 {
            world.write(at: 0, SyncWorld.document(number), payload: [1])
            world.nodes[1].replica.ownDocuments = Self.documents(Array(10...number))
            world.write(at: 1, SyncWorld.document(0), payload: [UInt8(number)])
            world.pass(500)
        }
        world.pass(400_000)
        #expect(held(world, by: 1).count == 31)
        expectPeace(world)
    }
}

/// One session of a full member with a guest that violates the scope.
struct `A guest who does not keep to the scope` {
    private static func opening(_ documents: [Int]?) -> SyncMessage {
        .workspaceOpen(
            WorkspaceOpening(
                workspace: 4, tag: LoneSession.tag,
                root: SetDigest([UInt8](repeating: 0x99, count: 32)), agreedRoot: nil,
                mine: .zero, documents: documents?.map(SyncWorld.document).sorted()))
    }

    private func opened(_ documents: [Int]?) -> (LoneSession, PullPlanner) {
        var lone = LoneSession()
        var planner = PullPlanner()
        for document in 0...3 {
            lone.replica.write(
                LogName(
                    document: SyncWorld.document(document), device: LoneSession.own,
                    incarnation: 1), behind: nil, payload: [UInt8(document)])
        }
        lone.replica.isPeerGuest = true
        lone.replica.publicDocuments = [SyncWorld.document(3)]
        _ = lone.give(.opened(.full, agreed: nil), &planner)
        _ = lone.give(.received(Self.opening(documents)), &planner)
        return (lone, planner)
    }

    @Test(arguments: [nil, [], [1], [1, 3]] as [[Int]?])
    func `is served nothing that it did not name, or may not`(documents: [Int]?) throws {
        var (lone, planner) = opened(documents)
        for document in 0...3 {
            let tip = try #require(lone.replica.tips(of: SyncWorld.document(document)).first)
            let pull = PullRequest(
                request: 9, items: [PullItem(target: tip, have: [])], maxBytes: 10_000)
            let answers = lone.give(.received(.pull(4, pull)), &planner).messages
            let isServed = document == 0 || (document == 1 && documents?.contains(1) == true)
            let runs = answers.flatMap { message -> [OperationRun] in
                if case .operations(_, _, let runs, _) = message { runs } else { [] }
            }
            #expect(runs.isEmpty == !isServed, "\(document)")
        }
    }

    @Test func `gets no answer about anything outside of it`() throws {
        var (lone, planner) = opened([1])
        let zeros = [UInt8](repeating: 0, count: 4_096)
        let effects = lone.give(.received(.workspaceDigest(4, buckets: zeros)), &planner)
        let all = (0...255).map { BucketDigests(bucket: UInt8($0), documents: []) }
        let more = lone.give(.received(.documentDigests(4, all)), &planner)
        var named: Set<DocumentID> = []
        for message in effects.messages + more.messages {
            switch message {
            case .documentDigests(_, let buckets):
                named.formUnion(buckets.flatMap(\.documents).map(\.document))
            case .tips(_, let tips, _): named.formUnion(tips.map(\.log.document))
            default: break
            }
        }
        #expect(named == Set([0, 1].map(SyncWorld.document)))
    }

    @Test func `is neither asked nor believed nor heard about it`() throws {
        var (lone, planner) = opened([1])
        let outside = LoneSession.tip(5, document: 2)
        let inside = LoneSession.tip(6, document: 1)
        let effects = lone.give(
            .received(.tips(4, [outside, inside], final: false)), &planner)
        #expect(effects.pulls.flatMap(\.items).map(\.target) == [inside])
        #expect(
            effects.contains { if case .peerHolds([inside]) = $0 { true } else { false } })
        let log = LogName(
            document: SyncWorld.document(2), device: LoneSession.peer, incarnation: 1)
        let pushed = lone.give(
            .received(
                .operations(4, request: 0, [LoneSession.run(log)], isComplete: true)), &planner)
        #expect(!pushed.contains { if case .ingest = $0 { true } else { false } })
        #expect(pushed.violation == nil)
    }

    @Test func `is told no root before it has said what it asks for`() throws {
        var lone = LoneSession()
        var planner = PullPlanner()
        lone.replica.isPeerGuest = true
        lone.replica.write(
            LogName(document: SyncWorld.document(2), device: LoneSession.own, incarnation: 1),
            behind: nil, payload: [1])
        let first = lone.give(.opened(.full, agreed: nil), &planner).messages
        for case .workspaceOpen(let opening) in first {
            #expect(opening.root == .zero && opening.mine == .zero)
        }
        #expect(first.count == 1)
        let second = lone.give(.received(Self.opening([2])), &planner).messages
        let roots = second.compactMap { message -> SetDigest? in
            if case .workspaceOpen(let opening) = message { opening.root } else { nil }
        }
        let scope = SyncScope([SyncWorld.document(2)])
        #expect(roots == [lone.replica.confined(to: scope).root])
    }

    @Test func `may not open again and again`() {
        var (lone, planner) = opened([1])
        var violation: SyncViolation?
        for number in 0..<20 where violation == nil {
            violation = lone.give(.received(Self.opening([number])), &planner).violation
        }
        #expect(violation == .tooMany)
    }
}

struct `The documents in an opening` {
    private static func message(_ documents: [DocumentID]) -> SyncMessage {
        .workspaceOpen(
            WorkspaceOpening(
                workspace: 1, tag: LoneSession.tag, root: .zero, agreedRoot: .zero, mine: .zero,
                documents: documents))
    }

    private static func id(_ number: Int) -> DocumentID {
        DocumentID(
            [UInt8(number >> 8), UInt8(number & 255)] + [UInt8](repeating: 1, count: 30))
    }

    @Test(arguments: [0, 1, 2, Limits.scopeDocumentsMax])
    func `come back`(count: Int) throws {
        let message = Self.message((0..<count).map(Self.id))
        let bytes = message.encoded()
        #expect(try SyncMessage.decoded(bytes) == message)
        #expect(bytes.count < Limits.messageBytesMax)
    }

    @Test(arguments: [
        [1, 1], [2, 1], [1, 2, 2], Array(0...Limits.scopeDocumentsMax),
    ])
    func `are refused twice, in another order, and in too great a number`(_ numbers: [Int]) {
        let bytes = Self.message(numbers.map(Self.id)).encoded()
        #expect(throws: SyncViolation.self) { try SyncMessage.decoded(bytes) }
    }

    // The keys in every combination: 4 and 6 may be there, the others have to.
    @Test(arguments: [1, 2, 3, 5])
    func `do not stand for a key that is missing`(missing: UInt64) {
        let values: [UInt64: String] = [
            1: "01", 2: "50 09*16", 3: "5820 00*32", 4: "5820 00*32", 5: "5820 00*32", 6: "80",
        ]
        let keys = (1...6).filter { $0 != missing }
        let text = keys.map { "0\($0) \(values[$0] ?? "")" }.joined(separator: " ")
        let bytes = SyncMessageSamples.bytes("01 a5 \(text)")
        #expect(throws: SyncViolation.self) { try SyncMessage.decoded(bytes) }
    }
}
