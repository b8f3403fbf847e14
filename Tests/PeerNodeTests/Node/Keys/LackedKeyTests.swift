import CRDTStore
import SyncProtocol
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Keys that one part of a workspace lacks because people changed them concurrently: in the end
/// everybody reads what was sealed under them.
struct `A key that is lacked` {
    private let world: RemovalBench
    private var bench: CoreBench { world.bench }
    private let mina: BenchNode
    private let ada: BenchNode
    private let wim: BenchNode
    private let joon: BenchNode

    init() throws {
        world = try RemovalBench()
        (mina, ada, wim, joon) = (world.mina, world.ada, world.wim, world.joon)
        bench.advance(10_000)
    }

    private func part(_ left: [BenchNode], _ right: [BenchNode]) {
        for one in left { for other in right { bench.cut(one, other) } }
    }

    private func meet(_ left: [BenchNode], _ right: [BenchNode]) {
        for one in left { for other in right { bench.heal(one, other) } }
        bench.advance(120_000)
    }

    @Test func `is given to newcomers who have the other of two that answer one end`() throws {
        part([mina, wim], [ada, joon])
        part([joon], [mina, wim, ada])
        try joon.ok("workspace.leave")
        // Told to each side by itself: each has an admin, who changes the key.
        bench.heal(joon, mina)
        bench.advance(60_000)
        part([joon], [mina])
        bench.heal(joon, ada)
        bench.advance(60_000)
        part([joon], [ada])
        #expect(try mina.workspace().sealingKey?.id != ada.workspace().sealingKey?.id)
        try mina.send("of Mina, alone")
        try ada.send("of Ada, alone")
        meet([mina, wim], [ada])
        let late = try bench.guest("Late", of: mina)
        bench.advance(120_000)
        #expect(try late.log().sorted() == ["of Ada, alone", "of Mina, alone"])
        #expect(try late.workspace().secrets.lacked.isEmpty)
    }

    @Test(arguments: [false, true])
    func `is given by who wrote under it, where its maker was out already`(
        restarts: Bool
    ) throws {
        part([mina, joon], [ada, wim])
        try mina.ok("member.remove", ["member": "Ada"])
        bench.advance(10_000)
        try ada.ok("workspace.rekey")
        bench.advance(10_000)
        try wim.send("under a key of Ada's")
        if restarts { try wim.restart() }
        meet([mina, joon], [wim])
        for node in [mina, joon, wim] {
            if restarts { try node.restart() }
            bench.advance(120_000)
            #expect(try node.log() == ["under a key of Ada's"], "\(node.name)")
        }
        #expect(try mina.digest() == wim.digest())
        // Nothing is sealed under it any more.
        #expect(try mina.workspace().sealingKey?.id == wim.workspace().sealingKey?.id)
        #expect(try mina.workspace().sealingKey?.answersAll == true)
        let late = try bench.guest("Late", of: mina)
        bench.advance(120_000)
        #expect(try late.log() == ["under a key of Ada's"])
    }

    @Test(arguments: ["channel.remove", "member.remove"])
    func `takes nothing from a private channel when its maker is put out elsewhere`(
        _ method: String
    ) throws {
        try mina.ok(
            "channel.create", ["name": "board", "private": true, "history": "all"])
        try mina.ok("channel.add", ["channel": "board", "members": ["Ada", "Wim"]])
        bench.advance(10_000)
        part([mina, joon], [ada, wim])
        try ada.inTurn { core, workspace in
            let document = try #require(
                workspace.sealed.documents.values.first { !workspace.isOwn($0) })
            _ = try #require(try core.privates.authoring.changeKey(of: document, in: workspace))
        }
        bench.advance(10_000)
        try wim.send("under a key of Ada's", to: "board")
        let call: JSONValue =
            method == "channel.remove"
            ? ["channel": "board", "members": ["Ada"]] : ["member": "Ada"]
        try mina.ok(method, call)
        try mina.send("of Mina, alone", to: "board")
        meet([mina, joon], [wim])
        for node in [mina, wim] {
            #expect(
                try Set(node.log(of: "board")) == ["under a key of Ada's", "of Mina, alone"],
                "\(node.name)")
        }
        try mina.ok("channel.add", ["channel": "board", "members": ["Joon"]])
        bench.advance(120_000)
        #expect(try Set(joon.log(of: "board")) == ["under a key of Ada's", "of Mina, alone"])
    }

    // A channel that shows only later content never offers the earlier content to later members.
    @Test func `is none of a channel that hides its past from newcomers`() throws {
        try mina.ok("channel.create", ["name": "board", "private": true, "history": "from-join"])
        try mina.ok("channel.add", ["channel": "board", "members": ["Wim"]])
        bench.advance(10_000)
        try wim.send("of before", to: "board")
        bench.advance(10_000)
        try mina.ok("channel.add", ["channel": "board", "members": ["Joon"]])
        bench.advance(120_000)
        #expect(try joon.log(of: "board").isEmpty)
        #expect(try joon.workspace().secrets.lacked.isEmpty)
    }

    // A peer without it when both sides were equal may have it on the next link.
    @Test func `is asked for on each link, though nothing else is new`() throws {
        let key = try #require(mina.workspace().sealingKey?.id)
        bench.cut(joon, ada)
        bench.cut(joon, wim)
        bench.cut(joon, mina)
        try joon.inTurn { _, workspace in
            let device = try #require(wim.host?.core.session.home?.device)
            let member = try wim.workspace().member
            let document = try #require(workspace.book.defaultChannel)
            let made = KeyID([UInt8](repeating: 9, count: 16))
            workspace.secrets.lacked.note(
                .init(key: made, document: document, device: device), by: member)
            #expect(workspace.secrets.keys.holds(key))
        }
        bench.heal(joon, mina)
        bench.advance(60_000)
        let link = try #require(
            joon.host?.core.links.network.ordered.first { link in
                link.peer?.device == mina.host?.core.session.home?.device
            })
        #expect(link.keys.askedGroupKeys.values.joined().count == 1)
    }

    // Names of keys are free: nobody's push out what others wrote under.
    @Test func `is remembered of each member, a few of the latest`() throws {
        var lacked = LackedKeys()
        func range(_ number: Int) -> LackedKeys.SealedRange {
            let bytes = (0..<16).map { UInt8(truncatingIfNeeded: number >> ($0 * 8 % 32)) }
            return .init(
                key: KeyID(bytes), document: DocumentID(bytes + bytes),
                device: DeviceID(bytes + bytes))
        }
        let (one, other) = (
            MemberID([UInt8](repeating: 1, count: 16)), MemberID([UInt8](repeating: 2, count: 16))
        )
        lacked.note(range(7), by: one)
        for number in 0..<1_000 { lacked.note(range(number), by: other) }
        #expect(lacked.names { _ in true }.count == 1 + Limits.lackedKeysPerMemberMax)
        #expect(lacked.isChanged)
        let stored = lacked.takeStoredForm()
        #expect(!lacked.isChanged)
        #expect(LackedKeys(stored: stored) == lacked)
        #expect(LackedKeys(stored: Array(stored.dropLast())).ranges[one] == [range(7)])
        #expect(lacked.take(range(7).key) == [range(7)])
        #expect(lacked.ranges[one] == nil)
        #expect(lacked.take(range(1).key).isEmpty, "one of the oldest")
    }

    // A guest reads nothing public, and is given no key of it.
    @Test func `is given to nobody who is a guest, and only as far as it is asked for`() throws {
        try mina.ok("member.role", ["member": "Wim", "role": "guest"])
        bench.advance(60_000)
        let key = try #require(mina.workspace().sealingKey?.id)
        let link = try #require(
            mina.host?.core.links.network.ordered.first { link in
                link.peer?.device == wim.host?.core.session.home?.device
            })
        try mina.inTurn { core, workspace in
            try core.keys.groupKeysWanted(
                KeyWant(workspace: 0, document: workspace.id, keys: [key]), in: workspace, on: link)
        }
        #expect(link.keys.givenKeys == 0)
        #expect(try !wim.workspace().secrets.keys.holds(key))
    }
}
