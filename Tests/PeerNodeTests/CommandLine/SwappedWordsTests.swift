import PeerNode
import Testing
import WorkspaceModel

@testable import wsx_node

/// Arguments in swapped order.
struct `Two words in the wrong order` {
    @Test(arguments: [
        (line: ["message", "react", "👍", "last"], meant: "message react last '👍'"),
        (
            ["message", "react", "--in", "general", ":ok:", "m_01hx9t4c", "--remove"],
            "message react --in general m_01hx9t4c :ok: --remove"
        ),
        (["message", "edit", "hello, all", "last"], "message edit last 'hello, all'"),
        (["channel", "mute", "8h", "general"], "channel mute general 8h"),
        (["channel", "notify", "mentions", "general"], "channel notify general mentions"),
        (["read", "mark", "last", "general"], "read mark general last"),
        (["member", "role", "admin", "@Joon"], "member role @Joon admin"),
        (["channel", "role", "plans", "admin", "@Joon"], "channel role plans @Joon admin"),
        (["policy", "set", "open", "join"], "policy set join open"),
    ])
    func `are reported with what to type`(_ row: (line: [String], meant: String)) throws {
        let io = MemoryIO()
        #expect(Program.run(arguments: row.line, environment: [:], io: io) == 2)
        #expect(io.errors.contains("wrong order"), "\(io.errors)")
        #expect(io.errors.hasSuffix("hint: wsx-node \(row.meant)\n"), "\(io.errors)")
        #expect(io.node?.asked == [])
        let json = MemoryIO()
        #expect(Program.run(arguments: row.line + ["--json"], environment: [:], io: json) == 2)
        #expect(try JSONValue(parsing: json.errors)["data"]?["kind"] == "bad_request")
    }

    /// What fails in either order is told as it was typed.
    @Test(arguments: [
        ["message", "react", "👍", "plans"], ["channel", "mute", "general", "forever"],
        ["member", "role", "@Joon", "owner"], ["read", "mark", "team", "x"],
        ["channel", "notify", "general", "loud"],
    ])
    func `are no reason where neither order can be meant`(_ line: [String]) {
        let io = MemoryIO()
        #expect(Program.run(arguments: line, environment: [:], io: io) == 2)
        #expect(!io.errors.contains("wrong order"), "\(io.errors)")
    }

    @Test(arguments: [
        ["message", "react", "last", "👍", "--in", "general"],
        ["message", "edit", "m_01hx9t4c", "last"], ["channel", "mute", "2h", "8h"],
    ])
    func `are left alone where they can be meant`(_ line: [String]) {
        let io = MemoryIO()
        #expect(Program.run(arguments: line, environment: [:], io: io) == 0, "\(io.errors)")
    }
}
