import Foundation
import WorkspaceTestKit

/// The recorded behaviour of each life's nodes: `Tests/Vectors/behaviour.txt`, a line for each seed
/// with the hashes of its effects, its events and its views.
struct BehaviourRecord {
    static let path = "Tests/Vectors/behaviour.txt"
    /// Lives that are recorded.
    static let seeds: ClosedRange<UInt64> = 1...200
    /// Lives that are compared where nobody asks for more.
    private static let usualCount: UInt64 = 6

    static var isWanted: Bool {
        ProcessInfo.processInfo.environment["WSX_RECORD_BEHAVIOUR"] == "1"
    }

    /// The recorded lives that are compared: a few, as many as `WSX_SEEDS` says, or the one that
    /// `WSX_SEED` names.
    static var compared: [UInt64] {
        let environment = ProcessInfo.processInfo.environment
        if let chosen = environment["WSX_SEED"].flatMap({ UInt64($0) }) {
            return seeds.contains(chosen) ? [chosen] : []
        }
        let count = environment["WSX_SEEDS"].flatMap { UInt64($0) } ?? usualCount
        return seeds.filter { $0 - seeds.lowerBound < max(count, 1) }
    }

    private(set) var lives: [UInt64: BehaviourHashes] = [:]

    init(_ lives: [UInt64: BehaviourHashes]) { self.lives = lives }

    /// - Throws: for a line that does not belong in the file.
    init(parsing text: String) throws {
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let words = line.split(separator: " ").map(String.init)
            guard words.count == 4, let seed = UInt64(words[0]), lives[seed] == nil,
                words.dropFirst().allSatisfy(Self.isHash)
            else { throw Misread(line: String(line)) }
            lives[seed] = BehaviourHashes(effects: words[1], events: words[2], views: words[3])
        }
    }

    /// The file of this checkout.
    static func load() throws -> BehaviourRecord {
        try BehaviourRecord(parsing: try SourceTree.text(path))
    }

    /// As it stands in the file.
    var text: String {
        let head = """
            # How simulated nodes behave: seed, and hashes of all effects, all events and all views.
            # CONTRIBUTING.md says when it is recorded anew.

            """
        let lines = lives.sorted { $0.key < $1.key }.map { seed, hashes in
            "\(seed) \(hashes.effects) \(hashes.events) \(hashes.views)\n"
        }
        return head + lines.joined()
    }

    func write() throws {
        let url = SourceTree.root.appendingPathComponent(Self.path)
        try text.write(to: url, atomically: true, encoding: .utf8)
    }

    private static func isHash(_ word: String) -> Bool {
        word.utf8.count == 16 && word.allSatisfy { $0.isHexDigit && !$0.isUppercase }
    }

    struct Misread: Error {
        let line: String
    }
}
