import Foundation
import PeerNode
import Testing

/// Pages generated from the program itself. `WSX_UPDATE_PAGES=1 swift test` writes them again.
struct `The generated pages` {
    private static var updates: Bool {
        ProcessInfo.processInfo.environment["WSX_UPDATE_PAGES"] == "1"
    }

    @Test func `say what the table of commands says`() throws {
        let path = "docs/OPERATIONS.md"
        if Self.updates {
            let url = SourceTree.root.appendingPathComponent(path)
            try Manual.operations.write(to: url, atomically: true, encoding: .utf8)
        }
        let written = try SourceTree.text(path).components(separatedBy: "\n")
        let made = Manual.operations.components(separatedBy: "\n")
        let place = zip(written, made).enumerated().first { $0.element.0 != $0.element.1 }?.offset
        #expect(
            place == nil && written.count == made.count,
            "\(path) is stale from line \((place ?? min(written.count, made.count)) + 1) on")
    }
}
