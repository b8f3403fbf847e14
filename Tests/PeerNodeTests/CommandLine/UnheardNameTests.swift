import PeerNode
import Testing
import WorkspaceModel

@testable import wsx_node

/// The remarks about a name in a text that mentions nobody.
struct `A name in a text that mentions nobody` {
    private static func people(_ names: [String]) -> [JSONValue] {
        names.enumerated().map { ["id": .string("u_person0\($0)"), "name": .string($1)] }
    }

    @Test(
        arguments: [
            (["Ada"], "'@Joon' mentions nobody: no one here has that name"),
            (
                ["Joon Kim", "Ada", "Joon Lee"],
                "'@Joon' mentions nobody: 2 people fit. "
                    + "To mention one, write '@Joon Kim' or '@Joon Lee'"
            ),
            // Who has the name of another is meant by the id.
            (
                ["Joon Kim", "joon kim", "Joon Lee"],
                "'@Joon' mentions nobody: 3 people fit. To mention one, "
                    + "write '@u_person00', '@u_person01' or '@Joon Lee'"
            ),
            (
                ["Joon A", "Joon B", "Joon C", "Joon D"],
                "'@Joon' mentions nobody: 4 people fit. "
                    + "To mention one, write '@Joon A', '@Joon B', '@Joon C' or …"
            ),
        ] as [(names: [String], told: String)])
    func `is reported with the people whom it fits`(_ row: (names: [String], told: String)) {
        #expect(Session.told("@Joon", among: Self.people(row.names)) == row.told)
    }

    @Test func `is reported after sending, with the people of that channel`() {
        let io = MemoryIO()
        io.isOutputTerminal = true
        io.node?.text = "hi @Joon"
        io.node?.people = ["Joon Kim", "Joon Lee"]
        #expect(io.run("send", "general", "hi @Joon") == 0, "\(io.errors)")
        #expect(io.errors.contains("2 people fit"), "\(io.errors)")
        #expect(io.node?.asked.contains("members false") == true)
        // People outside of a private channel cannot be mentioned there.
        let secret = MemoryIO()
        secret.isOutputTerminal = true
        secret.node?.text = "hi @Joon"
        secret.node?.people = ["Joon Kim", "Joon Lee"]
        secret.node?.changesChannel = { $0.isPrivate = true }
        #expect(secret.run("send", "general", "hi @Joon") == 0, "\(secret.errors)")
        #expect(secret.errors.contains("no one here has that name"), "\(secret.errors)")
        #expect(secret.node?.asked.contains("members false") == false)
    }
}
