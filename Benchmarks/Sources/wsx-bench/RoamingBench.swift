import Glibc
import WorkspaceModel

/// How long a machine is cut off that is carried to another network, and back: from the first change of
/// its interface until a message is at the other end. Needs root, for namespaces of its own.
enum RoamingBench {
    private static let rounds = 5

    static func run(_ options: Options) throws {
        var figures = Figures("wsx_roaming")
        for _ in 0..<options.runs {
            let folder = try TemporaryFolder(in: options.folder)
            let lab = try Lab()
            let stays = try BenchNode(
                "A", in: folder, options: options, workspace: "acme", namespace: lab.stays)
            let moves = try BenchNode(
                "B", in: folder, options: options, workspace: nil, namespace: lab.moves)
            try NodePair.join(moves, to: stays)
            for _ in 0..<rounds {
                for (network, name) in [(2, "away"), (1, "back")] {
                    let start = ContinuousClock.now
                    try lab.move(to: network)
                    try say(from: moves, to: stays)
                    figures.add("\(name)_sent_s", elapsed(since: start))
                    try say(from: stays, to: moves)
                    figures.add("\(name)_both_ways_s", elapsed(since: start))
                    // What is under way of the move before is over.
                    sleep(12)
                }
            }
            figures.add("floor_tcp_round_trip_us", try Floors.loopbackRoundTrip() * 1e6)
        }
        figures.print()
    }

    private static func say(from author: BenchNode, to reader: BenchNode) throws {
        let (sender, receiver) = (try author.connect(), try reader.connect())
        try sender.pipeline(1, window: 1) { sender.sendRequest($0, byteCount: 100) }
        let newest = try History.newest(sender)
        try NodePair.wait("a message from a moved machine") {
            try History.newest(receiver) == newest
        }
    }

    /// Two machines and a router with two local networks, of which one machine changes.
    private final class Lab {
        private let prefix = "wsxb\(getpid())"
        var stays: String { prefix + "a" }
        var moves: String { prefix + "b" }
        private var router: String { prefix + "r" }

        init() throws {
            for name in [router, stays, moves] {
                try ip("netns", "add", name)
                try ip("-n", name, "link", "set", "lo", "up")
            }
            for network in 1...2 {
                try ip("-n", router, "link", "add", "br\(network)", "type", "bridge")
                try ip("-n", router, "link", "set", "br\(network)", "up")
                try ip("-n", router, "addr", "add", "10.\(network).0.1/24", "dev", "br\(network)")
            }
            try ip("netns", "exec", router, "sysctl", "-qw", "net.ipv4.ip_forward=1")
            for (number, name) in [stays, moves].enumerated() {
                try ip(
                    "-n", router, "link", "add", "v\(number)", "type", "veth", "peer", "name",
                    "eth0", "netns", name)
                try ip("-n", router, "link", "set", "v\(number)", "master", "br1", "up")
                try ip("-n", name, "link", "set", "eth0", "up")
                try give(name, number, 1)
            }
        }

        deinit { for name in [router, stays, moves] { try? ip("netns", "del", name) } }

        func move(to network: Int) throws {
            try ip("-n", router, "link", "set", "v1", "nomaster")
            try ip("-n", moves, "addr", "flush", "dev", "eth0", "scope", "global")
            try ip("-n", router, "link", "set", "v1", "master", "br\(network)")
            try give(moves, 1, network)
        }

        private func give(_ name: String, _ number: Int, _ network: Int) throws {
            try ip("-n", name, "addr", "add", "10.\(network).0.\(number + 2)/24", "dev", "eth0")
            try ip("-n", name, "route", "add", "default", "via", "10.\(network).0.1")
        }

        private func ip(_ words: String...) throws {
            let status = try Spawning.wait(Spawning.start(["ip"] + words))
            guard status == 0 else {
                throw BenchError("'ip \(words.joined(separator: " "))' ended with \(status)")
            }
        }
    }
}
