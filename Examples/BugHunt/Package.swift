// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "BugHunt",
    platforms: [.macOS(.v13)],
    // A package elsewhere has .package(path: "../strata"): see docs/guide/embedding.md.
    dependencies: [.package(name: "strata", path: "../..")],
    // The program of docs/guide/lost-update.md. The folders are links.
    targets: [
        .target(name: "ExampleArguments"),
        .executableTarget(
            name: "lost-ticket",
            dependencies: [
                "ExampleArguments",
                .product(name: "CloudKit", package: "strata", condition: .when(platforms: [.linux])),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
