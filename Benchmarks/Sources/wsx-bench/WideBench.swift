import Glibc
import WorkspaceModel

/// What calls cost beside 100, 1,000 and 5,000 direct conversations, and as many public channels.
enum WideBench {
    private static let sizes = [100, 1_000, 5_000]
    private static let people = 16
    private static let calls = 100

    static func run(_ options: Options) throws {
        for kind in Kind.allCases {
            var figures = Figures("wsx_wide")
            figures.note("kind", kind.rawValue)
            let folder = try TemporaryFolder(in: options.folder)
            let node = try BenchNode("A", in: folder, options: options, workspace: "acme")
            let names = try invite(people, to: node, in: folder, options)
            var made = 0
            var memory: [Double] = []
            var home: [Double] = []
            for size in sizes {
                let socket = try node.connect()
                let wide = Wide(kind: kind, people: names, socket: socket)
                let growing = try seconds { try wide.make(made..<size) }
                figures.add("make_us_up_to_\(size)", growing / Double(size - made) * 1e6)
                made = size
                try measure(wide, made, &figures)
                made += Self.calls
                memory.append(try node.kernelFigure("VmRSS:", file: "status"))
                home.append(try median("home.get", socket))
                figures.add("rss_MB_at_\(size)", memory[memory.count - 1] / 1_024)
            }
            let more = Double(sizes[2] - sizes[0])
            figures.add("memory_kB_each", (memory[2] - memory[0]) / more)
            figures.add("ratio_home_largest_to_smallest", home[2] / home[0])
            figures.print()
        }
    }

    /// Calls beside `made` of the kind; `calls` more are there afterwards.
    private static func measure(_ wide: Wide, _ made: Int, _ figures: inout Figures) throws {
        func add(_ name: String, _ call: (Int) throws -> Void) throws {
            var times: [Double] = []
            for number in 0..<calls { times.append(try seconds { try call(number) }) }
            figures.add("\(name)_us_at_\(made)", Figures.quantile(0.5, of: times) * 1e6)
        }
        try add("floor_call") { _ in _ = try wide.socket.call("node.version") }
        try add("new") { try wide.make(made + $0..<made + $0 + 1) }
        try add("existing") { try wide.find($0) }
        try add("edit") { number in
            _ = try wide.socket.call(
                "channel.edit", ["channel": "general", "topic": .string("at \(made), \(number)")])
        }
        try add("home") { _ in _ = try wide.socket.call("home.get") }
        try add("unread") { _ in _ = try wide.socket.call("unread.get", ["limit": 100]) }
        try add("list") { _ in _ = try wide.socket.call("channel.list", ["limit": 100]) }
    }

    private static func median(_ method: String, _ socket: ControlSocket) throws -> Double {
        var times: [Double] = []
        for _ in 0..<calls { times.append(try seconds { _ = try socket.call(method) }) }
        return Figures.quantile(0.5, of: times)
    }

    /// - Returns: the names of so many people who came in and went home.
    private static func invite(
        _ count: Int, to node: BenchNode, in folder: TemporaryFolder, _ options: Options
    ) throws -> [String] {
        try (0..<count).map { number in
            let name = "p\(number)"
            let guest = try BenchNode(name, in: folder, options: options, workspace: nil)
            try NodePair.join(guest, to: node)
            guest.stop()
            return name
        }
    }

    enum Kind: String, CaseIterable {
        case conversations, channels
    }
}

/// A workspace with many of a kind.
private struct Wide {
    let kind: WideBench.Kind
    let people: [String]
    let socket: ControlSocket

    func make(_ numbers: Range<Int>) throws {
        let requests = numbers.map { number in
            switch kind {
            case .conversations: socket.request("dm.open", ["members": Company.of(people, number)])
            case .channels:
                socket.request("channel.create", ["name": .string("c\(number)")])
            }
        }
        try socket.pipeline(requests.count, window: min(32, requests.count)) { requests[$0] }
    }

    func find(_ number: Int) throws {
        switch kind {
        case .conversations: _ = try socket.call("dm.open", ["members": Company.of(people, number)])
        case .channels: _ = try socket.call("channel.get", ["channel": .string("c\(number)")])
        }
    }
}
