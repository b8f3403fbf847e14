import Glibc
import WorkspaceModel

/// A node on which something is made to grow.
final class GrownNode {
    let thing: GrowingThing
    let folder: TemporaryFolder
    let options: Options
    let node: BenchNode
    /// Who can be in conversations.
    private(set) var people: [String] = []

    init(_ thing: GrowingThing, in folder: TemporaryFolder, _ options: Options) throws {
        self.thing = thing
        self.folder = folder
        self.options = options
        node = try BenchNode("A", in: folder, options: options, workspace: "acme")
    }

    /// What has to be there before the first one.
    func prepare() throws {
        switch thing {
        case .conversations:
            for number in 0..<16 {
                let name = "p\(number)"
                let guest = try BenchNode(name, in: folder, options: options, workspace: nil)
                try NodePair.join(guest, to: node)
                guest.stop()
                people.append(name)
            }
        case .logs:
            let socket = try node.connect()
            let count = (options.sizes.isEmpty ? thing.sizes : options.sizes).max() ?? 0
            try socket.pipeline(count, window: 32) {
                socket.request("channel.create", ["name": .string("c\($0)")])
            }
        default: break
        }
    }

    /// Makes those with these numbers, as fast as they can be made.
    func make(_ numbers: Range<Int>) throws {
        switch thing {
        case .members, .devices: for number in numbers { _ = try makeOne(number) }
        default:
            let socket = try node.connect()
            try socket.pipeline(numbers.count, window: min(32, max(1, numbers.count))) {
                request(numbers.lowerBound + $0, socket)
            }
        }
    }

    /// - Returns: the seconds it took.
    func makeOne(_ number: Int) throws -> Double {
        switch thing {
        case .members:
            let guest = try BenchNode("m\(number)", in: folder, options: options, workspace: nil)
            let time = try seconds { try NodePair.join(guest, to: node) }
            try speak(guest)
            return time
        case .devices:
            let guest = try BenchNode(
                "d\(number)", in: folder, options: options, workspace: nil, hasIdentity: false)
            guard let code = try node.connect().call("device.link")["link"] else {
                throw BenchError("a device link without a link")
            }
            let name = JSONValue.string("d\(number)")
            let time = try seconds {
                _ = try guest.connect().call("device.link", ["code": code, "name": name])
            }
            try speak(guest)
            return time
        default:
            let socket = try node.connect()
            let request = request(number, socket)
            return try seconds {
                try socket.write(request)
                let answer = try JSONValue(parsing: socket.nextLine())
                if let error = answer["error"] { throw BenchError("refused: \(error.text)") }
            }
        }
    }

    /// Somebody who is new writes one message, which is seen here, and goes home.
    private func speak(_ guest: BenchNode) throws {
        let (writer, reader) = (try guest.connect(), try node.connect())
        try NodePair.wait("the channel") {
            (try? writer.call("channel.get", ["channel": "general"])) != nil
        }
        try writer.pipeline(1, window: 1) { writer.sendRequest($0, byteCount: 100) }
        let newest = try History.newest(writer)
        try NodePair.wait("the first message") { try History.newest(reader) == newest }
        guest.stop()
        try Self.run("rm", "-rf", guest.home)
    }

    private func request(_ number: Int, _ socket: ControlSocket) -> [UInt8] {
        switch thing {
        case .channels:
            socket.request("channel.create", ["name": .string("c\(number)")])
        case .privates:
            socket.request(
                "channel.create", ["name": .string("c\(number)"), "private": true])
        case .conversations:
            socket.request("dm.open", ["members": Company.of(people, number)])
        case .changes:
            socket.request(
                "channel.edit", ["channel": "general", "topic": .string("change \(number)")])
        case .invites: socket.request("invite.create", JSONObject())
        case .logs:
            socket.request(
                "message.send",
                [
                    "channel": .string("c\(number)"),
                    "text": .string(String(repeating: "x", count: 100)),
                ])
        case .messages, .members, .devices: socket.sendRequest(number, byteCount: 100)
        }
    }

    /// Measures on a node that is stopped, may be started, and is what it was before afterwards: what
    /// measuring leaves behind would be counted as what grows.
    func withCopy(_ body: () throws -> Void) throws {
        try Self.run("cp", "-a", node.home, node.home + "-before")
        try body()
        node.stop()
        try Self.run("rm", "-rf", node.home)
        try Self.run("mv", node.home + "-before", node.home)
        try node.start()
    }

    private static func run(_ command: String...) throws {
        let status = try Spawning.wait(Spawning.start(command))
        guard status == 0 else { throw BenchError("\(command[0]) ended with \(status)") }
    }

    func rest() throws { try Self.rest([node]) }

    /// Waits until none of these works any more, nor takes in or writes operations.
    static func rest(_ nodes: [BenchNode]) throws {
        func state() throws -> (processor: Double, operations: Int64) {
            var sum = (processor: 0.0, operations: Int64(0))
            for node in nodes {
                sum.processor += try node.processorSeconds()
                let store = try node.connect().call("node.status")["store"]
                sum.operations += store?["operations"]?.integerValue ?? 0
            }
            return sum
        }
        var before = try state()
        for _ in 0..<600 {
            usleep(1_000_000)
            let now = try state()
            if now.processor - before.processor < 0.05, now.operations == before.operations {
                return
            }
            before = now
        }
        throw BenchError("the nodes do not come to rest within ten minutes")
    }
}

/// What can grow, and at which sizes it is looked at.
enum GrowingThing: String, CaseIterable {
    case members, devices, channels, conversations, privates, changes, messages, logs, invites

    var sizes: [Int] {
        switch self {
        case .members: [10, 30, 100]
        case .devices: [4, 15, 60]
        case .messages: [1_000, 10_000, 100_000]
        case .channels, .conversations, .privates, .changes, .logs, .invites: [100, 1_000, 5_000]
        }
    }

    /// The call that shows a page of them.
    var list: (String, JSONObject) {
        switch self {
        case .members: ("member.list", ["limit": 100])
        case .devices: ("device.list", ["limit": 100])
        case .channels, .privates, .changes: ("channel.list", ["limit": 100])
        case .conversations: ("dm.list", ["limit": 100])
        case .invites: ("invite.list", ["limit": 100])
        case .messages: ("message.history", ["channel": "general", "limit": 100])
        case .logs: ("unread.get", ["limit": 100])
        }
    }
}

/// Three to five of some people.
enum Company {
    /// The members of conversation `number`: the bits of a number with few of them, in order.
    static func of(_ people: [String], _ number: Int) -> JSONValue {
        var rest = number
        var mask = 0
        while true {
            mask += 1
            guard (3...5).contains(mask.nonzeroBitCount) else { continue }
            if rest == 0 { break }
            rest -= 1
        }
        return .array(
            people.indices.filter { mask >> $0 & 1 == 1 }.map { .string("@" + people[$0]) })
    }
}
