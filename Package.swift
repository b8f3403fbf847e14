// swift-tools-version: 6.2
import PackageDescription

/// What every Swift target of the package is built with: rules that keep layers honest.
let plain: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
    // Each batch reads all files of its target again: four take less than the driver's sixteen.
    .unsafeFlags(["-driver-batch-count", "4"], .when(configuration: .debug)),
]

/// Cross-module optimisation, because one target per layer must cost nothing. What nothing fast is
/// built on goes without: there the optimiser sees who uses a property, and leaves out each check
/// of exclusive access that cannot fail.
let settings: [SwiftSetting] =
    plain + [.unsafeFlags(["-cross-module-optimization"], .when(configuration: .release))]

/// What the program is made of has no regular expressions and no tasks: to import those libraries
/// unasked put 1 MB of them into it.
let unaided: [SwiftSetting] = [
    .unsafeFlags([
        "-Xfrontend", "-disable-implicit-string-processing-module-import",
        "-Xfrontend", "-disable-implicit-concurrency-module-import",
    ])
]
let shipped: [SwiftSetting] = settings + unaided

/// What tests walk some thousand worlds in is built optimised for them too, with its checks. Of the node
/// itself that costs 160 s of building on two cores, and all tests take 410 s instead of 700.
let fast: SwiftSetting = .unsafeFlags(["-O"], .when(configuration: .debug))
let optimised: [SwiftSetting] = shipped + [fast]
/// The topmost layers wait for people, disks and networks: they are optimised for size.
let topmost: [SwiftSetting] =
    plain + unaided + [.unsafeFlags(["-Osize"], .when(configuration: .release))]

let package = Package(
    name: "wsx-node",
    products: [
        // What the nested packages, Benchmarks and fuzz, are built on.
        .library(
            name: "NodeLayers",
            targets: [
                "WorkspaceModel", "WorkspaceCrypto", "CRDTStore", "NoteText", "SyncProtocol",
            ])
    ],
    targets: [
        .systemLibrary(
            name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .target(name: "CLinux"),
        .target(name: "WorkspaceModel", swiftSettings: optimised),
        .target(
            name: "WorkspaceCrypto", dependencies: ["CSodium", "WorkspaceModel"],
            swiftSettings: optimised),
        .target(
            name: "CRDTStore", dependencies: ["CSQLite", "WorkspaceCrypto", "WorkspaceModel"],
            swiftSettings: optimised),
        .target(name: "NoteText", dependencies: ["WorkspaceModel"], swiftSettings: optimised),
        .target(name: "SyncProtocol", dependencies: ["WorkspaceModel"], swiftSettings: optimised),
        .target(
            name: "BlobStore", dependencies: ["CLinux", "WorkspaceCrypto", "WorkspaceModel"],
            swiftSettings: optimised),
        .target(
            name: "PeerNode",
            dependencies: [
                "BlobStore", "CLinux", "CRDTStore", "NoteText", "SyncProtocol", "WorkspaceCrypto",
                "WorkspaceModel",
            ],
            swiftSettings: topmost + [fast]),
        .executableTarget(
            name: "wsx-node", dependencies: ["PeerNode", "WorkspaceModel"],
            swiftSettings: topmost),
        .target(
            name: "WorkspaceTestKit",
            dependencies: [
                "BlobStore", "CRDTStore", "PeerNode", "SyncProtocol", "WorkspaceCrypto",
                "WorkspaceModel",
            ],
            path: "Tests/WorkspaceTestKit", swiftSettings: settings + [fast]),
        // What the fuzzers and one of the tests give foreign bytes to.
        .target(
            name: "FuzzTargets",
            dependencies: [
                "BlobStore", "CRDTStore", "NoteText", "PeerNode", "SyncProtocol",
                "WorkspaceCrypto", "WorkspaceModel", "WorkspaceTestKit",
            ],
            path: "Tests/FuzzTargets", swiftSettings: settings),
        .testTarget(
            name: "CRDTStoreTests",
            dependencies: [
                "CRDTStore", "CSodium", "WorkspaceCrypto", "WorkspaceModel", "WorkspaceTestKit",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "BlobStoreTests",
            dependencies: ["BlobStore", "WorkspaceCrypto", "WorkspaceModel"],
            swiftSettings: settings),
        .testTarget(
            name: "NoteTextTests",
            dependencies: ["NoteText", "WorkspaceModel", "WorkspaceTestKit"],
            swiftSettings: settings),
        .testTarget(
            name: "PeerNodeTests",
            dependencies: [
                "BlobStore", "CLinux", "CRDTStore", "FuzzTargets", "PeerNode", "SyncProtocol",
                "WorkspaceCrypto", "WorkspaceModel", "WorkspaceTestKit", "wsx-node",
            ],
            swiftSettings: settings),
    ]
)

// While working on one thing: the tests of one target, or of some of its folders and files, such as
// WSX_TESTS=NoteTextTests or WSX_TESTS=PeerNodeTests/Files,House/SourceTree.swift.
if let only = Context.environment["WSX_TESTS"] {
    let parts = only.split(separator: "/", maxSplits: 1)
    package.targets.removeAll { $0.type == .test && $0.name != parts.first ?? "" }
    if parts.count > 1 {
        package.targets.first { $0.type == .test }?.sources = parts[1].split(separator: ",").map(
            String.init)
    }
}

// To build all tests in release takes far longer than a campaign needs them for.
let apart: Set = ["BlobStoreTests", "NoteTextTests"]
switch Context.environment["WSX_FUZZ"] {
case "attacks":
    package.targets.removeAll { apart.union(["PeerNodeTests"]).contains($0.name) }
    package.targets.first { $0.name == "CRDTStoreTests" }?.sources = [
        "Authority/RecombiningAttackTests.swift", "Authority/RuleMutantTests.swift",
    ]
case "lives":
    package.targets.removeAll { apart.union(["CRDTStoreTests"]).contains($0.name) }
    let lives = [
        "RandomLifeTests", "RestoredLifeTests", "LiarTests", "WorldOfLiars", "SlowAudit",
        "HostileScene", "SyncScenesTests", "BehaviourGuardTests", "BehaviourRecord",
    ]
    package.targets.first { $0.name == "PeerNodeTests" }?.sources =
        lives.map { "Simulation/\($0).swift" } + ["House/SourceTree.swift"]
case "crowd":
    package.targets.removeAll { apart.union(["CRDTStoreTests"]).contains($0.name) }
    package.targets.first { $0.name == "PeerNodeTests" }?.sources = [
        "SyncProtocol/CrowdTests.swift"
    ]
case "bytes":
    // The fuzzer alone, which only links with the sanitizers that `make fuzz-NAME` names.
    package.targets.removeAll { $0.type == .test }
    package.targets.append(
        .executableTarget(
            name: "wsx-fuzz", dependencies: ["FuzzTargets"], path: "Tests/FuzzDriver",
            swiftSettings: settings))
default: break
}
