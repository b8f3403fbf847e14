// swift-tools-version: 6.2
import PackageDescription

/// The benchmarks: a package of its own, so that building and testing the node stays quick.
let package = Package(
    name: "wsx-bench",
    dependencies: [.package(name: "wsx-node", path: "..")],
    targets: [
        .executableTarget(
            name: "wsx-bench",
            dependencies: [.product(name: "NodeLayers", package: "wsx-node")],
            swiftSettings: [
                .swiftLanguageMode(.v6),
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .treatAllWarnings(as: .error),
            ])
    ]
)
