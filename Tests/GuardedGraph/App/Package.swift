// swift-tools-version: 6.2
import PackageDescription

// A program of Strata beside a library that asks whether there is a module CloudKit: see tools/guarded-graph.
let aliases = Context.environment["STRATA_ALIAS"].map { ["CloudKit": $0] }
let package = Package(
    name: "App",
    dependencies: [
        .package(name: "strata", path: Context.environment["STRATA_PACKAGE"] ?? "../../.."),
        .package(path: "../Guarded"),
    ],
    targets: [
        .executableTarget(
            name: "App",
            dependencies: [
                .product(name: "CloudKit", package: "strata", moduleAliases: aliases),
                .product(name: "Guarded", package: "Guarded"),
            ])
    ]
)
