import Foundation
import Glibc

/// yrs on the same histories, in processes of their own between our runs: `yrs_text.py`, with the
/// Python that `WSX_PYTHON` names, which has to have pycrdt.
struct TextPeer {
    /// Bytes of its updates, one for each change of the editor.
    let updatesBytes: Double
    /// Bytes of the document as it is saved.
    let savedBytes: Double
    private let file: String

    /// Types a history.
    ///
    /// - Returns: `nil` where it is not installed, or two write.
    init?(_ trace: TextTrace, _ options: Options) throws {
        guard trace.writers == 1 else { return nil }
        let file = "\(options.folder)/wsx-bench-yrs-\(getpid())"
        let answer = try Self.ask(["write", trace.path, file])
        guard let updates = answer["updates_bytes"], let saved = answer["saved_bytes"] else {
            return nil
        }
        updatesBytes = updates
        savedBytes = saved
        self.file = file
    }

    /// Takes the saved document in, and sets beside that what we just did.
    func compare(_ own: TextBench.Cost, _ figures: inout Figures) throws {
        let answer = try Self.ask(["read", file])
        guard let time = answer["whole_ms"], let heap = answer["heap_bytes"] else {
            throw BenchError("yrs_text.py read nothing")
        }
        figures.add("floor_yrs_whole_ms", time)
        figures.add("ratio_whole", own.milliseconds / time)
        figures.add("floor_yrs_heap_bytes", heap)
        figures.add("ratio_heap", own.heapBytes / heap)
        figures.add("floor_yrs_saved_bytes", savedBytes)
        figures.add("ratio_snapshot", own.snapshotBytes / savedBytes)
    }

    /// Its document is not needed any more.
    func remove() { unlink(file) }

    private static func ask(_ arguments: [String]) throws -> [String: Double] {
        let places: [String] = ["yrs_text.py", "Benchmarks/yrs_text.py"]
        guard let script = places.first(where: { access($0, R_OK) == 0 }) else { return [:] }
        let python = ProcessInfo.processInfo.environment["WSX_PYTHON"] ?? "python3"
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [python, script] + arguments
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        // 127: there is no Python.
        if process.terminationStatus == 127 { return [:] }
        guard process.terminationStatus == 0 else { throw BenchError("yrs_text.py failed") }
        let answer = try JSONSerialization.jsonObject(with: data) as? [String: Any]
        return answer?.compactMapValues { $0 as? Double } ?? [:]
    }
}

/// What the allocator has given out and not got back, in bytes, as `mallinfo2` counts: large blocks
/// with the others.
func heapBytes() -> Double {
    typealias Info = @convention(c) (CInt, UnsafeMutablePointer<FILE>) -> CInt
    var text: UnsafeMutablePointer<CChar>?
    var size = 0
    guard let symbol = dlsym(nil, "malloc_info"), let stream = open_memstream(&text, &size) else {
        return 0
    }
    _ = unsafeBitCast(symbol, to: Info.self)(0, stream)
    fclose(stream)
    defer { free(text) }
    guard let text else { return 0 }
    // The totals stand behind what each part of the heap has.
    let totals = String(cString: text).components(separatedBy: "</heap>").last ?? ""
    func total(_ tag: String) -> Double {
        guard let line = totals.components(separatedBy: "\n").first(where: { $0.contains(tag) }),
            let number = line.components(separatedBy: "size=\"").last?.prefix(while: \.isNumber)
        else { return 0 }
        return Double(number) ?? 0
    }
    return total("system type=\"current\"") - total("type=\"fast\"") - total("type=\"rest\"")
        + total("type=\"mmap\"")
}
