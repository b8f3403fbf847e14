import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

extension BenchNode {
    /// What this node calls the devices of a member.
    fileprivate func deviceNames(of member: String) throws -> [String] {
        try ok("device.list", ["member": .string(member)]).items
            .filter { $0["recovery"] == false }.compactMap { $0["name"]?.stringValue }.sorted()
    }

    /// The names of devices that this node has read, the oldest first.
    fileprivate func namingWords() throws -> [StoredOperation] {
        let core = try #require(host?.core)
        let workspace = try workspace()
        var found: [StoredOperation] = []
        try core.turn.store.operations.forEachOperation(
            in: workspace.profileDocument, of: workspace.number
        ) { (stored) throws(StorageError) in
            if case .device? = try core.keys.content(of: stored, in: workspace) {
                found.append(stored)
            }
        }
        return found.sorted { $0.place.arrival < $1.place.arrival }
    }

    fileprivate func rename(to name: String) throws {
        let device = PublicID.device(try #require(host?.core.session.home?.device))
        try ok("device.rename", ["device": .string(device), "name": .string(name)])
    }
}

/// A deleted device name is not shown from the moment the deletion is known.
struct `The name of a device that was deleted` {
    private let bench = CoreBench()
    private let mina: BenchNode
    private let joon: BenchNode

    init() throws {
        mina = try bench.node("Mina")
        joon = try bench.guest("Joon", of: mina)
        bench.advance(5_000)
    }

    private func expect(_ names: [String], by nodes: [BenchNode], _ note: String = "") throws {
        for node in nodes {
            #expect(try node.deviceNames(of: "Joon") == names, "\(node.name) \(note)")
        }
    }

    @Test func `goes at once, everywhere, and the one before it is shown`() throws {
        for name in ["desk", "lamp", "den"] {
            try joon.rename(to: name)
            bench.advance(2_000)
        }
        try expect(["den"], by: [mina, joon])
        let words = try joon.namingWords()
        try joon.forceRedaction(of: try #require(words.last), isOwn: true)
        bench.advance(2_000)
        try expect(["lamp"], by: [mina, joon])
        try joon.forceRedaction(of: words[words.count - 3], isOwn: true)
        bench.advance(2_000)
        try expect(["lamp"], by: [mina, joon])
        for node in [mina, joon] { try node.restart() }
        try expect(["lamp"], by: [mina, joon, try bench.guest("Nora", of: mina)])
        for word in try joon.namingWords() { try joon.forceRedaction(of: word, isOwn: true) }
        bench.advance(2_000)
        let id = PublicID.device(try #require(joon.host?.core.session.home?.device))
        try expect([String(id.prefix(10))], by: [mina, joon])
        try joon.rename(to: "shed")
        bench.advance(2_000)
        try expect(["shed"], by: [mina, joon])
    }

    @Test func `costs one reading of the name that is shown then`() throws {
        for number in 0..<40 { try joon.rename(to: "name \(number)") }
        bench.advance(2_000)
        let words = try joon.namingWords()
        let before = try #require(mina.host).core.turn.tally.profileReads
        for word in words.suffix(10) { try joon.forceRedaction(of: word, isOwn: true) }
        bench.advance(2_000)
        try expect(["name 29"], by: [mina, joon])
        #expect(try #require(mina.host).core.turn.tally.profileReads - before <= 10)
    }

    /// Names and deletions in whatever order they reach somebody.
    @Test(arguments: Seeds.explore(6))
    func `is shown by nobody, in any order of arrival`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let phone = try bench.bareNode("Phone")
        try joon.link(phone)
        let nora = try bench.guest("Nora", of: mina)
        let nodes = [mina, joon, phone, nora]
        var cuts: Set<[Int]> = []
        var said = 0
        for _ in 0..<40 {
            let (a, b) = (random.below(4), random.below(4))
            switch random.below(6) {
            case 0 where a < b && !cuts.contains([a, b]):
                bench.cut(nodes[a], nodes[b])
                cuts.insert([a, b])
            case 1 where cuts.contains([a, b]):
                bench.heal(nodes[a], nodes[b])
                cuts.remove([a, b])
            case 2, 3:
                try nodes[1 + random.below(2)].rename(to: "name \(said)")
                said += 1
            case 4:
                let writer = nodes[1 + random.below(2)]
                let member = try joon.workspace().member
                let words = try writer.namingWords().filter {
                    try writer.workspace().judged.evaluator.subject(ofGrant: $0.entry.grant)
                        == member
                }
                guard let word = words.randomElement(using: &random) else { continue }
                try writer.forceRedaction(of: word, isOwn: true)
            default: bench.advance(UInt64(random.below(40_000)))
            }
        }
        for cut in cuts { bench.heal(nodes[cut[0]], nodes[cut[1]]) }
        bench.advance(130_000)
        let shown = try nodes.map { try $0.deviceNames(of: "Joon") }
        #expect(Set(shown).count == 1, "\(shown) WSX_SEED=\(seed)")
        for node in nodes {
            try node.restart()
            #expect(try node.deviceNames(of: "Joon") == shown[0], "\(node.name) WSX_SEED=\(seed)")
        }
    }
}

/// Own documents: deleted settings do not count on any of the person's devices.
struct `A setting that was deleted` {
    private func value(_ node: BenchNode) throws -> String? {
        let core = try #require(node.host?.core)
        let workspace = try node.workspace()
        let place = core.own.place(ofPreference: "color", in: workspace)
        guard case .preference(_, let value)? = try core.own.register(place, in: workspace) else {
            return nil
        }
        return value
    }

    @Test func `gives way to the one before it, on all devices`() throws {
        let bench = CoreBench()
        let desk = try bench.node("Joon")
        let phone = try bench.bareNode("Phone")
        try desk.link(phone)
        for color in ["red", "blue"] {
            try desk.inTurn { core, workspace in
                _ = try core.own.authorOwn(.preference("color", value: color), in: workspace)
            }
            bench.advance(2_000)
        }
        #expect(try [value(desk), value(phone)] == ["blue", "blue"])
        try desk.inTurn { core, workspace in
            let place = try #require(core.own.place(ofPreference: "color", in: workspace))
            let row = try #require(try core.turn.store.view.own.register(place))
            let stored = try #require(try core.turn.store.operations.operation(row.arrival))
            _ = try core.messages.redact(
                [stored.reference], nil, in: stored.log.document, isOwn: true, of: workspace)
        }
        bench.advance(2_000)
        #expect(try [value(desk), value(phone)] == ["red", "red"])
        for node in [desk, phone] {
            #expect(try node.ok("node.check")["problem_count"] == 0, "\(node.name)")
        }
        let tablet = try bench.bareNode("Tablet")
        try desk.link(tablet)
        bench.advance(60_000)
        #expect(try value(tablet) == "red")
    }
}
