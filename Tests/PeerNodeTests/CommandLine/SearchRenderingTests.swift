import PeerNode
import Testing
import WorkspaceModel

@testable import wsx_node

struct `What was found, as it is shown` {
    private func withoutColour(_ text: String) -> String {
        var parts = text
        for code in ["\u{1B}[1m", "\u{1B}[2m", "\u{1B}[0m"] {
            parts = parts.split(separator: code, omittingEmptySubsequences: false).joined()
        }
        return parts
    }

    @Test(arguments: `What is shown`.hostile)
    func `does no harm to a terminal, with and without bold letters`(_ text: String) {
        for flags in [[], ["--plain"], ["--color", "always"]] {
            let io = MemoryIO()
            io.node?.text = text
            io.node?.authorName = text
            #expect(Program.run(arguments: ["search", "x"] + flags, environment: [:], io: io) == 0)
            let shown = withoutColour(io.output)
            let isHarmless = shown.unicodeScalars.allSatisfy { scalar in
                scalar.value == 0x0A || scalar.value == 0x09
                    || ![.control, .format, .lineSeparator, .paragraphSeparator]
                        .contains(scalar.properties.generalCategory)
            }
            #expect(isHarmless, "\(flags)")
        }
    }

    @Test func `has what matches in bold, under its day and beside its channel`() {
        let io = MemoryIO()
        io.node?.text = "abcd"
        #expect(io.run("search", "x", "--color", "always") == 0)
        #expect(io.output.hasPrefix("#\u{1B}[1ma\u{1B}[0mbcd  abcd\n\u{1B}[2m-- "))
        #expect(io.output.hasSuffix("  Mina  \u{1B}[1ma\u{1B}[0mb\u{1B}[1mc\u{1B}[0md\n"))
        #expect(io.errors.isEmpty)
    }

    @Test func `is one object a line for programs`() throws {
        let io = MemoryIO()
        #expect(io.run("search", "x", "--json", "--kind", "message", "--kind", "channel") == 0)
        let lines = io.output.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(try JSONValue(parsing: String(lines[1]))["kind"] == "message")
        #expect(io.errors.isEmpty)
        let plain = MemoryIO()
        #expect(plain.run("search", "x", "--plain") == 0)
        #expect(
            plain.output.split(separator: "\n").allSatisfy { $0.split(separator: "\t").count == 6 })
    }

    @Test func `says when not everything was looked through`() {
        let io = MemoryIO()
        #expect(io.run("search", "x", "--kind", "message") == 0)
        #expect(io.errors.contains("not all are indexed"))
    }
}
