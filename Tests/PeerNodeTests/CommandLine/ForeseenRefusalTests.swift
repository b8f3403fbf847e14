import Testing
import WorkspaceModel

@testable import PeerNode
@testable import wsx_node

/// No confirmation is asked for when the node will refuse anyway.
struct `A question` {
    private static func asking(_ answer: String? = nil) -> MemoryIO {
        let io = MemoryIO()
        (io.isInputTerminal, io.isOutputTerminal, io.answer) = (true, true, answer)
        return io
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let words: [String]
        /// What the node is asked for all the same, and then refuses.
        let call: String
        var role: String? = "owner"
        let change: @Sendable (TableNode) -> Void
        var testDescription: String { words.joined(separator: " ") + " as \(role ?? "nobody")" }
    }

    private static let message = ["message", "delete", "m_01hx9t4c000000000000000000"]

    static let refused = [
        Row(words: ["channel", "delete", "general"], call: "deleteChannel") {
            $0.changesChannel = { $0.isDefault = true }
        },
        Row(words: ["channel", "delete", "general"], call: "deleteChannel", role: "member") {
            $0.ownMember = "u_me000000"
        },
        Row(words: ["channel", "delete", "general"], call: "deleteChannel") {
            $0.ownMember = "u_me000000"
            $0.changesChannel = { $0.isPrivate = true }
        },
        Row(words: ["channel", "delete", "general"], call: "deleteChannel") {
            $0.changesChannel = { $0.kind = "dm" }
        },
        Row(words: ["workspace", "leave"], call: "leave") { $0.people = ["Ada", "Bo"] },
        Row(words: ["workspace", "leave"], call: "leave", role: "member") {
            $0.ownMember = "u_me000000"
            $0.changesChannel = { $0.settings.owner = PersonObject(id: "u_me000000", name: "Me") }
        },
        Row(words: ["workspace", "leave"], call: "leave", role: nil) { _ in },
        Row(words: ["workspace", "forget", "acme"], call: "forget") { _ in },
        Row(words: message, call: "deleteMessage", role: "member") { $0.ownMember = "u_me000000" },
        Row(words: message, call: "deleteMessage", role: "guest") { _ in },
        Row(words: message, call: "deleteMessage") { $0.changesChannel = { $0.kind = "dm" } },
        Row(words: ["member", "remove", "@Joon"], call: "remove", role: "member") { _ in },
        Row(words: ["member", "remove", "@Joon"], call: "remove", role: "admin") {
            $0.changesMember = { $0.role = "owner" }
        },
        Row(words: ["member", "remove", "@Joon"], call: "remove") {
            $0.changesMember = { $0.isSelf = true }
        },
        Row(words: ["workspace", "transfer", "@Joon"], call: "transfer", role: "admin") { _ in },
        Row(words: ["workspace", "transfer", "@Joon"], call: "transfer") {
            $0.changesMember = { $0.role = "guest" }
        },
        Row(words: channelTransfer, call: "transferChannel", role: "member") {
            $0.ownMember = "u_me000000"
        },
        Row(words: channelTransfer, call: "transferChannel") {
            $0.changesMember = { $0.role = "guest" }
        },
        Row(words: channelTransfer, call: "transferChannel") {
            $0.changesChannel = { $0.settings.owner = PersonObject(id: "u_joon0000", name: "Joon") }
        },
        Row(words: ["device", "revoke", "amber"], call: "revokeDevice") {
            $0.moreDevices = [DeviceObject(id: "d_second00x7", name: "Amber", addedAt: 2)]
        },
        Row(words: ["device", "revoke", "amber"], call: "revokeDevice") { $0.device.isSelf = true },
        Row(words: ["device", "revoke", "nosuch"], call: "revokeDevice") { _ in },
        Row(words: ["device", "revoke", "d_others000"], call: "revokeDevice", role: "member") {
            $0.foreignDevices = [DeviceObject(id: "d_others000", name: "vm", addedAt: 1)]
        },
        Row(words: ["device", "revoke", "d_others000"], call: "revokeDevice") { _ in },
        Row(words: ["device", "revoke", "d_other"], call: "revokeDevice") {
            $0.foreignDevices = [DeviceObject(id: "d_others000", name: "vm", addedAt: 1)]
        },
        Row(words: ["device", "revoke", "d_others000"], call: "revokeDevice") {
            var device = DeviceObject(id: "d_others000", name: "vm", addedAt: 1)
            device.isRevoked = true
            $0.foreignDevices = [device]
        },
    ]

    @Test(arguments: refused)
    func `is not asked where the answer would not matter`(_ row: Row) throws {
        let io = Self.asking("n")
        let node = try #require(io.node)
        node.ownRole = row.role
        row.change(node)
        _ = Program.run(arguments: row.words, environment: [:], io: io)
        #expect(!io.errors.contains("?"), "\(io.errors)")
        #expect(node.asked.contains { $0.hasPrefix(row.call) }, "\(node.asked)")
    }

    private static let channelTransfer = ["channel", "transfer", "general", "@Joon"]

    static let allowed = [
        Row(words: ["channel", "delete", "general"], call: "deleteChannel", role: "member") {
            $0.ownMember = "u_me000000"
            $0.changesChannel = { $0.settings.owner = PersonObject(id: "u_me000000", name: "Me") }
        },
        Row(words: message, call: "deleteMessage", role: "member") {
            $0.ownMember = "u_me000000"
            $0.changesChannel = {
                $0.settings.admins = [PersonObject(id: "u_me000000", name: "Me")]
            }
        },
        Row(words: message, call: "deleteMessage", role: "guest") {
            $0.changesMessage = { $0.isSelf = true }
        },
        Row(words: ["workspace", "leave"], call: "leave", role: "member") {
            $0.people = ["Ada", "Bo"]
        },
        Row(words: ["member", "remove", "@Joon"], call: "remove", role: "admin") {
            $0.changesMember = { $0.role = "admin" }
        },
        Row(words: ["device", "revoke", "d_others0"], call: "revokeDevice", role: "admin") {
            $0.foreignDevices = [DeviceObject(id: "d_others000", name: "vm", addedAt: 1)]
        },
    ]

    @Test(arguments: allowed)
    func `is asked where it does`(_ row: Row) throws {
        let io = Self.asking("n")
        let node = try #require(io.node)
        node.ownRole = row.role
        row.change(node)
        #expect(Program.run(arguments: row.words, environment: [:], io: io) == 2)
        #expect(io.errors.contains("? "), "\(io.errors)")
        #expect(!node.asked.contains { $0.hasPrefix(row.call) }, "\(node.asked)")
    }

    @Test func `names someone else's device as its person does`() throws {
        let io = Self.asking("n")
        let node = try #require(io.node)
        node.ownRole = "owner"
        node.foreignDevices = [DeviceObject(id: "d_others000", name: "vm", addedAt: 1)]
        #expect(io.run("device", "revoke", "d_others000") == 2)
        #expect(io.errors.hasPrefix("Revoke Mina's \"vm\" (added "), "\(io.errors)")
    }

    /// Who can take the channel back differs. A script means what it says.
    @Test(
        arguments: [
            ("member", false, "owner or an admin of the workspace can"),
            ("owner", true, "owner can"),
            ("owner", false, "owner or an admin can"),
        ] as [(role: String, isPrivate: Bool, says: String)])
    func `says who can give a channel back`(
        _ row: (role: String, isPrivate: Bool, says: String)
    ) throws {
        func run(_ io: MemoryIO, _ more: [String] = []) throws -> Int32 {
            let node = try #require(io.node)
            (node.ownRole, node.ownMember) = (row.role, "u_me000000")
            node.changesChannel = {
                $0.settings.owner = PersonObject(id: "u_me000000", name: "Me")
                $0.isPrivate = row.isPrivate
            }
            return Program.run(arguments: Self.channelTransfer + more, environment: [:], io: io)
        }
        #expect(try run(MemoryIO()) == 0)
        #expect(try run(MemoryIO(), ["--yes"]) == 0)
        let asking = Self.asking("n")
        #expect(try run(asking) == 2)
        #expect(asking.errors.contains(row.says), "\(asking.errors)")
    }

    @Test(arguments: [
        ["member", "remove", "@joon"], ["workspace", "transfer", "@joon"],
        ["channel", "transfer", "general", "@joon"],
    ])
    func `is asked once, with the whole name`(_ words: [String]) throws {
        let io = Self.asking("n")
        let node = try #require(io.node)
        (node.ownRole, node.people) = ("owner", ["Joon Kim"])
        #expect(Program.run(arguments: words, environment: [:], io: io) == 2)
        #expect(io.errors.hasPrefix("@joon is Joon Kim\n"), "\(io.errors)")
        #expect(io.errors.split(separator: "?").count == 2, "\(io.errors)")
        // Who says yes beforehand has said it of a name that was not whole.
        let sure = Self.asking("n")
        sure.node?.ownRole = "owner"
        sure.node?.people = ["Joon Kim"]
        #expect(Program.run(arguments: words + ["--yes"], environment: [:], io: sure) == 2)
        #expect(sure.errors.contains("Go on?"), "\(sure.errors)")
    }

    @Test(arguments: [
        (role: "member", isAsked: false), ("admin", true), ("owner", true),
    ])
    func `about a part of a name is for who may do it`(_ row: (role: String, isAsked: Bool)) throws
    {
        let io = Self.asking("n")
        let node = try #require(io.node)
        (node.ownRole, node.people) = (row.role, ["Joon Kim"])
        _ = io.run("member", "role", "@joon", "admin")
        #expect(io.errors.contains("Go on?") == row.isAsked, "\(io.errors)")
    }

    /// Nobody is asked about what the node refuses of that person, or what is so already.
    @Test(arguments: [
        (["workspace", "successor", "@joon"], "guest", false),
        (["workspace", "successor", "@joon"], "member", true),
        (["channel", "role", "general", "@joon", "admin"], "guest", false),
        (["member", "role", "@joon", "member"], "member", false),
        (["member", "role", "@joon", "admin"], "member", true),
    ])
    func `about a part of a name depends on the person`(
        _ row: (words: [String], role: String, isAsked: Bool)
    ) throws {
        let io = Self.asking("n")
        let node = try #require(io.node)
        (node.ownRole, node.people) = ("owner", ["Joon Kim"])
        node.changesMember = { $0.role = row.role }
        _ = Program.run(arguments: row.words, environment: [:], io: io)
        #expect(io.errors.contains("Go on?") == row.isAsked, "\(io.errors)")
    }

    @Test(arguments: [("nosuch", "there is no device 'nosuch'"), ("amber", "of 2 things")])
    func `for the words comes after the device was found`(_ row: (device: String, says: String)) {
        let io = Self.asking("abacus")
        io.node?.moreDevices = [DeviceObject(id: "d_second00x7", name: "Amber", addedAt: 2)]
        #expect(io.run("device", "lost", row.device) != 0)
        #expect(!io.errors.contains("24 words"), "\(io.errors)")
        #expect(io.errors.contains(row.says), "\(io.errors)")
        io.errors = ""
        #expect(io.run("device", "lost", "d_second00x7") == 0, "\(io.errors)")
        #expect(io.errors.contains("Your 24 words: "))
    }
}
