import Foundation
import PeerNode
import Testing

/// How long a test waits for the kernel before it fails. Nothing here takes a tenth of it.
let patienceMilliseconds: UInt64 = 20_000

/// A private folder with a short path, since a socket's path has room for 107 bytes only.
func withTemporaryFolder<Result>(_ body: (String) throws -> Result) throws -> Result {
    let folder = try #require(mkdtemp(strdup("/tmp/wsx-XXXXXX")).map { String(cString: $0) })
    defer { try? FileManager.default.removeItem(atPath: folder) }
    return try body(folder)
}

/// Waits on one poller until what is asked for is ready.
struct Patience {
    let poller: Poller
    private var token: UInt64 = 0

    init() throws { poller = try Poller() }

    mutating func wait(
        for descriptor: FileDescriptor, _ interest: Poller.Interest = .readable
    ) throws {
        token += 1
        try poller.watch(descriptor, token: token, interest: interest)
        defer { poller.forget(descriptor) }
        let ready = try poller.wait(timeoutMilliseconds: patienceMilliseconds)
        try #require(
            ready.contains { $0.token == token }, "nothing within \(patienceMilliseconds) ms")
    }
}

/// A repeatable source for property tests.
struct LoopRandom: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ word >> 30) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
        return word ^ word >> 31
    }

    /// `WSX_SEED` alone, or `WSX_SEEDS` (20) new ones.
    static let seeds: [UInt64] = {
        let environment = ProcessInfo.processInfo.environment
        if let chosen = environment["WSX_SEED"].flatMap(UInt64.init) { return [chosen] }
        let count = environment["WSX_SEEDS"].flatMap(UInt64.init) ?? 20
        let first = UInt64.random(in: 0...UInt64(UInt32.max))
        return (0..<count).map { first + $0 }
    }()
}

/// Whether tests that act as another user, or in another network, can run.
let isRoot = geteuid() == 0

/// A pipe whose ends are closed with their owners.
func makePipe() throws -> (reading: FileDescriptor, writing: FileDescriptor) {
    var numbers: [Int32] = [0, 0]
    try #require(pipe(&numbers) == 0)
    return (FileDescriptor(owning: numbers[0]), FileDescriptor(owning: numbers[1]))
}
