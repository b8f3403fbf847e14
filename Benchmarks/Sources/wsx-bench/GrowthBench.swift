/// Whether an operation costs the same with a long history as with a short one.
enum GrowthBench {
    static func run(_ options: Options) throws {
        var figures = Figures("wsx_growth")
        figures.note("text_bytes", 100)
        let sizes = [options.messages / 10, options.messages, 3 * options.messages]
        var syncs: [Double] = []
        var sends: [Double] = []
        for size in sizes {
            let folder = try TemporaryFolder(in: options.folder)
            let source = try BenchNode("A", in: folder, options: options, workspace: "acme")
            try History.write(size, authors: 1, to: source, in: folder, options: options)
            let sync = try Sync(of: size, from: source, in: folder, options)
            syncs.append(sync.seconds / Double(size) * 1e6)
            let socket = try source.connect()
            var times: [Double] = []
            for number in 0..<1_000 {
                let request = socket.sendRequest(number, byteCount: 100)
                times.append(
                    try seconds {
                        try socket.write(request)
                        _ = try socket.nextLine()
                    })
            }
            sends.append(Figures.quantile(0.5, of: times) * 1e6)
            figures.add("sync_us_per_message_of_\(size)", syncs[syncs.count - 1])
            figures.add("send_p50_us_after_\(size)", sends[sends.count - 1])
            figures.add("floor_fsync_p50_us_after_\(size)", try Floors.fsync(in: folder.path) * 1e6)
        }
        figures.add("ratio_sync_largest_to_smallest", syncs[2] / syncs[0])
        figures.add("ratio_send_largest_to_smallest", sends[2] / sends[0])
        figures.print()
    }
}
