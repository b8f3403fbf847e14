import Foundation
import PeerNode
import Testing

/// How long a test waits for the kernel before it fails. Alone nothing takes a hundredth of it, but
/// the tests run side by side, and on machines that have other things to do.
let patienceMilliseconds: UInt64 = 240_000

/// A private folder with a short path, since a socket's path is limited to 107 bytes.
func withTemporaryFolder<Result>(_ body: (String) throws -> Result) throws -> Result {
    let folder = try #require(mkdtemp(strdup("/tmp/wsx-XXXXXX")).map { String(cString: $0) })
    defer { try? FileManager.default.removeItem(atPath: folder) }
    return try body(folder)
}

/// Waits on one poller until a condition holds.
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

/// Whether tests that act as another user, or in another network, can run.
let isRoot = geteuid() == 0

/// A pipe whose ends are closed with their owners.
func makePipe() throws -> (reading: FileDescriptor, writing: FileDescriptor) {
    var numbers: [Int32] = [0, 0]
    try #require(pipe(&numbers) == 0)
    return (FileDescriptor(owning: numbers[0]), FileDescriptor(owning: numbers[1]))
}
