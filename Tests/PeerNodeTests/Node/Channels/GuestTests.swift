import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// Ada owns the workspace and the private channel "board", which Bob is in too. Gita is a guest of
/// "board", Cleo a member who is not in it.
struct GuestTable {
    let bench = CoreBench()
    let ada: BenchNode
    let bob: BenchNode
    let cleo: BenchNode
    let gita: BenchNode
    let joined: JSONValue

    init(history: String = "all") throws {
        ada = try bench.node("Ada")
        bob = try bench.guest("Bob", of: ada)
        cleo = try bench.guest("Cleo", of: ada)
        bench.advance(5_000)
        try ada.send("only members read this")
        try ada.ok(
            "channel.create",
            ["name": "board", "private": true, "history": .string(history)])
        try ada.ok("channel.add", ["channel": "board", "members": ["@Bob"]])
        try ada.ok("message.send", ["channel": "board", "text": "first"])
        bench.advance(1_000)
        gita = try bench.bareNode("Gita")
        let link = try Self.invite(by: ada).text("link")
        joined = try gita.join(link)
    }

    static func invite(by node: BenchNode, to channels: JSONValue = ["board"]) throws -> JSONValue {
        try node.ok("invite.create", ["role": "guest", "channels": channels])
    }

    static func names(_ method: String, on node: BenchNode) throws -> [String] {
        try node.ok(method).texts("name")
    }

    static func workspace(of node: BenchNode) throws -> Workspace {
        let core = try #require(node.host?.core)
        return try #require(try core.membership.selectedWorkspace())
    }

    /// The operations that a node stores of public documents.
    static func publicCount(on node: BenchNode) throws -> Int {
        let core = try #require(node.host?.core)
        let workspace = try workspace(of: node)
        return core.turn.store.operations.documents(ofWorkspace: workspace.number).filter { id in
            let kind = core.turn.store.operations.document(id, in: workspace.number)?.kind
            return kind == .channel || kind == .profile
        }.reduce(0) { $0 + core.turn.store.operations.branches(in: $1, of: workspace.number).count }
    }

    func board(on node: BenchNode) throws -> [String] {
        try `Private channels`.texts("board", on: node)
    }
}

struct `A guest` {
    private let table: GuestTable

    init() throws { table = try GuestTable() }

    @Test func `is admitted by a link and reads the channel at once`() throws {
        #expect(table.joined["role"] == "guest")
        #expect(table.joined["name"] == "acme")
        #expect(table.joined["digest"] == .null)
        #expect(try table.board(on: table.gita) == ["first"])
        #expect(try GuestTable.names("channel.list", on: table.gita) == ["board"])
        try table.gita.ok("message.send", ["channel": "board", "text": "hello all"])
        for node in [table.ada, table.bob] {
            #expect(try table.board(on: node) == ["first", "hello all"])
            let last = try node.ok("message.history", ["channel": "board"]).items.last
            #expect(last?["author"]?["name"] == "Gita")
        }
        try table.bob.ok("message.send", ["channel": "board", "text": "and to you"])
        #expect(try table.board(on: table.gita) == ["first", "hello all", "and to you"])
        #expect(try GuestTable.names("member.list", on: table.ada).contains("Gita"))
    }

    @Test func `knows the people of its channels by name, and nobody else`() throws {
        #expect(
            try GuestTable.names("member.list", on: table.gita).sorted() == ["Ada", "Bob", "Gita"])
        #expect(try table.gita.ok("workspace.get")["members"] == 3)
        #expect(try table.gita.refused("member.get", ["member": "@Cleo"]).kind == .unknownUser)
        // Who comes into the channel later is named to the guests in it.
        try table.ada.ok("channel.add", ["channel": "board", "members": ["@Cleo"]])
        table.bench.advance(1_000)
        #expect(try GuestTable.names("member.list", on: table.gita).contains("Cleo"))
        try table.cleo.ok("message.send", ["channel": "board", "text": "me too"])
        let last = try table.gita.ok("message.history", ["channel": "board"]).items.last
        #expect(last?["author"]?["name"] == "Cleo")
    }

    @Test func `gets a new discovery secret, without the key beside it`() throws {
        try table.ada.ok("workspace.rekey", ["discovery": true])
        table.bench.advance(5_000)
        let names = try GuestTable.workspace(of: table.ada).discovery.map(DiscoveryName.id)
        let workspace = try GuestTable.workspace(of: table.gita)
        #expect(names.count == 2)
        #expect(workspace.discovery.map(DiscoveryName.id) == names)
        #expect(workspace.secrets.keys.isEmpty)
        try table.gita.restart()
        table.bench.advance(60_000)
        try table.gita.ok("message.send", ["channel": "board", "text": "still here"])
        #expect(try table.board(on: table.ada) == ["first", "still here"])
    }

    @Test func `holds nothing of public channels and profiles, and no group key`() throws {
        try table.ada.send("more for members")
        try table.cleo.send("and more")
        table.bench.advance(120_000)
        #expect(try GuestTable.publicCount(on: table.gita) == 0)
        #expect(try GuestTable.publicCount(on: table.bob) > 0)
        let workspace = try GuestTable.workspace(of: table.gita)
        #expect(workspace.secrets.keys.isEmpty)
        #expect(workspace.discovery.count == 1)
        // What the members do is not told as events either.
        let types = try table.gita.eventTypes()
        #expect(!types.contains("channel.archived"))
        try table.ada.ok("channel.create", ["name": "later"])
        table.bench.advance(1_000)
        #expect(
            try table.gita.eventTypes().count { $0 == "channel.created" }
                == types.count { $0 == "channel.created" })
    }

    @Test func `reads from joining on where the channel says so`() throws {
        let table = try GuestTable(history: "from-join")
        #expect(try table.board(on: table.gita) == [])
        try table.bob.ok("message.send", ["channel": "board", "text": "for you too"])
        #expect(try table.board(on: table.gita) == ["for you too"])
        #expect(try table.board(on: table.ada) == ["first", "for you too"])
    }

    @Test func `is told sensibly what it may not do`() throws {
        let gita = table.gita
        let general = try gita.refused("message.send", ["channel": "general", "text": "x"])
        #expect(general.kind == .notFound)
        #expect(general.hint?.contains("only be in private channels") == true)
        #expect(try gita.refused("message.history", ["channel": "general"]).kind == .notFound)
        for (method, arguments) in [
            ("channel.create", ["name": "mine"]),
            ("channel.create", ["name": "mine", "private": true, "history": "all"]),
            ("invite.create", [:]), ("invite.create", ["role": "guest", "channels": ["board"]]),
            ("channel.edit", ["channel": "board", "name": "x"]),
            ("channel.delete", ["channel": "board"]),
            ("channel.add", ["channel": "board", "members": ["@Bob"]]),
            ("workspace.edit", ["name": "mine"]),
            ("member.remove", ["member": "@Bob"]),
        ] as [(String, JSONValue)] {
            #expect(try gita.refused(method, arguments).kind == .forbidden, "\(method)")
        }
        #expect(try gita.ok("workspace.get")["channels"] == 1)
        _ = try gita.ok("node.status")
        let doctor = try gita.ok("node.doctor")
        #expect(!doctor.text.contains(#""state":"fail"#), "\(doctor.text)")
        #expect(try gita.ok("node.check")["ok"] == true)
        _ = try gita.ok("read.mark", ["channel": "board"])
    }

    @Test func `goes on after a restart, and locked`() throws {
        try table.gita.restart()
        table.bench.advance(30_000)
        try table.ada.ok("message.send", ["channel": "board", "text": "second"])
        #expect(try table.board(on: table.gita) == ["first", "second"])
        #expect(try table.gita.ok("workspace.get")["name"] == "acme")
        #expect(try GuestTable.publicCount(on: table.gita) == 0)
    }

    /// An operation costs what it changes, and not what ever happened with guests.
    @Test func `is looked for once in a turn, and among those who may be missing`() throws {
        for name in ["Hal", "Ida"] {
            let link = try GuestTable.invite(by: table.ada).text("link")
            try table.bench.bareNode(name).join(link)
        }
        table.bench.advance(30_000)
        let core = try #require(table.ada.host?.core)
        let workspace = try GuestTable.workspace(of: table.ada)
        let (plans, hashes) = (core.turn.tally.guestPlans, workspace.sealed.hashedNames)
        table.ada.turn(
            (1...3).map { number in
                var arguments = JSONObject()
                arguments["channel"] = "board"
                arguments["topic"] = .string("topic \(number)")
                return .call(
                    CallID(connection: 9, number: UInt64(number)), method: "channel.edit",
                    arguments: arguments)
            })
        table.bench.settle()
        #expect(try table.ada.ok("channel.get", ["channel": "board"])["topic"] == "topic 3")
        #expect(core.turn.tally.guestPlans - plans == 1)
        #expect(workspace.sealed.hashedNames == hashes, "everybody is in")
        // Who is missing is found as before.
        try table.ada.ok("channel.create", ["name": "other", "private": true, "history": "all"])
        let link = try GuestTable.invite(by: table.ada, to: ["other"]).text("link")
        let jan = try table.bench.bareNode("Jan")
        try jan.join(link)
        #expect(try GuestTable.names("channel.list", on: jan) == ["other"])
    }

    @Test func `names no channel any more that was deleted and erased`() throws {
        let core = try #require(table.gita.host?.core)
        let workspace = try GuestTable.workspace(of: table.gita)
        let board = try #require(workspace.channelIndex.all.first { $0.name == "board" }?.id)
        #expect(core.log.namedDocuments(of: workspace).contains(board))
        try table.ada.ok("channel.delete", ["channel": "board"])
        table.bench.advance(10_000)
        table.bench.wall += 7 * 24 * 3_600 * 1_000
        table.bench.advance(3_700_000)
        #expect(workspace.sealed.documents[board] == nil)
        #expect(!core.log.namedDocuments(of: workspace).contains(board))
    }

    @Test(arguments: [false, true])
    func `knows its own name after a lock`(fails: Bool) throws {
        let bench = CoreBench()
        let ada = try bench.node("Ada")
        try ada.ok("channel.create", ["name": "board", "private": true, "history": "all"])
        let gita = try bench.sealedNode("Gita", workspace: nil)
        try gita.join(try GuestTable.invite(by: ada).text("link"))
        bench.advance(5_000)
        #expect(try GuestTable.workspace(of: gita).people.ownName == "Gita")
        try gita.ok("lock.now")
        #expect(gita.host?.core.workspaces.values.first?.people.ownName == nil)
        if fails {
            gita.plant(.commitBefore(0), .full)
            try ada.ok("message.send", ["channel": "board", "text": "hello"])
            bench.advance(60_000)
        }
        try gita.ok("session.unlock", ["passphrase": .string(goodPassphrase)])
        let workspace = try GuestTable.workspace(of: gita)
        #expect(workspace.people.ownName == "Gita")
        #expect(workspace.displayName(of: workspace.member) == "Gita")
    }

    @Test func `leaves, and is not served any more`() throws {
        try table.gita.ok("workspace.leave")
        table.bench.advance(60_000)
        try table.ada.ok("message.send", ["channel": "board", "text": "without you"])
        table.bench.advance(60_000)
        #expect(try table.board(on: table.bob) == ["first", "without you"])
        #expect(try table.board(on: table.gita) == ["first"])
        #expect(!(try GuestTable.names("member.list", on: table.ada)).contains("Gita"))
    }

    @Test func `that is removed reads nothing that comes later`() throws {
        try table.ada.ok("member.remove", ["member": "@Gita"])
        try table.ada.ok("message.send", ["channel": "board", "text": "without you"])
        table.bench.advance(60_000)
        #expect(try table.board(on: table.bob) == ["first", "without you"])
        #expect(try table.board(on: table.gita) == ["first"])
        #expect(try table.gita.ok("workspace.get")["role"] == .null)
    }
}

struct `Direct conversations of guests` {
    @Test func `go both ways with those who are in a private channel with them`() throws {
        let table = try GuestTable()
        try table.gita.ok("message.send", ["channel": "@Bob", "text": "psst"])
        #expect(try `Private channels`.texts("@Gita", on: table.bob) == ["psst"])
        try table.bob.ok("message.send", ["channel": "@Gita", "text": "yes?"])
        #expect(try `Private channels`.texts("@Bob", on: table.gita) == ["psst", "yes?"])
        #expect(try table.ada.ok("dm.list").items.isEmpty)
        try table.ada.ok("dm.open", ["members": ["@Gita", "@Bob"]])
        #expect(try table.gita.ok("dm.open", ["members": ["@Ada", "@Bob"]])["members"] == 3)
    }

    @Test func `are opened by nobody else`() throws {
        let table = try GuestTable()
        #expect(
            try table.gita.refused("message.send", ["channel": "@Cleo", "text": "x"]).kind
                == .unknownUser)
        #expect(
            try table.cleo.refused("message.send", ["channel": "@Gita", "text": "x"]).kind
                == .unknownUser)
        // Into a private channel everybody may be brought, a guest included.
        try table.cleo.ok("channel.create", ["name": "plans", "private": true, "history": "all"])
        try table.cleo.ok("channel.add", ["channel": "plans", "members": ["@Gita"]])
        table.bench.advance(1_000)
        #expect(try GuestTable.names("channel.list", on: table.gita) == ["board", "plans"])
        try table.cleo.ok("message.send", ["channel": "@Gita", "text": "now"])
        #expect(try `Private channels`.texts("@Cleo", on: table.gita) == ["now"])
        // Never into a public one.
        try table.cleo.ok("channel.create", ["name": "open"])
        #expect(
            try table.cleo.refused(
                "channel.add", ["channel": "open", "members": ["@Gita"]]
            ).reason == "member.guest")
    }
}

struct `An invite of guests` {
    @Test func `names only private channels of its author`() throws {
        let table = try GuestTable()
        let open = try table.ada.refused(
            "invite.create", ["role": "guest", "channels": ["general"]])
        #expect(open.reason == "channel.public")
        // Bob becomes an admin of the workspace and is a plain member of the channel.
        try table.ada.ok("member.role", ["member": "@Bob", "role": "admin"])
        table.bench.advance(2_000)
        let refusal = try table.bob.refused(
            "invite.create", ["role": "guest", "channels": ["board"]])
        #expect(refusal.kind == .forbidden)
        #expect(refusal.reason == "channel.role")
        try table.ada.ok(
            "channel.role", ["channel": "board", "member": "@Bob", "role": "admin"])
        table.bench.advance(2_000)
        let invite = try GuestTable.invite(by: table.bob)
        #expect(invite["role"] == "guest")
        let board = try table.bob.ok("channel.get", ["channel": "board"])["id"]
        #expect(invite["channels"] == .array([board ?? .null]))
        table.bench.advance(1_000)
        // Nobody learns from it which document is meant, unless it is theirs.
        let seen = try table.cleo.ok("invite.list").items.first { $0["id"] == invite["id"] }
        #expect(seen?["channels"] == [])
        let id = try #require(
            try GuestTable.workspace(of: table.ada).sealed.documents.keys.first)
        for record in try GuestTable.workspace(of: table.cleo).authority.values {
            guard case .invite(let terms) = record.payload else { continue }
            #expect(!terms.documents.contains(OperationID(sameBytesAs: id)))
        }
    }

    @Test func `brings into several channels`() throws {
        let table = try GuestTable()
        try table.ada.ok("channel.create", ["name": "second", "private": true, "history": "all"])
        try table.ada.ok("message.send", ["channel": "second", "text": "two"])
        let hugo = try table.bench.bareNode("Hugo")
        try hugo.join(
            try GuestTable.invite(by: table.ada, to: ["board", "second", "board"]).text("link"))
        #expect(try GuestTable.names("channel.list", on: hugo) == ["board", "second"])
        #expect(try `Private channels`.texts("second", on: hugo) == ["two"])
        // Two guests meet in the channel that both are in.
        try hugo.ok("message.send", ["channel": "board", "text": "hi Gita"])
        table.bench.advance(5_000)
        #expect(try table.board(on: table.gita).last == "hi Gita")
        let last = try table.gita.ok("message.history", ["channel": "board"]).items.last
        #expect(last?["author"]?["name"] == "Hugo")
        #expect(try GuestTable.names("channel.list", on: table.gita) == ["board"])
    }

    @Test func `is kept by the first admin of the channel who is there`() throws {
        let table = try GuestTable()
        let link = try GuestTable.invite(by: table.ada).text("link")
        table.bench.advance(2_000)
        table.ada.kill()
        // Bob lets Hugo in, who sees nothing until an admin of the channel is there.
        let hugo = try table.bench.bareNode("Hugo")
        #expect(try hugo.join(link)["role"] == "guest")
        table.bench.advance(120_000)
        #expect(try GuestTable.names("channel.list", on: hugo) == [])
        try table.ada.boot()
        table.bench.advance(120_000)
        #expect(try GuestTable.names("channel.list", on: hugo) == ["board"])
        #expect(try table.board(on: hugo) == ["first"])
    }

    @Test func `adds nobody again who was removed`() throws {
        let table = try GuestTable()
        try table.ada.ok("channel.remove", ["channel": "board", "members": ["@Gita"]])
        table.bench.advance(120_000)
        try table.ada.restart()
        table.bench.advance(120_000)
        try table.ada.ok("message.send", ["channel": "board", "text": "just us"])
        table.bench.advance(2_000)
        #expect(try table.board(on: table.gita) == ["first"])
        #expect(try table.ada.ok("channel.get", ["channel": "board"])["members"] == 2)
    }

    @Test func `waits for approval like every other`() throws {
        let table = try GuestTable()
        let invite = try table.ada.ok(
            "invite.create", ["role": "guest", "channels": ["board"], "approve": true])
        let hugo = try table.bench.bareNode("Hugo")
        let link = try invite.text("link")
        let pending = try hugo.refused(
            "workspace.join", ["link": .string(link), "name": "Hugo"])
        #expect(pending.kind == .pending)
        let request = try #require(try table.ada.ok("join.requests").items.first)
        try table.ada.ok("join.approve", ["id": request["id"] ?? .null])
        table.bench.advance(60_000)
        #expect(try GuestTable.names("channel.list", on: hugo) == ["board"])
    }
}

struct `The role of a guest` {
    @Test func `ends with the group key and everything that is public`() throws {
        let table = try GuestTable()
        try table.ada.ok("member.role", ["member": "@Gita", "role": "member"])
        table.bench.advance(60_000)
        #expect(try table.gita.log() == ["only members read this"])
        #expect(try GuestTable.names("channel.list", on: table.gita) == ["general", "board"])
        #expect(try table.gita.digest() == table.ada.digest())
        try table.gita.send("now I am one")
        #expect(try table.bob.log().last == "now I am one")
        #expect(try GuestTable.names("member.list", on: table.gita).contains("Cleo"))
        #expect(try table.board(on: table.gita) == ["first"])
    }

    @Test func `takes what is public from who was a member`() throws {
        let table = try GuestTable()
        #expect(try table.bob.log() == ["only members read this"])
        let core = try #require(table.bob.host?.core)
        let workspace = try GuestTable.workspace(of: table.bob)
        let general = try #require(workspace.book.defaultChannel)
        let held = { () -> Set<OperationID> in
            let branches = core.turn.store.operations.branches(in: general, of: workspace.number)
            return Set(branches.map(\.tip.id))
        }
        let before = held()
        try table.ada.ok("member.role", ["member": "@Bob", "role": "guest"])
        table.bench.advance(60_000)
        try table.ada.send("not for Bob")
        try table.cleo.send("nor this")
        table.bench.advance(120_000)
        #expect(try table.cleo.log().suffix(2) == ["not for Bob", "nor this"])
        #expect(try GuestTable.names("channel.list", on: table.bob) == ["board"])
        #expect(try table.bob.refused("message.history", ["channel": "general"]).kind == .notFound)
        // Neither the operations nor a key for them.
        #expect(!before.isEmpty)
        #expect(held() == before)
        let now = try #require(try GuestTable.workspace(of: table.ada).currentKey?.id)
        #expect(workspace.secrets.keys[now] == nil)
        try table.bob.ok("message.send", ["channel": "board", "text": "still in here"])
        #expect(try table.board(on: table.gita).last == "still in here")
        #expect(try table.board(on: table.ada).last == "still in here")
    }

    @Test func `lets a second device in without the group key`() throws {
        let table = try GuestTable()
        let phone = try table.bench.bareNode("Phone")
        try table.gita.link(phone)
        table.bench.advance(60_000)
        #expect(try table.board(on: phone) == ["first"])
        #expect(try GuestTable.names("channel.list", on: phone) == ["board"])
        #expect(try GuestTable.workspace(of: phone).secrets.keys.isEmpty)
        try phone.ok("message.send", ["channel": "board", "text": "from the phone"])
        #expect(try table.board(on: table.ada).last == "from the phone")
        #expect(try GuestTable.publicCount(on: phone) == 0)
        let author = try table.ada.ok("message.history", ["channel": "board"]).items.last
        #expect(author?["author"]?["name"] == "Gita")
    }
}
