// swift-tools-version: 6.2
import PackageDescription

// A program as an embedder has it, with every product of the prebuilt library: see tools/release-check.
let package = Package(
    name: "client",
    dependencies: [.package(name: "strata", path: Context.environment["STRATA_PACKAGE"] ?? "../../..")],
    targets: [
        .executableTarget(
            name: "client",
            dependencies: [
                "CloudKit", "StrataTesting", "StrataOS", "StrataPorting", "StrataJetStream", "StrataPostgres",
            ]
            .map { .product(name: $0, package: "strata") })
    ]
)
