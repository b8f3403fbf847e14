import Foundation
import Testing
import WorkspaceTestKit

/// The README is run, not only read.
struct `The README` {
    @Test(.timeLimit(.minutes(3)))
    func `shows what really happens`() throws {
        let steps = ConsoleTour.steps(of: try SourceTree.text("README.md"))
        try #require(steps.count > 20)
        let tour = try ConsoleTour()
        defer { tour.end(Set(steps.map(\.person))) }
        var link = ""
        for step in steps {
            let command = step.command.replacingOccurrences(of: "wsx://join/…", with: link)
            let printed = try Self.run(command, step, on: tour)
            for line in printed {
                if let match = line.firstMatch(of: /wsx:\/\/join\/[0-9a-z]+/) {
                    link = String(match.0)
                }
            }
        }
    }

    /// Runs a step; one that only looks may look again for a while, since what others wrote takes
    /// its time to arrive.
    private static func run(
        _ command: String, _ step: ConsoleTour.Step, on tour: ConsoleTour
    ) throws -> [String] {
        let deadline = ContinuousClock.now + .seconds(240)
        while true {
            // Before it looks, so that no change falls between the two.
            let signs = DaemonSigns(of: tour.homes)
            let (lines, status) = try tour.run(command, as: step.person)
            let isRight = status == 0 && ConsoleTour.fits(lines, step.output)
            if isRight { return lines }
            if ConsoleTour.onlyLooks(command), ContinuousClock.now < deadline {
                signs.wait(milliseconds: 200)
                continue
            }
            let shown = step.output.joined(separator: "\n")
            try #require(
                isRight,
                "\(step.person)$ \(command)\nsaid (\(status)):\n\(lines.joined(separator: "\n"))\nand not:\n\(shown)"
            )
        }
    }

    @Test func `has every command behind a prompt or in the table of commands`() throws {
        let text = try SourceTree.text("README.md")
        let blocks = text.components(separatedBy: "```console")
        let outside =
            [blocks[0]]
            + blocks.dropFirst().map { block in
                block.components(separatedBy: "\n```").dropFirst().joined()
            }
        for part in outside {
            for line in part.components(separatedBy: "\n") where line.hasPrefix("    ") {
                #expect(!line.contains("wsx-node "), "nobody runs this: \(line)")
            }
        }
    }

    static let outputs: [(printed: [String], shown: [String], fits: Bool)] = [
        (["m_06gz  saved"], ["m_…  saved"], true),
        (["m_06gz  saved on 2 devices"], ["m_…  saved"], false),
        (["a", "b", "c"], ["a", "…", "c"], true), (["a", "c"], ["…", "c"], true),
        (["a", "b"], ["a"], false), (["a"], ["a", "b"], false), ([], [], true),
        (["-- Today --", "a   b"], ["-- Friday --", "a b"], true),
        (["(a)"], ["(a)"], true), (["xa"], ["a"], false),
    ]

    @Test(arguments: outputs)
    func `is compared by what it shows`(
        _ row: (printed: [String], shown: [String], fits: Bool)
    ) {
        #expect(ConsoleTour.fits(row.printed, row.shown) == row.fits)
    }
}

struct `The demo` {
    @Test(.timeLimit(.minutes(3)))
    func `holds its conversation`() throws {
        let tour = try ConsoleTour()
        defer { tour.end([]) }
        let script = SourceTree.root.appendingPathComponent("scripts/demo").path
        let program = "\(ConsoleTour.binaryFolder)/wsx-node"
        let (lines, status) = try tour.run("WSX_NODE='\(program)' '\(script)'", as: "nobody")
        #expect(status == 0, "\(lines.joined(separator: "\n"))")
        #expect(lines.last?.hasPrefix("demo: all 7 messages are on both nodes") == true)
    }
}
