import Testing
import WorkspaceModel

@testable import PeerNode
@testable import wsx_node

struct `The exit status of what finds nothing` {
    private func world(isEmpty: Bool) -> MemoryIO {
        let io = MemoryIO()
        io.node?.readings = isEmpty ? [] : nil
        return io
    }

    @Test(arguments: [
        (["unread"], true, Int32(0)), (["unread", "--exit-code"], true, 9),
        (["--exit-code", "unread"], true, 9), (["unread", "--exit-code"], false, 0),
        (["unread", "--exit-code", "--json"], true, 9), (["unread"], false, 0),
        // What is no list has found what it was asked for.
        (["status", "--exit-code"], true, 0), (["socket", "--exit-code"], true, 0),
    ])
    func `is 9 if asked for`(_ words: [String], _ isEmpty: Bool, _ status: Int32) {
        let io = world(isEmpty: isEmpty)
        #expect(Program.run(arguments: words, environment: [:], io: io) == status)
        #expect(io.errors.isEmpty)
    }

    @Test func `is the failure's where there is one`() {
        let io = world(isEmpty: true)
        io.node?.failure = NodeError(.forbidden, "no")
        #expect(io.run("unread", "--exit-code") == 4)
    }

    @Test func `is 9 for a stream that ends without an event`() {
        let io = MemoryIO()
        io.isSilent = true
        #expect(io.run("events", "--timeout", "0s", "--exit-code") == 9)
        #expect(io.errors.isEmpty)
        // One that was broken off has failed, whatever it has shown before.
        io.isSilent = false
        #expect(io.run("events", "--timeout", "0s", "--exit-code") == 3)
    }

    @Test func `stands in the help`() {
        #expect(Manual.fullHelp.contains("--exit-code"))
        #expect(Manual.page.contains("exit\\-code"))
    }

    @Test func `shows mentions beside what was not read`() {
        let io = MemoryIO()
        var busy = ReadingObject(id: "c_1", name: "busy")
        busy.unread = 12
        busy.mentions = 2
        busy.last = PreviewObject(
            id: "m_1", author: PersonObject(id: "u_1", name: "Joon"), at: 1, text: "@Mina come")
        io.node?.readings = [busy, ReadingObject(id: "c_2", name: "calm")]
        #expect(io.run("unread") == 0)
        #expect(
            io.output == """
                busy  12 new, 2 mentions   Joon: @Mina come
                calm  read                 nothing yet

                """)
        io.output = ""
        #expect(io.run("unread", "--plain") == 0)
        #expect(io.output == "c_1\tbusy\t12\t2\t@Mina come\nc_2\tcalm\t0\t0\t-\n")
    }
}
