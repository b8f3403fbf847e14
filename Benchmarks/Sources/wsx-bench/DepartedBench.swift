import Glibc
import WorkspaceModel

/// What a newcomer takes of a team of which some have been removed: each came in, wrote a message, and
/// was put out.
enum DepartedBench {
    private static let sizes = [10, 30, 100]
    private static let calls = 20

    static func run(_ options: Options) throws {
        var figures = Figures("wsx_departed")
        for _ in 0..<options.runs {
            let folder = try TemporaryFolder(in: options.folder)
            let owner = try BenchNode("A", in: folder, options: options, workspace: "acme")
            var gone = 0
            for size in sizes {
                var removals: [Double] = []
                while gone < size {
                    removals.append(try comeAndGo(gone, owner, in: folder, options))
                    gone += 1
                }
                figures.add("removal_ms_up_to_\(size)", Figures.quantile(0.5, of: removals) * 1e3)
                try measure(size, owner, in: folder, options, &figures)
                // The measuring member is removed as well.
                gone += 1
            }
        }
        figures.print()
    }

    /// - Returns: the seconds that the removal took.
    private static func comeAndGo(
        _ number: Int, _ owner: BenchNode, in folder: TemporaryFolder, _ options: Options
    ) throws -> Double {
        let name = "p\(number)"
        let guest = try BenchNode(name, in: folder, options: options, workspace: nil)
        try NodePair.join(guest, to: owner)
        let (writer, reader) = (try guest.connect(), try owner.connect())
        try writer.pipeline(1, window: 1) { writer.sendRequest($0, byteCount: 100) }
        let newest = try History.newest(writer)
        try NodePair.wait("the message of \(name)") { try History.newest(reader) == newest }
        guest.stop()
        return try remove(name, reader)
    }

    private static func remove(_ name: String, _ socket: ControlSocket) throws -> Double {
        try seconds { _ = try socket.call("member.remove", ["member": .string("@" + name)]) }
    }

    private static func measure(
        _ size: Int, _ owner: BenchNode, in folder: TemporaryFolder, _ options: Options,
        _ figures: inout Figures
    ) throws {
        let socket = try owner.connect()
        for method in ["invite.create", "invite.list", "member.list"] {
            var times: [Double] = []
            for _ in 0..<calls { times.append(try seconds { _ = try socket.call(method) }) }
            figures.add("\(method)_ms_at_\(size)", Figures.quantile(0.5, of: times) * 1e3)
        }
        let guest = try BenchNode("new\(size)", in: folder, options: options, workspace: nil)
        let join = try seconds { try NodePair.join(guest, to: owner) }
        let metrics = try Metrics(guest.connect())
        let operations = metrics.value("wsx_ops_total", "peer")
        figures.add("join_ms_at_\(size)", join * 1e3)
        figures.add("join_kB_at_\(size)", metrics.receivedBytes / 1e3)
        figures.add("join_operations_at_\(size)", Double(operations))
        let verify = Floors.signatures().verify
        figures.add("floor_verify_ms_at_\(size)", Double(operations) / verify * 1e3)
        guest.stop()
        _ = try remove("new\(size)", socket)
    }
}
