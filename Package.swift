// swift-tools-version: 6.2
import PackageDescription

/// What every Swift target of the package is built with: the language rules that keep layers
/// honest, and cross-module optimisation, because one target per layer must cost nothing.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
    .unsafeFlags(["-cross-module-optimization"], .when(configuration: .release)),
    // Traces name lines; what debuggers need besides makes the program of all tests a third larger.
    .unsafeFlags(["-gline-tables-only"], .when(configuration: .debug)),
]

/// The lower layers are built optimised for tests too, with their checks: properties walk some
/// thousand worlds in them, and all tests take half the time. PeerNode would gain less than its build costs.
let lowerLayer: [SwiftSetting] = settings + [.unsafeFlags(["-O"], .when(configuration: .debug))]

let package = Package(
    name: "wsx-node",
    products: [
        // What the nested packages, Benchmarks and fuzz, are built on.
        .library(
            name: "NodeLayers",
            targets: ["WorkspaceModel", "WorkspaceCrypto", "CRDTStore"])
    ],
    targets: [
        .systemLibrary(
            name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .target(name: "CLinux"),
        .target(name: "WorkspaceModel", swiftSettings: lowerLayer),
        .target(
            name: "WorkspaceCrypto", dependencies: ["CSodium", "WorkspaceModel"],
            swiftSettings: lowerLayer),
        .target(
            name: "CRDTStore", dependencies: ["CSQLite", "WorkspaceCrypto", "WorkspaceModel"],
            swiftSettings: lowerLayer),
        .target(name: "SyncProtocol", dependencies: ["WorkspaceModel"], swiftSettings: lowerLayer),
        .target(
            name: "PeerNode",
            dependencies: [
                "CLinux", "CRDTStore", "SyncProtocol", "WorkspaceCrypto", "WorkspaceModel",
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "wsx-node", dependencies: ["PeerNode", "WorkspaceModel"],
            swiftSettings: settings),
        .target(
            name: "WorkspaceTestKit",
            dependencies: [
                "CRDTStore", "PeerNode", "SyncProtocol", "WorkspaceCrypto", "WorkspaceModel",
            ],
            path: "Tests/WorkspaceTestKit", swiftSettings: lowerLayer),
        // What the fuzzers and one of the tests give foreign bytes to.
        .target(
            name: "FuzzTargets",
            dependencies: [
                "CRDTStore", "PeerNode", "SyncProtocol", "WorkspaceCrypto", "WorkspaceModel",
                "WorkspaceTestKit",
            ],
            path: "Tests/FuzzTargets", swiftSettings: settings),
        .testTarget(
            name: "CRDTStoreTests",
            dependencies: [
                "CRDTStore", "CSodium", "WorkspaceCrypto", "WorkspaceModel", "WorkspaceTestKit",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "PeerNodeTests",
            dependencies: [
                "CLinux", "CRDTStore", "FuzzTargets", "PeerNode", "SyncProtocol",
                "WorkspaceCrypto", "WorkspaceModel", "WorkspaceTestKit", "wsx-node",
            ],
            swiftSettings: settings),
    ]
)

// To build all tests in release takes far longer than a campaign needs them for.
switch Context.environment["WSX_FUZZ"] {
case "attacks":
    package.targets.removeAll { $0.name == "PeerNodeTests" }
    package.targets.first { $0.name == "CRDTStoreTests" }?.sources = [
        "Authority/RecombiningAttackTests.swift", "Authority/RuleMutantTests.swift",
    ]
case "lives":
    package.targets.removeAll { $0.name == "CRDTStoreTests" }
    let lives = [
        "RandomLifeTests", "LiarTests", "WorldOfLiars", "SlowAudit", "HostileScene",
        "SyncScenesTests",
    ]
    package.targets.first { $0.name == "PeerNodeTests" }?.sources = lives.map {
        "Simulation/\($0).swift"
    }
case "bytes":
    // The fuzzer alone, which only links with the sanitizers that `make fuzz-NAME` names.
    package.targets.removeAll { $0.type == .test }
    package.targets.append(
        .executableTarget(
            name: "wsx-fuzz", dependencies: ["FuzzTargets"], path: "Tests/FuzzDriver",
            swiftSettings: settings))
default: break
}
