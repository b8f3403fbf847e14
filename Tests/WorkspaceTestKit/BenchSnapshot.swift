/// The homes of all nodes of a bench, as bytes. What the cases of a test need to be stored is made
/// once so, and each goes on from a copy.
///
/// ```swift
/// static let made: Result<BenchSnapshot, any Error> = Result {
///     let bench = CoreBench(seed: 7)
///     _ = try bench.node("Mina")
///     return try BenchSnapshot(endingAll: bench)
/// }
/// ```
public struct BenchSnapshot: Sendable {
    private struct Home: Sendable {
        let name: String
        let store: [UInt8]
        let identity: [UInt8]?
        let guardBytes: [UInt8]?
    }

    private let homes: [Home]
    private let wall: UInt64

    /// Ends the processes of all nodes of a bench, and keeps what they have stored: no search index,
    /// no files, nothing that only a running node knows.
    ///
    /// The bench must have a seed of its own, because nodes that go on draw from their first random
    /// bytes.
    ///
    /// - Throws: `StorageError` where a store cannot be read.
    public init(endingAll bench: CoreBench) throws {
        for node in bench.nodes { node.kill() }
        homes = try bench.nodes.map { node in
            Home(
                name: node.name, store: try node.image, identity: node.files.identity,
                guardBytes: node.files.guardBytes)
        }
        wall = bench.wall
    }

    /// Starts these nodes on an empty bench, at their addresses, and lets them find each other.
    ///
    /// - Returns: they, in the order in which they were made first.
    /// - Throws: `StartError`, or `StorageError`.
    public func resume(on bench: CoreBench) throws -> [BenchNode] {
        precondition(bench.nodes.isEmpty, "the addresses are taken")
        bench.wall = wall
        let nodes = try homes.map { home in
            try bench.node(
                home.name, store: home.store, identity: home.identity,
                guardBytes: home.guardBytes)
        }
        bench.advance(60_000)
        return nodes
    }
}
