private import FuzzTargets
private import Glibc

// The fuzzer: `wsx-fuzz NAME ARGUMENTS`, where the arguments are libFuzzer's. Bounds of a target are
// put in front of them. `--list` prints names, `--seeds FOLDER` writes inputs to begin with.

/// libFuzzer's loop. It comes with `-sanitize=fuzzer`, as does the instrumentation that leads it.
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
    _ body: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// The target of this process. libFuzzer's callback has no context.
nonisolated(unsafe) private var target = FuzzTarget.all[0]

private func end(_ status: CInt, _ line: String) -> Never {
    let text = Array((line + "\n").utf8)
    _ = write(status == 0 ? STDOUT_FILENO : STDERR_FILENO, text, text.count)
    exit(status)
}

private let names = FuzzTarget.all.map(\.name)
private var arguments = Array(CommandLine.arguments.dropFirst())
// A process that libFuzzer starts for a merge gets its arguments alone; the name stands beside them.
private let environmentName = "WSX_FUZZ_TARGET"
private let isChild = arguments.first.map { $0.hasPrefix("-") && !$0.hasPrefix("--") } == true
if isChild, let name = getenv(environmentName) { arguments.insert(String(cString: name), at: 0) }
switch arguments.first {
case "--list": end(0, FuzzTarget.all.map { "\($0.name)\t\($0.summary)" }.joined(separator: "\n"))
case "--seeds" where arguments.count == 2:
    do { try FuzzSeeds.write(into: arguments[1]) } catch { end(1, "no seeds: \(error)") }
    end(0, "seeds are in \(arguments[1])")
case let name? where names.contains(name):
    target = FuzzTarget.all.first { $0.name == name } ?? target
    setenv(environmentName, name, 1)
default: end(2, "usage: wsx-fuzz NAME [ARGUMENTS OF LIBFUZZER], NAME is one of: \(names)")
}
arguments =
    [
        CommandLine.arguments[0], "-max_len=\(target.bytesMax)", "-timeout=\(target.secondsMax)",
        "-rss_limit_mb=\(target.memoryMax)",
    ] + arguments.dropFirst()
private var pointers = arguments.map { strdup($0) } + [nil]
private var count = CInt(arguments.count)
private let status = pointers.withUnsafeMutableBufferPointer { buffer in
    var base = buffer.baseAddress
    return withUnsafeMutablePointer(to: &base) { start in
        start.withMemoryRebound(
            to: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?.self, capacity: 1
        ) { list in
            runDriver(&count, list) { bytes, count in
                let input = Array(UnsafeBufferPointer(start: bytes, count: count))
                do { try target.run(input) } catch { fatalError("\(target.name): \(error)") }
                return 0
            }
        }
    }
}
exit(status)
